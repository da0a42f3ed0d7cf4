"""Costs are tokens times prices, exactly; what is unknown is None and never zero."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import pricing
from evaluation.providers import Usage
from questions.errors import Refused

SHEET = pricing.given(input_usd="2.50", output_usd="10", cached_usd="1.25")
TIERED = {
    **SHEET,
    "input": {"base": "1", "tiers": [{"start": 200, "price": "2"}]},
}
tokens = st.integers(0, 100_000)


def test_every_kind_of_token_has_its_own_price() -> None:
    assert pricing.cost(SHEET, Usage(input=1000, cached=400, output=100)) == Decimal("0.003")


def test_a_tier_prices_all_tokens_of_the_call_once_it_is_reached() -> None:
    assert pricing.cost(TIERED, Usage(input=199, output=0)) == Decimal("0.000199")
    assert pricing.cost(TIERED, Usage(input=200, output=0)) == Decimal("0.0004")


@pytest.mark.parametrize("usage", [Usage(), Usage(input=5), Usage(output=5)])
def test_unknown_tokens_make_an_unknown_cost(usage: Usage) -> None:
    assert pricing.cost(SHEET, usage) is None


def test_unknown_prices_make_an_unknown_cost() -> None:
    assert pricing.cost(None, Usage(input=1, output=1)) is None


def test_a_free_model_costs_nothing_even_where_tokens_are_unknown() -> None:
    assert pricing.cost(pricing.free("runs on this machine"), Usage()) == Decimal(0)


@given(tokens, tokens, tokens)
def test_a_cost_is_never_negative_even_where_more_is_cached_than_sent(sent: int, cached: int, output: int) -> None:
    cost = pricing.cost(SHEET, Usage(input=sent, cached=cached, output=output))
    assert cost is not None
    assert cost >= 0


@given(st.text(max_size=200), st.integers(1, 1000))
def test_the_worst_case_bounds_every_call(text: str, max_tokens: int) -> None:
    messages = [{"role": "user", "content": text}]
    most_tokens = len(text.encode("utf-8", "surrogatepass")) + pricing.TEMPLATE_TOKENS
    worst = pricing.worst_cost(SHEET, messages, max_tokens)
    cost = pricing.cost(SHEET, Usage(input=most_tokens, cached=0, output=max_tokens))
    assert worst is not None
    assert cost is not None
    assert cost <= worst


def test_without_a_limit_on_tokens_nothing_bounds_the_cost() -> None:
    assert pricing.worst_cost(SHEET, [], None) is None


def test_the_library_prices_a_known_model_and_names_its_source() -> None:
    sheet = pricing.published(model="gpt-4o-mini", endpoint="https://api.openai.com/v1")
    assert sheet is not None
    assert sheet["source"].startswith("genai-prices ")
    assert Decimal(sheet["input"]) > 0


def test_a_known_name_at_a_strange_endpoint_is_not_priced() -> None:
    assert pricing.published(model="gpt-4o-mini", endpoint="http://127.0.0.1:9/v1") is None


@pytest.mark.parametrize("amount", ["-1", "NaN", "cheap", "Infinity"])
def test_what_is_no_price_is_refused(amount: Any) -> None:
    with pytest.raises(Refused, match=r"prices\.input"):
        pricing.given(input_usd=amount, output_usd="1")
