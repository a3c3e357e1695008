"""The committed schema of the REST interface, and the page that people read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer

from kviz.reference.rest import interface

pytestmark = pytest.mark.django_db
BOUNDS = re.compile(r"^ +((maximum|minimum): .*|format: int64)\n", re.MULTILINE)
COMMITTED = Path(__file__).parents[2] / "docs/openapi.yaml"


def test_the_committed_schema_is_todays() -> None:
    schema = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    rendered = OpenApiYamlRenderer().render(schema, renderer_context={})  # type: ignore[no-untyped-call]
    today, committed = rendered.decode(), COMMITTED.read_text(encoding="utf-8")
    if connection.vendor != "sqlite":  # the committed one has the bounds of SQLite's integers
        today, committed = BOUNDS.sub("", today), BOUNDS.sub("", committed)
    assert committed == today, "write it again: make openapi"


def test_every_operation_is_on_the_page_with_a_call(client: Client) -> None:
    page = client.get("/api/v1/docs/").content.decode()
    operations = [each for found in interface().resources for each in found.operations]
    assert len(operations) > 80
    for operation in operations:
        assert f'id="{operation.id}"' in page
        assert f"{operation.method} {operation.path}" in page
        assert "{" not in operation.curl.split("--json")[0]
    assert "<script" not in page.partition("<main")[2]
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_fields_answers_and_examples_are_the_schemas() -> None:
    found = {each.id: each for resource in interface().resources for each in resource.operations}
    create = found["runs_create"]
    assert '--json \'{"snapshot": ' in create.curl
    assert [body.document for body in create.bodies if body.media_type == "application/json"]
    answers = {answer.status: answer for answer in create.answers}
    assert answers["201"].bodies
    assert not answers["201"].is_problem
    assert answers["429"].is_problem
    cycles = {field.name: field for field in found["runs_cycles_list"].parameters}
    assert cycles["run_id"].where == "path"
    assert cycles["run_id"].is_required
    assert "-F files=@cluster.yaml" in found["snapshots_create"].curl


@pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])
def test_the_frame_is_in_the_readers_language(client: Client, language: str) -> None:
    page = client.get("/api/v1/docs/", headers={"Accept-Language": language}).content.decode()
    for english in ("Parameters", "Answers", "Documents", "required"):
        assert f">{english}<" not in page
