"""The browser of the page tests: Debian's Chromium, installed by ``python -m tests.browser`` where that is possible."""

import os
import shutil
import subprocess
import sys

# Nothing that looks beyond this machine, and no sandbox of its own where it runs as root.
ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]
REMEDY = "The page tests need Chromium: apt-get install chromium"


def executable() -> str | None:
    """Chromium's path; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def main() -> int:
    if executable() is not None:
        return 0
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        print(REMEDY, file=sys.stderr)
        return 1
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
    ):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode != 0:
            print(REMEDY, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
