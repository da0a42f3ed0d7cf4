"""Tasks, suites and questions over the API."""

import tempfile
from pathlib import Path
from typing import Any, cast

from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from questions.checks import registered_check
from questions.contributing import import_task
from questions.errors import refuse
from questions.formats import read_task
from questions.models import QuestionRevision, Suite, Task


class SuiteSerializer(serializers.ModelSerializer[Suite]):
    class Meta:
        model = Suite
        fields = ["id", "task", "version", "size", "content_hash", "created_at"]


class TaskSerializer(serializers.ModelSerializer[Task]):
    newest_suite = serializers.SerializerMethodField()

    class Meta:
        model = Task
        fields = [
            "id",
            "slug",
            "name",
            "summary",
            "success_definition",
            "target_population",
            "out_of_scope",
            "evidence_level",
            "language",
            "visibility",
            "created_at",
            "newest_suite",
        ]

    @extend_schema(responses=SuiteSerializer)
    def get_newest_suite(self, task: Task) -> dict[str, Any] | None:
        newest = task.suites.order_by("-version").first()
        return None if newest is None else cast(dict[str, Any], SuiteSerializer(newest).data)


class TaskUpload(serializers.Serializer[Any]):
    """A file of questions; the task is private to whoever sends it."""

    file = serializers.FileField(help_text="CSV or JSONL, see the documentation of the task format")
    slug = serializers.SlugField(required=False)
    name = serializers.CharField(required=False, max_length=120)
    grader = serializers.CharField(required=False, help_text="kind of grader")
    grader_parameters = serializers.JSONField(required=False)


class QuestionSerializer(serializers.ModelSerializer[QuestionRevision]):
    """A revision as its contributor sees it."""

    key = serializers.CharField(source="question.key")

    class Meta:
        model = QuestionRevision
        fields = [
            "key",
            "number",
            "messages",
            "references",
            "answer_format",
            "grader_kind",
            "grader_parameters",
            "category",
            "rationale",
            "source",
            "licence",
            "authored_at",
            "content_hash",
        ]


class TaskViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Task]):
    """Tasks: those that are shared, and your own."""

    queryset = Task.objects.none()
    serializer_class = TaskSerializer

    def get_queryset(self) -> Any:
        return Task.objects.visible_to(self.request.user)

    @extend_schema(request={"multipart/form-data": TaskUpload}, responses={201: SuiteSerializer})
    @action(
        detail=False,
        methods=["post"],
        url_path="import",
        permission_classes=[IsAuthenticated],
        parser_classes=[MultiPartParser],
    )
    def import_(self, request: Request) -> Response:
        """Bring questions in from a file: all of them, or none with every problem named."""
        upload = TaskUpload(data=request.data)
        upload.is_valid(raise_exception=True)
        given = upload.validated_data
        defaults = {name: given[name] for name in ("slug", "name") if name in given}
        if "grader" in given:
            parameters = given.get("grader_parameters", {})
            if not isinstance(parameters, dict):
                raise refuse("grader_parameters", parameters, "is not an object", 'Send {"labels": ["yes", "no"]}.')
            defaults["grader"] = {"kind": given["grader"], "parameters": parameters}
        with tempfile.TemporaryDirectory() as folder:
            # The name is the client's; only its ending-free stem may become the task's.
            path = Path(folder) / (Path(given["file"].name).name or "questions")
            with path.open("wb") as file:
                for chunk in given["file"].chunks():
                    file.write(chunk)
            parsed = read_task(path, defaults=defaults, check_question=registered_check())
        suite = import_task(parsed=parsed, owner=cast(Any, request.user))
        return Response({**SuiteSerializer(suite).data, "notes": list(parsed.notes)}, status=201)

    @extend_schema(responses={200: QuestionSerializer(many=True), 404: OpenApiResponse(description="not yours")})
    @action(detail=True, methods=["get"], permission_classes=[IsAuthenticated])
    def questions(self, request: Request, pk: str | None = None) -> Response:
        """The questions of your own task, references included."""
        task = self.get_object()
        if task.owner_id != request.user.pk and not request.user.is_staff:
            raise Http404
        newest = task.suites.order_by("-version").first()
        revisions = (
            QuestionRevision.objects.filter(suite_items__suite=newest).order_by("-pk").select_related("question")
        )
        page = self.paginate_queryset(cast(Any, revisions))
        return self.get_paginated_response(QuestionSerializer(cast(Any, page), many=True).data)


class SuiteViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Suite]):
    """Frozen suites of the tasks that you may see."""

    queryset = Suite.objects.none()
    serializer_class = SuiteSerializer

    def get_queryset(self) -> Any:
        return Suite.objects.filter(task__in=Task.objects.visible_to(self.request.user))
