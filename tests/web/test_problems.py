"""Every error of the REST interface is a problem document."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from pytest_django import Settings

from tests.web.cast import API, NODES, Person, problem

NOWHERE = uuid.UUID("5f0c1f60-0000-4000-8000-000000000000")


@pytest.mark.parametrize(
    "path",
    [
        f"/snapshots/{NOWHERE}/",
        f"/runs/{NOWHERE}/",
        f"/runs/{NOWHERE}/cycles/",
        f"/runs/{NOWHERE}/cycles/1/",
        f"/runs/{NOWHERE}/cycles/1/detail/",
        f"/runs/{NOWHERE}/pods/a/b/why/",
        "/runs/not-a-uuid/",
        "/nothing/",
    ],
)
def test_not_found(ada: Person, path: str) -> None:
    problem(ada.get(path), 404)


def test_method_not_allowed(ada: Person) -> None:
    problem(ada.client.put(f"{API}/runs/", headers=ada.headers), 405)


def test_not_acceptable(ada: Person) -> None:
    headers = {**ada.headers, "Accept": "text/html"}
    problem(ada.client.get(f"{API}/runs/", headers=headers), 406)


def test_a_body_that_is_no_json(ada: Person) -> None:
    response = ada.client.post(
        f"{API}/runs/", b"{", content_type="application/json", headers=ada.headers
    )
    problem(response, 400)


@pytest.mark.parametrize("body", [[], 1, {}, {"snapshot": 5}, {"snapshot": "x", "seed": "y"}])
def test_a_run_of_wrong_shape(ada: Person, body: Any) -> None:
    assert problem(ada.post("/runs/", body), 400)["errors"]


def test_a_body_in_which_a_key_stands_twice(ada: Person) -> None:
    body = '{"seed": 1,\n "feature_gates": {"A": true,\n "A": false}}'
    said = problem(ada.post("/runs/", body), 400)["detail"]
    assert "Line 3: the key feature_gates.A stands twice" in said


def test_a_body_that_is_nested_too_deeply(ada: Person) -> None:
    said = problem(ada.post("/runs/", "[" * 100_000), 400)["detail"]
    assert "nested too deeply" in said


def test_a_body_of_json_is_bounded(ada: Person, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    problem(ada.post("/runs/", '{"seed": 1, "scenario": "' + "x" * 100 + '"}'), 413)


def test_a_body_of_another_type(ada: Person) -> None:
    response = ada.client.post(f"{API}/runs/", b"x", content_type="text/csv", headers=ada.headers)
    problem(response, 415)


def test_too_much_text_is_told_how_else_to_come(
    ada: Person, owner: Person, settings: Settings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1 << 20
    text = "#" * (2 << 20)
    told = "Text may have 1 MiB at most. Upload a larger cluster as a file."

    pasted = owner.client.post("/snapshots/new", {"text": text})
    assert pasted.status_code == 413
    assert told in pasted.content.decode()
    assert problem(ada.post("/snapshots/check/", {"text": text}), 413)["detail"] == told


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer", "Basic abc", "nonsense"])
def test_a_token_that_is_none(client: Client, db: None, header: str) -> None:
    response = client.get(f"{API}/runs/", headers={"Authorization": header})

    problem(response, 401)
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_forged_request_is_refused(eve: Client) -> None:
    response = eve.post(f"{API}/snapshots/", NODES, content_type="application/yaml")

    assert "kviz token" in problem(response, 403)["detail"]


def test_a_page_of_this_site_is_not_forged(eve: Client) -> None:
    eve.get("/snapshots/new")
    csrf = eve.cookies["kviz_csrf"].value

    response = eve.post(
        f"{API}/snapshots/",
        NODES,
        content_type="application/yaml",
        headers={"X-CSRFToken": csrf, "Origin": "http://testserver"},
    )
    assert response.status_code == 201, response.content

    response = eve.post(
        f"{API}/snapshots/",
        NODES,
        content_type="application/yaml",
        headers={"X-CSRFToken": csrf, "Origin": "http://evil.example"},
    )
    problem(response, 403)


def test_a_host_that_is_not_ours(client: Client, db: None) -> None:
    problem(client.get(f"{API}/runs/", headers={"Host": "rebound.example"}), 400)


def test_too_many_uploads(ada: Person, ben: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    from kviz.accounts.throttling import WorkspaceRate

    monkeypatch.setitem(WorkspaceRate.THROTTLE_RATES, "upload", "2/hour")

    codes = [ada.upload(("n.yaml", NODES)).status_code for _ in range(2)]
    response = ada.upload(("n.yaml", NODES))

    assert codes == [201, 201]
    problem(response, 429)
    assert int(response.headers["Retry-After"]) > 0
    assert ada.get("/snapshots/").status_code == 200


@pytest.mark.parametrize(
    ("where", "body"),
    [("runs/check/", {"scenario": "steps: []"}), ("snapshots/check/", {"text": NODES})],
)
def test_too_many_checks(
    ada: Person, monkeypatch: pytest.MonkeyPatch, where: str, body: dict[str, str]
) -> None:
    from kviz.accounts.throttling import WorkspaceRate

    monkeypatch.setitem(WorkspaceRate.THROTTLE_RATES, "check", "2/minute")

    responses = [
        ada.client.post(f"{API}/{where}", body, content_type="application/json") for _ in range(3)
    ]

    assert [each.status_code for each in responses[:2]] == [200, 200]
    problem(responses[2], 429)
    assert int(responses[2].headers["Retry-After"]) > 0


def test_an_invented_address_is_no_other_address(
    db: None, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    from kviz.accounts.throttling import WorkspaceRate

    settings.MODE = "server"
    monkeypatch.setitem(WorkspaceRate.THROTTLE_RATES, "upload", "1/hour")
    codes = [
        Client(headers={"X-Forwarded-For": f"203.0.113.{i}"})
        .post("/snapshots/new", {"text": NODES})
        .status_code
        for i in range(2)
    ]
    assert codes == [302, 429]


def test_too_many_uploads_from_a_browser(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kviz.accounts.throttling import WorkspaceRate

    monkeypatch.setitem(WorkspaceRate.THROTTLE_RATES, "upload", "1/hour")
    monkeypatch.setitem(WorkspaceRate.THROTTLE_RATES, "run", "1/hour")
    uploaded = client.post("/snapshots/new", {"text": NODES})
    snapshot = uploaded.headers["Location"].rstrip("/").rsplit("/", 1)[1]
    config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    run = {"snapshot": snapshot, "scheduler_config": config}
    assert client.post("/runs/new", run).status_code == 302

    refused = {
        client.post("/snapshots/new", {"text": NODES, "name": "north"}): (
            "Nothing was uploaded",
            "north",
        ),
        client.post("/runs/open", {"file": ContentFile(b"?", "a.kviz")}): (
            "could not be opened",
            "",
        ),
        client.post("/runs/new", run): ("Not started", "KubeSchedulerConfiguration"),
    }

    for response, (title, typed) in refused.items():
        assert response.status_code == 429
        html = response.content.decode()
        assert title in html
        assert "Try again in 60 minutes" in html
        assert typed in html


def test_a_bug_is_reported_without_a_traceback(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kviz.runs.api.runs.MAX_LIMIT", "not a number")

    response = ada.get("/runs/")

    problem(response, 500)
    assert b"not a number" not in response.content


def test_the_schema_describes_the_interface(client: Client, db: None) -> None:
    response = client.get(f"{API}/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})

    assert response.status_code == 200
    paths = response.json()["paths"]
    for path in ("snapshots/", "runs/", "runs/{run_id}/cycles/{cycle}/", "uploads/{upload_id}/"):
        assert f"{API}/{path}" in paths


def test_pages_forbid_foreign_scripts_and_frames(client: Client, db: None) -> None:
    headers = client.get("/").headers

    policy = headers["Content-Security-Policy"]
    assert set(policy.split("; ")) == {
        "default-src 'self'",
        "img-src 'self' data:",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    }
    assert "unsafe-eval" not in policy
    assert "script-src" not in policy or "unsafe-inline" not in policy.split("script-src")[1]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_every_setting_for_a_public_server_passes_djangos_check(settings: Settings) -> None:
    assert settings.DEBUG is False
    assert settings.SESSION_COOKIE_SAMESITE == "Lax"
