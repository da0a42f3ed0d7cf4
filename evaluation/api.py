"""Configurations, evaluations, trials and leaderboards over the API."""

import dataclasses
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation import pricing
from evaluation.configuring import disclose_configuration, disclose_scaffold
from evaluation.engine import lifecycle
from evaluation.engine.plan import Plan
from evaluation.leaderboard import leaderboard
from evaluation.models import Configuration, Evaluation, Outcome, Scaffold, Trial
from evaluation.providers import PROVIDERS
from evaluation.providers.probing import probe
from evaluation.registering import register_evaluation
from evaluation.selectors import Standing, conclusion, differences, progress, standings, trace
from questions.errors import Problem, Refused, refuse
from questions.models import Suite, Task


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know, since a misspelt budget is no budget."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                known = ", ".join(self.fields)
                raise Refused(
                    *(Problem(name, "", "is not a field here", f"The fields are: {known}.") for name in unknown)
                )
        return super().to_internal_value(data)


class ScaffoldSerializer(serializers.ModelSerializer[Scaffold]):
    class Meta:
        model = Scaffold
        fields = ["id", "name", "version", "description", "messages", "content_hash"]


class ConfigurationSerializer(serializers.ModelSerializer[Configuration]):
    scaffold = ScaffoldSerializer()

    class Meta:
        model = Configuration
        fields = [
            "id",
            "name",
            "content_hash",
            "visibility",
            "provider",
            "model",
            "model_snapshot",
            "endpoint",
            "region",
            "scaffold",
            "decoding",
            "reasoning_effort",
            "tools",
            "time_limit_s",
            "harness_version",
            "prices",
            "training_cutoff",
            "available_to_public",
            "submitter_relationship",
            "undisclosed_fields",
            "concurrency",
            "created_at",
        ]


class PricesInput(StrictSerializer):
    input = serializers.CharField(help_text="US dollars per million input tokens")
    output = serializers.CharField(help_text="US dollars per million output tokens")
    cached_input = serializers.CharField(required=False, help_text="as input when left out")


class ScaffoldInput(StrictSerializer):
    name = serializers.CharField(max_length=80)
    description = serializers.CharField(required=False, default="")
    messages = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))


class ConfigurationInput(StrictSerializer):
    model = serializers.CharField(max_length=200)
    endpoint = serializers.CharField(max_length=500)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)
    provider = serializers.CharField(required=False, default="openai_chat")
    scaffold = ScaffoldInput(required=False)
    decoding = serializers.DictField(required=False)
    prices = PricesInput(required=False)
    credential = serializers.UUIDField(required=False, help_text="id of one of your credentials")
    concurrency = serializers.IntegerField(required=False, default=8)
    time_limit_s = serializers.FloatField(required=False)
    model_snapshot = serializers.CharField(required=False, default="")
    region = serializers.CharField(required=False, default="")
    reasoning_effort = serializers.CharField(required=False, default="")
    training_cutoff = serializers.DateField(required=False)
    available_to_public = serializers.BooleanField(required=False, allow_null=True, default=None)
    submitter_relationship = serializers.CharField(required=False, default="")
    probe = serializers.BooleanField(
        required=False, default=True, help_text="ask the endpoint before anything is written"
    )


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    configurations = serializers.PrimaryKeyRelatedField[Configuration](many=True, read_only=True)

    class Meta:
        model = Evaluation
        fields = [
            "id",
            "name",
            "visibility",
            "suite",
            "configurations",
            "plan",
            "plan_hash",
            "graders",
            "status",
            "status_reason",
            "stop_reason",
            "registered_at",
            "started_at",
            "finished_at",
            "seconds_run",
            "rounds_drawn",
            "rounds_consumed",
        ]


class EvaluationInput(StrictSerializer):
    suite = serializers.UUIDField()
    configurations = serializers.ListField(child=serializers.IntegerField(), allow_empty=False)
    plan = serializers.DictField(
        required=False, help_text="alpha, half_width, max_trials, max_cost_usd, max_seconds, tries, seed, ..."
    )
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


class TrialSerializer(serializers.ModelSerializer[Trial]):
    output = serializers.CharField(source="output.text", default=None, read_only=True)
    verdicts = serializers.SerializerMethodField()

    class Meta:
        model = Trial
        fields = [
            "round_number",
            "try_number",
            "configuration",
            "outcome",
            "score",
            "fault",
            "finish_reason",
            "returned_model",
            "tokens_input",
            "tokens_cached",
            "tokens_reasoning",
            "tokens_output",
            "cost",
            "first_token_s",
            "latency_s",
            "queue_s",
            "retry_s",
            "loop_lag_s",
            "failed_calls",
            "recorded_at",
            "output",
            "verdicts",
        ]

    def get_verdicts(self, trial: Trial) -> list[dict[str, Any]]:
        names = (
            "grader_kind",
            "grader_version",
            "score",
            "correct",
            "found",
            "answer",
            "rule",
            "explanation",
            "integrity",
        )
        return [{name: getattr(verdict, name) for name in names} for verdict in trial.verdicts.all()]


class ConfigurationViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Configuration]):
    """Disclosed configurations: those that are shared, and your own."""

    queryset = Configuration.objects.none()
    serializer_class = ConfigurationSerializer

    def get_queryset(self) -> Any:
        return Configuration.objects.visible_to(self.request.user).select_related("scaffold")

    @extend_schema(request=ConfigurationInput, responses={201: ConfigurationSerializer})
    def create(self, request: Request) -> Response:
        """Disclose a configuration, privately; the same disclosure twice is the same configuration."""
        checked = ConfigurationInput(data=request.data)
        checked.is_valid(raise_exception=True)
        given = dict(checked.validated_data)
        credential = _credential(request, given.pop("credential", None))
        scaffold, prices = given.pop("scaffold", None), given.pop("prices", None)
        if given.pop("probe"):
            probe(
                provider=_known_provider(given["provider"]),
                endpoint=given["endpoint"],
                model=given["model"],
                key=credential.reveal() if credential else "",
                allow_local=settings.ALLOW_LOCAL_ENDPOINTS,
            )
        if prices:
            given["prices"] = pricing.given(
                input_usd=prices["input"], output_usd=prices["output"], cached_usd=prices.get("cached_input")
            )
        configuration = disclose_configuration(
            owner=_person(request),
            credential=credential,
            scaffold=disclose_scaffold(owner=_person(request), **scaffold) if scaffold else None,
            **given,
        )
        return Response(ConfigurationSerializer(configuration).data, status=201)


class EvaluationViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Evaluation]):
    """Evaluations: those that are shared, and your own."""

    queryset = Evaluation.objects.none()
    serializer_class = EvaluationSerializer

    def get_queryset(self) -> Any:
        visible = Evaluation.objects.visible_to(self.request.user)
        return visible.select_related("suite__task").prefetch_related("configurations")

    def paginate_queryset(self, queryset: Any) -> Any:
        assert self.paginator is not None
        self.paginator.ordering = "-registered_at"  # type: ignore[attr-defined]
        return super().paginate_queryset(queryset)

    @extend_schema(request=EvaluationInput, responses={201: EvaluationSerializer})
    def create(self, request: Request) -> Response:
        """Register an evaluation, privately, and start it."""
        checked = EvaluationInput(data=request.data)
        checked.is_valid(raise_exception=True)
        given = checked.validated_data
        suite = Suite.objects.filter(pk=given["suite"], task__in=Task.objects.visible_to(request.user)).first()
        if suite is None:
            raise refuse("suite", given["suite"], "is not a suite that you may see", "/api/v1/suites/ lists them.")
        evaluation = register_evaluation(
            owner=_person(request),
            name=given["name"],
            suite=suite,
            configurations=_own_configurations(request, given["configurations"]),
            plan=Plan.from_json(given.get("plan", {})),
        )
        lifecycle.start(evaluation.pk)
        evaluation.refresh_from_db()
        return Response(EvaluationSerializer(evaluation).data, status=201)

    @extend_schema(request=None, responses=EvaluationSerializer)
    @action(detail=True, methods=["post"], permission_classes=[IsAuthenticated])
    def cancel(self, request: Request, pk: str | None = None) -> Response:
        """Stop your evaluation; what was recorded stays."""
        return self._moved(request, lifecycle.cancel)

    @extend_schema(request=None, responses=EvaluationSerializer)
    @action(detail=True, methods=["post"], permission_classes=[IsAuthenticated])
    def resume(self, request: Request, pk: str | None = None) -> Response:
        """Let your paused or cancelled evaluation go on."""
        return self._moved(request, lifecycle.resume)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, methods=["get"])
    def results(self, request: Request, pk: str | None = None) -> Response:
        """Standings, differences, progress and the conclusion in words, as of now."""
        evaluation = self.get_object()
        return Response(
            {
                "progress": plain(dataclasses.asdict(progress(evaluation))),
                "standings": [standing_json(standing) for standing in standings(evaluation)],
                "differences": [
                    {
                        "first": difference.first.pk,
                        "second": difference.second.pk,
                        "certified": difference.certified,
                        **dataclasses.asdict(difference.figure),
                    }
                    for difference in differences(evaluation)
                ],
                "conclusion": conclusion(evaluation).text,
            }
        )

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, methods=["get"])
    def trace(self, request: Request, pk: str | None = None) -> Response:
        """How each configuration's interval shrank, look by look."""
        points = trace(self.get_object())
        return Response({str(id_): [dataclasses.asdict(point) for point in line] for id_, line in points.items()})

    @extend_schema(
        responses=TrialSerializer(many=True),
        parameters=[
            OpenApiParameter("outcome", enum=Outcome.values),
            OpenApiParameter("configuration", OpenApiTypes.INT),
        ],
    )
    @action(detail=True, methods=["get"], permission_classes=[IsAuthenticated])
    def trials(self, request: Request, pk: str | None = None) -> Response:
        """The trials of your own evaluation, outputs and verdicts included."""
        evaluation = self._own(request)
        found = evaluation.trials.select_related("output").prefetch_related("verdicts")
        outcome, configuration = request.query_params.get("outcome"), request.query_params.get("configuration")
        if outcome is not None:
            if outcome not in Outcome.values:
                raise refuse("outcome", outcome, "is not an outcome", f"Use one of: {', '.join(Outcome.values)}.")
            found = found.filter(outcome=outcome)
        if configuration is not None:
            if not configuration.isdecimal() or len(configuration) > 18:
                raise refuse("configuration", configuration, "is not an id", "Use the number of a configuration.")
            found = found.filter(configuration=int(configuration))
        self.paginator.ordering = "-pk"  # type: ignore[union-attr]
        page = viewsets.GenericViewSet.paginate_queryset(self, found)
        return self.get_paginated_response(TrialSerializer(page, many=True).data)

    def _own(self, request: Request) -> Evaluation:
        """Private texts are for the owner and staff; for others this evaluation has none."""
        evaluation: Evaluation = self.get_object()
        if evaluation.owner_id != request.user.pk and not request.user.is_staff:
            raise Http404
        return evaluation

    def _moved(self, request: Request, move: Any) -> Response:
        evaluation = self._own(request)
        move(evaluation.pk)
        evaluation.refresh_from_db()
        return Response(EvaluationSerializer(evaluation).data)


class LeaderboardView(APIView):
    """The leaderboard of a task: ranked rows first, then those listed below the line with the reason."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, task_id: UUID) -> Response:
        task = Task.objects.visible_to(request.user).filter(pk=task_id).first()
        if task is None:
            raise Http404
        rows = leaderboard(task, request.user)
        return Response(
            {
                "task": str(task.pk),
                "rows": [
                    {
                        **standing_json(row.standing),
                        "rank": row.rank,
                        "evaluation": str(row.evaluation.pk),
                        "listed_below": row.listed_below or None,
                    }
                    for row in rows
                ],
            }
        )


def standing_json(standing: Standing) -> dict[str, Any]:
    """A standing as JSON; money as text, what is unknown as null."""
    entry = standing.entry
    return {
        "configuration": standing.configuration.pk,
        "name": standing.configuration.name,
        "content_hash": standing.configuration.content_hash,
        "rank": standing.rank,
        "score": dataclasses.asdict(standing.score),
        "all_tries_right": None if standing.all_right is None else dataclasses.asdict(standing.all_right),
        "rounds": standing.rounds,
        "trials": standing.trials,
        "questions": standing.questions,
        **{name: getattr(entry, name) for name in ("void", "cut", "refused", "empty", "too_slow", "no_answer")},
        "failed_calls": entry.failed_calls,
        "cost_usd": plain(standing.cost),
        "cost_per_correct_usd": plain(standing.cost_per_correct),
        "latency_median_s": dataclasses.asdict(standing.latency_median_s),
        "first_token_median_s": dataclasses.asdict(standing.first_token_median_s),
        "tokens_input_mean": standing.tokens_input_mean,
        "tokens_output_mean": standing.tokens_output_mean,
    }


def plain(value: Any) -> Any:
    """Decimals as text, so that no digit is lost."""
    if isinstance(value, Decimal):
        return str(value)
    return {name: plain(inner) for name, inner in value.items()} if isinstance(value, dict) else value


def _person(request: Request) -> Any:
    """Whoever is signed in; permissions have seen to it that somebody is."""
    return request.user


def _known_provider(provider: str) -> str:
    if provider not in PROVIDERS:
        raise refuse("provider", provider, "is not known", f"Use one of: {', '.join(sorted(PROVIDERS))}.")
    return provider


def _credential(request: Request, id_: UUID | None) -> Any:
    if id_ is None:
        return None
    found = _person(request).credentials.filter(pk=id_).first()
    if found is None:
        raise refuse("credential", id_, "is not one of your credentials", "/api/v1/credentials/ lists them.")
    return found


def _own_configurations(request: Request, ids: list[int]) -> list[Configuration]:
    """One's own configurations: to run another's would spend another's key."""
    found = {
        c.pk: c for c in Configuration.objects.filter(pk__in=[i for i in ids if abs(i) < 2**62], owner=_person(request))
    }
    missing = [id_ for id_ in ids if id_ not in found]
    if missing:
        raise refuse(
            "configurations",
            ", ".join(map(str, missing)),
            "are not configurations of yours",
            "Disclose them with your own key first: POST /api/v1/configurations/.",
        )
    return [found[id_] for id_ in ids]
