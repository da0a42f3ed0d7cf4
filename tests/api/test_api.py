"""The API: rights, problem details, and the way from an uploaded file to results."""

import base64
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from evaluation.models import Evaluation
from questions.models import Task
from tests.conftest import ModelApi, Workers, wait_for
from tests.frontend.conftest import SECRET, Site, site

__all__ = ["site"]
V1 = "/api/v1"
GOOD = b"id,prompt,reference\na,What is 1 + 1?,2\nb,What is 2 + 2?,4\n"


def client_of(person: Any) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


def upload(client: Client, content: bytes, **fields: Any) -> Any:
    file = SimpleUploadedFile("my questions.csv", content)
    return client.post(f"{V1}/tasks/import/", {"file": file, "grader": "numeric", **fields})


def post(client: Client, path: str, body: Any) -> Any:
    return client.post(V1 + path, body, content_type="application/json")


def assert_problem(response: Any, status: int, *fields: str) -> None:
    """Problem details with these fields, each with a remedy."""
    assert response.status_code == status, response.content
    assert response["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["title"]
    assert {problem["field"] for problem in body.get("problems", [])} == set(fields)
    assert all(problem["remedy"] for problem in body.get("problems", []))


def private_paths(site: Site) -> list[str]:
    private = site.private
    return [
        f"/tasks/{site.private_task.pk}/",
        f"/tasks/{site.private_task.pk}/questions/",
        f"/tasks/{site.private_task.pk}/leaderboard/",
        f"/suites/{private.suite_id}/",
        f"/configurations/{private.configurations.first().pk}/",
        *(f"/evaluations/{private.pk}/{part}" for part in ("", "results/", "trace/", "trials/")),
    ]


def test_the_document_is_valid_openapi_3_1() -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(document)
    assert document["openapi"].startswith("3.1")


@pytest.mark.parametrize("who", ["outsider", None])
def test_what_is_private_does_not_exist_for_others(site: Site, request: pytest.FixtureRequest, who: str | None) -> None:
    client = client_of(None if who is None else request.getfixturevalue(who))
    for path in private_paths(site):
        response = client.get(V1 + path)
        assert response.status_code in ((404,) if who else (404, 401)), path
        assert SECRET not in response.content.decode()


def test_the_owner_reads_what_is_private(site: Site, owner: Any) -> None:
    client = client_of(owner)
    assert {path: client.get(V1 + path).status_code for path in private_paths(site)} == dict.fromkeys(
        private_paths(site), 200
    )


@pytest.mark.parametrize("who", ["outsider", None])
def test_lists_hold_nothing_private(site: Site, request: pytest.FixtureRequest, who: str | None) -> None:
    client = client_of(None if who is None else request.getfixturevalue(who))
    for path in ("/tasks/", "/suites/", "/configurations/", "/evaluations/"):
        content = client.get(V1 + path).content.decode()
        assert "private" not in content, path


def test_outputs_and_references_of_shared_things_are_not_for_everybody(site: Site, outsider: Any) -> None:
    client = client_of(outsider)
    assert_problem(client.get(f"{V1}/evaluations/{site.shared.pk}/trials/"), 404)
    assert_problem(client.get(f"{V1}/tasks/{site.shared_task.pk}/questions/"), 404)


@pytest.mark.parametrize("move", ["cancel", "resume"])
def test_only_the_owner_steers_a_run(site: Site, outsider: Any, move: str) -> None:
    assert_problem(post(client_of(outsider), f"/evaluations/{site.private.pk}/{move}/", {}), 404)
    assert_problem(post(client_of(outsider), f"/evaluations/{site.shared.pk}/{move}/", {}), 404)


def test_the_leaderboard_shows_ranks_and_reasons(site: Site) -> None:
    rows = Client().get(f"{V1}/tasks/{site.shared_task.pk}/leaderboard/").json()["rows"]
    assert [row["name"] for row in rows] == ["model good, shared", "model poor, shared"]
    assert all(row["listed_below"] == "undisclosed: training_cutoff" for row in rows)


def test_a_bad_file_is_refused_whole_with_every_problem(db: None, owner: Any) -> None:
    response = upload(client_of(owner), b"id,prompt,reference\na,,1\nb,What?,\n")
    assert_problem(response, 400, "prompt", "reference")
    assert [problem["line"] for problem in response.json()["problems"]] == [2, 3]
    assert not Task.objects.exists()


def test_a_visitor_brings_nothing_in(db: None) -> None:
    assert upload(Client(), GOOD).status_code == 401


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"plan": {"max_cost_usd": -1}}, {"plan.max_cost_usd"}),
        ({"plan": {"half_width": None}}, {"plan"}),
        ({"plan": {"budget": 5}}, {"plan.budget"}),
        ({"suite": "00000000-0000-0000-0000-000000000000"}, {"suite"}),
        ({"configurations": []}, {"configurations"}),
        ({"configurations": [10**30]}, {"configurations"}),
        ({"configuration": 1}, {"configuration"}),
    ],
)
def test_an_impossible_evaluation_is_refused_by_field(
    site: Site, owner: Any, changes: dict[str, Any], fields: set[str]
) -> None:
    ids = [configuration.pk for configuration in site.private.configurations.all()]
    body = {"suite": str(site.private.suite_id), "configurations": ids, "plan": {"max_trials": 10}, **changes}
    before = Evaluation.objects.count()
    assert_problem(post(client_of(owner), "/evaluations/", body), 400, *fields)
    assert Evaluation.objects.count() == before


def test_another_persons_configuration_cannot_be_run(site: Site, outsider: Any) -> None:
    """It would spend their key."""
    ids = [configuration.pk for configuration in site.shared.configurations.all()]
    body = {"suite": str(site.shared.suite_id), "configurations": ids, "plan": {"max_trials": 10}}
    assert_problem(post(client_of(outsider), "/evaluations/", body), 400, "configurations")


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://127.0.0.1:5432/v1",
        "http://localhost/v1",
        "http://10.0.0.1/v1",
        "http://169.254.169.254/latest",
        "http://[::1]/v1",
        "http://[::ffff:10.0.0.1]/v1",
        "http://2130706433/v1",
        "http://0x7f.1/v1",
        "http://printer.local/v1",
    ],
)
def test_users_of_a_site_for_strangers_cannot_reach_its_network(
    db: None, owner: Any, settings: Any, endpoint: str
) -> None:
    settings.ALLOW_LOCAL_ENDPOINTS = False
    response = post(client_of(owner), "/configurations/", {"model": "m", "endpoint": endpoint, "probe": False})
    assert_problem(response, 400, "endpoint")


def test_a_key_is_written_and_never_read(db: None, owner: Any) -> None:
    client, key = client_of(owner), "sk-a-very-secret-key-0123456789"
    made = post(client, "/credentials/", {"name": "mine", "key": key})
    assert made.status_code == 201
    listed = client.get(f"{V1}/credentials/").content.decode()
    assert key not in made.content.decode() + listed
    assert owner.credentials.get().reveal() == key
    assert key.encode() not in bytes(owner.credentials.get().ciphertext)


def test_a_token_lets_its_owner_in(db: None, owner: Any) -> None:
    basic = base64.b64encode(b"owner:owner-of-the-house").decode()
    token = Client().post(f"{V1}/tokens/", headers={"authorization": f"Basic {basic}"}).json()["token"]
    me = Client().get(f"{V1}/me/", headers={"authorization": f"Token {token}"})
    assert me.json()["username"] == "owner"
    assert_problem(Client().get(f"{V1}/me/", headers={"authorization": "Token nonsense"}), 401)


@pytest.mark.parametrize("path", ["/nothing/", "/tasks/no-uuid/", "/evaluations/00000000-0000-0000-0000-000000000000/"])
def test_what_is_not_there_is_told_in_problem_details(db: None, path: str) -> None:
    assert_problem(Client().get(V1 + path), 404)


def test_a_body_that_is_no_json_is_refused(db: None, owner: Any) -> None:
    response = client_of(owner).post(f"{V1}/evaluations/", "{", content_type="application/json")
    assert_problem(response, 400)


@pytest.mark.django_db(transaction=True)
def test_from_an_uploaded_file_to_results(owner: Any, model_api: ModelApi, workers: Workers) -> None:
    client = client_of(owner)
    suite = upload(client, GOOD).json()
    made = post(
        client,
        "/configurations/",
        {"model": "good", "endpoint": model_api.url, "prices": {"input": "0", "output": "0"}},
    )
    assert made.status_code == 201, made.content
    plan = {"max_trials": 20, "half_width": None}
    started = post(client, "/evaluations/", {"suite": suite["id"], "configurations": [made.json()["id"]], "plan": plan})
    assert started.status_code == 201, started.content
    workers.start()
    path = f"{V1}/evaluations/{started.json()['id']}/"
    wait_for(lambda: client.get(path).json()["status"] == "finished", what="the end")
    wait_for(lambda: client.get(f"{path}results/").json()["standings"][0]["trials"] == 20, what="the last trial")
    trials = client.get(f"{path}trials/?outcome=answered").json()["results"]
    assert len(trials) == 20
    assert all(trial["output"] in ("2", "4") and trial["score"] == 1.0 for trial in trials)
    assert_problem(client.get(f"{path}trials/?outcome=lost"), 400, "outcome")
