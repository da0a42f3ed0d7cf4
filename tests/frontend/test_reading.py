"""What pages say can be read in one way only."""

import re
from typing import Any

from django.test import Client

from evaluation.models import Entry, Evaluation, EvaluationStatus, StopReason
from tests.frontend.conftest import Site


def content(address: str, person: Any = None) -> str:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client.get(address).content.decode()


def test_a_configuration_has_one_colour_in_table_legend_and_chart(site: Site) -> None:
    page = content(f"/evaluations/{site.shared.pk}/")
    for entry in Entry.objects.filter(evaluation=site.shared).select_related("configuration"):
        name, style = re.escape(entry.configuration.name), f"series-{entry.position}"
        assert re.search(rf'<li class="{style}">{name}:', page)
        assert re.search(rf'{name}</a>.*?<svg class="bar ([\w-]+)"', page, re.S)[1] == style  # type: ignore[index]


def test_a_row_below_the_line_has_no_rank_on_the_task_page(site: Site) -> None:
    page = content(f"/tasks/{site.shared_task.pk}/")
    assert re.findall(r'<td class="rank">(.*?)</td>', page) == ["–", "–"]
    assert page.count("not ranked: undisclosed: training_cutoff") == 2


def test_a_cost_that_is_unknown_is_not_called_free(site: Site) -> None:
    Entry.objects.filter(evaluation=site.shared).update(cost=0, cost_unknown=150)
    page = content(f"/evaluations/{site.shared.pk}/")
    assert "<dt>Cost</dt><dd>unknown</dd>" in page


def test_a_certified_difference_names_the_better_one(site: Site) -> None:
    page = content(f"/evaluations/{site.shared.pk}/")
    assert "</strong>: model good, shared is better" in page
    assert 'class="bar difference"' in page


def test_the_chart_is_also_a_table(site: Site, outsider: Any, owner: Any) -> None:
    lines = content(f"/evaluations/{site.shared.pk}/trace.csv").splitlines()
    assert lines[0] == "configuration_id,rounds,value,lower,upper"
    assert len(lines) == 1 + Evaluation.objects.get(pk=site.shared.pk).estimates.filter(metric="score").count()


def test_the_table_of_a_private_chart_does_not_exist_for_an_outsider(site: Site, outsider: Any, owner: Any) -> None:
    address = f"/evaluations/{site.private.pk}/trace.csv"
    client = Client()
    client.force_login(outsider)
    assert client.get(address).status_code == 404
    client.force_login(owner)
    assert client.get(address).status_code == 200


def test_a_page_in_motion_asks_again_until_the_evaluation_ends(site: Site) -> None:
    found = Evaluation.objects.filter(pk=site.shared.pk)
    found.update(status=EvaluationStatus.RUNNING, stop_reason="")
    address = f"/evaluations/{site.shared.pk}/live/"
    running = Client().get(address)
    assert 'hx-trigger="every 2s"' in running.content.decode()
    assert "HX-Refresh" not in running.headers
    found.update(status=EvaluationStatus.FINISHED, stop_reason=StopReason.TRIALS)
    finished = Client().get(address)
    assert "hx-get" not in finished.content.decode()
    assert finished.headers["HX-Refresh"] == "true"


def test_turning_the_page_keeps_what_was_sought(site: Site, owner: Any) -> None:
    page = content(f"/evaluations/{site.private.pk}/trials/?outcome=answered", owner)
    assert 'href="?outcome=answered&amp;page=2"' in page


def test_tasks_are_listed_by_name(site: Site, owner: Any) -> None:
    client = Client()
    client.force_login(owner)
    page = client.get("/tasks/").context["page"]
    assert [task.name for task in page] == ["Task private-sums", "Task shared-sums"]
    assert page.paginator.object_list.ordered
