"""The REST interface as a page: what `docs/openapi.yaml` says, grouped by resource."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from scheduler_core import yaml_text

Schema = Mapping[str, Any]

FILE: Final = "openapi.yaml"
JSON: Final = "application/json"
MULTIPART: Final = "multipart/form-data"
PROBLEM: Final = "Problem"
_EXAMPLES: Final = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a document; `document` names one that has its own section."""

    name: str
    where: str
    kind: str
    document: str
    is_required: bool
    text: str


@dataclass(frozen=True)
class Body:
    """What is sent or answered: a media type, and a document or its fields."""

    media_type: str
    kind: str
    document: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Answer:
    status: str
    text: str
    bodies: tuple[Body, ...]
    is_problem: bool


@dataclass(frozen=True)
class Operation:
    """One method at one address; `curl` is a call that works once the names in capitals are set."""

    id: str
    method: str
    path: str
    lead: str
    text: str
    parameters: tuple[Field, ...]
    bodies: tuple[Body, ...]
    answers: tuple[Answer, ...]
    curl: str


@dataclass(frozen=True)
class Resource:
    name: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Document:
    name: str
    text: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Interface:
    resources: tuple[Resource, ...]
    documents: tuple[Document, ...]


@cache
def interface() -> Interface:
    """Return what the committed schema describes."""
    text = (Path(settings.DOCS_DIR) / FILE).read_text(encoding="utf-8")
    return _Reading(yaml_text.value(text)).interface()


class _Reading:
    """One reading of a schema, whose references lead within it."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def interface(self) -> Interface:
        by_tag: dict[str, list[Operation]] = {}
        for path, item in self._schema["paths"].items():
            for method, operation in item.items():
                by_tag.setdefault(operation["tags"][0], []).append(
                    self._operation(method, path, operation)
                )
        resources = (Resource(tag, tuple(found)) for tag, found in sorted(by_tag.items()))
        documents = (
            Document(name, schema.get("description", ""), tuple(self._fields(schema)))
            for name, schema in sorted(self._schema["components"]["schemas"].items())
        )
        return Interface(tuple(resources), tuple(documents))

    def _operation(self, method: str, path: str, operation: Schema) -> Operation:
        text = operation.get("description", "").strip()
        lead, _, rest = text.partition("\n\n")
        parameters = tuple(self._parameter(each) for each in operation.get("parameters", ()))
        content = operation.get("requestBody", {}).get("content", {})
        return Operation(
            id=operation["operationId"],
            method=method.upper(),
            path=path,
            lead=" ".join(lead.split()),
            text=rest,
            parameters=parameters,
            bodies=tuple(self._bodies(content)),
            answers=tuple(
                self._answer(status, each)
                for status, each in sorted(operation["responses"].items())
            ),
            curl=self._curl(method, path, content),
        )

    def _parameter(self, given: Schema) -> Field:
        kind, document = self._kind(given["schema"])
        required = given.get("required", False)
        return Field(
            given["name"], given["in"], kind, document, required, given.get("description", "")
        )

    def _answer(self, status: str, given: Schema) -> Answer:
        found = self._target(given)
        bodies = tuple(self._bodies(found.get("content", {})))
        is_problem = any(body.document == PROBLEM for body in bodies)
        return Answer(status, found.get("description", ""), bodies, is_problem)

    def _bodies(self, content: Schema) -> Iterator[Body]:
        for media_type, each in content.items():
            kind, document = self._kind(each.get("schema", {}))
            fields = () if document else tuple(self._fields(each.get("schema", {})))
            yield Body(media_type, kind, document, fields)

    def _fields(self, schema: Schema) -> Iterator[Field]:
        required = schema.get("required", ())
        for name, each in schema.get("properties", {}).items():
            kind, document = self._kind(each)
            yield Field(name, "", kind, document, name in required, each.get("description", ""))

    def _kind(self, schema: Schema) -> tuple[str, str]:
        """A type in a few words, and the document that it is or holds."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return name, name
        for each in (*schema.get("allOf", ()), *schema.get("oneOf", ())):
            return self._kind(each)
        if "enum" in schema:
            return " | ".join(json.dumps(each) for each in schema["enum"]), ""
        if schema.get("type") == "array":
            kind, document = self._kind(schema.get("items", {}))
            return f"[{kind}]", document
        more = schema.get("additionalProperties")
        if isinstance(more, Mapping) and more:
            kind, document = self._kind(more)
            return f"{{name: {kind}}}", document
        return schema.get("format") or schema.get("type", "any"), ""

    def _target(self, given: Schema) -> Schema:
        if "$ref" not in given:
            return given
        found: Any = self._schema
        for step in given["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return self._target(found)

    def _curl(self, method: str, path: str, content: Schema) -> str:
        address = re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), path)
        lines = [f'curl -H "Authorization: Bearer $TOKEN" "$KVIZ{address}"']
        if method != "get":
            lines.append(f"-X {method.upper()}")
        if MULTIPART in content:
            lines.append("-F files=@cluster.yaml")
        elif JSON in content:
            body = self._example(content[JSON].get("schema", {}))
            lines.append(f"--json '{json.dumps(body)}'")
        return " \\\n     ".join(lines)

    def _example(self, schema: Schema, name: str = "") -> object:
        """What is required of a document, or its first field where nothing is."""
        found = self._target(schema)
        for each in (*found.get("allOf", ()), *found.get("oneOf", ())):
            return self._example(each)
        if "enum" in found:
            return found["enum"][0]
        if "properties" in found:
            needed = found.get("required") or list(found["properties"])[:1]
            return {each: self._example(found["properties"][each], each) for each in needed}
        if found.get("format") == "uuid":
            return f"{name}_ID".upper()
        return _EXAMPLES.get(found.get("type", ""), "...")
