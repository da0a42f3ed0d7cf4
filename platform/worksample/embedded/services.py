"""Bringing the embedded services up and down as a whole."""

import os
import sys
from collections.abc import Callable

import httpx
import psycopg
from psycopg import sql

from worksample.embedded import broker, installation, local_model, postgres, supervision
from worksample.embedded.installation import Installation
from worksample.embedded.postgres import DATABASE, ROLE, CannotStart
from worksample.embedded.supervision import Program, answers, wait_until
from worksample.home import home

Say = Callable[[str], None]


def up(say: Say, *, site_port: int | None = None) -> Installation:
    """Set up what is missing and start what does not run; doing it twice changes nothing. Raises CannotStart."""
    _make_home()
    current = installation.load()
    if current is None or not supervision.is_running():
        supervision.end_leftovers()
        current = current.with_free_ports() if current else installation.create(site_port=site_port)
        current.save()
        say("Preparing PostgreSQL and the broker")
        configuration = supervision.write_configuration(_programs(current))
        supervision.start(configuration)
    wait_until(lambda: _database_answers(current), seconds=60, what="PostgreSQL")
    wait_until(lambda: answers(current.broker_port), seconds=20, what="the broker")
    say("Bringing the database up to date")
    _ensure_database(current)
    _migrate()
    for name in ("web", "worker", "beat"):
        supervision.start_program(name)
    wait_until(lambda: answers(current.site_port), seconds=60, what="the site")
    return current


def start_local_model(current: Installation) -> None:
    """Start the local model and wait until it answers. Raises CannotStart where its packages are missing."""
    if not local_model.is_installed():
        raise CannotStart(f"The local model's packages are missing. {local_model.REMEDY}")
    supervision.start_program("local-model")
    # It listens before its weights are read, and says then that it is not ready.
    wait_until(
        lambda: _is_healthy(f"http://127.0.0.1:{current.model_port}/health"), seconds=120, what="the local model"
    )


def down() -> bool:
    """Stop everything; whether there was anything to stop."""
    return supervision.stop()


def _programs(current: Installation) -> list[Program]:
    cluster = postgres.prepare(home() / "postgres", current.database_password)
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "-A", "worksample.celery"]
    workers = str(max(2, min(4, os.cpu_count() or 2)))
    return [
        Program("postgres", cluster.server_command(current.database_port), cluster.user, stop_signal="INT"),
        Program(
            "broker",
            broker.prepare(home() / "broker", port=current.broker_port, password=current.broker_password),
        ),
        Program(
            "web",
            [
                *python,
                "uvicorn",
                "worksample.asgi:application",
                "--host",
                "127.0.0.1",
                "--port",
                str(current.site_port),
                "--no-access-log",
                "--lifespan",
                "off",
            ],
            autostart=False,
        ),
        Program(
            "worker",
            [*celery, "worker", "-c", workers, "-n", "embedded@%h", "--loglevel", "INFO"],
            autostart=False,
            stop_seconds=60,
        ),
        Program("beat", [*celery, "beat", "-s", str(home() / "beat-schedule"), "--pidfile="], autostart=False),
        Program(
            "local-model",
            [*python, "worksample.embedded.local_model", "--port", str(current.model_port)],
            autostart=False,
        ),
    ]


def _make_home() -> None:
    try:
        home().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotStart(
            f"{home()} cannot be made: {error.strerror}. Set WORKSAMPLE_HOME to another folder."
        ) from None
    if os.geteuid() != 0:
        home().chmod(0o700)


def _connect(current: Installation, database: str) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1",
        port=current.database_port,
        user=ROLE,
        password=current.database_password,
        dbname=database,
        autocommit=True,
        connect_timeout=5,
    )


def _is_healthy(address: str) -> bool:
    try:
        return httpx.get(address, timeout=5).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _database_answers(current: Installation) -> bool:
    try:
        _connect(current, "postgres").close()
    except psycopg.OperationalError as error:
        if "password authentication failed" in str(error):
            raise CannotStart(
                f"PostgreSQL in {home() / 'postgres'} has another password than {home() / 'environment'} says:"
                " restore that file, or remove the folder to begin anew (its data are lost then)."
            ) from None
        return False
    return True


def _ensure_database(current: Installation) -> None:
    with _connect(current, "postgres") as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if not known:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def _migrate() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "worksample.settings")
    import django  # settings read the environment file, which is there only now
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    from questions.contributing import load_starter_tasks

    load_starter_tasks()
