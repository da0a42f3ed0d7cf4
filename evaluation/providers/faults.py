"""From exceptions and status codes to the classes of fault of design.md section 4."""

import email.utils
import json
import math
import socket
import ssl
import time

import aiohttp
import httpx

from evaluation.providers.base import CallFailed, ConfigurationRejected
from evaluation.providers.client import InternalAddress

# What a repetition cannot mend. 402 and 422 are how some providers say "no credit" and "bad parameter".
_REJECTIONS = {
    400: "bad_request",
    401: "wrong_key",
    402: "no_credit",
    403: "forbidden",
    404: "unknown_model_or_address",
    405: "unknown_model_or_address",
    413: "request_too_large",
    415: "bad_request",
    422: "bad_request",
}


def failure_of_status(response: httpx.Response, body: bytes, key: str) -> CallFailed:
    """The failure that a response with a status other than 200 stands for."""
    status = response.status_code
    detail = _without(key, _message(body))
    if 300 <= status < 400:
        return ConfigurationRejected("redirected", "the endpoint redirects elsewhere; give the final address")
    if status in _REJECTIONS:
        return ConfigurationRejected(_REJECTIONS[status], f"HTTP {status}: {detail}")
    return CallFailed(f"http_{status}", detail, retry_after_s=retry_after_s(response.headers.get("retry-after")))


def failure_of_exception(error: Exception, *, began: bool) -> CallFailed:
    """The failure that an exception of the client stands for; ``began`` once a response's head had arrived."""
    causes = list(_causes(error))
    if any(isinstance(cause, (httpx.ReadTimeout, aiohttp.SocketTimeoutError)) for cause in causes) and not any(
        isinstance(cause, aiohttp.ConnectionTimeoutError) for cause in causes
    ):
        return CallFailed("stalled", "no byte within the stall timeout", billable=True)
    if began:
        return CallFailed("broken_stream", _describe(causes), billable=True)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return ConfigurationRejected("bad_certificate", _describe(causes))
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return CallFailed("tls_failure", _describe(causes))
    if any(isinstance(cause, InternalAddress) for cause in causes):
        return ConfigurationRejected("internal_address", _describe(causes))
    if any(isinstance(cause, (socket.gaierror, aiohttp.ClientConnectorDNSError)) for cause in causes):
        return CallFailed("unknown_host", _describe(causes))
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return CallFailed("connection_refused", _describe(causes))
    if any(isinstance(cause, (httpx.UnsupportedProtocol, httpx.InvalidURL)) for cause in causes):
        return ConfigurationRejected("bad_address", _describe(causes))
    if any(isinstance(cause, (aiohttp.ConnectionTimeoutError, httpx.PoolTimeout)) for cause in causes):
        return CallFailed("connect_timeout", _describe(causes))
    if any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes):
        return CallFailed("connection_failed", _describe(causes))
    # What is left broke an open connection before any answer; the request may have reached the model.
    return CallFailed("connection_reset", _describe(causes), billable=True)


def retry_after_s(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, given as a number or as a date; None where it makes no sense."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        inner = getattr(current, "os_error", None)  # aiohttp keeps the system's error in an attribute
        if isinstance(inner, BaseException):
            chain.append(inner)
        current = current.__cause__ or current.__context__
    return chain


def _describe(causes: list[BaseException]) -> str:
    return f"{type(causes[-1]).__name__}: {causes[-1]}"[:300]


def _message(body: bytes) -> str:
    text = body[:2000].decode("utf-8", "replace").strip()
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return text[:300]
    message = error.get("message") if isinstance(error, dict) else error
    return str(message)[:300]


def _without(key: str, text: str) -> str:
    """Some providers repeat the key in their complaint; it must not reach a log or a page."""
    return text.replace(key, "[key]") if key else text
