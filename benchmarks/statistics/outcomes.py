"""Real outcomes, item by item, as matrices of scores in [0, 1]: one row an item, one column a system."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evaluation.statistics.checks import Floats

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "outcomes"


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def mmlu() -> tuple[list[str], Floats]:
    """Answers of ten systems; an answer that is not the letter of the key is wrong."""
    keys = {row["item"]: row["key"].strip() for row in _rows("mmlu/questions.csv")}
    answers = list(_rows("mmlu/answers.csv"))
    systems = [name for name in answers[0] if name != "item"]

    def is_right(item: str, answer: str) -> bool:
        key = keys[item]
        return answer.strip() == ("ABCD"[int(key)] if key.isdigit() else key)

    return systems, np.array([[float(is_right(row["item"], row[s])) for s in systems] for row in answers])


def gsm8k() -> tuple[list[str], Floats]:
    rows = list(_rows("gsm8k/outcomes.csv"))
    systems = [name for name in rows[0] if name != "item"]
    return systems, np.array([[float(row[s]) for s in systems] for row in rows])


def farel() -> tuple[list[str], Floats]:
    """Configurations of FaReL in several languages, whose questions are translations of each other."""
    scores = {
        (row["config_id"], row["item_id"].rpartition("-")[2]): float(row["correct"])
        for row in _rows("farel/results.csv")
    }
    systems = sorted({system for system, _ in scores})
    items = sorted(set.intersection(*({i for s, i in scores if s == system} for system in systems)))
    return systems, np.array([[scores[s, i] for s in systems] for i in items])


def _repeated(name: str, field: str) -> dict[str, dict[str, list[float]]]:
    tries: dict[str, dict[str, list[float]]] = {}
    for row in _rows(name):
        if row[field]:
            tries.setdefault(row["config_id"], {}).setdefault(row["item_id"], []).append(float(row[field]))
    return tries


def _tries(tries: dict[str, dict[str, list[float]]], least: int) -> tuple[list[str], list[list[Floats]]]:
    """Per system, per item, its tries: systems that tried all items at least so often."""
    count = max(len(items) for items in tries.values())
    systems = sorted(
        s for s, items in tries.items() if len(items) == count and min(len(t) for t in items.values()) >= least
    )
    return systems, [[np.array(tries[s][i]) for i in sorted(tries[s])] for s in systems]


def game24() -> tuple[list[str], list[list[Floats]]]:
    """A hundred tries of each of a hundred items, by two prompts."""
    return _tries(_repeated("game24/game24_gpt4_repeated_samples.csv", "correct"), 100)


def misguided_attention() -> tuple[list[str], list[list[Floats]]]:
    """Scores in [0, 1] of five tries of each item."""
    return _tries(_repeated("misguided_attention/misguided_attention_long.csv", "score"), 5)
