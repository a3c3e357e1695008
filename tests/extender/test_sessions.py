"""Sessions in which kviz is a scheduler's extender, over REST."""

from __future__ import annotations

import pytest

from scheduler_core.config import load_configuration
from tests.extender.recordings import EXCHANGES
from tests.web.cast import Person, person


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def test_a_session_is_begun_listed_read_and_revoked(ada: Person) -> None:
    snapshot = ada.snapshot()
    answer = ada.post("/sessions/", {"name": "Staging", "snapshot": str(snapshot.pk)})
    assert answer.status_code == 201
    session = answer.json()
    (extender,) = load_configuration(session["configuration"]).extenders
    assert extender.url_prefix == session["url_prefix"]
    assert session["url_prefix"].startswith("http://")
    listed = ada.get("/sessions/").json()
    assert [(each["name"], each["listening"], each["attempts"]) for each in listed] == [
        ("Staging", True, 0)
    ]
    assert "url_prefix" not in listed[0]
    assert ada.get(f"/sessions/{session['id']}/").json() == session
    assert ada.get(f"/runs/{session['run']}/").json()["snapshot"] == str(snapshot.pk)

    body = EXCHANGES["case-01-1-filter.json"]["request"]["body"]
    address = f"{session['url_prefix']}/filter"
    assert ada.client.post(address, body, content_type="application/json").status_code == 200
    revoked = ada.post(f"/sessions/{session['id']}/revoke/", {}).json()
    assert revoked["revoked_at"]
    assert not revoked["listening"]
    assert ada.client.post(address, body, content_type="application/json").status_code == 404
    assert ada.delete(f"/sessions/{session['id']}/").status_code == 204
    assert ada.get("/sessions/").json() == []
    assert ada.get(f"/runs/{session['run']}/").json()["status"] == "finished"


def test_a_session_needs_a_snapshot_of_the_workspace_or_none(ada: Person) -> None:
    of_eve = person().snapshot()
    answer = ada.post("/sessions/", {"snapshot": str(of_eve.pk)})
    assert answer.status_code == 400
    assert answer.json()["errors"] == [{"field": "snapshot", "message": "Not found."}]
    assert ada.get("/sessions/").json() == []
