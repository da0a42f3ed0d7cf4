"""What commands need before they can work: services, Django, the operator's account."""

import os
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from worksample.accounts.models import User

console = Console(highlight=False)
OPERATOR = "operator"


def uses_external_services() -> bool:
    return "DATABASE_URL" in os.environ and "CELERY_BROKER_URL" in os.environ


def ready(*, quiet: bool = False) -> None:
    """Have a database, a broker and Django: the embedded ones unless the environment names others."""
    if not uses_external_services():
        from worksample.embedded import services

        services.up((lambda _: None) if quiet else (lambda line: console.print(f"[dim]{line} ...[/dim]")))
    django_ready()


def django_ready() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "worksample.settings")
    import django

    django.setup()


def operator() -> "User":
    """The account of whoever runs the command line here: an administrator without a password, let in by a link."""
    from worksample.accounts.models import User

    user, made = User.objects.get_or_create(
        username=OPERATOR, defaults={"is_staff": True, "is_superuser": True, "first_name": "Operator"}
    )
    if made:
        user.set_unusable_password()
        user.save()
    return user


def login_link(user: "User") -> str:
    """A link that signs the user in once, within a quarter of an hour."""
    from django.conf import settings
    from django.urls import reverse

    from worksample.accounts import login_links

    return str(settings.SITE_URL) + reverse("token-link", args=[login_links.make(user)])
