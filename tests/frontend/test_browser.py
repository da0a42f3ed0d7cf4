"""Every page in a real browser: wide and narrow, light and dark, with and without JavaScript."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests import browser as chromium
from tests.frontend.conftest import Site

# Playwright runs an event loop in this thread, in which Django would refuse to touch the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
pytestmark = pytest.mark.django_db(transaction=True)
SCREENSHOTS = os.environ.get("WORKSAMPLE_SCREENSHOTS")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    executable = chromium.executable()
    assert executable is not None, chromium.REMEDY
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=chromium.ARGUMENTS)
        yield launched
        launched.close()


def pages_of(site: Site) -> dict[str, str]:
    return {
        "front": "/",
        "tasks": "/tasks/",
        "task": f"/tasks/{site.shared_task.pk}/",
        "leaderboard": f"/tasks/{site.shared_task.pk}/leaderboard/",
        "evaluations": "/evaluations/",
        "evaluation": f"/evaluations/{site.private.pk}/",
        "trials": f"/evaluations/{site.private.pk}/trials/",
        "configuration": f"/configurations/{site.shared.configurations.first().pk}/",
        "help": "/help/",
        "account": "/account/",
        "api": "/api/v1/docs/",
    }


def signed_in(browser: Browser, live_server: Any, person: Any, **options: Any) -> Page:
    """A page in a context that carries the person's session."""
    client = Client()
    client.force_login(person)
    context = browser.new_context(base_url=live_server.url, **options)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    return context.new_page()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("device", "width"), [("desktop", 1280), ("phone", 390)])
def test_every_page_opens_without_errors_and_without_scrolling_sideways(
    browser: Browser, live_server: Any, site: Site, owner: Any, scheme: Any, device: str, width: int
) -> None:
    page = signed_in(browser, live_server, owner, color_scheme=scheme, viewport={"width": width, "height": 900})
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for name, address in pages_of(site).items():
        response = page.goto(address)
        assert response is not None
        assert response.ok, name
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        if SCREENSHOTS:
            page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{device}-{scheme}.png", full_page=True)
    assert complaints == []
    page.context.close()


def test_pages_read_the_same_without_javascript(browser: Browser, live_server: Any, site: Site, owner: Any) -> None:
    page = signed_in(browser, live_server, owner, java_script_enabled=False)
    page.goto(f"/evaluations/{site.private.pk}/")
    assert page.locator("table tbody tr").count() == 2
    assert page.locator("svg.chart desc").text_content() != ""
    page.context.close()


def test_a_keyboard_reaches_the_content_first(browser: Browser, live_server: Any, site: Site) -> None:
    page = browser.new_context(base_url=live_server.url).new_page()
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.context.close()


def test_signing_in_with_a_password_leads_to_the_front_page(browser: Browser, live_server: Any, owner: Any) -> None:
    page = browser.new_context(base_url=live_server.url).new_page()
    page.goto("/sign-in/")
    page.get_by_label("User name").fill("owner")
    page.get_by_label("Password").fill("owner-of-the-house")
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()
    assert page.url.rstrip("/") == live_server.url
    page.context.close()


def test_a_running_evaluation_moves_on_before_the_eyes(
    browser: Browser, live_server: Any, site: Site, owner: Any
) -> None:
    from evaluation.models import Evaluation, EvaluationStatus, StopReason

    evaluation = Evaluation.objects.filter(pk=site.private.pk)
    evaluation.update(status=EvaluationStatus.RUNNING, stop_reason="")
    page = signed_in(browser, live_server, owner)
    page.goto(f"/evaluations/{site.private.pk}/")
    assert page.locator("#live .status").first.text_content() == "Running"
    evaluation.update(status=EvaluationStatus.FINISHED, stop_reason=StopReason.TRIALS)
    page.locator("#live .status", has_text="Finished").wait_for(timeout=15_000)
    page.context.close()
