"""Run one command with a PostgreSQL and a broker of its own, which are gone afterwards.

``python -m worksample.embedded.temporary pytest``. Services that DATABASE_URL and CELERY_BROKER_URL name are used as
they are.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from cryptography.fernet import Fernet

from worksample.embedded import broker, postgres
from worksample.embedded.ports import free_port
from worksample.embedded.postgres import ROLE
from worksample.embedded.supervision import answers, wait_until


@contextmanager
def services() -> Iterator[dict[str, str]]:
    """The environment that leads to the services, for as long as they run."""
    given = {name: os.environ[name] for name in ("DATABASE_URL", "CELERY_BROKER_URL") if name in os.environ}
    # Below /var/tmp rather than a folder of the user's: root's PostgreSQL must be able to enter it.
    with tempfile.TemporaryDirectory(prefix="worksample-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        processes: list[subprocess.Popen[bytes]] = []
        try:
            if "DATABASE_URL" not in given:
                given["DATABASE_URL"] = _start_postgres(folder / "postgres", processes)
            if "CELERY_BROKER_URL" not in given:
                given["CELERY_BROKER_URL"] = _start_broker(folder / "broker", processes)
            yield {
                "WORKSAMPLE_EMBEDDED": "0",
                "WORKSAMPLE_HOME": str(folder / "home"),
                "WORKSAMPLE_SECRET_KEY": secrets.token_urlsafe(32),
                "WORKSAMPLE_CREDENTIAL_KEYS": Fernet.generate_key().decode(),
                "WORKSAMPLE_ALLOW_LOCAL_ENDPOINTS": "1",
                **given,
            }
        finally:
            for process in reversed(processes):
                process.send_signal(2)
                try:
                    process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()
            # The server's user owns what is below; its own clean-up would trip over that.
            shutil.rmtree(folder / "postgres", ignore_errors=True)


def _start_postgres(folder: Path, processes: list[subprocess.Popen[bytes]]) -> str:
    password, port = secrets.token_urlsafe(16), free_port()
    cluster = postgres.prepare(folder, password)
    log = (folder.parent / "postgres.log").open("wb")
    processes.append(
        subprocess.Popen(  # noqa: S603
            cluster.server_command(port, durable=False),
            user=cluster.user,
            group=cluster.user,
            cwd="/",
            stdout=log,
            stderr=log,
            env={},
            start_new_session=True,
        )
    )
    url = f"postgres://{ROLE}:{password}@127.0.0.1:{port}/postgres"
    wait_until(lambda: _connects(url), seconds=60, what="PostgreSQL")
    return url


def _start_broker(folder: Path, processes: list[subprocess.Popen[bytes]]) -> str:
    password, port = secrets.token_urlsafe(16), free_port()
    command = broker.prepare(folder, port=port, password=password)
    processes.append(
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    )
    wait_until(lambda: answers(port), seconds=20, what="the broker")
    return f"redis://:{password}@127.0.0.1:{port}/0"


def _connects(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def run(command: list[str]) -> int:
    """The command's exit code."""
    with services() as environment:
        child = subprocess.Popen(command, env={**os.environ, **environment})  # noqa: S603
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:  # the terminal has told the child too: let it end in its own way
                continue


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m worksample.embedded.temporary COMMAND [ARGUMENT ...]")
    sys.exit(run(sys.argv[1:]))
