"""Commands that bring questions in and show what is known."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from rich.table import Table

from worksample.cli import showing
from worksample.cli.setup import console, operator, ready

if TYPE_CHECKING:
    from questions.formats import ParsedTask
    from questions.models import Suite, Task


def mapping_option(command: Any) -> Any:
    return click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="OURS=THEIRS",
        help='Read our column from theirs: --column "prompt=Frage".',
    )(command)


def grader_options(command: Any) -> Any:
    command = click.option(
        "--grader", help="How answers are graded: exact, choice, numeric, json, set, list or regex."
    )(command)
    return click.option("--grader-parameters", metavar="JSON", help='For example {"labels": ["yes", "no"]}.')(command)


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@grader_options
@mapping_option
def import_(path: Path, grader: str | None, grader_parameters: str | None, columns: tuple[str, ...]) -> None:
    """Bring the questions of PATH (a CSV or JSONL file, or a task folder) in, privately."""
    ready(quiet=True)
    parsed = read(path, grader, grader_parameters, columns)
    suite = take_in(parsed)
    console.print(f"{suite.task.name}: version {suite.version} with {suite.size} questions, slug {suite.task.slug}")


@click.command()
@click.argument("task")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def leaderboard(task: str, as_json: bool) -> None:
    """Show what is known about the configurations measured on TASK (its slug)."""
    ready(quiet=True)
    from evaluation.leaderboard import leaderboard as rows_of

    rows = rows_of(find_task(task), operator())
    if as_json:
        click.echo(
            json.dumps(
                [
                    {
                        "configuration": row.configuration.name,
                        "rank": row.rank,
                        "score": row.standing.score.__dict__,
                        "trials": row.standing.trials,
                        "listed_below": row.listed_below,
                    }
                    for row in rows
                ]
            )
        )
        return
    table = Table(title=f"Leaderboard of {task}", title_justify="left")
    for heading in ("rank", "configuration", "score", "trials", "not ranked because"):
        table.add_column(heading)
    for row in rows:
        standing = row.standing
        table.add_row(
            showing.ranks(row.rank),
            row.configuration.name,
            showing.figure(standing.score),
            str(standing.trials),
            row.listed_below,
        )
    console.print(table)


def read(path: Path, grader: str | None, grader_parameters: str | None, columns: tuple[str, ...]) -> "ParsedTask":
    """The task at ``path``, its references checked by their graders; notes are printed. Raises Refused."""
    from evaluation.checking import check_question
    from questions.errors import refuse
    from questions.formats import read_task

    mapping = {}
    for column in columns:
        ours, separator, theirs = column.partition("=")
        if not separator:
            raise refuse("--column", column, "names no column", "Write OURS=THEIRS, such as prompt=Frage.")
        mapping[ours.strip()] = theirs.strip()
    defaults: dict[str, Any] = {}
    if grader is not None:
        defaults["grader"] = {"kind": grader, "parameters": parameters_of(grader_parameters)}
    parsed = read_task(path, mapping=mapping or None, defaults=defaults or None, check_question=check_question)
    for note in parsed.notes:
        console.print(f"[dim]note: {note}[/dim]")
    return parsed


def parameters_of(text: str | None) -> dict[str, Any]:
    from questions.errors import refuse

    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise refuse("--grader-parameters", text, f"is not JSON: {error}", 'Write {"labels": ["yes", "no"]}.') from None
    if not isinstance(value, dict):
        raise refuse("--grader-parameters", text, "is not a JSON object", 'Write {"labels": ["yes", "no"]}.')
    return value


def take_in(parsed: "ParsedTask") -> "Suite":
    from questions.contributing import import_task

    return import_task(parsed=parsed, owner=operator())


def find_task(slug: str) -> "Task":
    """The operator's own task of that slug, else the shared one. Raises Refused."""
    from questions.errors import refuse
    from questions.models import Task

    found = Task.objects.visible_to(operator()).filter(slug=slug).order_by("visibility").first()
    if found is None:
        known = ", ".join(sorted(Task.objects.visible_to(operator()).values_list("slug", flat=True))[:20])
        raise refuse("task", slug, "is neither a file nor a task here", f"Give a path, or one of: {known}.")
    return cast("Task", found)


COMMANDS = (import_, leaderboard)
