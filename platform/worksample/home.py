"""Where an installation keeps its state, and the environment file that the embedded services leave there."""

import os
from pathlib import Path

import platformdirs

ENVIRONMENT_FILE = "environment"


def home() -> Path:
    """The folder of this installation: ``WORKSAMPLE_HOME``, else the user's data folder (root: ``/var/lib``)."""
    given = os.environ.get("WORKSAMPLE_HOME")
    if given:
        return Path(given).expanduser().resolve()
    if os.geteuid() == 0:
        # The embedded PostgreSQL refuses to run as root, and its own user cannot enter root's home.
        return Path("/var/lib/worksample")
    return Path(platformdirs.user_data_dir("worksample"))


def environment_file() -> Path:
    """Settings that lead to the embedded services (``NAME=value`` lines), for their owner's eyes alone."""
    return home() / ENVIRONMENT_FILE
