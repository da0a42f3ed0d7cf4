#!/usr/bin/env python
"""Django's command-line utility for a checkout; an installed worksample uses the command ``worksample manage``."""

import os
import sys
from pathlib import Path

# platform/ is a source root, not a package: with an __init__.py it would shadow the standard library's module.
sys.path.insert(1, str(Path(__file__).resolve().parent / "platform"))

if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "worksample.settings")
    execute_from_command_line(sys.argv)
