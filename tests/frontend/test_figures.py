"""Numbers as pages show them."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.selectors import UNKNOWN, Figure
from frontend.templatetags.figures import bounds, difference_bar, interval_bar, mishaps, money, rank, share, value


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (Figure(0.7512, 0.6, 0.9), "0.75"),
        (Figure(0.7512, 0.74, 0.76), "0.751"),
        (Figure(0.7512, 0.75119, 0.75121), "0.7512"),
        (Figure(31.6, 10.0, 60.0), "32"),
    ],
)
def test_a_number_has_as_many_digits_as_its_interval_allows(figure: Figure, shown: str) -> None:
    assert value(figure) == shown


def test_what_is_unknown_is_a_dash_without_bounds() -> None:
    assert value(UNKNOWN) == "–"
    assert bounds(UNKNOWN) == ""


def test_an_upper_bound_that_is_not_known_is_said_to_be_unknown() -> None:
    assert bounds(Figure(1.2, 0.8, None)) == "0.80 to unknown"


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(None, "unknown"), (0, "free"), ("3.456", "$3.46"), ("0.0123", "$0.012"), ("0.00000012", "$0.00000012")],
)
def test_money_is_unknown_free_or_an_amount(amount: Any, shown: str) -> None:
    assert money(None if amount is None else Decimal(amount)) == shown


@given(st.decimals(min_value="0.0000000001", max_value=1000, places=10))
def test_no_cost_is_ever_shown_as_nothing(amount: Decimal) -> None:
    shown = money(amount)
    assert shown.startswith("$")
    assert Decimal(shown[1:]) > 0


def test_a_rank_set_shows_its_first_and_last_rank() -> None:
    assert [rank((1, 1)), rank((1, 3)), rank(None)] == ["1", "1–3", "–"]


def test_a_small_share_is_not_rounded_to_nothing() -> None:
    assert [share(0, 300), share(1, 300), share(150, 300), share(0, 0)] == ["0 %", "under 1 %", "50 %", "–"]


def test_only_mishaps_that_happened_are_named() -> None:
    entry = SimpleNamespace(void=5, cut=19, refused=0, empty=0, too_slow=0, no_answer=1)
    standing: Any = SimpleNamespace(entry=entry, trials=100, answered=95)
    assert mishaps(standing) == ["5 % void", "20 % cut", "1 % without an answer"]


def test_an_unknown_interval_is_drawn_over_the_whole_scale_without_a_dot() -> None:
    drawn = interval_bar(UNKNOWN)
    assert 'class="reach" x1="2.0" x2="118.0"' in drawn
    assert "<circle" not in drawn


def test_a_difference_of_nothing_is_drawn_at_the_mark_of_zero() -> None:
    assert '<circle cx="60.0"' in difference_bar(Figure(0.0, -0.1, 0.1))
