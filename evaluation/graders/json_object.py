"""A JSON value: against a schema, and against the reference as a whole or field by field."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import jsonschema

from evaluation.graders import text
from evaluation.graders.verdict import GraderError, Verdict, no_answer, refuse_unknown, typed, verdict

_FENCE = re.compile(r"```(?:json|JSON)?\s*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
# More candidates than this make a text, not an answer.
MOST_CANDIDATES = 50
DEEPEST = 100


class InvalidJson(ValueError):
    """Something meant as JSON that is none."""


class Json:
    """Without ``fields`` the value must equal the reference; with ``fields`` each is graded by its own rule."""

    version = "1.0.0"

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        from evaluation.graders import check_parameters

        refuse_unknown(parameters, ("schema", "fields", "partial"))
        schema = typed(parameters, "schema", Mapping, None, "a JSON schema")
        if schema is not None:
            try:
                jsonschema.Draft202012Validator.check_schema(schema)
            except jsonschema.SchemaError as error:
                remedy = "Give a valid JSON Schema (2020-12)."
                raise GraderError("parameters.schema", error.message, "is not a schema", remedy) from None
        typed(parameters, "partial", bool, False, "true or false")
        fields = typed(parameters, "fields", Mapping, {}, '{"name": {"kind": "exact"}}')
        for name, rule in fields.items():
            if not isinstance(rule, Mapping) or not isinstance(rule.get("kind"), str):
                raise GraderError(
                    f"parameters.fields.{name}", rule, "names no kind of grader", 'Give {"kind": "exact"}.'
                )
            refuse_unknown(rule, ("kind", "parameters", "weight"))
            weight = rule.get("weight", 1.0)
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
                remedy = "Give a positive number."
                raise GraderError(f"parameters.fields.{name}.weight", weight, "is not a weight", remedy)
            check_parameters(rule["kind"], rule.get("parameters", {}))

    def check_reference(self, reference: str, parameters: Mapping[str, Any]) -> None:
        value = _reference(reference)
        for name in parameters.get("fields", {}):
            if not isinstance(value, dict) or name not in value:
                raise GraderError("references", reference, f"lacks the field {name!r}", "Give every graded field.")
        if (schema := parameters.get("schema")) is not None and (flaw := _flaw(value, schema)):
            raise GraderError(
                "references", reference, f"breaks the schema: {flaw}", "Mend the reference or the schema."
            )

    def grade(self, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
        said = text.without_reasoning(output)
        if said is None:
            return no_answer("the reasoning was never finished")
        found = _find(said)
        if found is None:
            return no_answer("nothing like JSON could be made out")
        answer, value, flaw, rule = found
        if flaw:
            return verdict(False, answer, rule, f"not JSON: {flaw}")
        if (schema := parameters.get("schema")) is not None and (flaw := _flaw(value, schema)):
            return verdict(False, answer, rule, f"breaks the schema: {flaw}")
        if not parameters.get("fields"):
            correct = any(same(value, _reference(reference)) for reference in references)
            return verdict(correct, answer, rule, f"{'equals' if correct else 'equals no'} reference")
        scored = [_by_fields(value, _reference(reference), parameters["fields"]) for reference in references]
        score, wrong = max(scored, key=lambda pair: pair[0])
        correct = not wrong
        explanation = "every field agrees" if correct else f"wrong: {', '.join(wrong)}"
        kept = score if parameters.get("partial", False) or correct else 0.0
        return Verdict(1.0 if correct else kept, correct, answer, True, rule, explanation)


def same(first: Any, second: Any) -> bool:
    """Equality of JSON values: 2.0 equals 2, true does not equal 1, keys may come in any order."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(value, second[key]) for key, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return (type(first) in (int, float) and type(second) in (int, float) and first == second) or (
        type(first) is type(second) and first == second
    )


def _by_fields(value: Any, reference: Any, fields: Mapping[str, Any]) -> tuple[float, list[str]]:
    """The weighted share of fields that agree, and the names of those that do not."""
    from evaluation.graders import grade

    wrong, right, total = [], 0.0, 0.0
    for name, rule in fields.items():
        weight = float(rule.get("weight", 1.0))
        total += weight
        if not isinstance(value, dict) or name not in value:
            wrong.append(f"{name} (missing)")
            continue
        said, expected = value[name], reference[name]
        if same(said, expected):
            right += weight
            continue
        verdict_ = grade(
            rule["kind"], output=_as_text(said), references=[_as_text(expected)], parameters=rule.get("parameters", {})
        )
        right += weight * verdict_.score
        if not verdict_.correct:
            wrong.append(name)
    return right / total, wrong


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


@lru_cache(maxsize=4096)
def _reference(reference: str) -> Any:
    try:
        return _parsed(reference)
    except InvalidJson as error:
        raise GraderError("references", reference, f"is not JSON: {error}", "Give a JSON value.") from None


def _find(said: str) -> tuple[str, Any, str, str] | None:
    """(answer, value, flaw, rule): the whole output, else a fenced block, else the first value that parses."""
    whole = said.strip()
    if whole[:1] in ("{", "["):
        try:
            return whole, _parsed(whole), "", "whole output"
        except InvalidJson:
            pass
    for block in reversed(_FENCE.findall(said)):
        try:
            return block.strip(), _parsed(block.strip()), "", "fenced block"
        except InvalidJson:
            continue
    flaw, first = "", ""
    for start in [match.start() for match in _OPENING.finditer(said)][:MOST_CANDIDATES]:
        try:
            value, end = _decoder().raw_decode(said, start)
            return said[start:end], value, "", "first JSON value"
        except (InvalidJson, ValueError, RecursionError) as error:
            first = first or said[start:]
            flaw = flaw or str(error)[:200]
    return (first[:10_000], None, flaw, "first JSON value") if flaw else None


def _parsed(said: str) -> Any:
    try:
        value, end = _decoder().raw_decode(said)
    except InvalidJson:
        raise
    except RecursionError:
        raise InvalidJson("nested too deeply") from None
    except ValueError as error:
        raise InvalidJson(str(error)) from None
    if said[end:].strip():
        raise InvalidJson(f"text after the value, at character {end}")
    return value


@lru_cache(maxsize=1)
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_constant)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise InvalidJson("a key stands twice")
    return value


def _no_constant(name: str) -> Any:
    raise InvalidJson(f"{name} is not JSON")


def _flaw(value: Any, schema: Mapping[str, Any]) -> str:
    error = jsonschema.exceptions.best_match(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value))
    return "" if error is None else error.message[:200]


@lru_cache(maxsize=256)
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema))
