"""Several items in any order (``set``), or in the given one (``list``)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.graders import text
from evaluation.graders.verdict import GraderError, Verdict, no_answer, refuse_unknown, typed, verdict

_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)


class Items:
    """Items are told apart by the declared separators and line breaks; case and outer marks do not count."""

    version = "1.0.0"

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        refuse_unknown(parameters, ("separator",))
        separator = typed(parameters, "separator", str, ",;", 'the separating characters, such as ",;"')
        if not separator:
            raise GraderError("parameters.separator", separator, "is empty", 'Give characters such as ",;".')

    def check_reference(self, reference: str, parameters: Mapping[str, Any]) -> None:
        if not _items(reference, parameters):
            raise GraderError("references", reference, "holds no item", "Give at least one item.")

    def grade(self, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
        said = text.without_reasoning(output)
        if said is None:
            return no_answer("the reasoning was never finished")
        region = text.declared(said)
        rule = "whole output" if region is None else "declared"
        items = _items(said if region is None else region, parameters)
        if not items:
            return no_answer("no item could be made out")
        correct = any(self._same(items, _items(reference, parameters)) for reference in references)
        shown = ", ".join(items)
        return verdict(correct, shown, rule, f"{'the same items as' if correct else 'not the items of'} the reference")

    def _same(self, items: list[str], expected: list[str]) -> bool:
        return items == expected if self._ordered else set(items) == set(expected)


def _items(said: str, parameters: Mapping[str, Any]) -> list[str]:
    separators = re.escape(parameters.get("separator", ",;"))
    parts = re.split(rf"[{separators}\n]", _BULLET.sub("", text.plain(said)))
    cleaned = (" ".join(text.unmarked(part).strip("[](){}.").split()).casefold() for part in parts)
    return [part for part in cleaned if part]
