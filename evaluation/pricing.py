"""What calls cost: token counts times a dated price sheet. Unknown is None, never zero.

A price sheet is what a configuration discloses under ``prices``: ``{currency, per, input, cached_input, output, source,
dated}``, amounts as decimal text for ``per`` tokens. An amount may also be ``{base, tiers: [{start, price}]}``: from
``start`` input tokens on, all tokens of the call cost ``price``.
"""

import datetime
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import genai_prices
from genai_prices import data_snapshot
from genai_prices.types import TieredPrices

from evaluation.providers import Usage
from questions.errors import Problem, Refused

PER = 1_000_000
# Chat templates add a few tokens to every message; no byte of UTF-8 makes more than one token.
TEMPLATE_TOKENS = 16


def free(source: str) -> dict[str, Any]:
    """The sheet of a model that costs nothing, saying why."""
    return _sheet("0", "0", "0", source)


def given(
    *, input_usd: str | Decimal, output_usd: str | Decimal, cached_usd: str | Decimal | None = None
) -> dict[str, Any]:
    """A sheet from US dollars per million tokens that the user states; raises Refused for what is no price."""
    amounts = {
        "input": input_usd,
        "output": output_usd,
        "cached_input": input_usd if cached_usd is None else cached_usd,
    }
    problems = []
    for name, amount in amounts.items():
        try:
            sound = Decimal(str(amount)).is_finite() and Decimal(str(amount)) >= 0
        except InvalidOperation:
            sound = False
        if not sound:
            remedy = "Give US dollars per million tokens, such as 2.50, or 0 if it is free."
            problems.append(Problem(f"prices.{name}", str(amount), "is not a price", remedy))
    if problems:
        raise Refused(*problems)
    return _sheet(str(amounts["input"]), str(amounts["cached_input"]), str(amounts["output"]), "user")


def published(*, model: str, endpoint: str) -> dict[str, Any] | None:
    """The sheet that the library genai-prices holds for this model at this endpoint; None where it holds none."""
    snapshot = data_snapshot.get_snapshot()
    try:
        _, info = snapshot.find_provider_model(model, None, None, endpoint)
    except LookupError:
        return None
    price = info.get_prices(datetime.datetime.now(tz=datetime.UTC))
    if price.input_mtok is None or price.output_mtok is None or price.requests_kcount:
        return None
    cached = price.input_mtok if price.cache_read_mtok is None else price.cache_read_mtok
    source = f"genai-prices {genai_prices.__version__}"
    return _sheet(_amount(price.input_mtok), _amount(cached), _amount(price.output_mtok), source)


def cost(prices: Mapping[str, Any] | None, usage: Usage) -> Decimal | None:
    """US dollars of one call; None where the price or the tokens are unknown."""
    if prices is None:
        return None
    if _is_free(prices):
        return Decimal(0)
    if usage.input is None or usage.output is None:
        return None
    cached = min(usage.cached or 0, usage.input)
    total = (
        (usage.input - cached) * _price(prices["input"], usage.input)
        + cached * _price(prices["cached_input"], usage.input)
        + usage.output * _price(prices["output"], usage.input)
    )
    return total / int(prices["per"])


def worst_cost(
    prices: Mapping[str, Any] | None, messages: Iterable[Mapping[str, Any]], max_tokens: int | None
) -> Decimal | None:
    """The most that one call with these messages can cost in US dollars; None where that is not bounded."""
    if prices is None:
        return None
    if _is_free(prices):
        return Decimal(0)
    if max_tokens is None:
        return None
    tokens = sum(len(str(m["content"]).encode("utf-8", "surrogatepass")) + TEMPLATE_TOKENS for m in messages)
    dearest = max(_highest(prices["input"]), _highest(prices["cached_input"]))
    return (tokens * dearest + max_tokens * _highest(prices["output"])) / int(prices["per"])


def _sheet(input_: Any, cached: Any, output: Any, source: str) -> dict[str, Any]:
    return {
        "currency": "USD",
        "per": PER,
        "input": input_,
        "cached_input": cached,
        "output": output,
        "source": source,
        "dated": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
    }


def _amount(price: Decimal | TieredPrices) -> Any:
    if isinstance(price, TieredPrices):
        tiers = [{"start": tier.start, "price": str(tier.price)} for tier in price.tiers]
        return {"base": str(price.base), "tiers": tiers}
    return str(price)


def _price(amount: Any, input_tokens: int) -> Decimal:
    if not isinstance(amount, dict):
        return Decimal(amount)
    reached = [tier for tier in amount["tiers"] if input_tokens >= tier["start"]]
    return Decimal(max(reached, key=lambda tier: tier["start"])["price"] if reached else amount["base"])


def _highest(amount: Any) -> Decimal:
    if not isinstance(amount, dict):
        return Decimal(amount)
    return max([Decimal(amount["base"]), *(Decimal(tier["price"]) for tier in amount["tiers"])])


def _is_free(prices: Mapping[str, Any]) -> bool:
    return all(_highest(prices[name]) == 0 for name in ("input", "cached_input", "output"))
