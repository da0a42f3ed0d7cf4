"""OpenAI's chat completions, spoken by most servers (vLLM, Ollama, LM Studio, llama.cpp, OpenRouter, ...)."""

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx

from evaluation.providers.base import Answer, CallFailed, ConfigurationRejected, Request, Usage
from evaluation.providers.faults import failure_of_exception, failure_of_status

# Beyond this a token count is no count; it is also what the database can hold.
MOST_TOKENS = 2**31 - 1
TRANSPORT_ERRORS = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError)


class OpenAIChat:
    """``POST {endpoint}/chat/completions`` with streaming, so that the first token is timed."""

    async def complete(self, client: httpx.AsyncClient, request: Request) -> Answer:
        sent_at = time.perf_counter()
        began = False
        try:
            async with client.stream(
                "POST",
                f"{request.endpoint.rstrip('/')}/chat/completions",
                json=_body(request),
                headers=_headers(request.key),
            ) as response:
                began = response.status_code == httpx.codes.OK
                if not began:
                    raise failure_of_status(response, await response.aread(), request.key)
                if response.headers.get("content-type", "").startswith("application/json"):
                    return _whole(await response.aread(), sent_at)
                return await _streamed(response, sent_at)
        except CallFailed:
            raise
        except Exception as error:
            if isinstance(error, TRANSPORT_ERRORS) or type(error).__module__.startswith("aiohttp"):
                raise failure_of_exception(error, began=began) from error
            raise

    async def models(self, client: httpx.AsyncClient, endpoint: str, key: str) -> list[str] | None:
        try:
            response = await client.get(f"{endpoint.rstrip('/')}/models", headers=_headers(key))
        except Exception as error:
            if isinstance(error, TRANSPORT_ERRORS) or type(error).__module__.startswith("aiohttp"):
                raise failure_of_exception(error, began=False) from error
            raise
        if response.status_code in (404, 405, 501):
            return None
        if response.status_code != httpx.codes.OK:
            raise failure_of_status(response, response.content, key)
        try:
            return [str(model["id"]) for model in response.json()["data"]]
        except (ValueError, KeyError, TypeError):
            return None


def _headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        **request.decoding,
        "model": request.model,
        "messages": request.messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.reasoning_effort:
        body["reasoning_effort"] = request.reasoning_effort
    return body


async def _events(response: httpx.Response) -> AsyncIterator[str]:
    """The data of each server-sent event; every provider sends one ``data:`` line an event."""
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            yield line[5:].strip()


async def _streamed(response: httpx.Response, sent_at: float) -> Answer:
    parts: list[str] = []
    finish_reason = model = ""
    usage: Any = None
    refused = complete = False
    first_token_at: float | None = None
    async for data in _events(response):
        if data == "[DONE]":
            complete = True
            break
        chunk = _parsed(data)
        _raise_error_inside(chunk)
        model = chunk.get("model") or model
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {}
            if text := delta.get("content"):
                parts.append(str(text))
            refused = refused or bool(delta.get("refusal"))
            if first_token_at is None and (text or delta.get("reasoning_content") or delta.get("refusal")):
                first_token_at = time.perf_counter()
            finish_reason = choice.get("finish_reason") or finish_reason
    ended_at = time.perf_counter()
    if not finish_reason and not complete:
        raise CallFailed("broken_stream", "the stream ended before its answer did", billable=True)
    return Answer(
        text="".join(parts),
        finish_reason=finish_reason,
        returned_model=str(model),
        usage=_usage(usage),
        first_token_s=None if first_token_at is None else first_token_at - sent_at,
        latency_s=ended_at - sent_at,
        refused=refused or finish_reason == "content_filter",
    )


def _whole(body: bytes, sent_at: float) -> Answer:
    """An answer of a server that does not stream."""
    ended_at = time.perf_counter()
    completion = _parsed(body)
    _raise_error_inside(completion)
    choices = completion.get("choices")
    if not isinstance(choices, list):
        raise CallFailed("malformed_body", "no list of choices in the answer", billable=True)
    choice = choices[0] if choices else {}
    message = choice.get("message") or {}
    finish_reason = str(choice.get("finish_reason") or "")
    return Answer(
        text=str(message.get("content") or ""),
        finish_reason=finish_reason,
        returned_model=str(completion.get("model") or ""),
        usage=_usage(completion.get("usage")),
        first_token_s=None,
        latency_s=ended_at - sent_at,
        refused=bool(message.get("refusal")) or finish_reason == "content_filter",
    )


def _parsed(data: str | bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(data)
    except ValueError as error:
        raise CallFailed("malformed_body", str(error)[:300], billable=True) from error
    if not isinstance(parsed, dict):
        raise CallFailed("malformed_body", f"a JSON {type(parsed).__name__} where an object was due", billable=True)
    return parsed


def _raise_error_inside(content: dict[str, Any]) -> None:
    error = content.get("error")
    if not error:
        return
    detail = str(error.get("message") if isinstance(error, dict) else error)[:300]
    code = error.get("code") if isinstance(error, dict) else None
    if code in (400, 401, 403, 404):
        raise ConfigurationRejected("bad_request", detail)
    raise CallFailed("error_in_stream", detail, billable=True)


def _usage(reported: Any) -> Usage:
    """OpenAI counts cached tokens within ``prompt_tokens`` and reasoning tokens within ``completion_tokens``."""
    if not isinstance(reported, dict):
        return Usage()
    prompt_details = reported.get("prompt_tokens_details") or {}
    completion_details = reported.get("completion_tokens_details") or {}
    return Usage(
        input=_count(reported.get("prompt_tokens")),
        cached=_count(prompt_details.get("cached_tokens")),
        output=_count(reported.get("completion_tokens")),
        reasoning=_count(completion_details.get("reasoning_tokens")),
    )


def _count(value: Any) -> int | None:
    """A token count, or None for what cannot be one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None
