"""Bad input on the command line: exit code 2, one message that names the field and the remedy, nothing written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from evaluation.models import Configuration, Evaluation
from questions.models import Task
from tests.conftest import ROOT, ModelApi, Workers

pytestmark = pytest.mark.django_db(transaction=True)
GOOD = "id,prompt,reference\na,What is 1 + 1?,2\nb,What is 2 + 2?,4\n"


def worksample(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The command, on the test's database."""
    database = settings.DATABASES["default"]
    url = f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    variables = {
        **{k: v for k, v in os.environ.items() if k not in ("OPENAI_API_KEY", "WORKSAMPLE_API_KEY")},
        "DATABASE_URL": f"{url}/{connection.settings_dict['NAME']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
        "COLUMNS": "200",
        **environment,
    }
    code = "import sys; from worksample.cli import main; main(sys.argv[1:])"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120
    )


def refused(*arguments: str, **environment: str) -> str:
    """The message of a refusal that wrote nothing."""
    done = worksample(*arguments, **environment)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert (Task.objects.count(), Configuration.objects.count(), Evaluation.objects.count()) == (0, 0, 0)
    return done.stderr


FILES = [
    ("prompt,answr\nWhat?,2\n", ["reference", "missing column", "prompt"]),
    ("id,prompt,reference\na,What is 1?,1\na,What is 2?,2\n", ["questions.csv:3", "id", "'a'", "line 2"]),
    ("id,prompt,reference\na,What is 1?,\n", ["questions.csv:2", "reference", "empty"]),
    ("id,prompt,reference\na,What is 1?,one and two\n", ["questions.csv:2", "reference", "one and two"]),
    ("id,prompt,reference\n", ["no question"]),
    ("", ["empty"]),
    ("id,prompt,reference\na,What is 1?,1,extra\n", ["questions.csv:2", "4 cells"]),
    ("id,prompt,reference,weight\na,What is 1?,1,-3\n", ["questions.csv:2", "weight", "-3"]),
]


@pytest.mark.parametrize(("content", "said"), FILES)
def test_a_bad_file_is_refused_with_line_field_and_remedy(tmp_path: Path, content: str, said: list[str]) -> None:
    (tmp_path / "questions.csv").write_text(content)
    message = refused("import", str(tmp_path / "questions.csv"), "--grader", "numeric")
    assert all(part in message for part in said), message


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("id,prompt,reference\na,,1\nb,What?,\nb,Who?,3\n")
    message = refused("import", str(tmp_path / "questions.csv"), "--grader", "numeric")
    assert [f":{line}:" in message for line in (2, 3, 4)] == [True] * 3


@pytest.fixture
def questions(tmp_path: Path) -> str:
    path = tmp_path / "questions.csv"
    path.write_text(GOOD)
    return str(path)


def test_an_unknown_model_is_refused_with_the_known_ones(questions: str, model_api: ModelApi) -> None:
    message = refused("evaluate", questions, "--model", "best", "--base-url", model_api.url)
    assert "model 'best'" in message
    assert "better, good" in message


def test_a_wrong_key_is_refused_and_not_repeated(questions: str, model_api: ModelApi) -> None:
    model_api.control(key="right")
    arguments = ("evaluate", questions, "--model", "good", "--base-url", model_api.url, "--api-key-env", "MY_KEY")
    message = refused(*arguments, MY_KEY="sk-wrong-and-secret-0123456789")
    assert "wrong key" in message
    assert "sk-wrong" not in message


def test_a_key_variable_that_is_not_set_is_refused(questions: str, model_api: ModelApi) -> None:
    message = refused("evaluate", questions, "--model", "good", "--base-url", model_api.url, "--api-key-env", "NO_KEY")
    assert "NO_KEY" in message


def test_an_unreachable_endpoint_is_refused(questions: str) -> None:
    message = refused("evaluate", questions, "--model", "good", "--base-url", "http://127.0.0.1:9/v1")
    assert "endpoint" in message
    assert "connection refused" in message


@pytest.mark.parametrize(
    ("option", "value", "field"),
    [
        ("--max-cost", "-1", "plan.max_cost_usd"),
        ("--max-trials", "-5", "plan.max_trials"),
        ("--alpha", "1.5", "plan.alpha"),
        ("--tries", "0", "plan.tries"),
        ("--half-width", "0.7", "plan.half_width"),
        ("--provider", "telepathy", "--provider"),
        ("--grader", "vibes", "vibes"),
        ("--grader-parameters", "{", "--grader-parameters"),
        ("--column", "prompt", "--column"),
        ("--price-input", "1", "--price-input"),
    ],
)
def test_an_impossible_option_is_refused_by_name(
    questions: str, model_api: ModelApi, option: str, value: str, field: str
) -> None:
    extra = ("--grader", "exact") if option == "--grader-parameters" else ()
    message = refused("evaluate", questions, "--model", "good", "--base-url", model_api.url, option, value, *extra)
    assert field in message


def test_a_task_that_is_not_there_is_refused(model_api: ModelApi) -> None:
    message = refused("evaluate", "no-such-task", "--model", "good", "--base-url", model_api.url)
    assert "no-such-task" in message


def test_a_good_file_is_measured_to_a_result(questions: str, model_api: ModelApi, workers: Workers) -> None:
    workers.start()
    models = ("--model", "good", "--model", "better")
    options = ("--base-url", model_api.url, "--grader", "numeric", "--max-trials", "40", "--json")
    done = worksample("evaluate", questions, *models, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["stop_reason"] in ("trials", "precision")
    assert {s["configuration"] for s in result["standings"]} == {"good", "better"}
    assert all(s["score"]["upper"] == 1.0 for s in result["standings"])
    assert Task.objects.get().visibility == "private"
