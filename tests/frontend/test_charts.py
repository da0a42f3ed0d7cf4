"""The trace of confidence sequences, drawn."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.selectors import TracePoint
from frontend.charts import MOST_POINTS, MOST_TICKS, Line, round_ticks, trace_chart

SVG = "{http://www.w3.org/2000/svg}"


def a_line(name: str, position: int, rounds: int) -> Line:
    return Line(name, position, [TracePoint(i, 0.5, 0.25, 0.75) for i in range(1, rounds + 1)])


def test_the_chart_says_in_words_where_each_interval_ended() -> None:
    chart = ElementTree.fromstring(trace_chart([a_line("one", 0, 3), a_line("two", 1, 3)]))
    assert chart.findtext(f"{SVG}desc") == (
        "one: from 0.25 to 0.75 after 3 rounds; two: from 0.25 to 0.75 after 3 rounds"
    )


def test_a_chart_of_nothing_says_so() -> None:
    assert ElementTree.fromstring(trace_chart([])).findtext(f"{SVG}desc") == "no round is complete yet"


def test_a_name_is_never_markup() -> None:
    chart = trace_chart([a_line("<script>x</script>", 0, 3)])
    assert "<script>" not in chart


def test_a_long_trace_is_thinned_and_keeps_its_end() -> None:
    chart = ElementTree.fromstring(trace_chart([a_line("one", 0, 1999)]))
    points = chart.find(f"{SVG}polyline").attrib["points"].split()  # type: ignore[union-attr]
    assert len(points) <= MOST_POINTS + 1
    assert points[-1].startswith("708.0,")


@pytest.mark.parametrize(("last", "ticks"), [(0, []), (1, [0, 1]), (4, [0, 1, 2, 3, 4]), (150, [0, 50, 100, 150])])
def test_ticks_are_round_numbers(last: int, ticks: list[int]) -> None:
    assert round_ticks(last) == ticks


@given(st.integers(1, 10**7))
def test_ticks_are_few_and_never_repeated(last: int) -> None:
    ticks = round_ticks(last)
    assert 2 <= len(ticks) == len(set(ticks)) <= MOST_TICKS + 1
    assert ticks[-1] <= last
