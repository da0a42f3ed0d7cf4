"""The pages: each reads, and hands to a template."""

import csv
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from knox.models import AuthToken

from evaluation.engine import lifecycle
from evaluation.leaderboard import leaderboard as leaderboard_rows
from evaluation.models import Configuration, Evaluation, EvaluationStatus, Outcome, StopReason
from evaluation.selectors import conclusion, differences, progress, standings, trace
from frontend.charts import Line, trace_chart
from frontend.glossary import GLOSSARY
from frontend.wording import disclosure_in_words, plan_in_words, top_of
from questions.errors import Refused
from questions.models import Task
from worksample.accounts import login_links
from worksample.accounts.models import ProviderCredential, User

PER_PAGE = 25
SHOWN_QUESTIONS = 5
# Evaluations whose page goes on changing by itself.
MOVING = (EvaluationStatus.REGISTERED, EvaluationStatus.RUNNING)


def front(request: HttpRequest) -> HttpResponse:
    tasks = Task.objects.visible_to(request.user)[:12]
    boards = [(task, leaderboard_rows(task, request.user)[:3]) for task in tasks]
    newest = Evaluation.objects.visible_to(request.user).select_related("suite__task")[:6]
    return render(request, "frontend/front.html", {"boards": boards, "evaluations": newest})


def tasks(request: HttpRequest) -> HttpResponse:
    sought = request.GET.get("q", "").strip()
    found = Task.objects.visible_to(request.user).annotate(size=Count("questions")).order_by("name", "pk")
    if sought:
        found = found.filter(Q(name__icontains=sought) | Q(summary__icontains=sought))
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "frontend/tasks.html", {"page": page, "sought": sought})


def task(request: HttpRequest, task_id: UUID) -> HttpResponse:
    found = get_object_or_404(Task.objects.visible_to(request.user), pk=task_id)
    suite = found.suites.order_by("-version").first()
    items = suite.items.select_related("revision__question")[:SHOWN_QUESTIONS] if suite else []
    context = {
        "task": found,
        "suite": suite,
        "items": items,
        # References are for those who contributed them: shown to all, they end up in training data.
        "shows_references": _may_see_texts(request, found),
        "rows": leaderboard_rows(found, request.user)[:5],
    }
    return render(request, "frontend/task.html", context)


def leaderboard(request: HttpRequest, task_id: UUID) -> HttpResponse:
    found = get_object_or_404(Task.objects.visible_to(request.user), pk=task_id)
    rows = leaderboard_rows(found, request.user)
    ranked = [row for row in rows if not row.listed_below]
    context = {
        "task": found,
        "ranked": ranked,
        "top": top_of(ranked),
        "below": [row for row in rows if row.listed_below],
    }
    return render(request, "frontend/leaderboard.html", context)


def evaluations(request: HttpRequest) -> HttpResponse:
    found = Evaluation.objects.visible_to(request.user).select_related("suite__task").prefetch_related("configurations")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "frontend/evaluations.html", {"page": page})


def evaluation(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    found = _evaluation(request, evaluation_id)
    context = {
        **_live(found),
        "plan": plan_in_words(found.plan),
        "may_steer": _may_see_texts(request, found),
    }
    return render(request, "frontend/evaluation.html", context)


def evaluation_live(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    """The part of the page that changes while the evaluation runs."""
    found = _evaluation(request, evaluation_id)
    response = render(request, "frontend/parts/live.html", _live(found))
    if found.status not in MOVING:
        # Once more in full: what its owner may do with it has changed.
        response["HX-Refresh"] = "true"
    return response


def evaluation_trace(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    """The data of the chart, for whoever would rather read or recompute than look."""
    found = _evaluation(request, evaluation_id)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="trace.csv"'
    rows = csv.writer(response)
    rows.writerow(["configuration_id", "rounds", "value", "lower", "upper"])
    for id_, points in trace(found).items():
        rows.writerows([id_, p.rounds, p.value, p.lower, p.upper] for p in points)
    return response


@login_required
@require_POST
def evaluation_move(request: HttpRequest, evaluation_id: UUID, move: str) -> HttpResponse:
    found = _evaluation(request, evaluation_id)
    if not _may_see_texts(request, found):
        raise Http404
    moves = {"cancel": lifecycle.cancel, "resume": lifecycle.resume}
    try:
        moves[move](found.pk)
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect("evaluation", evaluation_id)


@login_required
def trials(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    found = _evaluation(request, evaluation_id)
    if not _may_see_texts(request, found):
        raise Http404
    outcome = request.GET.get("outcome", "")
    shown = found.trials.select_related("output", "configuration").prefetch_related("verdicts").order_by("-sequence")
    if outcome in Outcome.values:
        shown = shown.filter(outcome=outcome)
    page = Paginator(shown, PER_PAGE).get_page(request.GET.get("page"))
    context = {"evaluation": found, "page": page, "outcome": outcome, "outcomes": Outcome.choices}
    return render(request, "frontend/trials.html", context)


def configuration(request: HttpRequest, configuration_id: int) -> HttpResponse:
    found = get_object_or_404(
        Configuration.objects.visible_to(request.user).select_related("scaffold"), pk=configuration_id
    )
    fields = disclosure_in_words({**found.disclosure(), "prices": found.prices}, found.undisclosed_fields)
    entered = Evaluation.objects.visible_to(request.user).filter(configurations=found).select_related("suite__task")
    context = {"configuration": found, "fields": fields, "evaluations": entered[:PER_PAGE]}
    return render(request, "frontend/configuration.html", context)


def help_(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/help.html", {"glossary": GLOSSARY})


def token_link(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for a click before the link is used up: mail and chat programs fetch links to preview them."""
    if request.method != "POST":
        return render(request, "frontend/token_link.html")
    user = login_links.redeem(token)
    if user is None:
        return render(request, "frontend/token_link.html", {"is_void": True}, status=410)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("front")


@login_required
def account(request: HttpRequest) -> HttpResponse:
    person = cast(User, request.user)
    token = None
    if request.method == "POST":
        action = request.POST.get("action")
        if action == "new-token":
            token = AuthToken.objects.create(person)[1]
        elif action == "drop-token":
            AuthToken.objects.filter(user=person, token_key=request.POST.get("key", "")).delete()
        elif action == "drop-credential":
            ProviderCredential.objects.filter(owner=person, name=request.POST.get("name", "")).delete()
    context = {
        "token": token,
        "tokens": AuthToken.objects.filter(user=person).order_by("-created"),
        "credentials": ProviderCredential.objects.filter(owner=person).order_by("name"),
    }
    response = render(request, "frontend/account.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _evaluation(request: HttpRequest, evaluation_id: UUID) -> Evaluation:
    visible = Evaluation.objects.visible_to(request.user).select_related("suite__task")
    found: Evaluation = get_object_or_404(visible, pk=evaluation_id)
    return found


def _may_see_texts(request: HttpRequest, owned: Any) -> bool:
    """Owners and staff see references and outputs, and steer runs."""
    return bool(request.user.is_staff or (request.user.pk is not None and owned.owner_id == request.user.pk))


def _live(found: Evaluation) -> dict[str, Any]:
    rows = standings(found)
    points = trace(found)
    entered = sorted(rows, key=lambda s: s.entry.position)
    lines = [
        Line(s.configuration.name, s.entry.position, points[s.configuration.pk])
        for s in entered
        if points.get(s.configuration.pk)
    ]
    return {
        "evaluation": found,
        "is_moving": found.status in MOVING,
        "is_running": found.status == EvaluationStatus.RUNNING,
        "waits": found.status == EvaluationStatus.RUNNING and not found.leases.exists(),
        "progress": progress(found),
        "standings": rows,
        "differences": differences(found),
        "conclusion": conclusion(found),
        "stop_reason": StopReason(found.stop_reason).label if found.stop_reason else "",
        "chart": trace_chart(lines),
        "lines": lines,
    }
