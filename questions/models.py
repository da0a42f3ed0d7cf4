"""Tasks, questions, their immutable revisions, and the frozen suites drawn from them (design.md section 2)."""

import uuid
from typing import Any

import pgtrigger
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.db.models import Q

from questions.hashing import content_hash


class Visibility(models.TextChoices):
    PRIVATE = "private"
    SHARED = "shared"


class EvidenceLevel(models.TextChoices):
    """What a task's results are evidence about, lowest first."""

    MODEL = "model"
    RESPONSE = "response"
    INTERACTION = "interaction"
    DEPLOYMENT = "deployment"


class VisibleQuerySet(models.QuerySet[Any]):
    """For every model with ``visibility`` and ``owner``."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> "VisibleQuerySet":
        """What ``user`` may see: what is shared, and what is their own."""
        shared = Q(visibility=Visibility.SHARED)
        return self.filter(shared | Q(owner_id=user.pk)) if user.pk else self.filter(shared)


class Task(models.Model):
    """A named kind of intended work."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=80)
    name = models.CharField(max_length=120)
    summary = models.TextField(blank=True)
    success_definition = models.TextField(blank=True)
    target_population = models.TextField(blank=True)
    out_of_scope = models.TextField(blank=True)
    evidence_level = models.CharField(max_length=12, choices=EvidenceLevel, default=EvidenceLevel.RESPONSE)
    language = models.CharField(max_length=20, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="tasks",
        help_text="empty for the starter tasks that come with the platform",
    )
    visibility = models.CharField(max_length=7, choices=Visibility, default=Visibility.PRIVATE)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = VisibleQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "slug"], nulls_distinct=False, name="task_slug_once_per_owner"),
            models.CheckConstraint(condition=Q(visibility__in=Visibility.values), name="task_visibility_known"),
            models.CheckConstraint(condition=Q(evidence_level__in=EvidenceLevel.values), name="task_level_known"),
        ]

    def __str__(self) -> str:
        return self.name


class QuestionStatus(models.TextChoices):
    DRAFT = "draft"
    SCREENING = "screening"
    IN_REVIEW = "in_review"
    ACCEPTED = "accepted"
    DISPUTED = "disputed"
    RETIRED = "retired"


class Question(models.Model):
    """One contributed item of a task; what it says lies in its revisions."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="questions")
    key = models.CharField(max_length=200, help_text="the contributor's own id of the question, unique in its task")
    status = models.CharField(max_length=10, choices=QuestionStatus, default=QuestionStatus.DRAFT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "key"], name="question_key_once_per_task"),
            models.CheckConstraint(condition=Q(status__in=QuestionStatus.values), name="question_status_known"),
        ]

    def __str__(self) -> str:
        return self.key


class QuestionRevision(models.Model):
    """What a question says, for good: a change makes another revision."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    messages = models.JSONField(help_text="[{role, content}, ...] as the model receives them, before any scaffold")
    references = models.JSONField(help_text="[text, ...]: every accepted answer")
    answer_format = models.TextField(blank=True)
    grader_kind = models.CharField(max_length=40)
    grader_parameters = models.JSONField(default=dict)
    category = models.CharField(max_length=80, blank=True)
    rationale = models.TextField(blank=True, help_text="why the reference is right; never shown to a model")
    source = models.TextField(blank=True)
    licence = models.CharField(max_length=80, blank=True)
    authored_at = models.DateField(null=True)
    content_hash = models.CharField(max_length=64)
    supersedes = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="superseded_by")
    comparable_with_previous = models.BooleanField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "number"], name="revision_number_once_per_question"),
            models.CheckConstraint(condition=Q(number__gte=1), name="revision_numbers_from_one"),
        ]
        triggers = [
            # The author may be forgotten when an account is deleted; nothing that was said may change.
            pgtrigger.ReadOnly(name="revision_is_immutable", exclude=["created_by"]),
            pgtrigger.Protect(name="revision_is_kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.question_id} revision {self.number}"

    def content(self) -> dict[str, Any]:
        """What the content hash covers: all that decides what is asked and what counts as right."""
        return {
            "messages": self.messages,
            "references": self.references,
            "answer_format": self.answer_format,
            "grader_kind": self.grader_kind,
            "grader_parameters": self.grader_parameters,
        }

    def compute_hash(self) -> str:
        return content_hash(self.content())


class Suite(models.Model):
    """A frozen, content-hashed list of revisions with weights; a change makes a new version."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="suites")
    version = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["task", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["task", "version"], name="suite_version_once_per_task"),
            models.CheckConstraint(condition=Q(size__gte=1), name="suite_has_questions"),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="suite_is_frozen", exclude=["created_by"]),
            pgtrigger.Protect(name="suite_is_kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.task} v{self.version}"


class SuiteItem(models.Model):
    """One revision of a suite; positions run from 0 to size - 1."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    revision = models.ForeignKey(QuestionRevision, on_delete=models.PROTECT, related_name="suite_items")
    weight = models.FloatField(help_text="relative; weights are normalised to sum to one where they are used")

    class Meta:
        ordering = ["suite", "position"]
        constraints = [
            models.UniqueConstraint(fields=["suite", "position"], name="suite_position_once"),
            models.UniqueConstraint(fields=["suite", "revision"], name="suite_revision_once"),
            models.CheckConstraint(
                condition=Q(weight__gt=0) & Q(weight__lt=float("1e300")), name="suite_weight_positive_and_finite"
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="suite_item_is_frozen", operation=pgtrigger.Update | pgtrigger.Delete),
            # The suite states its size when it is made, and every position below it is taken by then.
            pgtrigger.Trigger(
                name="suite_takes_no_more_items",
                operation=pgtrigger.Insert,
                when=pgtrigger.Before,
                declare=[("suite_size", "integer")],
                func=(
                    "SELECT size INTO suite_size FROM questions_suite WHERE id = NEW.suite_id;"
                    "IF NEW.position >= suite_size THEN"
                    "    RAISE EXCEPTION 'suite % is frozen with % items', NEW.suite_id, suite_size;"
                    "END IF;"
                    "RETURN NEW;"
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.position} of {self.suite_id}"
