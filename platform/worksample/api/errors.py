"""Errors as RFC 9457 problem details: ``application/problem+json``, every problem with field, value and remedy."""

import dataclasses
import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from questions.errors import Problem, Refused

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


def problem_details(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler; what was unforeseen is logged, and told without its details."""
    set_rollback()
    path = context["request"].path
    headers: dict[str, str] = {}
    problems: list[dict[str, Any]] = []
    if isinstance(error, Refused):
        status, detail = 400, "Nothing was written: see the problems."
        problems = [_shown(problem) for problem in error.problems]
    elif isinstance(error, exceptions.ValidationError):
        status, detail = 400, "Nothing was written: see the problems."
        problems = [_shown(problem) for problem in _of_validation(error.detail)]
    elif isinstance(error, exceptions.APIException):
        status, detail = error.status_code, str(error.detail)
        if isinstance(error, exceptions.Throttled) and (wait := getattr(error, "wait", None)):
            headers["Retry-After"] = str(int(wait) + 1)
        if getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    elif isinstance(error, Http404):
        status, detail = 404, "There is nothing here, or nothing that you may see."
    elif isinstance(error, PermissionDenied):
        status, detail = 403, "You may not do this."
    else:
        log.exception("unforeseen error at %s", path)
        status, detail = 500, "Something broke here. It was logged; try again later."
    response = Response(body(status, detail, path, problems), status=status, headers=headers)
    response.content_type = MEDIA_TYPE
    return response


def body(status: int, detail: str, instance: str, problems: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The members of problem details."""
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": instance,
    }
    if problems:
        content["problems"] = problems
    return content


def not_found(request: HttpRequest) -> JsonResponse:
    """For addresses below /api/ that no view answers."""
    content = body(404, "There is nothing at this address; /api/v1/docs/ lists what there is.", request.path)
    return JsonResponse(content, status=404, content_type=MEDIA_TYPE)


def _shown(problem: Problem) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(problem).items() if value is not None}


def _of_validation(detail: Any, field: str = "") -> list[Problem]:
    """DRF's nested lists and mappings of messages, flat, with the path to each field."""
    if isinstance(detail, dict):
        parts = ((f"{field}.{name}" if field else str(name), inner) for name, inner in detail.items())
        return [problem for name, inner in parts for problem in _of_validation(inner, name)]
    if isinstance(detail, list):
        return [
            problem
            for index, inner in enumerate(detail)
            for problem in _of_validation(inner, f"{field}[{index}]" if isinstance(inner, dict) else field)
        ]
    return [Problem(field or "body", "", str(detail), "Correct this field; /api/v1/docs/ shows what it takes.")]
