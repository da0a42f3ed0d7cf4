"""Verdicts: our own cases of every kind, the shared ones where they lie beside, and what no text may do."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.graders import GraderError, check_parameters, grade, grader_version, kinds

LABELS = {"labels": ["billing", "technical", "delivery"]}
LETTERS = {"labels": ["A", "B", "C", "D"]}
ML = {"unit": "mL", "rel_tol": 1e-6}
OBJECT = {"schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}
FIELDS = {"fields": {"a": {"kind": "exact"}, "b": {"kind": "numeric", "weight": 3.0}}, "partial": True}

CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("numeric", {}, "1000", "The total is $1,000.", "correct"),
    ("numeric", {}, "-3.5", "So the result is −3.5", "correct"),
    ("numeric", {}, "12", "First 13, then 14. The answer is 12.", "correct"),
    ("numeric", {}, "12", "<think>maybe 13</think> 12", "correct"),
    ("numeric", {}, "12", "<think>12", "no_answer"),
    ("numeric", {}, "12", "no idea", "no_answer"),
    ("numeric", {}, "12", "1.2", "wrong"),
    ("numeric", {"locale": "de"}, "1234.5", "1.234,5", "correct"),
    ("numeric", {}, "1.5", "1 1/2", "correct"),
    ("numeric", {}, "0.5", r"\boxed{\frac{1}{2}}", "correct"),
    ("numeric", {}, "1200000", "1.2 × 10^6", "correct"),
    ("numeric", {}, "12345678901234567890", "12345678901234567891", "wrong"),
    ("numeric", {"abs_tol": 0.1}, "1.0", "1.1", "correct"),
    ("numeric", {"sig_figs": 2}, "3.14159", "3.1", "correct"),
    ("numeric", {"sig_figs": 3}, "3.14159", "3.1", "wrong"),
    ("numeric", ML, "2.5 mL", "2500 µL", "correct"),
    ("numeric", ML, "2.5 mL", "2.5 L", "wrong"),
    ("numeric", {**ML, "unit_required": True}, "2.5 mL", "2.5", "wrong"),
    ("numeric", {"unit": "degC", "abs_tol": 0.01}, "37 degC", "310.15 K", "correct"),
    ("numeric", {}, "5", "1e999", "wrong"),
    ("numeric", {}, "5", "nan", "wrong"),
    ("choice", LABELS, "billing", "Billing.", "correct"),
    ("choice", LABELS, "billing", "This is not technical but billing", "correct"),
    ("choice", LABELS, "billing", "billing, technical, delivery", "wrong"),
    ("choice", LABELS, "billing", "I don't know", "no_answer"),
    ("choice", LABELS, "technical", "It is for billing, technical and delivery.", "no_answer"),
    ("choice", LETTERS, "B", "The correct option is (B) because A is too small.", "correct"),
    ("choice", LETTERS, "A", "A cat sat on a mat", "no_answer"),
    ("choice", LETTERS, "C", "Answer: C) Paris", "correct"),
    ("choice", {"labels": ["spam", "not spam"]}, "not spam", "This is not spam.", "correct"),
    ("exact", {}, "Paris", " Paris\n", "correct"),
    ("exact", {"normalise": ["accents", "case"]}, "café", "CAFE", "correct"),
    ("json", OBJECT, '{"n": 2}', 'Sure: {"n": 2.0} Bye', "correct"),
    ("json", OBJECT, '{"n": 2}', '{"n": true}', "wrong"),
    ("json", OBJECT, '{"n": 2}', "n = 2", "no_answer"),
    ("json", {}, '{"n": 1}', '{"n": NaN}', "wrong"),
    ("set", {}, "a, b", "- b\n- a", "correct"),
    ("list", {}, "a, b", "b, a", "wrong"),
    ("regex", {}, r"\d+", "12a", "wrong"),
    ("regex", {"search": True}, r"\d+", "12a", "correct"),
]


def outcome(kind: str, output: str, references: list[str], parameters: dict[str, Any]) -> str:
    verdict = grade(kind, output=output, references=references, parameters=parameters)
    assert (verdict.answer is None) == (not verdict.found)
    assert 0.0 <= verdict.score <= 1.0
    return "correct" if verdict.correct else "wrong" if verdict.found else "no_answer"


@pytest.mark.parametrize(("kind", "parameters", "reference", "output", "expected"), CASES)
def test_a_case_is_judged_rightly(
    kind: str, parameters: dict[str, Any], reference: str, output: str, expected: str
) -> None:
    if output == "billing, technical, delivery":
        # Listing the options must not win: whether that is no answer or a wrong one is of no account.
        assert outcome(kind, output, [reference], parameters) != "correct"
        return
    assert outcome(kind, output, [reference], parameters) == expected


def test_shared_cases_are_judged_rightly() -> None:
    """Cases of kinds that there are, where the file lies beside the checkout."""
    file = Path(__file__).resolve().parents[3] / "shared" / "cases" / "grading.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    cases = [case for case in map(json.loads, lines) if case["kind"] in kinds()]
    wrong = [
        c["id"] for c in cases if outcome(c["kind"], c["output"], c["references"], c["parameters"]) != c["expected"]
    ]
    assert wrong == []


def test_partial_credit_is_the_weighted_share_of_fields() -> None:
    verdict = grade("json", output='{"a": "x", "b": 2}', references=['{"a": "y", "b": 2}'], parameters=FIELDS)
    assert (verdict.score, verdict.correct) == (0.75, False)
    assert "a" in verdict.explanation


@pytest.mark.parametrize(
    ("kind", "parameters", "field"),
    [
        ("vibes", {}, "kind"),
        ("choice", {}, "parameters.labels"),
        ("choice", {"labels": ["a", "A"]}, "parameters.labels"),
        ("numeric", {"rel_tol": -1}, "parameters.rel_tol"),
        ("numeric", {"unit": "furlongs per nothing"}, "parameters.unit"),
        ("numeric", {"tolerance": 1}, "parameters.tolerance"),
        ("exact", {"normalise": ["vowels"]}, "parameters.normalise"),
        ("json", {"schema": {"type": "thing"}}, "parameters.schema"),
        ("json", {"fields": {"a": {"kind": "vibes"}}}, "kind"),
    ],
)
def test_bad_parameters_are_refused_by_name(kind: str, parameters: dict[str, Any], field: str) -> None:
    with pytest.raises(GraderError) as error:
        check_parameters(kind, parameters)
    assert error.value.field == field
    assert error.value.remedy


WITH_PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "choice": (LABELS, "billing"),
    "exact": ({"normalise": ["case", "punctuation"]}, "Paris"),
    "json": (OBJECT, '{"n": 1}'),
    "list": ({}, "a, b"),
    "numeric": (ML, "2.5 mL"),
    "regex": ({}, r"(a+)+b"),
    "set": ({}, "a, b"),
}


@pytest.mark.parametrize("kind", sorted(WITH_PARAMETERS))
@given(output=st.text(max_size=300))
def test_any_text_gets_the_same_verdict_twice(kind: str, output: str) -> None:
    parameters, reference = WITH_PARAMETERS[kind]
    first = grade(kind, output, [reference], parameters)
    assert first == grade(kind, output, [reference], parameters)


@pytest.mark.parametrize("kind", sorted(WITH_PARAMETERS))
@pytest.mark.parametrize(
    "output",
    [
        "[" * 10_000,
        '{"a":' * 10_000,
        "\ud800",
        "\u202e12",
        "9" * 1_000_000,
        "<think>" * 1000,
        "1 " * 100_000,
        "((((" * 5000,
    ],
)
def test_hostile_output_gets_a_verdict(kind: str, output: str) -> None:
    parameters, reference = WITH_PARAMETERS[kind]
    assert grade(kind, output, [reference], parameters).correct is False


def test_a_catastrophic_expression_ends_in_time() -> None:
    assert grade("regex", "a" * 40 + "!", [r"^(a+)+$"], {}).correct is False


@pytest.mark.parametrize("kind", sorted(WITH_PARAMETERS))
def test_every_kind_has_a_version(kind: str) -> None:
    assert grader_version(kind).count(".") == 2
