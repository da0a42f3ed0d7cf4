"""Who sees which page: what is private does not exist for others."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.frontend.conftest import SECRET, Site
from worksample.accounts import login_links

PRIVATE_PAGES: list[Callable[[Site], str]] = [
    lambda site: f"/tasks/{site.private_task.pk}/",
    lambda site: f"/tasks/{site.private_task.pk}/leaderboard/",
    lambda site: f"/evaluations/{site.private.pk}/",
    lambda site: f"/evaluations/{site.private.pk}/live/",
    lambda site: f"/evaluations/{site.private.pk}/trials/",
    lambda site: f"/configurations/{site.private.configurations.first().pk}/",
]
PUBLIC_PAGES: list[Callable[[Site], str]] = [
    lambda site: "/",
    lambda site: "/tasks/?q=sums",
    lambda site: f"/tasks/{site.shared_task.pk}/",
    lambda site: f"/tasks/{site.shared_task.pk}/leaderboard/",
    lambda site: "/evaluations/",
    lambda site: f"/evaluations/{site.shared.pk}/",
    lambda site: f"/configurations/{site.shared.configurations.first().pk}/",
    lambda site: "/help/",
    lambda site: "/sign-in/",
    lambda site: "/api/v1/docs/",
]


def client_of(person: Any) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


def test_private_pages_do_not_exist_for_an_outsider(site: Site, outsider: Any) -> None:
    client = client_of(outsider)
    assert {page(site): client.get(page(site)).status_code for page in PRIVATE_PAGES} == {
        page(site): 404 for page in PRIVATE_PAGES
    }


def test_private_pages_do_not_exist_for_a_visitor(site: Site) -> None:
    client = client_of(None)
    for page in PRIVATE_PAGES:
        response = client.get(page(site))
        # Trials ask any visitor to sign in, before anything is looked up.
        assert response.status_code == 404 or response.url.startswith("/sign-in/"), page(site)


def test_the_owner_sees_private_pages(site: Site, owner: Any) -> None:
    client = client_of(owner)
    assert {client.get(page(site)).status_code for page in PRIVATE_PAGES} == {200}


@pytest.mark.parametrize("who", [None, "outsider", "owner", "staff"])
def test_everybody_sees_public_pages(site: Site, request: pytest.FixtureRequest, who: str | None) -> None:
    client = client_of(None if who is None else request.getfixturevalue(who))
    assert {client.get(page(site)).status_code for page in PUBLIC_PAGES} == {200}


def test_no_public_page_tells_a_private_text_or_name(site: Site, outsider: Any) -> None:
    client = client_of(outsider)
    for page in PUBLIC_PAGES:
        content = client.get(page(site)).content.decode()
        for private in (SECRET, "Task private-sums", "model good, private"):
            assert private not in content, page(site)


def test_references_of_a_shared_task_are_not_shown(site: Site, outsider: Any) -> None:
    assert "Accepted:" not in client_of(outsider).get(f"/tasks/{site.shared_task.pk}/").content.decode()


def test_outputs_of_a_shared_evaluation_are_not_for_everybody(site: Site, outsider: Any, staff: Any) -> None:
    address = f"/evaluations/{site.shared.pk}/trials/"
    assert client_of(outsider).get(address).status_code == 404
    assert client_of(staff).get(address).status_code == 200


@pytest.mark.parametrize("move", ["cancel", "resume"])
def test_only_the_owner_steers_a_run(site: Site, outsider: Any, move: str) -> None:
    assert client_of(outsider).post(f"/evaluations/{site.private.pk}/{move}/").status_code == 404
    assert client_of(outsider).post(f"/evaluations/{site.shared.pk}/{move}/").status_code == 404


def test_contributed_text_is_never_markup(site: Site, owner: Any) -> None:
    content = client_of(owner).get(f"/tasks/{site.private_task.pk}/").content.decode()
    assert "<script>alert" not in content
    assert "&lt;script&gt;alert" in content


def test_a_login_link_works_once(owner: Any) -> None:
    address = f"/sign-in/{login_links.make(owner)}/"
    client = Client()
    assert client.get(address).status_code == 200  # looking at it, as mail programs do, does not use it up
    assert client.post(address).status_code == 302
    assert "_auth_user_id" in client.session
    again = Client()
    assert again.post(address).status_code == 410
    assert "_auth_user_id" not in again.session


@pytest.mark.parametrize("token", ["x", "a.b:c:d", "%00", "MQ.abc-def:1:x"])
def test_a_forged_login_link_lets_nobody_in(db: None, token: str) -> None:
    assert Client().post(f"/sign-in/{token}/").status_code == 410


@pytest.mark.parametrize(
    "address",
    ["/tasks/00000000-0000-0000-0000-000000000000/", "/evaluations/no/", "/configurations/99999999999999/", "/x"],
)
def test_what_is_not_there_is_a_helpful_404(db: None, address: str) -> None:
    response = Client().get(address)
    assert response.status_code == 404
    assert b"There is nothing here" in response.content
