"""The OpenAPI document, arranged for reading on a page."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """One method at one address."""

    method: str
    path: str
    description: str
    parameters: list[dict[str, Any]]
    fields: list[dict[str, Any]]


@lru_cache(maxsize=1)
def reference() -> list[Operation]:
    """Every operation in the order of addresses."""
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return [
        Operation(
            method=method.upper(),
            path=path,
            description=operation.get("description", ""),
            parameters=operation.get("parameters", []),
            fields=_fields(operation.get("requestBody"), document),
        )
        for path, operations in sorted(document["paths"].items())
        for method, operation in operations.items()
        if method in METHODS
    ]


def _fields(body: dict[str, Any] | None, document: dict[str, Any]) -> list[dict[str, Any]]:
    if body is None:
        return []
    schema = next(iter(body["content"].values()))["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "required": name in required,
            "type": field.get("type", "object"),
            "help": field.get("description", ""),
        }
        for name, field in schema.get("properties", {}).items()
    ]
