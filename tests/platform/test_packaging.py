"""``platform/`` shadows nothing, and the wheel runs outside the checkout with all its data."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, Workers, wait_for

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
ASK = "import platform; print(platform.python_version())"


def test_platform_is_no_package() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()


def test_the_standard_librarys_platform_is_there_under_pytest() -> None:
    import platform

    assert platform.python_version() == VERSION


def test_the_standard_librarys_platform_is_there_under_manage_py(transactional_db: None) -> None:
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", ASK]
    assert subprocess.check_output(command, cwd=ROOT, text=True).strip().endswith(VERSION)


def test_manage_py_check_finds_nothing(db: None) -> None:
    assert subprocess.run([sys.executable, "manage.py", "check"], cwd=ROOT, capture_output=True).returncode == 0


def test_a_celery_worker_starts_from_the_checkout(workers: Workers) -> None:
    """Celery asks the standard library's platform as it starts, and would die of another."""
    workers.start()
    wait_for(lambda: workers.log.exists() and "ready." in workers.log.read_text(), what="the worker")


def test_no_migration_is_missing(db: None) -> None:
    command = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that holds the wheel, and its dependencies by way of this one's."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    site = folder / "venv" / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (wheel,) = folder.glob("*.whl")
    target = ["--target", str(site), "--no-deps", "--no-compile", "--quiet"]
    subprocess.run([sys.executable, "-m", "pip", "install", *target, str(wheel)], check=True)
    # After the wheel's own, so that what is tested is the wheel and not the checkout.
    (site / "dependencies.pth").write_text(f"import sys; sys.path.append({sysconfig.get_path('purelib')!r})\n")
    return folder / "venv" / "bin" / "python"


def run_outside(python: Path, code: str, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.check_output([str(python), "-c", code], cwd=folder, env=environment, text=True).strip()


def test_the_wheel_runs_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    assert "site-packages" in run_outside(installed, "import worksample; print(worksample.__file__)", tmp_path)
    assert run_outside(installed, ASK, tmp_path) == VERSION
    helped = run_outside(installed, "from worksample.cli import main; main(['--help'])", tmp_path)
    assert "evaluate" in helped


@pytest.mark.parametrize(
    "file",
    [
        "questions/starter/support-ticket-triage/task.yaml",
        "questions/starter/support-ticket-triage/scaffolds.yaml",
        "questions/starter/order-email-extraction/questions.jsonl",
        "frontend/templates/frontend/base.html",
        "frontend/static/frontend/site.css",
        "evaluation/migrations/0001_initial.py",
    ],
)
def test_the_wheel_carries_its_data(installed: Path, tmp_path: Path, file: str) -> None:
    package, _, rest = file.partition("/")
    code = f"import pathlib, {package}; print((pathlib.Path({package}.__file__).parent / {rest!r}).exists())"
    assert run_outside(installed, code, tmp_path) == "True"


def test_the_compose_file_has_no_default_secret() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    services = yaml.safe_load(text)["services"]
    assert set(services) == {"postgres", "broker", "migrate", "web", "worker", "beat"}
    for name in ("POSTGRES_PASSWORD", "BROKER_PASSWORD", "WORKSAMPLE_SECRET_KEY", "WORKSAMPLE_CREDENTIAL_KEYS"):
        assert f"${{{name}:?" in text
        assert f"${{{name}:-" not in text
    assert all("healthcheck" in services[name] for name in services if name != "migrate")


def test_no_lock_names_a_registry() -> None:
    for lock in (ROOT / "requirements").glob("*.txt"):
        assert "://" not in lock.read_text()
        assert "--hash=sha256:" in lock.read_text()
