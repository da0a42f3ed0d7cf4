"""Disclosing what is measured: scaffolds and configurations, each identified by the hash of what it discloses."""

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from evaluation import pricing
from evaluation.models import Configuration, Scaffold
from evaluation.providers import PROVIDERS
from evaluation.providers.probing import check_address
from questions.errors import Problem, Refused, refuse
from questions.hashing import content_hash
from questions.models import Visibility

if TYPE_CHECKING:
    from worksample.accounts.models import ProviderCredential, User

# Left empty, these are listed as undisclosed: nobody outside can tell them apart from "there is none".
DISCLOSABLE = ("model_snapshot", "region", "training_cutoff", "available_to_public", "submitter_relationship", "prices")
DECODING = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
)
ROLES = ("system", "developer", "user", "assistant")


@transaction.atomic
def disclose_scaffold(
    *, owner: "User | None", name: str, messages: Sequence[Mapping[str, str]], description: str = ""
) -> Scaffold:
    """The owner's scaffold with these messages; other messages under a known name make its next version."""
    for index, message in enumerate(messages):
        sound = isinstance(message, Mapping) and set(message) == {"role", "content"}
        if not sound or message["role"] not in ROLES or not isinstance(message["content"], str):
            raise refuse(
                f"scaffold.messages[{index}]", message, "is no message", f"Give role ({', '.join(ROLES)}) and content."
            )
    plain = [dict(message) for message in messages]
    digest = content_hash(plain)
    known = Scaffold.objects.filter(owner=owner, content_hash=digest).first()
    if known:
        return known
    versions = Scaffold.objects.filter(owner=owner, name=name).count()
    return Scaffold.objects.create(
        owner=owner, name=name, version=versions + 1, description=description, messages=plain, content_hash=digest
    )


def disclose_configuration(
    *,
    owner: "User | None",
    name: str,
    model: str,
    endpoint: str,
    provider: str = "openai_chat",
    scaffold: Scaffold | None = None,
    decoding: Mapping[str, Any] | None = None,
    prices: Mapping[str, Any] | None = None,
    time_limit_s: float | None = None,
    credential: "ProviderCredential | None" = None,
    concurrency: int = 8,
    visibility: str = Visibility.PRIVATE,
    model_snapshot: str = "",
    region: str = "",
    reasoning_effort: str = "",
    training_cutoff: datetime.date | None = None,
    available_to_public: bool | None = None,
    submitter_relationship: str = "",
    allow_local: bool | None = None,
) -> Configuration:
    """The owner's configuration with this disclosure, made if there is none yet; raises Refused.

    Where no prices are given, those that the price library holds for the model at this endpoint are in force.
    ``allow_local`` overrides the site's setting for whoever operates it.
    """
    decoding = dict(decoding or {})
    problems = _problems(provider, model, decoding, time_limit_s, concurrency)
    if problems:
        raise Refused(*problems)
    check_address(endpoint, allow_local=settings.ALLOW_LOCAL_ENDPOINTS if allow_local is None else allow_local)
    configuration = Configuration(
        owner=owner,
        visibility=visibility,
        name=name or model,
        provider=provider,
        model=model,
        model_snapshot=model_snapshot,
        endpoint=endpoint.rstrip("/"),
        region=region,
        scaffold=scaffold,
        decoding=decoding,
        reasoning_effort=reasoning_effort,
        time_limit_s=time_limit_s,
        harness_version=settings.VERSION,
        prices=dict(prices) if prices is not None else pricing.published(model=model, endpoint=endpoint),
        training_cutoff=training_cutoff,
        available_to_public=available_to_public,
        submitter_relationship=submitter_relationship,
        credential=credential,
        concurrency=concurrency,
    )
    configuration.undisclosed_fields = [field for field in DISCLOSABLE if getattr(configuration, field) in ("", None)]
    configuration.content_hash = configuration.compute_hash()
    with transaction.atomic():
        known, created = Configuration.objects.get_or_create(
            owner=owner,
            content_hash=configuration.content_hash,
            defaults={
                field.name: getattr(configuration, field.name)
                for field in Configuration._meta.concrete_fields
                if field.name not in ("id", "owner", "content_hash", "created_at")
            },
        )
    if not created and (known.credential_id, known.concurrency) != (credential and credential.pk, concurrency):
        known.credential = credential if credential is not None else known.credential
        known.concurrency = concurrency
        known.save(update_fields=["credential", "concurrency"])
    return known


def _problems(
    provider: str, model: str, decoding: Mapping[str, Any], time_limit_s: float | None, concurrency: int
) -> list[Problem]:
    problems = []
    if provider not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        problems.append(Problem("provider", provider, "is not known", f"Use one of: {known}."))
    if not model.strip():
        problems.append(Problem("model", model, "is empty", "Give the model id as the provider spells it."))
    for name, value in decoding.items():
        if name not in DECODING:
            remedy = f"Use {', '.join(DECODING)}."
            problems.append(Problem(f"decoding.{name}", str(value), "is not a decoding parameter", remedy))
        elif name != "stop" and not _is_number(value):
            problems.append(Problem(f"decoding.{name}", str(value), "is not a number", "Give a finite number."))
    max_tokens = decoding.get("max_tokens")
    if (
        isinstance(max_tokens, (int, float))
        and _is_number(max_tokens)
        and (max_tokens < 1 or int(max_tokens) != max_tokens)
    ):
        remedy = "Give a whole number from 1."
        problems.append(Problem("decoding.max_tokens", str(max_tokens), "is no number of tokens", remedy))
    if time_limit_s is not None and not (math.isfinite(time_limit_s) and time_limit_s > 0):
        problems.append(
            Problem("time_limit_s", str(time_limit_s), "is not a positive time", "Give seconds, or nothing.")
        )
    if not 1 <= concurrency <= 10_000:
        problems.append(Problem("concurrency", str(concurrency), "lies outside 1 to 10000", "Give calls in flight."))
    return problems


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
