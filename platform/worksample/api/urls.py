"""Every address of the API."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import DefaultRouter

from evaluation.api import ConfigurationViewSet, EvaluationViewSet, LeaderboardView
from questions.api import SuiteViewSet, TaskViewSet
from worksample.accounts.api import CredentialViewSet, MeView, TokenView
from worksample.api.errors import not_found
from worksample.api.reference import reference

router = DefaultRouter()
router.include_root_view = False
router.register("tasks", TaskViewSet, basename="api-task")
router.register("suites", SuiteViewSet, basename="api-suite")
router.register("configurations", ConfigurationViewSet, basename="api-configuration")
router.register("evaluations", EvaluationViewSet, basename="api-evaluation")
router.register("credentials", CredentialViewSet, basename="api-credential")


def docs(request: HttpRequest) -> HttpResponse:
    """The reference as a page, from the same document that machines read."""
    return render(request, "frontend/api.html", {"reference": reference()})


urlpatterns = [
    path("v1/tasks/<uuid:task_id>/leaderboard/", LeaderboardView.as_view(), name="api-leaderboard"),
    path("v1/tokens/", TokenView.as_view(), name="api-tokens"),
    path("v1/me/", MeView.as_view(), name="api-me"),
    path("v1/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("v1/docs/", docs, name="api-docs"),
    path("v1/", include(router.urls)),
    re_path(".*", not_found),
]
