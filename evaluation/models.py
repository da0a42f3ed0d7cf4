"""Configurations, evaluations and the log of their rounds and trials (design.md section 2).

The log of an evaluation is the union of its rounds (draws) and trials (results), in the order of ``sequence``: all
figures can be recomputed from it alone, to the last bit.
"""

import uuid
from decimal import Decimal
from typing import Any

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q

from questions.hashing import content_hash
from questions.models import Suite, Visibility, VisibleQuerySet


class Scaffold(models.Model):
    """A versioned protocol around the model: what is sent besides the question itself."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="scaffolds")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField(default=1)
    description = models.TextField(blank=True)
    messages = models.JSONField(default=list, help_text="[{role, content}, ...] put before the question's messages")
    content_hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "content_hash"], nulls_distinct=False, name="scaffold_once"),
            models.UniqueConstraint(
                fields=["owner", "name", "version"], nulls_distinct=False, name="scaffold_version_once"
            ),
        ]
        triggers = [pgtrigger.ReadOnly(name="scaffold_is_immutable", exclude=["owner"])]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class Configuration(models.Model):
    """The disclosed system under test, identified by the hash of all that it discloses.

    ``name`` (a label), ``credential`` and ``concurrency`` (how it is reached, not what it is) stay outside the hash.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="configurations"
    )
    visibility = models.CharField(max_length=7, choices=Visibility, default=Visibility.PRIVATE)
    name = models.CharField(max_length=120)
    content_hash = models.CharField(max_length=64)

    provider = models.CharField(max_length=40, help_text="which API protocol is spoken: see evaluation.providers")
    model = models.CharField(max_length=200, help_text="the model id as requested")
    model_snapshot = models.CharField(max_length=200, blank=True)
    endpoint = models.URLField(max_length=500)
    region = models.CharField(max_length=80, blank=True)
    scaffold = models.ForeignKey(Scaffold, on_delete=models.PROTECT, null=True, related_name="configurations")
    decoding = models.JSONField(default=dict, help_text="temperature, top_p, max_tokens, seed, stop, ...")
    reasoning_effort = models.CharField(max_length=20, blank=True)
    tools = models.JSONField(default=list)
    time_limit_s = models.FloatField(null=True, help_text="an answer that takes longer is the configuration's failure")
    harness_version = models.CharField(max_length=40)
    prices = models.JSONField(
        null=True, help_text="{currency, input, cached_input, output, per, source, dated}; empty where unknown"
    )
    training_cutoff = models.DateField(null=True)
    available_to_public = models.BooleanField(null=True)
    submitter_relationship = models.CharField(max_length=200, blank=True)
    undisclosed_fields = models.JSONField(default=list)

    credential = models.ForeignKey("accounts.ProviderCredential", on_delete=models.SET_NULL, null=True)
    concurrency = models.PositiveIntegerField(default=8, help_text="calls in flight at most")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = VisibleQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "content_hash"], nulls_distinct=False, name="configuration_once"),
            models.CheckConstraint(condition=Q(concurrency__gte=1), name="configuration_concurrency_positive"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="configuration_is_immutable",
                exclude=["owner", "visibility", "name", "credential", "concurrency"],
            )
        ]

    def __str__(self) -> str:
        return self.name

    def disclosure(self) -> dict[str, Any]:
        """All that is hashed. The day of the price sheet is left out: prices that stay the same are no change."""
        prices = None if self.prices is None else {k: v for k, v in self.prices.items() if k != "dated"}
        return {
            "provider": self.provider,
            "model": self.model,
            "model_snapshot": self.model_snapshot,
            "endpoint": self.endpoint,
            "region": self.region,
            "scaffold": self.scaffold.content_hash if self.scaffold else None,
            "decoding": self.decoding,
            "reasoning_effort": self.reasoning_effort,
            "tools": self.tools,
            "time_limit_s": self.time_limit_s,
            "harness_version": self.harness_version,
            "prices": prices,
            "training_cutoff": self.training_cutoff.isoformat() if self.training_cutoff else None,
            "available_to_public": self.available_to_public,
            "submitter_relationship": self.submitter_relationship,
            "undisclosed_fields": self.undisclosed_fields,
        }

    def compute_hash(self) -> str:
        return content_hash(self.disclosure())


class EvaluationStatus(models.TextChoices):
    REGISTERED = "registered"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FINISHED = "finished"


class StopReason(models.TextChoices):
    """Why an evaluation ended; the plan's own rules and nothing else finish one."""

    PRECISION = "precision", "every interval is as narrow as the plan asks"
    TRIALS = "trials", "the budget of trials is spent"
    MONEY = "money", "the budget of money does not cover another round"
    TIME = "time", "the time allowed is over"


class Evaluation(models.Model):
    """A request to measure configurations on one suite under a plan that was registered before the first trial."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="evaluations")
    visibility = models.CharField(max_length=7, choices=Visibility, default=Visibility.PRIVATE)
    name = models.CharField(max_length=200)
    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="evaluations")
    configurations = models.ManyToManyField(Configuration, through="Entry", related_name="evaluations")
    plan = models.JSONField()
    plan_hash = models.CharField(max_length=64)
    graders = models.JSONField(help_text="{kind: version} of every grader the suite uses, as of registration")
    registered_at = models.DateTimeField(auto_now_add=True)

    status = models.CharField(max_length=10, choices=EvaluationStatus, default=EvaluationStatus.REGISTERED)
    status_reason = models.TextField(blank=True, help_text="why it is paused, in words with the remedy")
    stop_reason = models.CharField(max_length=9, choices=StopReason, blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    seconds_run = models.FloatField(default=0.0, help_text="with a worker on it; pauses do not count")
    queued_at = models.DateTimeField(null=True, help_text="when a worker was last asked for")

    log_length = models.BigIntegerField(default=0, help_text="the next free sequence number of the log")
    rounds_drawn = models.PositiveIntegerField(default=0)
    rounds_consumed = models.PositiveIntegerField(default=0)
    cost_unreported = models.DecimalField(
        max_digits=20,
        decimal_places=10,
        default=Decimal(0),
        help_text="what calls may have cost that nobody reported (lost with a worker, without usage), at worst",
    )

    objects = VisibleQuerySet.as_manager()

    class Meta:
        ordering = ["-registered_at"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=EvaluationStatus.values), name="evaluation_status_known"),
            models.CheckConstraint(
                condition=Q(status=EvaluationStatus.FINISHED) ^ Q(stop_reason=""), name="evaluation_finished_by_a_rule"
            ),
            models.CheckConstraint(
                condition=Q(rounds_consumed__lte=F("rounds_drawn")), name="evaluation_consumes_what_was_drawn"
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="registered_plan_is_immutable", fields=["suite", "plan", "plan_hash", "graders", "registered_at"]
            )
        ]

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    """One configuration in one evaluation, with running totals that equal what its trials sum up to."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="entries")
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="entries")
    position = models.PositiveIntegerField()

    trials = models.PositiveIntegerField(default=0)
    void = models.PositiveIntegerField(default=0)
    score_sum = models.FloatField(default=0.0)
    cut = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    empty = models.PositiveIntegerField(default=0)
    too_slow = models.PositiveIntegerField(default=0)
    no_answer = models.PositiveIntegerField(default=0)
    tokens_input = models.BigIntegerField(default=0)
    tokens_output = models.BigIntegerField(default=0)
    tokens_unknown = models.PositiveIntegerField(default=0, help_text="trials whose tokens nobody reported")
    cost = models.DecimalField(max_digits=20, decimal_places=10, default=Decimal(0))
    cost_unknown = models.PositiveIntegerField(default=0, help_text="trials whose cost is unknown, which is not zero")
    cost_failed = models.DecimalField(
        max_digits=20, decimal_places=10, default=Decimal(0), help_text="of failed and retried calls, at worst"
    )
    failed_calls = models.JSONField(default=dict, help_text="{class of fault: how many calls met it}")

    class Meta:
        ordering = ["evaluation", "position"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "configuration"], name="entry_once_per_configuration"),
            models.UniqueConstraint(fields=["evaluation", "position"], name="entry_position_once"),
        ]

    def __str__(self) -> str:
        return f"{self.configuration_id} in {self.evaluation_id}"


class Lease(models.Model):
    """A worker's hold on the rounds that it has in flight; one that is not renewed lapses and others take over."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="leases")
    worker = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.worker} on {self.evaluation_id}"


class Round(models.Model):
    """One draw: one question put to every configuration of an evaluation."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    sequence = models.BigIntegerField(help_text="place in the evaluation's log")
    position = models.PositiveIntegerField(help_text="of the drawn item in the suite")
    probability = models.FloatField(help_text="of that item under the law at the draw")
    reserved = models.DecimalField(
        max_digits=20, decimal_places=10, null=True, help_text="worst-case cost while in flight; empty if unknown"
    )
    lease = models.ForeignKey(Lease, on_delete=models.SET_NULL, null=True, related_name="rounds")
    complete = models.BooleanField(default=False)
    drawn_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["evaluation", "number"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "number"], name="round_number_once"),
            models.UniqueConstraint(fields=["evaluation", "sequence"], name="round_sequence_once"),
            models.CheckConstraint(condition=Q(probability__gt=0, probability__lte=1), name="round_probability"),
        ]
        indexes = [
            models.Index(fields=["evaluation", "number"], condition=Q(complete=False), name="round_open"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="drawn_round_is_immutable",
                fields=["evaluation", "number", "sequence", "position", "probability", "drawn_at"],
            )
        ]

    def __str__(self) -> str:
        return f"round {self.number} of {self.evaluation_id}"


class Outcome(models.TextChoices):
    """How a trial ended (the table of design.md section 4); all but void are results of the configuration."""

    ANSWERED = "answered"
    CUT = "cut", "cut at the token limit"
    REFUSED = "refused", "refused or filtered"
    EMPTY = "empty", "empty answer"
    TOO_SLOW = "too_slow", "slower than the configuration's time limit"
    VOID = "void", "void: no answer could be had"


class Trial(models.Model):
    """One try at one question by one configuration, as it was recorded and for good."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="trials")
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="trials")
    round_number = models.PositiveIntegerField()
    try_number = models.PositiveSmallIntegerField()
    sequence = models.BigIntegerField(help_text="place in the evaluation's log")
    outcome = models.CharField(max_length=8, choices=Outcome)
    score = models.FloatField(null=True, help_text="by the registered grader; empty if and only if void")
    fault = models.CharField(max_length=40, blank=True, help_text="the class of fault that made it void")
    finish_reason = models.CharField(max_length=40, blank=True)
    returned_model = models.CharField(max_length=200, blank=True)
    tokens_input = models.IntegerField(null=True)
    tokens_cached = models.IntegerField(null=True)
    tokens_reasoning = models.IntegerField(null=True)
    tokens_output = models.IntegerField(null=True)
    cost = models.DecimalField(
        max_digits=20, decimal_places=10, null=True, help_text="of the call that succeeded; empty where unknown"
    )
    first_token_s = models.FloatField(null=True)
    latency_s = models.FloatField(null=True, help_text="of the call that succeeded, waiting and retries left out")
    queue_s = models.FloatField(null=True, help_text="from the draw to the first call")
    retry_s = models.FloatField(default=0.0, help_text="spent in failed calls and in waiting between calls")
    loop_lag_s = models.FloatField(null=True, help_text="how late the event loop ran while this call was in flight")
    failed_calls = models.JSONField(null=True, help_text="{class of fault: how many calls met it}")
    recorded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["evaluation", "sequence"]
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "configuration", "round_number", "try_number"], name="trial_once"
            ),
            models.UniqueConstraint(fields=["evaluation", "sequence"], name="trial_sequence_once"),
            models.CheckConstraint(
                condition=Q(outcome=Outcome.VOID, score__isnull=True)
                # A comparison with NULL is not false, so that "not empty" must be said.
                | (~Q(outcome=Outcome.VOID) & Q(score__isnull=False, score__gte=0, score__lte=1)),
                name="trial_void_or_scored",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="recorded_trial_is_immutable", operation=pgtrigger.Update),
            pgtrigger.Protect(name="recorded_trial_is_kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.evaluation_id}/{self.configuration_id}/{self.round_number}/{self.try_number}"


class Output(models.Model):
    """The raw text that a trial brought, apart from the slim trial."""

    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, primary_key=True, related_name="output")
    text = models.TextField()

    def __str__(self) -> str:
        return f"output of trial {self.trial_id}"


class UngradedAnswer(models.Model):
    """An answer whose grader failed: kept until a mended grader takes it up, so that nobody is asked twice."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="ungraded_answers")
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="+")
    round_number = models.PositiveIntegerField()
    try_number = models.PositiveSmallIntegerField()
    answer = models.JSONField(help_text="all that the trial will record but its verdict")
    error = models.TextField()
    answered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "configuration", "round_number", "try_number"], name="ungraded_answer_once"
            )
        ]

    def __str__(self) -> str:
        return f"ungraded {self.evaluation_id}/{self.configuration_id}/{self.round_number}/{self.try_number}"


class Verdict(models.Model):
    """What one version of a grader said of one trial's output."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="verdicts")
    grader_kind = models.CharField(max_length=40)
    grader_version = models.CharField(max_length=80)
    score = models.FloatField()
    correct = models.BooleanField()
    found = models.BooleanField()
    answer = models.TextField(null=True)  # noqa: DJ001 - no answer is not the same as an empty one
    rule = models.CharField(max_length=80, blank=True)
    explanation = models.TextField(blank=True)
    integrity = models.CharField(max_length=80, blank=True)
    graded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["trial", "grader_kind", "grader_version"], name="verdict_once_per_grader_version"
            ),
            models.CheckConstraint(condition=Q(score__gte=0, score__lte=1), name="verdict_score_in_unit"),
        ]
        triggers = [pgtrigger.Protect(name="verdict_is_immutable", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.score} for trial {self.trial_id}"


class Metric(models.TextChoices):
    SCORE = "score", "mean score"
    DIFFERENCE = "difference", "difference of mean scores"


class Estimate(models.Model):
    """A figure with its anytime-valid bounds, as it stood when ``rounds`` rounds had been consumed."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="estimates")
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="estimates")
    against = models.ForeignKey(
        Configuration, on_delete=models.PROTECT, null=True, related_name="+", help_text="of a difference: minus this"
    )
    metric = models.CharField(max_length=10, choices=Metric)
    value = models.FloatField(null=True, help_text="empty where nothing is known yet")
    lower = models.FloatField()
    upper = models.FloatField()
    alpha = models.FloatField()
    method = models.CharField(max_length=80)
    rounds = models.PositiveIntegerField(help_text="consumed")
    trials = models.PositiveIntegerField(help_text="in those rounds")
    questions = models.PositiveIntegerField(help_text="different ones in those rounds")
    computed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["evaluation", "configuration", "rounds"]
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "configuration", "against", "metric", "rounds"],
                nulls_distinct=False,
                name="estimate_once_per_look",
            ),
            models.CheckConstraint(condition=Q(lower__lte=F("upper")), name="estimate_bounds_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} of {self.configuration_id} in [{self.lower}, {self.upper}]"
