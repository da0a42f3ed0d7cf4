"""The statistics' benchmark: ``python -m benchmarks.statistics [--full]`` prints what was reached beside the targets.

Needs the outcomes data beside the checkout (../shared/data/outcomes) for efficiency; the rest runs without. The peer
``ville`` takes part where it is installed.
"""

import argparse
import importlib.util

import numpy as np

from benchmarks.statistics import efficiency, outcomes, peeking, speed, validity


def main() -> None:
    """Parse the options and run what they ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics", description=__doc__)
    parser.add_argument("--full", action="store_true", help="2,000 replications and 20 seeds: about an hour")
    parser.add_argument("--only", choices=["validity", "efficiency", "speed"], help="one part alone")
    parser.add_argument("--replications", type=int, help="of each validity setting")
    parser.add_argument("--seeds", type=int, help="of each efficiency figure")
    options = parser.parse_args()
    with_ville = importlib.util.find_spec("ville") is not None
    if options.only in (None, "validity"):
        show_validity(options.replications or (2000 if options.full else 100))
    if options.only in (None, "efficiency"):
        if outcomes.FOLDER.is_dir():
            show_efficiency(options.seeds or (20 if options.full else 3), full=options.full, with_ville=with_ville)
        else:
            print(f"\n== Efficiency: left out, no outcomes at {outcomes.FOLDER} ==")
    if options.only in (None, "speed"):
        show_speed(quick=not options.full, with_ville=with_ville)


def show_validity(replications: int) -> None:
    """Misses at any look in every setting, then those of fixed-size intervals under peeking."""
    print(f"== Validity: misses at any look, alpha = 0.05, {replications} replications a setting ==")
    failed = 0
    for coverage in validity.coverages(replications):
        failed += not coverage.is_within
        verdict = "ok" if coverage.is_within else "TOO MANY"
        print(f"{coverage.setting:<48}{100 * coverage.rate:>7.2f} %  {verdict}", flush=True)
    print(f"settings above 5 % by more than two standard errors: {failed} (target: 0)")
    for name, rate in peeking.miss_rates(replications=min(replications, 2000)).items():
        print(f"{f'for comparison: {name}, looked at 30 to 1,000 times':<48}{100 * rate:>7.2f} %")


def show_efficiency(seeds: int, *, full: bool, with_ville: bool) -> None:
    """Median trials to half-widths on every data set, and MMLU's ratios beside their targets."""
    ratios: list[str] = []
    for data in efficiency.DATA_SETS if full else ("mmlu", "game24"):
        for half_width in (0.05, 0.03) if full else (0.05,):
            print(f"\n== Efficiency: {data}, median trials to half-width {half_width}, {seeds} seeds a target ==")
            methods = dict(efficiency.METHODS)
            if data in ("mmlu", "farel", "gsm8k"):
                methods |= efficiency.ONCE
            if with_ville and data == "mmlu" and half_width == 0.05:
                methods["ville 0.1.0, uniform"] = efficiency.ville
            most = 10 if data != "mmlu" else 1000
            found = {}
            for name, method in methods.items():
                few = 1 if name.startswith("ville") else seeds
                found[name] = efficiency.medians(data, method, half_width, few, most)
                values = list(found[name].values())
                print(
                    f"{name:<48}{np.median(values):>9.0f}   (targets: {min(values):.0f} to {max(values):.0f})",
                    flush=True,
                )
            limits = [efficiency.oracle(target) for target in efficiency.targets(data, 0)]
            print(f"{'variance left to a perfect surrogate, median':<48}{np.median(limits):>9.2f}")
            if data == "mmlu" and half_width == 0.05:
                ratios = _ratios(found)
    print("\n== MMLU at half-width 0.05: what was reached, and the targets ==")
    print("\n".join(ratios))


def _ratios(found: dict[str, dict[str, float]]) -> list[str]:
    median = {name: float(np.median(list(values.values()))) for name, values in found.items()}
    wanted = [
        ("once, surrogate", "stitched Hoeffding, uniform", 0.17),
        ("once, surrogate", "betting, uniform", 0.45),
        ("repeated, surrogate", "betting, uniform", 0.50),
        ("once, surrogate", "ville 0.1.0, uniform", 0.55),
        ("repeated, surrogate", "ville 0.1.0, uniform", 0.55),
    ]
    lines = [
        f"{f'{ours} / {theirs}':<60}{median[ours] / median[theirs]:>7.3f}   (target: at most {target})"
        for ours, theirs, target in wanted
        if theirs in median
    ]
    # The same seeds draw the same items, so that luck cancels from these.
    for regime, base in (("repeated", "repeated, uniform"), ("once", "once, uniform")):
        for kind in ("shuffled", "inverted"):
            worst = max(found[f"{regime}, {kind} surrogate"][t] / found[base][t] for t in found[base])
            name = f"{regime}, {kind} surrogate / {base}, worst target"
            lines.append(f"{name:<60}{worst:>7.3f}   (target: at most 1.05)")
    return lines


def show_speed(*, quick: bool, with_ville: bool) -> None:
    """Times beside their targets."""
    print("\n== Speed: microseconds at the median, unless seconds are named ==")
    for timing in speed.timings(quick=quick, with_ville=with_ville):
        target = "for comparison" if timing.target is None else f"target: at most {timing.target:g}"
        print(f"{timing.what:<60}{timing.microseconds:>9.2f}   ({target})")


if __name__ == "__main__":
    main()
