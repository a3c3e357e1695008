"""Requests made up from the OpenAPI schema: none ends in an error of the server's.

And nothing is answered that the schema does not know. `KVIZ_EFFORT=long` tries fifty times as many.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import requests
import schemathesis
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from urllib3 import HTTPResponse

from kviz.runs.sharing import run_share
from tests.effort import examples
from tests.web.cast import Person

HOST = "http://testserver"


def described() -> dict[str, Any]:
    schema = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    found: dict[str, Any] = json.loads(OpenApiJsonRenderer().render(schema))
    return found


SCHEMA = described()
OPERATIONS = [
    found.ok()
    for found in schemathesis.openapi.from_dict(SCHEMA).get_all_operations()
    if isinstance(found, Ok)
]
EVERY = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda found: found.label)


def answer_to(case: schemathesis.Case[Any], person: Person) -> Any:
    """Send what was made up, as it would go over the wire."""
    wire = requests.Request(**case.as_transport_kwargs(base_url=HOST)).prepare()
    headers = {**wire.headers, **person.headers}
    kind = str(headers.pop("Content-Type", ""))
    path = (wire.url or "").removeprefix(HOST)
    body: Any = wire.body.encode() if isinstance(wire.body, str) else wire.body or b""
    browser = Client(raise_request_exception=False)
    return browser.generic(wire.method or "", path, body, kind, headers=headers)


def as_received(answer: Any) -> requests.Response:
    received = requests.Response()
    received.status_code, received._content = answer.status_code, answer.content
    received.headers["Content-Type"] = answer.headers["Content-Type"]
    received.raw = HTTPResponse(headers=dict(answer.headers))
    received.request = requests.Request("GET", HOST).prepare()
    return received


@pytest.mark.hypothesis
@EVERY
def test_no_request_is_too_strange(operation: Any, ada: Person) -> None:
    run = ada.finished()
    link = run_share(run=run)
    there: dict[str, object] = {"run_id": str(run.pk), "snapshot_id": str(run.snapshot_id)}
    there |= {"cycle": 1, "link_id": link.pk}

    @examples(4, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(operation.as_strategy(), st.booleans())
    def ask(case: schemathesis.Case[Any], of_what_is_there: bool) -> None:
        if of_what_is_there and case.path_parameters:
            known = {name: there[name] for name in case.path_parameters if name in there}
            case.path_parameters.update(known)
        answer = answer_to(case, ada)
        documented = operation.definition.raw["responses"]
        assert str(answer.status_code) in documented, answer.content[:500]
        if answer.status_code >= 400:
            assert answer.headers["Content-Type"] == "application/problem+json"
        elif answer.headers.get("Content-Type") == "application/json":
            operation.validate_response(as_received(answer))

    ask()


FORMATS = ("file", "page", "metrics", "")
"""Addresses below a run that answer in a media type of their own, and the run itself."""


@pytest.mark.parametrize("part", FORMATS)
def test_options_are_told_as_json_everywhere(ada: Person, part: str) -> None:
    path = f"/api/v1/runs/{ada.finished().pk}/{part}/".replace("//", "/")

    answer = Client().options(path, headers=ada.headers)

    assert answer.status_code == 200
    assert "GET" in answer.headers["Allow"]


def test_the_schema_names_the_token_and_the_problems() -> None:
    assert len(OPERATIONS) == sum(map(len, SCHEMA["paths"].values()))
    assert SCHEMA["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path, item in SCHEMA["paths"].items():
        by = "seat" if path.startswith("/api/v1/classes/") else "token"
        for operation in item.values():
            assert {"400", "401", "403", "404", "503"} <= set(operation["responses"])
            assert operation["security"] == [{by: []}]
