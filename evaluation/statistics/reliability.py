"""How often k tries of one question succeed, from n tries of which c did: unbiased where n was fixed before looking."""

from math import comb


def pass_at_k(n: int, c: int, k: int) -> float:
    """The probability that at least one of k tries succeeds, 1 - C(n - c, k) / C(n, k).

    (M. Chen et al., "Evaluating large language models trained on code", 2021, equation 1.) Raises ValueError unless
    0 <= c <= n and 1 <= k <= n.
    """
    _check(n, c, k)
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The probability that all of k tries succeed, C(c, k) / C(n, k).

    (S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in real-world domains", 2024.) Raises
    ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"c must lie between 0 and n = {n!r}, not be {c!r}")
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and n = {n!r}, not be {k!r}")
