"""From parsed questions to an accepted, frozen suite, all or nothing."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction

from questions.errors import refuse
from questions.formats import ParsedQuestion, ParsedTask, read_task
from questions.hashing import content_hash
from questions.models import (
    Question,
    QuestionRevision,
    QuestionStatus,
    Suite,
    SuiteItem,
    Task,
    Visibility,
)

if TYPE_CHECKING:
    from worksample.accounts.models import User

STARTER = Path(__file__).parent / "starter"
TASK_FIELDS = (
    "name",
    "summary",
    "success_definition",
    "target_population",
    "out_of_scope",
    "evidence_level",
    "language",
)


@transaction.atomic
def import_task(*, parsed: ParsedTask, owner: "User | None", visibility: str = Visibility.PRIVATE) -> Suite:
    """Write a task with its questions and freeze them as a suite; the owner's task of that slug is brought up to date.

    A question whose content changed gets a new revision, an unchanged one keeps its own. The same content as the task's
    newest suite gives that suite again. Raises Refused for a task without questions.
    """
    if not parsed.questions:
        raise refuse(
            "questions", "", "there is no question", "Add at least one question with a prompt and a reference."
        )
    task = _task(parsed, owner, visibility)
    revisions = [_revision(task, question, owner) for question in parsed.questions]
    return freeze_suite(
        task=task,
        revisions=list(zip(revisions, [question.weight for question in parsed.questions], strict=True)),
        owner=owner,
    )


@transaction.atomic
def freeze_suite(*, task: Task, revisions: list[tuple[QuestionRevision, float]], owner: "User | None") -> Suite:
    """The suite of these revisions with these weights: the newest one if it is the same, else a new version."""
    if not revisions:
        raise refuse("suite", task.slug, "there is no accepted question", "Accept at least one question first.")
    digest = suite_hash(revisions)
    newest = task.suites.order_by("-version").first()
    if newest and newest.content_hash == digest:
        return newest
    suite = Suite.objects.create(
        task=task,
        version=newest.version + 1 if newest else 1,
        size=len(revisions),
        content_hash=digest,
        created_by=owner,
    )
    SuiteItem.objects.bulk_create(
        SuiteItem(suite=suite, position=position, revision=revision, weight=weight)
        for position, (revision, weight) in enumerate(revisions)
    )
    return suite


def suite_hash(revisions: list[tuple[QuestionRevision, float]]) -> str:
    """The content hash of a suite: that of its revisions' hashes and weights in order."""
    return content_hash([[revision.content_hash, float(weight)] for revision, weight in revisions])


def load_starter_tasks() -> list[Suite]:
    """The tasks that come with the platform, shared and owned by nobody; loading them again changes nothing."""
    folders = sorted(folder for folder in STARTER.iterdir() if (folder / "task.yaml").exists())
    return [import_task(parsed=read_task(folder), owner=None, visibility=Visibility.SHARED) for folder in folders]


def _task(parsed: ParsedTask, owner: "User | None", visibility: str) -> Task:
    """The owner's task of this slug, locked so that two imports of it cannot interleave."""
    described = {name: getattr(parsed, name) for name in TASK_FIELDS}
    found, created = Task.objects.select_for_update().get_or_create(
        owner=owner, slug=parsed.slug, defaults={**described, "visibility": visibility}
    )
    if not created:
        Task.objects.filter(pk=found.pk).update(**described)
        found.refresh_from_db()
    task: Task = found
    return task


def _revision(task: Task, parsed: ParsedQuestion, owner: "User | None") -> QuestionRevision:
    question, _ = Question.objects.get_or_create(task=task, key=parsed.id, defaults={"status": QuestionStatus.ACCEPTED})
    newest = question.revisions.order_by("-number").first()
    revision = QuestionRevision(
        question=question,
        number=newest.number + 1 if newest else 1,
        supersedes=newest,
        created_by=owner,
        **_said(parsed),
    )
    revision.content_hash = revision.compute_hash()
    if newest and _same(newest, revision):
        return newest
    revision.save()
    return revision


def _said(parsed: ParsedQuestion) -> dict[str, Any]:
    return {
        "messages": [dict(message) for message in parsed.messages],
        "references": list(parsed.references),
        "answer_format": parsed.answer_format,
        "grader_kind": parsed.grader_kind,
        "grader_parameters": dict(parsed.grader_parameters),
        "category": parsed.category,
        "rationale": parsed.rationale,
        "source": parsed.source,
        "licence": parsed.licence,
        "authored_at": parsed.authored_at,
    }


def _same(old: QuestionRevision, new: QuestionRevision) -> bool:
    fields = ("content_hash", "category", "rationale", "source", "licence", "authored_at")
    return all(getattr(old, name) == getattr(new, name) for name in fields)
