"""The command ``worksample``."""

import sys
from collections.abc import Sequence

import click
from rich.console import Console

from worksample.cli import data, evaluating, operating
from worksample.embedded.postgres import CannotStart
from worksample.home import home

BAD_INPUT = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="worksample")
def cli() -> None:
    """Find out which language model does your work well, at what price and speed, and how sure that is.

    Commands that need the database bring up the embedded services, unless DATABASE_URL and CELERY_BROKER_URL name
    others.
    """


for command in (*operating.COMMANDS, *data.COMMANDS, *evaluating.COMMANDS):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; bad input ends with exit code 2 and one message a problem, never with a traceback."""
    from questions.errors import Refused

    error = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        cli.main(args=arguments, prog_name="worksample", standalone_mode=False)
    except Refused as refused:
        for problem in refused.problems:
            error.print(f"[red]error[/red] {_escaped(str(problem))}")
        sys.exit(BAD_INPUT)
    except CannotStart as problem:
        error.print(f"[red]error[/red] {_escaped(str(problem))}")
        error.print(f"The logs are in {home() / 'logs'}; 'worksample doctor' checks every part.")
        sys.exit(1)
    except click.Abort:
        sys.exit(130)
    except click.exceptions.Exit as wanted:
        sys.exit(wanted.exit_code)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")
