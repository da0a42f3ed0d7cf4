"""One of several labels: letters, words, phrases."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from evaluation.graders import text
from evaluation.graders.verdict import GraderError, Verdict, no_answer, refuse_unknown, verdict

_NEGATED = re.compile(
    r"(?:\bnot|\bn't|\bnever|\bneither|\bnor|\bisn't|\baren't|\bwasn't|\brather than|\binstead of|\bexcept|\bunlike)"
    r"(?:\s+(?:a|an|the|really|about|in|category|option|choice|label|answer|be|is))*\s*[\"'(*]*$",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^[\s\"'*_`#>\-(\[]*")
_JOINT = re.compile(r"[\s\"'*)\].]*(?:[,;/|&]|\bor\b|\band\b)(?:\s*(?:or|and)\b)?[\s\"'*(\[]*", re.IGNORECASE)
_NAMING = re.compile(
    r"\b(?:category|label|class|classification|option|choice|type|topic|queue)\s*(?:is|[:=])\s*", re.IGNORECASE
)


class Choice:
    """Reads the declared answer first, then the label at the start, then the first label mentioned and not negated."""

    version = "1.0.0"

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        refuse_unknown(parameters, ("labels",))
        labels = parameters.get("labels")
        if not isinstance(labels, (list, tuple)) or len(labels) < 2:
            raise GraderError(
                "parameters.labels", labels, "must list at least two labels", 'Give {"labels": ["A", "B"]}.'
            )
        seen: dict[str, str] = {}
        for label in labels:
            if not isinstance(label, str) or not _key(label):
                raise GraderError("parameters.labels", label, "is not a label", "Give texts that are not empty.")
            if _key(label) in seen:
                remedy = f"It cannot be told from {seen[_key(label)]!r}: leave one out."
                raise GraderError("parameters.labels", label, "is a label twice", remedy)
            seen[_key(label)] = label

    def check_reference(self, reference: str, parameters: Mapping[str, Any]) -> None:
        labels = parameters["labels"]
        if _key(reference) not in {_key(label) for label in labels}:
            remedy = f"Use one of: {', '.join(labels)}."
            raise GraderError("references", reference, "is not one of the labels", remedy)

    def grade(self, output: str, references: Sequence[str], parameters: Mapping[str, Any]) -> Verdict:
        said = text.without_reasoning(output)
        if said is None:
            return no_answer("the reasoning was never finished")
        labels = tuple(parameters["labels"])
        found = _find(text.plain(said), labels)
        if found is None:
            return no_answer("no label could be made out")
        label, rule = found
        correct = _key(label) in {_key(reference) for reference in references}
        return verdict(correct, label, rule, f"{label!r} {'is' if correct else 'is not'} the reference")


@lru_cache(maxsize=4096)
def _key(label: str) -> str:
    """What makes two labels the same: case, outer brackets, stops and blanks do not count."""
    return " ".join(text.plain(label).casefold().strip(" \t\n()[]{}.:;,*_`\"'“”‘’").split())


@lru_cache(maxsize=512)
def _pattern(labels: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """Any label as a whole word, longest first, so that one that holds another wins."""
    by_key = {_key(label): label for label in labels}
    keys = sorted(by_key, key=len, reverse=True)
    parts = (r"[\s_\-]+".join(re.escape(word) for word in re.split(r"[\s_\-]+", key)) for key in keys)
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)", re.IGNORECASE), by_key


def _find(said: str, labels: tuple[str, ...]) -> tuple[str, str] | None:
    pattern, by_key = _pattern(labels)
    by_words = {re.sub(r"[\s_\-]+", " ", key): label for key, label in by_key.items()}

    def label_of(matched: str) -> str:
        return by_words[re.sub(r"[\s_\-]+", " ", matched.casefold())]

    whole = by_words.get(re.sub(r"[\s_\-]+", " ", _key(said)))
    if whole is not None:
        return whole, "whole output"
    letters = all(len(key) == 1 for key in by_key)
    for rule, region in (
        ("boxed", text.last_boxed(said)),
        ("after ####", text.after_marker(said)),
        ("declared", text.declared(said)),
        ("named", _named(said)),
        ("at the start", said),
    ):
        if region is None:
            continue
        begin = _LEADING.match(region)
        assert begin is not None
        match = pattern.match(region, begin.end())
        if match and not (letters and _is_word(region, match)):
            # "billing or technical" and a list of the options leave open which of them is meant.
            joined = _JOINT.match(region, match.end())
            other = pattern.match(region, joined.end()) if joined else None
            return None if other and label_of(other[0]) != label_of(match[0]) else (label_of(match[0]), rule)
    return _mentioned(said, pattern, label_of, letters, len(labels))


def _named(said: str) -> str | None:
    matches = list(_NAMING.finditer(said))
    return said[matches[-1].end() :] if matches else None


def _is_word(region: str, match: re.Match[str]) -> bool:
    """Whether a letter stands in running text, such as the article in "A cat" or "I think"."""
    after = region[match.end() : match.end() + 2]
    return match[0].islower() if not after.strip() else bool(re.match(r"\s[a-z]|['’]", after))


def _mentioned(said: str, pattern: re.Pattern[str], label_of: Any, letters: bool, size: int) -> tuple[str, str] | None:
    mentions = []
    for match in pattern.finditer(said):
        if letters and not _is_marked(said, match):
            continue
        if _NEGATED.search(said[max(0, match.start() - 40) : match.start()]):
            continue
        mentions.append(label_of(match[0]))
    if not mentions or (size > 2 and len(set(mentions)) == size) or (size == 2 and len(set(mentions)) == 2):
        return None  # nothing, or every label: a list of the options is no answer
    if letters and len(set(mentions)) > 1:
        return mentions[-1], "last mentioned"
    return mentions[0], "first mentioned"


def _is_marked(said: str, match: re.Match[str]) -> bool:
    """Whether a single letter is set apart as a label: (B), **B**, option B, B) or B. at a line's start."""
    before, after = said[: match.start()], said[match.end() :]
    if re.search(r"[(\[*`]$", before) or re.search(
        r"\b(?:option|choice|answer|letter)\s+[\"'*]*$", before, re.IGNORECASE
    ):
        return True
    return match[0].isupper() and bool(re.match(r"[).:]", after)) and bool(re.search(r"(?:^|\n)\s*$", before))
