"""Commands that measure configurations and watch them being measured."""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import click
import yaml
from rich.live import Live

from worksample.cli import data
from worksample.cli.setup import console, login_link, operator, ready, uses_external_services

if TYPE_CHECKING:
    from evaluation.models import Configuration, Evaluation
    from questions.models import Suite

LOOK_SECONDS = 0.5
# Without a terminal there is a line at most this often.
LINE_SECONDS = 5.0
DEMO_TASK = "support-ticket-triage"
DEMO_HALF_WIDTH = 0.1
DEMO_MOST_TRIALS = 1600
KEY_VARIABLES = ("WORKSAMPLE_API_KEY", "OPENAI_API_KEY")


@dataclass(frozen=True)
class Target:
    """Where the models are, as options name it."""

    base_url: str
    provider: str
    key: str


@click.command()
@click.argument("questions")
@click.option(
    "--model", "models", multiple=True, required=True, help="Model id; several times for several configurations."
)
@click.option("--base-url", help="Endpoint of an OpenAI-compatible API; the local model when left out.")
@click.option(
    "--api-key-env", help="Environment variable that holds the key (WORKSAMPLE_API_KEY, then OPENAI_API_KEY)."
)
@click.option("--provider", default="openai_chat", show_default=True, help="Protocol of the API.")
@click.option(
    "--scaffold", "scaffold_file", type=click.Path(path_type=Path), help="YAML file: {name, messages: [...]}."
)
@click.option("--temperature", type=float, help="Decoding temperature.")
@click.option("--max-tokens", type=int, help="Longest answer in tokens.")
@click.option("--time-limit", type=float, help="Seconds after which an answer counts as too slow.")
@click.option("--concurrency", type=int, default=8, show_default=True, help="Calls in flight at most.")
@click.option("--price-input", help="US dollars per million input tokens.")
@click.option("--price-output", help="US dollars per million output tokens.")
@click.option(
    "--half-width", type=float, default=0.1, show_default=True, help="Stop at this precision (0: no such rule)."
)
@click.option("--max-trials", type=int, help="Budget of trials over all configurations.")
@click.option("--max-cost", help="Budget in US dollars.")
@click.option("--max-seconds", type=float, help="Budget of time.")
@click.option("--tries", type=int, default=1, show_default=True, help="Tries per drawn question.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Error probability: 0.05 is 95 % sure.")
@click.option("--seed", type=int, help="Of the sampler; random when left out.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@data.grader_options
@data.mapping_option
def evaluate(questions: str, models: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Measure models on QUESTIONS: a CSV or JSONL file, a task folder, or the slug of a task here."""
    ready(quiet=as_json)
    evaluation = _registered(questions, models, options)
    watch_until_end(evaluation.pk, as_json=as_json)


@click.command()
@click.argument("evaluation_id", type=click.UUID)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def watch(evaluation_id: UUID, as_json: bool) -> None:
    """Watch an evaluation until it ends."""
    ready(quiet=True)
    watch_until_end(_find(evaluation_id).pk, as_json=as_json)


@click.command()
@click.argument("evaluation_id", type=click.UUID)
def resume(evaluation_id: UUID) -> None:
    """Let a paused or cancelled evaluation go on, and watch it."""
    ready(quiet=True)
    from evaluation.engine import lifecycle

    lifecycle.resume(_find(evaluation_id).pk)
    watch_until_end(evaluation_id)


@click.command()
@click.argument("evaluation_id", type=click.UUID)
def cancel(evaluation_id: UUID) -> None:
    """Cancel an evaluation; what was recorded stays."""
    ready(quiet=True)
    from evaluation.engine import lifecycle

    lifecycle.cancel(_find(evaluation_id).pk)
    console.print("Cancelled.")


@click.command()
@click.option("--half-width", type=float, default=DEMO_HALF_WIDTH, show_default=True, help="Stop at this precision.")
def demo(half_width: float) -> None:
    """Measure configurations of a real model on a starter task, and leave the site running."""
    from questions.errors import refuse

    if uses_external_services():
        raise refuse("DATABASE_URL", "", "is set, and the demo runs on the embedded services", "Unset it for the demo.")
    from worksample.embedded import installation, services

    ready()
    current = installation.load()
    assert current is not None
    console.print("[dim]Starting the local model ...[/dim]")
    services.start_local_model(current)
    from evaluation.engine import lifecycle
    from evaluation.engine.plan import Plan
    from evaluation.registering import register_evaluation

    suite = _newest_suite(DEMO_TASK)
    configurations = _demo_configurations(current.model_url)
    names = " and ".join(configuration.name for configuration in configurations)
    evaluation = register_evaluation(
        owner=operator(),
        name=f"{suite.task.name}: {names}",
        suite=suite,
        configurations=configurations,
        plan=Plan(half_width=half_width, max_trials=DEMO_MOST_TRIALS),
        visibility="shared",
    )
    console.print(f"\n[bold]{suite.task.name}[/bold]: {suite.size} questions, {len(configurations)} configurations")
    for configuration in configurations:
        description = configuration.scaffold.description if configuration.scaffold else "the question alone"
        console.print(f"  {configuration.name}: {description} {json.dumps(configuration.decoding)}")
    console.print(
        f"[dim]Ends when every interval is within ± {half_width:g} at 95 %. Ctrl-C leaves it running.[/dim]\n"
    )
    lifecycle.start(evaluation.pk)
    watch_until_end(evaluation.pk)
    console.print(f"\nThe site stays up at [bold]{current.site_url}[/bold]  (stop it with: worksample down)")
    console.print(f"The evaluation: {current.site_url}/evaluations/{evaluation.pk}/")
    console.print("Sign in, once, within 15 minutes:")
    click.echo(login_link(operator()))


def watch_until_end(evaluation_id: UUID, *, as_json: bool = False) -> None:
    """Show progress until the evaluation no longer runs, then its result. Exit code 3 if it is paused or cancelled."""
    from evaluation.models import EvaluationStatus
    from evaluation.selectors import conclusion, differences, standings
    from worksample.cli import showing

    try:
        evaluation = _follow(evaluation_id, quiet=as_json)
    except KeyboardInterrupt:
        console.print("\nIt goes on without you.")
        for what in ("watch", "cancel"):
            console.print(f"  worksample {what} {evaluation_id}")
        raise click.exceptions.Exit(130) from None
    found = standings(evaluation)
    concluded = conclusion(evaluation)
    if as_json:
        click.echo(json.dumps(showing.result_json(evaluation, found, concluded.text)))
    else:
        console.print(showing.results(found))
        for difference in differences(evaluation):
            console.print(showing.difference_line(difference))
        console.print(f"\n[bold]Conclusion.[/bold] {concluded.text}", soft_wrap=True)
    if evaluation.status != EvaluationStatus.FINISHED:
        console.print(f"Go on with: worksample resume {evaluation_id}")
        raise click.exceptions.Exit(3)


def _follow(evaluation_id: UUID, *, quiet: bool) -> "Evaluation":
    from evaluation.models import Evaluation, EvaluationStatus
    from evaluation.selectors import progress, standings
    from worksample.cli import showing

    printed_at = 0.0
    with Live(console=console, auto_refresh=False, transient=False) as screen:
        while True:
            evaluation = Evaluation.objects.select_related("suite__task").get(pk=evaluation_id)
            running = evaluation.status in (EvaluationStatus.RUNNING, EvaluationStatus.REGISTERED)
            # A worker that still holds it writes down what was in flight at the stop.
            ended = not running and not evaluation.leases.exists()
            if not quiet:
                now = progress(evaluation)
                if console.is_terminal:
                    screen.update(showing.live(evaluation, now, standings(evaluation)), refresh=True)
                elif ended or time.monotonic() - printed_at > LINE_SECONDS:
                    printed_at = time.monotonic()
                    click.echo(showing.progress_line(now))
            if ended:
                return cast("Evaluation", evaluation)
            time.sleep(LOOK_SECONDS)


def _registered(questions: str, models: tuple[str, ...], options: dict[str, Any]) -> "Evaluation":
    """Check everything, then write and start. Raises Refused with nothing written."""
    from evaluation.engine import lifecycle
    from evaluation.registering import register_evaluation

    plan = _plan(options)
    target = _target(options)
    prices = _prices(options, target)
    parsed = None
    if Path(questions).exists() or Path(questions).suffix:
        parsed = data.read(Path(questions), options["grader"], options["grader_parameters"], options["columns"])
    else:
        data.find_task(questions)
    scaffold = _read_scaffold(options["scaffold_file"])
    _probe(models, target)
    suite = data.take_in(parsed) if parsed else _newest_suite(questions)
    configurations = [_configuration(model, target, scaffold, prices, options) for model in models]
    evaluation = register_evaluation(owner=operator(), name="", suite=suite, configurations=configurations, plan=plan)
    lifecycle.start(evaluation.pk)
    console.print(f"[dim]evaluation {evaluation.pk}[/dim]") if not options.get("as_json") else None
    return evaluation


def _plan(options: dict[str, Any]) -> Any:
    from evaluation.engine.plan import Plan

    values = {
        "half_width": options["half_width"] or None,
        "max_trials": options["max_trials"],
        "max_cost_usd": options["max_cost"],
        "max_seconds": options["max_seconds"],
        "tries": options["tries"],
        "alpha": options["alpha"],
    }
    if options["seed"] is not None:
        values["seed"] = options["seed"]
    return Plan.from_json(values)


def _target(options: dict[str, Any]) -> Target:
    from questions.errors import refuse

    variable = options["api_key_env"]
    if variable is not None and not os.environ.get(variable):
        raise refuse("--api-key-env", variable, "is not set in the environment", f"export {variable}=...")
    names = (variable,) if variable else KEY_VARIABLES
    key = next((os.environ[name] for name in names if os.environ.get(name)), "")
    if options["base_url"]:
        return Target(options["base_url"], options["provider"], key)
    return Target(_local_model_url(), options["provider"], "")


def _local_model_url() -> str:
    from questions.errors import refuse
    from worksample.embedded import installation, services

    current = installation.load()
    if current is None or uses_external_services():
        raise refuse(
            "--base-url", "", "is missing", "Give the endpoint of the model, such as https://api.openai.com/v1."
        )
    services.start_local_model(current)
    return current.model_url


def _prices(options: dict[str, Any], target: Target) -> dict[str, Any] | None:
    from evaluation import pricing
    from questions.errors import refuse

    given = (options["price_input"], options["price_output"])
    if None not in given:
        return pricing.given(input_usd=given[0], output_usd=given[1])
    if given != (None, None):
        raise refuse(
            "--price-input and --price-output", "", "go together", "Give both, in US dollars per million tokens."
        )
    return None if options["base_url"] else pricing.free("the local model runs on this machine")


def _probe(models: tuple[str, ...], target: Target) -> None:
    from evaluation.providers import PROVIDERS
    from evaluation.providers.probing import probe
    from questions.errors import refuse

    if target.provider not in PROVIDERS:
        raise refuse("--provider", target.provider, "is not known", f"Use one of: {', '.join(PROVIDERS)}.")
    for model in models:
        probe(provider=target.provider, endpoint=target.base_url, model=model, key=target.key, allow_local=True)


def _read_scaffold(file: Path | None) -> dict[str, Any] | None:
    from questions.errors import refuse

    if file is None:
        return None
    try:
        content = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise refuse(
            "--scaffold", file, f"cannot be read: {error}", "Give a YAML file with name and messages."
        ) from None
    if not isinstance(content, dict) or not isinstance(content.get("messages"), list):
        raise refuse(
            "--scaffold", file, "holds no messages", "Write name: ... and messages: [{role: ..., content: ...}]."
        )
    return {
        "name": str(content.get("name", file.stem)),
        "description": str(content.get("description", "")),
        "messages": content["messages"],
    }


def _configuration(
    model: str, target: Target, scaffold: dict[str, Any] | None, prices: dict[str, Any] | None, options: dict[str, Any]
) -> "Configuration":
    from evaluation.configuring import disclose_configuration, disclose_scaffold
    from worksample.accounts import credentials

    decoding = {name: options[name] for name in ("temperature", "max_tokens") if options[name] is not None}
    credential = None
    if target.key:
        credential = credentials.store(owner=operator(), name=f"key for {target.base_url}"[:80], secret=target.key)
    return disclose_configuration(
        owner=operator(),
        name=model if scaffold is None else f"{model} with {scaffold['name']}",
        provider=target.provider,
        model=model,
        endpoint=target.base_url,
        scaffold=None if scaffold is None else disclose_scaffold(owner=operator(), **scaffold),
        decoding=decoding,
        prices=prices,
        time_limit_s=options["time_limit"],
        credential=credential,
        concurrency=options["concurrency"],
        allow_local=True,
    )


def _demo_configurations(model_url: str) -> list["Configuration"]:
    """The starter task's set-ups of the local model, disclosed by whoever runs the demo."""
    from evaluation import pricing
    from evaluation.configuring import disclose_configuration, disclose_scaffold
    from questions.contributing import STARTER
    from worksample.embedded import local_model

    found = []
    for setup in yaml.safe_load((STARTER / DEMO_TASK / "scaffolds.yaml").read_text()):
        scaffold = None
        if setup["messages"]:
            scaffold = disclose_scaffold(
                owner=None, name=setup["name"], messages=setup["messages"], description=setup["description"]
            )
        found.append(
            disclose_configuration(
                owner=None,
                name=f"SmolLM2-135M, {setup['name']}",
                model=local_model.MODEL,
                model_snapshot=local_model.WEIGHTS,
                endpoint=model_url,
                region="this machine",
                scaffold=scaffold,
                decoding=setup["decoding"],
                prices=pricing.free("the local model runs on this machine"),
                available_to_public=True,
                submitter_relationship="none: open weights, run by the operator of this installation",
                training_cutoff=local_model.TRAINING_CUTOFF,
                concurrency=local_model.PARALLEL,
                visibility="shared",
                allow_local=True,
            )
        )
    return found


def _newest_suite(slug: str) -> "Suite":
    from questions.errors import refuse

    suite = data.find_task(slug).suites.select_related("task").order_by("-version").first()
    if suite is None:
        raise refuse("task", slug, "has no suite of accepted questions", "Import questions for it first.")
    return suite


def _find(evaluation_id: UUID) -> "Evaluation":
    from evaluation.models import Evaluation
    from questions.errors import refuse

    evaluation = Evaluation.objects.filter(pk=evaluation_id).first()
    if evaluation is None:
        raise refuse("evaluation", evaluation_id, "is not known here", "The page of evaluations lists their ids.")
    return cast("Evaluation", evaluation)


COMMANDS = (evaluate, watch, resume, cancel, demo)
