"""Commands for whoever runs an installation."""

import json
import sys

import click

from worksample.cli.setup import console, django_ready, login_link, operator, ready, uses_external_services
from worksample.embedded import installation, local_model, services, supervision, temporary
from worksample.home import home


@click.command()
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the site on a first start (8000, or any free one)."
)
@click.option("--local-model", "with_model", is_flag=True, help="Start the local model too.")
def up(port: int | None, with_model: bool) -> None:
    """Set up and start the embedded services and the site."""
    current = services.up(lambda line: console.print(f"[dim]{line} ...[/dim]"), site_port=port)
    if with_model:
        services.start_local_model(current)
    console.print(f"The site is at {current.site_url}  (data in {home()})")


@click.command()
def down() -> None:
    """Stop the embedded services and the site; the data stay."""
    console.print("Stopped." if services.down() else "Nothing was running.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def status(as_json: bool) -> None:
    """Show which services run."""
    states = supervision.states()
    if as_json:
        click.echo(json.dumps(states))
        return
    if not states:
        console.print("Nothing is running. Start with: worksample up")
        return
    for name, state in sorted(states.items()):
        console.print(f"{name:12} {state.lower()}")


@click.command()
def doctor() -> None:
    """Check every part of the installation and say what to mend."""
    sound = True
    for name, remedy in _checks():
        sound = sound and not remedy
        console.print(
            f"[{'red' if remedy else 'green'}]{'mend' if remedy else 'ok  '}[/] {name}{': ' + remedy if remedy else ''}"
        )
    sys.exit(0 if sound else 1)


def _checks() -> list[tuple[str, str]]:
    """(part, remedy) of everything that is checked; an empty remedy is well."""
    checks = [("local model's packages (optional)", "" if local_model.is_installed() else local_model.REMEDY)]
    if uses_external_services():
        return [*checks, *_service_checks()]
    if installation.load() is None:
        return [*checks, ("installation", "There is none yet: worksample up")]
    states = supervision.states()
    if not states:
        return [*checks, ("services", "They do not run: worksample up")]
    for name, state in sorted(states.items()):
        needed = name != "local-model"
        log = home() / "logs" / f"{name}.log"
        checks.append((name, f"It is {state.lower()}: see {log}" if needed and state != "RUNNING" else ""))
    return [*checks, *_service_checks()]


def _service_checks() -> list[tuple[str, str]]:
    django_ready()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from worksample.celery import app

    found = []
    try:
        pending = MigrationExecutor(connection).migration_plan(MigrationExecutor(connection).loader.graph.leaf_nodes())
        found.append(
            ("database", f"{len(pending)} migrations are missing: worksample manage migrate" if pending else "")
        )
    except Exception as error:  # whatever is wrong is the answer
        found.append(("database", f"{type(error).__name__}: {error}. Check DATABASE_URL."))
    try:
        with app.connection_for_read() as broker:
            broker.ensure_connection(max_retries=1, timeout=3)
        found.append(("broker", ""))
        workers = app.control.ping(timeout=2)
        found.append(("workers", "" if workers else "None answers: celery -A worksample.celery worker"))
    except Exception as error:
        found.append(("broker", f"{type(error).__name__}: {error}. Check CELERY_BROKER_URL."))
    return found


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def manage(arguments: tuple[str, ...]) -> None:
    """Run a management command of Django's."""
    import os

    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "worksample.settings")
    execute_from_command_line(["worksample manage", *arguments])


@click.command("with-services", context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def with_services(command: tuple[str, ...]) -> None:
    """Run COMMAND with a temporary PostgreSQL and broker of its own."""
    sys.exit(temporary.run(list(command)))


@click.command("login-link")
@click.argument("username", required=False)
def login_link_command(username: str | None) -> None:
    """Print a link that signs USERNAME (the operator) in once, within 15 minutes."""
    ready(quiet=True)
    from questions.errors import refuse
    from worksample.accounts.models import User

    user = operator() if username is None else User.objects.filter(username=username).first()
    if user is None:
        raise refuse("username", username, "has no account here", "Make one: worksample create-user NAME")
    click.echo(login_link(user))


@click.command("create-user")
@click.argument("username")
@click.option("--staff", is_flag=True, help="May administer the site.")
@click.password_option(help="Asked for when not given.")
def create_user(username: str, staff: bool, password: str) -> None:
    """Make an account that signs in with a password."""
    ready(quiet=True)
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError

    from questions.errors import refuse
    from worksample.accounts.models import User

    user = User(username=username, is_staff=staff, is_superuser=staff)
    try:
        user.full_clean(exclude=["password"])
        validate_password(password, user)
    except ValidationError as error:
        raise refuse("username or password", username, " ".join(error.messages), "Choose another.") from None
    user.set_password(password)
    user.save()
    console.print(f"{username} can sign in.")


COMMANDS = (up, down, status, doctor, manage, with_services, login_link_command, create_user)
