"""A model API for tests: a real HTTP server that speaks OpenAI's chat completions and breaks when told to.

``python -m tests.servers.model_api --port 8199 --latency 20``. A prompt may script its own faults: ``[[http_500x2]]``
fails twice, then answers; ``[[stalled]]`` always. ``[[say yes]]`` makes it answer "yes"; a prompt that holds ``a + b``
is answered with the sum, any other with "ok". ``GET /log`` is the ground truth: one line a call.
"""

import argparse
import asyncio
import json
import re
from collections import Counter
from typing import Any

from aiohttp import web

SCRIPT = re.compile(r"\[\[(\w+?)(?:x(\d+))?\]\]")
SAY = re.compile(r"\[\[say (.*?)\]\]")
SUM = re.compile(r"(\d+) \+ (\d+)")
STATUSES = {
    "http_429": 429,
    "http_500": 500,
    "http_503": 503,
    "wrong_key": 401,
    "unknown_model": 404,
    "bad_request": 400,
}


class Api:
    """The server's state."""

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.key = ""
        self.retry_after = "0"
        self.usage = True
        # A fault for every prompt, for so many calls; -1 for all.
        self.fault = ""
        self.faults_left = 0
        self.log: list[dict[str, Any]] = []
        self.seen: Counter[tuple[str, str]] = Counter()
        self.in_flight = 0
        self.released = asyncio.Event()
        self.released.set()

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt, model = str(body["messages"][-1]["content"]), str(body["model"])
        self.seen[model, prompt] += 1
        fault = self._fault(prompt, self.seen[model, prompt])
        self.in_flight += 1
        entry = {"prompt": prompt, "model": model, "fault": fault, "body": body, "answered": False}
        self.log.append(entry)
        try:
            if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
                return self._error(401, "wrong key given")
            response = await self._respond(request, body, prompt, fault)
            entry["answered"] = not fault
            return response
        finally:
            self.in_flight -= 1

    async def models(self, request: web.Request) -> web.Response:
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return self._error(401, "wrong key given")
        return web.json_response({"data": [{"id": "good"}, {"id": "better"}]})

    async def control(self, request: web.Request) -> web.Response:
        for name, value in (await request.json()).items():
            if name == "hold":
                self.released.clear() if value else self.released.set()
            else:
                setattr(self, name, value)
        return web.json_response({})

    async def show_log(self, _: web.Request) -> web.Response:
        return web.json_response({"log": self.log, "in_flight": self.in_flight})

    def _fault(self, prompt: str, attempt: int) -> str:
        script = SCRIPT.search(prompt)
        if script and attempt <= int(script[2] or 10**9):
            return script[1]
        if self.faults_left and self.fault:
            self.faults_left -= 1
            return self.fault
        return ""

    def _error(self, status: int, message: str) -> web.Response:
        headers = {"retry-after": self.retry_after} if status == 429 else {}
        return web.json_response({"error": {"message": message}}, status=status, headers=headers)

    async def _respond(self, request: web.Request, body: dict[str, Any], prompt: str, fault: str) -> web.StreamResponse:
        await self.released.wait()
        if fault in STATUSES:
            return self._error(STATUSES[fault], f"injected {fault}")
        if fault == "html":
            return web.Response(text="<html>Bad gateway</html>", content_type="text/html")
        if fault == "stalled":
            await asyncio.sleep(3600)
        await asyncio.sleep(self.latency_s)
        if fault == "connection_reset":
            assert request.transport is not None
            request.transport.abort()
        if not body.get("stream"):
            return web.json_response(_whole(body, prompt))
        return await self._stream(request, body, prompt, fault)

    async def _stream(self, request: web.Request, body: dict[str, Any], prompt: str, fault: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        text = "" if fault == "empty" else answer(prompt)
        for piece in (text[:1], text[1:]):
            await response.write(
                _event({"choices": [{"index": 0, "delta": {"content": piece}}], "model": body["model"]})
            )
            if fault == "broken_stream":
                assert request.transport is not None
                request.transport.abort()
                return response
            if fault == "malformed_body":
                await response.write(b'data: {"choices": [\n\n')
                return response
        finish = {"cut": "length", "refused": "content_filter"}.get(fault, "stop")
        await response.write(
            _event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "model": body["model"]})
        )
        if self.usage:
            await response.write(_event({"choices": [], "usage": usage(body, text)}))
        await response.write(b"data: [DONE]\n\n")
        return response


def answer(prompt: str) -> str:
    """What the model says to a prompt."""
    if said := SAY.search(prompt):
        return said[1]
    numbers = SUM.search(prompt)
    return str(int(numbers[1]) + int(numbers[2])) if numbers else "ok"


def usage(body: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        "prompt_tokens": sum(len(str(m["content"]).split()) for m in body["messages"]),
        "completion_tokens": max(1, len(text.split())),
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _whole(body: dict[str, Any], prompt: str) -> dict[str, Any]:
    text = answer(prompt)
    message = {"role": "assistant", "content": text}
    return {
        "model": body["model"],
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": usage(body, text),
    }


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def application(latency_s: float) -> web.Application:
    api = Api(latency_s)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", api.complete)
    app.router.add_get("/v1/models", api.models)
    app.router.add_post("/control", api.control)
    app.router.add_get("/log", api.show_log)
    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--latency", type=float, default=20.0, help="milliseconds")
    arguments = parser.parse_args()
    web.run_app(application(arguments.latency / 1000), host="127.0.0.1", port=arguments.port, print=None)
