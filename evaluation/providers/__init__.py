"""Clients of model APIs over httpx, behind one small protocol (see ``base``)."""

from evaluation.providers.base import (
    Answer,
    CallFailed,
    ConfigurationRejected,
    Provider,
    Request,
    Usage,
)
from evaluation.providers.openai_chat import OpenAIChat

PROVIDERS: dict[str, Provider] = {"openai_chat": OpenAIChat()}

__all__ = ["PROVIDERS", "Answer", "CallFailed", "ConfigurationRejected", "Provider", "Request", "Usage"]
