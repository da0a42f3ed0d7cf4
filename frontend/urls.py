"""The addresses of the pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from frontend import views

_EVALUATION = "evaluations/<uuid:evaluation_id>/"

urlpatterns = [
    path("", views.front, name="front"),
    path("tasks/", views.tasks, name="tasks"),
    path("tasks/<uuid:task_id>/", views.task, name="task"),
    path("tasks/<uuid:task_id>/leaderboard/", views.leaderboard, name="leaderboard"),
    path("evaluations/", views.evaluations, name="evaluations"),
    path(_EVALUATION, views.evaluation, name="evaluation"),
    path(_EVALUATION + "live/", views.evaluation_live, name="evaluation-live"),
    path(_EVALUATION + "trace.csv", views.evaluation_trace, name="evaluation-trace"),
    path(_EVALUATION + "trials/", views.trials, name="trials"),
    path(_EVALUATION + "cancel/", views.evaluation_move, {"move": "cancel"}, name="evaluation-cancel"),
    path(_EVALUATION + "resume/", views.evaluation_move, {"move": "resume"}, name="evaluation-resume"),
    path("configurations/<int:configuration_id>/", views.configuration, name="configuration"),
    path("help/", views.help_, name="help"),
    path("account/", views.account, name="account"),
    path("sign-in/", LoginView.as_view(template_name="frontend/sign_in.html"), name="sign-in"),
    path("sign-in/<str:token>/", views.token_link, name="token-link"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
]
