"""What is stored fits: no text is longer than its column or holds a NUL, on any database.

SQLite takes all of it. PostgreSQL refuses, and a run would fail as if the engine had a bug.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import DataError, models
from django.test import Client

from kviz.accounts.services import person_add
from kviz.runs import sharing
from kviz.runs.execution.claim import run_claim
from kviz.runs.execution.engine import simulate_run
from kviz.runs.execution.record import run_execute
from tests.web.cast import CLUSTER, NODES, Person, execute, pod, problem

LONG = "n" * 600
NUL = "a\\u0000b"


def named(**metadata: object) -> str:
    """A pod as JSON, in which a NUL can be written, as YAML reads it."""
    known = {"name": "odd", "namespace": "shop", **metadata}
    return f"---\n{document(metadata=known)}\n"


def document(kind: str = "Pod", **parts: object) -> str:
    whole = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "odd", "namespace": "shop"}}
    if kind == "Pod":
        whole["spec"] = {"containers": [{"name": "c"}]}
    return json.dumps(whole | parts)


def spec(**fields: object) -> str:
    return f"---\n{document(spec={'containers': [{'name': 'c'}], **fields})}\n"


OWNER = {"apiVersion": "v1", "uid": "x", "controller": True}
ODD = {
    "pod": named(name=LONG),
    "namespace": named(namespace=LONG),
    "node": "---\n" + document("Node", metadata={"name": LONG}) + "\n",
    "bound to": spec(nodeName=LONG),
    "scheduler": spec(schedulerName=LONG),
    "owner's name": named(ownerReferences=[{**OWNER, "kind": "Job", "name": LONG}]),
    "owner's kind": named(ownerReferences=[{**OWNER, "kind": LONG, "name": "x"}]),
    "nominated": f"---\n{document(status={'nominatedNodeName': LONG})}\n",
    "pod with a NUL": named(name="a\0b"),
    "label with a NUL": named(labels={"app": "a\0b"}),
    "label's key with a NUL": named(labels={"a\0b": "app"}),
    "class with a NUL": spec(priorityClassName="a\0b"),
}
KEPT = {
    "kind with a NUL": f"---\n{document('Odd' + chr(0), spec=5)}\n",
    "kind that is long": f"---\n{document(LONG)}\n",
    "gate that is long": spec(schedulingGates=[{"name": LONG}]),
    "a NUL in what is dropped": named(annotations={"note": "a\0b"}),
    "a quoted NUL": named(labels={"note": '{"text": "\\u0000"}'}),
    "a message with a NUL": spec(overhead={"cpu": "1\0"}),
}


IN_JSON = ("pod with a NUL", "kind with a NUL", "a quoted NUL")
"""JSON writes a NUL otherwise than YAML does; what is long is read alike."""


def texts() -> Iterator[tuple[str, str, int | None]]:
    """Every stored text: where, what, and how much there is room for."""
    for model in apps.get_models():
        fields = [each for each in model._meta.concrete_fields if not each.is_relation]
        for field in fields:
            if not isinstance(field, models.CharField | models.TextField | models.JSONField):
                continue
            for value in model._base_manager.values_list(field.attname, flat=True):
                text = value if isinstance(value, str) else json.dumps(value, default=str)
                yield f"{model.__name__}.{field.name}", text, getattr(field, "max_length", None)


def misfits() -> list[str]:
    return [
        where
        for where, text, room in texts()
        if (room is not None and len(text) > room) or "\0" in text or _has_escaped_nul(text)
    ]


def _has_escaped_nul(text: str) -> bool:
    return "\\u0000" in text.replace("\\\\", "")


@pytest.mark.parametrize(
    ("what", "packed"),
    [*((what, False) for what in (ODD | KEPT)), ("pod", True), *((what, True) for what in IN_JSON)],
)
def test_whatever_is_uploaded_can_be_stored(ada: Person, what: str, packed: bool) -> None:
    text = NODES + pod("web") + (ODD | KEPT)[what]
    name = f"{LONG}.yaml"
    if packed:
        parts = [json.loads(each) for each in (ODD | KEPT)[what].split("---\n") if each]
        others = [document("Node", metadata={"name": "north"}), document()]
        items = [*map(json.loads, others), *parts]
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        name = f"{LONG}.json"

    answer = ada.upload((name, text))

    assert answer.status_code == 201, answer.content
    refused = [each["message"] for each in answer.json()["problems"]]
    assert bool(refused) == (what in ODD or "message" in what), refused
    made = ada.post("/runs/", {"snapshot": answer.json()["id"]})
    assert made.status_code == 201
    run = execute(worker="w")
    run.refresh_from_db()
    assert run.status == "finished", run.error
    assert misfits() == []


def test_what_is_typed_fits(owner: Person) -> None:
    run, browser = owner.finished(), Client()
    snapshot = str(run.snapshot_id)
    browser.post("/snapshots/new", {"text": NODES, "name": LONG})
    browser.post(f"/runs/{run.pk}/rename", {"name": LONG})
    browser.post("/extender/", {"name": LONG})
    browser.post("/experiments/new", {"snapshot": snapshot, "question": "survive", "name": LONG})
    browser.post(f"/class/open/run/{run.pk}", {"cycle": "1"})
    browser.post(f"/by-hand/run/{run.pk}")
    while (found := run_claim(worker="w")) is not None:
        run_execute(run=found, worker="w")
    assert misfits() == []


def test_names_of_people_and_workspaces_fit(settings: Any, db: None) -> None:
    settings.MODE = "server"
    browser = Client()
    browser.force_login(person_add(name="p" * 150, password="a long enough password"))
    browser.post("/account/workspaces/", {"name": LONG})
    browser.post("/account/tokens/", {"name": LONG, "scope": "read", "days": "7"})
    assert misfits() == []


# ---------------------------------------------------------------- what a database refuses


def test_what_the_database_refuses_is_the_senders_fault(
    ada: Person, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, own = ada.finished(), owner.finished()

    def refuse(**_: Any) -> None:
        raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")

    monkeypatch.setattr(sharing, "run_share", refuse)

    assert "can store" in problem(ada.post(f"/runs/{run.pk}/share/", {}), 400)["detail"]
    page = Client().post(f"/runs/{own.pk}/share")
    assert page.status_code == 400
    assert b"can store" in page.content


def test_a_run_that_cannot_be_stored_is_no_bug(ada: Person) -> None:
    run = ada.queued(CLUSTER)

    def odd(run: Any) -> Iterator[Any]:
        yield next(iter(simulate_run(run)))
        raise DataError("value too long for type character varying(256)")

    execute(worker="w", engine=odd)

    run.refresh_from_db()
    assert run.status == "failed"
    assert "can store" in run.error
    assert "bug" not in run.error
