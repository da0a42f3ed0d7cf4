"""The account page: tokens are shown once, and everybody has their own."""

import re
from typing import Any

import pytest
from django.test import Client
from knox.models import AuthToken


def client_of(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_a_visitor_is_asked_to_sign_in_and_led_back(db: None) -> None:
    response = Client().get("/account/")
    assert response.status_code == 302
    assert response.headers["Location"] == "/sign-in/?next=/account/"


def test_a_new_token_is_shown_once_and_opens_the_api(owner: Any) -> None:
    client = client_of(owner)
    made = client.post("/account/", {"action": "new-token"})
    token = re.search(r'not shown again: <code class="hash">(\w+)</code>', made.content.decode())[1]  # type: ignore[index]
    assert made.headers["Cache-Control"] == "no-store"
    assert token not in client.get("/account/").content.decode()
    assert Client().get("/api/v1/tasks/", headers={"Authorization": f"Token {token}"}).status_code == 200


def test_a_revoked_token_is_gone(owner: Any) -> None:
    kept, dropped = AuthToken.objects.create(owner)[0], AuthToken.objects.create(owner)[0]
    client_of(owner).post("/account/", {"action": "drop-token", "key": dropped.token_key})
    assert list(AuthToken.objects.filter(user=owner)) == [kept]


def test_nobody_sees_or_revokes_the_token_of_another(owner: Any, outsider: Any) -> None:
    token = AuthToken.objects.create(owner)[0]
    client = client_of(outsider)
    assert token.token_key not in client.get("/account/").content.decode()
    client.post("/account/", {"action": "drop-token", "key": token.token_key})
    assert AuthToken.objects.filter(user=owner).exists()


@pytest.mark.parametrize("address", ["/account/", "/sign-out/"])
def test_a_form_without_its_safeguard_is_refused_with_a_helpful_page(owner: Any, address: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    response = client.post(address, {"action": "new-token"})
    assert response.status_code == 403
    assert b"open its page anew" in response.content
    assert not AuthToken.objects.filter(user=owner).exists()
