"""One installation's ports and secrets, kept in its environment file."""

import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.fernet import Fernet

from worksample.embedded.ports import free_port, is_free
from worksample.embedded.postgres import DATABASE, ROLE
from worksample.home import environment_file, home

FIRST_SITE_PORT = 8000


@dataclass
class Installation:
    """Where the embedded services of one ``WORKSAMPLE_HOME`` listen, and what they let in."""

    database_port: int
    database_password: str
    broker_port: int
    broker_password: str
    site_port: int
    model_port: int
    secret_key: str
    credential_keys: str

    @property
    def folder(self) -> Path:
        return home()

    @property
    def site_url(self) -> str:
        return f"http://127.0.0.1:{self.site_port}"

    @property
    def model_url(self) -> str:
        return f"http://127.0.0.1:{self.model_port}/v1"

    def environment(self) -> dict[str, str]:
        """What settings read."""
        return {
            "DATABASE_URL": f"postgres://{ROLE}:{self.database_password}@127.0.0.1:{self.database_port}/{DATABASE}",
            "CELERY_BROKER_URL": f"redis://:{self.broker_password}@127.0.0.1:{self.broker_port}/0",
            "WORKSAMPLE_SECRET_KEY": self.secret_key,
            "WORKSAMPLE_CREDENTIAL_KEYS": self.credential_keys,
            "WORKSAMPLE_SITE_URL": self.site_url,
            "WORKSAMPLE_LOCAL_MODEL_URL": self.model_url,
            "WORKSAMPLE_ALLOW_LOCAL_ENDPOINTS": "1",
        }

    def save(self) -> None:
        """Write the environment file, whole or not at all, for its owner's eyes alone."""
        target = environment_file()
        target.parent.mkdir(parents=True, exist_ok=True)
        half = target.with_suffix(f".{os.getpid()}")
        half.touch(mode=0o600)
        half.write_text("".join(f"{name}={value}\n" for name, value in self.environment().items()))
        half.replace(target)

    def with_free_ports(self) -> "Installation":
        """The same with other ports for those that somebody else has taken meanwhile."""
        values = asdict(self)
        for name in ("database_port", "broker_port", "site_port", "model_port"):
            if not is_free(values[name]):
                values[name] = free_port()
        return Installation(**values)


def load() -> Installation | None:
    """The installation as its environment file has it; None if there is none yet."""
    if not environment_file().exists():
        return None
    values = _parsed()
    database, broker = urlsplit(values["DATABASE_URL"]), urlsplit(values["CELERY_BROKER_URL"])
    return Installation(
        database_port=database.port or 0,
        database_password=database.password or "",
        broker_port=broker.port or 0,
        broker_password=broker.password or "",
        site_port=urlsplit(values["WORKSAMPLE_SITE_URL"]).port or 0,
        model_port=urlsplit(values["WORKSAMPLE_LOCAL_MODEL_URL"]).port or 0,
        secret_key=values["WORKSAMPLE_SECRET_KEY"],
        credential_keys=values["WORKSAMPLE_CREDENTIAL_KEYS"],
    )


def create(*, site_port: int | None = None) -> Installation:
    """A new installation with secrets of its own."""
    return Installation(
        database_port=free_port(),
        database_password=secrets.token_urlsafe(24),
        broker_port=free_port(),
        broker_password=secrets.token_urlsafe(24),
        site_port=free_port(site_port or FIRST_SITE_PORT),
        model_port=free_port(),
        secret_key=secrets.token_urlsafe(48),
        credential_keys=Fernet.generate_key().decode(),
    )


def _parsed() -> dict[str, str]:
    lines = environment_file().read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
