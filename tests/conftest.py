"""Real parts for tests: a worker process, a model API over HTTP, people by role.

The database and the broker come from ``python -m worksample.embedded.temporary pytest`` (``make test``).
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection

from worksample.embedded.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
LEASE_SECONDS = 2.0
SWEEP_SECONDS = 0.5


def wait_for(condition: Callable[[], Any], *, seconds: float = 30.0, what: str = "it") -> Any:
    """Poll until the condition gives something true, which is returned."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come about within {seconds:g} s"
        time.sleep(0.02)
    return value


@dataclass
class ModelApi:
    """The test's model API, in a process of its own."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def control(self, **settings_: Any) -> None:
        httpx.post(f"http://127.0.0.1:{self.port}/control", json=settings_).raise_for_status()

    def log(self) -> list[dict[str, Any]]:
        return list(self._state()["log"])

    def in_flight(self) -> int:
        return int(self._state()["in_flight"])

    def _state(self) -> dict[str, Any]:
        return dict(httpx.get(f"http://127.0.0.1:{self.port}/log").raise_for_status().json())


@pytest.fixture
def model_api() -> Iterator[ModelApi]:
    port = free_port()
    command = [sys.executable, "-m", "tests.servers.model_api", "--port", str(port), "--latency", "5"]
    process = subprocess.Popen(command, cwd=ROOT)
    api = ModelApi(port)

    def answers() -> bool:
        try:
            return api.log() == []
        except httpx.TransportError:
            return False

    try:
        wait_for(answers, what="the model API")
        yield api
    finally:
        process.kill()
        process.wait()


@dataclass
class Workers:
    """Celery worker processes on the test's database and broker."""

    environment: dict[str, str]
    log: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *, concurrency: int = 1) -> subprocess.Popen[bytes]:
        """Another worker, which beats its own sweep (there is no scheduler in tests)."""
        command = [sys.executable, "-m", "celery", "-A", "worksample.celery", "worker", "-B", "-c", str(concurrency)]
        command += ["-n", f"test{len(self.running)}@%h", "--loglevel", "INFO", "-s", str(self.log.with_suffix(".beat"))]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        self.running.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """SIGKILL to the worker and all of its children at once."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self, process: subprocess.Popen[bytes]) -> int:
        """The orderly end that a deployment asks for."""
        process.terminate()
        return process.wait(timeout=30)


@pytest.fixture
def workers(transactional_db: None, tmp_path: Path) -> Iterator[Workers]:
    with_broker_emptied()
    url = settings.DATABASES["default"]
    database = (
        f"postgres://{url['USER']}:{url['PASSWORD']}@{url['HOST']}:{url['PORT']}/{connection.settings_dict['NAME']}"
    )
    environment = {
        **os.environ,
        "DATABASE_URL": database,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
        "WORKSAMPLE_LEASE_SECONDS": str(LEASE_SECONDS),
        "WORKSAMPLE_SWEEP_SECONDS": str(SWEEP_SECONDS),
        "WORKSAMPLE_SECRET_KEY": settings.SECRET_KEY,
        "WORKSAMPLE_CREDENTIAL_KEYS": ",".join(settings.CREDENTIAL_KEYS),
    }
    started = Workers(environment, tmp_path / "worker.log")
    try:
        yield started
    finally:
        for process in started.running:
            if process.poll() is None:
                started.kill(process)
        if started.log.exists():
            # Shown by pytest where the test failed.
            print(started.log.read_text()[-6000:])
        with_broker_emptied()


def with_broker_emptied() -> None:
    """No message of one test may reach the worker of the next."""
    from worksample.celery import app

    with app.connection_for_write() as broker:
        broker.default_channel.client.flushdb()


@pytest.fixture
def owner(db: None) -> Any:
    return _user("owner")


@pytest.fixture
def outsider(db: None) -> Any:
    return _user("outsider")


@pytest.fixture
def staff(db: None) -> Any:
    return _user("staff", is_staff=True, is_superuser=True)


def _user(name: str, **more: Any) -> Any:
    from worksample.accounts.models import User

    return User.objects.create_user(username=name, password=f"{name}-of-the-house", **more)
