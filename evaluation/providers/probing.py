"""Asking an endpoint, before anything is written, whether it is there, takes the key and knows the model."""

import asyncio
import ipaddress
from urllib.parse import urlsplit

from evaluation.providers import PROVIDERS
from evaluation.providers.base import CallFailed, ConfigurationRejected, Request
from evaluation.providers.client import is_public, open_client
from questions.errors import Refused, refuse

PROBE_TIMEOUT_S = 30.0

_REMEDIES = {
    "wrong_key": ("key", "Check the key, and that it belongs to this endpoint."),
    "forbidden": ("key", "Ask the provider for access, or use another key."),
    "no_credit": ("key", "Add credit at the provider, or use another key."),
    "bad_certificate": ("endpoint", "Use an address whose certificate is valid."),
    "bad_address": (
        "endpoint",
        "Give an address that begins with http:// or https://, such as http://127.0.0.1:8080/v1.",
    ),
    "redirected": ("endpoint", "Give the address that it redirects to."),
    "unknown_host": ("endpoint", "Check the spelling of the host and that it can be resolved here."),
    "connection_refused": ("endpoint", "Start the server, or correct host and port."),
    "bad_request": ("model", "Correct the model id or the decoding parameter that the message names."),
    "unknown_model_or_address": (
        "model",
        "Check the model id, and that the endpoint ends where /chat/completions begins.",
    ),
}


def check_address(endpoint: str, *, allow_local: bool) -> None:
    """Raises Refused for an endpoint that is no http(s) address, or one inside a network that users may not reach."""
    try:
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise refuse("endpoint", endpoint, "is not an address", _REMEDIES["bad_address"][1]) from None
    if parts.scheme not in ("http", "https") or not host:
        raise refuse("endpoint", endpoint, "is not an address", _REMEDIES["bad_address"][1])
    if parts.username or parts.password:
        raise refuse(
            "endpoint", f"{parts.scheme}://…@{host}", "holds a password", "Give the key as the key, not in the address."
        )
    if allow_local:
        return
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")) or _is_internal_literal(host):
        raise refuse(
            "endpoint",
            endpoint,
            "lies inside a network that this site does not reach for its users",
            "Use a public address, or ask the operator to set WORKSAMPLE_ALLOW_LOCAL_ENDPOINTS.",
        )


def _is_internal_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        # Digits and dots that are no proper address (0x7f.1, 2130706433) are ways around this check.
        return host.replace(".", "").isdigit() or host.lower().startswith("0x")
    return not is_public(host)


def probe(*, provider: str, endpoint: str, model: str, key: str = "", allow_local: bool) -> None:
    """Raises Refused, naming field and remedy, unless the endpoint answers and knows the model.

    Costs at most one call of one token, and none where the endpoint lists its models.
    """
    check_address(endpoint, allow_local=allow_local)
    asyncio.run(_probe(provider, endpoint, model, key, allow_local))


async def _probe(provider: str, endpoint: str, model: str, key: str, allow_local: bool) -> None:
    api = PROVIDERS[provider]
    async with open_client(stall_timeout_s=PROBE_TIMEOUT_S, allow_local=allow_local) as client:
        try:
            known = await api.models(client, endpoint, key)
            if known and model not in known:
                shown = ", ".join(sorted(known)[:8]) + (", ..." if len(known) > 8 else "")
                raise refuse("model", model, f"is not offered by {endpoint}", f"Use one of: {shown}")
            if not known:
                messages = [{"role": "user", "content": "Say yes."}]
                await api.complete(client, Request(endpoint, model, messages, {"max_tokens": 1}, key=key))
        except ConfigurationRejected as rejection:
            raise _refusal(rejection, endpoint, model) from None
        except CallFailed as failure:
            if failure.fault == "http_429":  # it is there, and busy
                return
            raise _refusal(failure, endpoint, model) from None


def _refusal(failure: CallFailed, endpoint: str, model: str) -> Refused:
    field, remedy = _REMEDIES.get(failure.fault, ("endpoint", "Check that the server is up and speaks this protocol."))
    value = {"endpoint": endpoint, "model": model, "key": ""}[field]
    return refuse(field, value, f"{failure.fault.replace('_', ' ')} ({failure.detail})", remedy)
