"""The embedded services as children of supervisord: started, restarted when they die, stopped together."""

import configparser
import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from supervisor.xmlrpc import SupervisorTransport

from worksample.embedded.postgres import CannotStart
from worksample.home import home

# Marks every process of an installation, so that those of a supervisor that was killed can be told from others.
MARK = "WORKSAMPLE_SUPERVISED"
LONGEST_SOCKET_PATH = 100
LOG_BYTES = 5_000_000


@dataclass(frozen=True)
class Program:
    """A supervised child."""

    name: str
    command: list[str]
    user: str | None = None
    autostart: bool = True
    # PostgreSQL ends at once, but orderly, on an interrupt.
    stop_signal: str = "TERM"
    stop_seconds: int = 20


def write_configuration(programs: list[Program]) -> Path:
    """supervisord's configuration file."""
    config = configparser.RawConfigParser()
    logs = home() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    config["unix_http_server"] = {"file": str(_socket_path()), "chmod": "0600"}
    config["supervisord"] = {
        "logfile": str(logs / "supervisord.log"),
        "logfile_maxbytes": str(LOG_BYTES),
        "logfile_backups": "2",
        "pidfile": str(home() / "supervisord.pid"),
        "childlogdir": str(logs),
        "directory": str(home()),
        "umask": "077",
        "minfds": "1024",
        "environment": f'{MARK}="{_escaped(str(home()))}",WORKSAMPLE_HOME="{_escaped(str(home()))}"',
    }
    if os.geteuid() == 0:
        config["supervisord"]["user"] = "root"
    config["rpcinterface:supervisor"] = {
        "supervisor.rpcinterface_factory": "supervisor.rpcinterface:make_main_rpcinterface"
    }
    for program in programs:
        section = {
            "command": " ".join(_quoted(part) for part in program.command),
            "autostart": str(program.autostart).lower(),
            "autorestart": "true",
            "startsecs": "1",
            "startretries": "5",
            "stopsignal": program.stop_signal,
            "stopwaitsecs": str(program.stop_seconds),
            "stopasgroup": "false",
            "killasgroup": "true",
            "redirect_stderr": "true",
            "stdout_logfile": str(logs / f"{program.name}.log"),
            "stdout_logfile_maxbytes": str(LOG_BYTES),
            "stdout_logfile_backups": "2",
        }
        if program.user is not None:
            section["user"] = program.user
            section["directory"] = "/"
        config[f"program:{program.name}"] = section
    path = home() / "supervisord.conf"
    path.touch(mode=0o600)
    with path.open("w") as file:
        config.write(file)
    return path


def start(configuration: Path) -> None:
    """Start supervisord as a daemon and wait until it answers. Raises CannotStart."""
    command = [sys.executable, "-m", "supervisor.supervisord", "-c", str(configuration)]
    started = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    if started.returncode != 0:
        raise CannotStart(f"supervisord did not start: {(started.stderr or started.stdout).strip()[-500:]}")
    wait_until(is_running, seconds=20, what="supervisord")


def is_running() -> bool:
    """Whether this installation's supervisord answers."""
    try:
        return _proxy().supervisor.getState()["statename"] in ("RUNNING", "RESTARTING")
    except (OSError, xmlrpc.client.Error):
        return False


def states() -> dict[str, str]:
    """The state of every program by name; empty where supervisord does not run."""
    try:
        return {p["name"]: p["statename"] for p in _proxy().supervisor.getAllProcessInfo()}
    except (OSError, xmlrpc.client.Error):
        return {}


def start_program(name: str) -> None:
    """Start a program that does not run yet. Raises CannotStart naming its log."""
    if states().get(name) in ("RUNNING", "STARTING"):
        return
    try:
        _proxy().supervisor.startProcess(name, True)
    except xmlrpc.client.Fault as fault:
        log = home() / "logs" / f"{name}.log"
        tail = log.read_text(errors="replace")[-800:] if log.exists() else ""
        raise CannotStart(f"{name} did not start ({fault.faultString}). The end of {log}:\n{tail}") from None


def stop() -> bool:
    """Stop all programs and supervisord itself; whether there was anything to stop."""
    running = is_running()
    if running:
        pid = int(_proxy().supervisor.getPID())
        _proxy().supervisor.shutdown()
        wait_until(lambda: not psutil.pid_exists(pid), seconds=60, what="the end of supervisord")
    return end_leftovers() or running


def end_leftovers() -> bool:
    """End processes of this installation whose supervisor is gone; whether there were any."""
    left = [process for process in psutil.process_iter() if _is_ours(process)]
    for process in left:
        try:
            process.send_signal(2 if process.name() == "postgres" else 15)
        except psutil.NoSuchProcess:
            continue
    _, alive = psutil.wait_procs(left, timeout=20)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=5)
    return bool(left)


def wait_until(condition: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Poll until the condition holds. Raises CannotStart when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise CannotStart(f"{what} did not come about within {seconds:.0f} s: see the logs in {home() / 'logs'}")
        time.sleep(0.1)


def answers(port: int) -> bool:
    """Whether somebody listens on this port of the loopback."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _is_ours(process: psutil.Process) -> bool:
    try:
        return process.pid != os.getpid() and process.environ().get(MARK) == str(home())
    except (psutil.Error, OSError):
        return False


def _proxy() -> Any:
    transport = SupervisorTransport(None, None, serverurl=f"unix://{_socket_path()}")
    return xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)


def _socket_path() -> Path:
    """In the installation's folder; a path too long for a socket goes to the folder for temporary files instead."""
    path = home() / "supervisord.sock"
    if len(str(path)) <= LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(str(home()).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"worksample-{os.geteuid()}-{digest}.sock"


def _quoted(part: str) -> str:
    return '"' + _escaped(part).replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    """supervisord expands per cent signs."""
    return text.replace("%", "%%")
