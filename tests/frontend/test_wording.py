"""What pages say in words."""

from types import SimpleNamespace
from typing import Any

import pytest

from frontend.wording import disclosure_in_words, in_words, plan_in_words, top_of


def a_row(name: str, rank: tuple[int, int]) -> Any:
    return SimpleNamespace(configuration=SimpleNamespace(name=name), rank=rank)


def test_a_certified_leader_is_called_better() -> None:
    assert top_of([a_row("a", (1, 1)), a_row("b", (2, 2))]) == (
        "a is certified better than every other ranked configuration."
    )


def test_ties_are_said_to_be_not_distinguishable() -> None:
    said = top_of([a_row("a", (1, 2)), a_row("b", (1, 2)), a_row("c", (3, 3))])
    assert said.startswith("Not distinguishable at the top: a and b.")


def test_a_leader_that_is_not_certified_against_all_is_not_called_better() -> None:
    said = top_of([a_row("a", (1, 2)), a_row("b", (2, 3)), a_row("c", (2, 3))])
    assert said == "Nobody is certified better than a, which is not certified better than all the others."


def test_nothing_is_said_of_a_single_configuration() -> None:
    assert top_of([a_row("a", (1, 1))]) == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "none"), ({}, "none"), (True, "yes"), (0, "0"), (300.0, "300"), ({"top_p": 0.9}, "top_p 0.9")],
)
def test_values_are_written_as_a_person_would(value: Any, words: str) -> None:
    assert in_words(value) == words


def test_a_field_that_is_kept_back_says_so() -> None:
    fields = disclosure_in_words({"model_snapshot": "", "region": "here", "undisclosed_fields": []}, ["model_snapshot"])
    assert fields == [("model snapshot", "not disclosed"), ("region", "here")]


def test_the_stop_rules_come_first_and_no_field_of_a_plan_is_lost() -> None:
    plan = {"seed": 5, "half_width": 0.1, "new_field": "x"}
    assert plan_in_words(plan) == [
        ("Stops when every interval is within ±", "0.1"),
        ("Seed of the draws", "5"),
        ("new_field", "x"),
    ]
