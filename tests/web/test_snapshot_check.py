"""Pasted objects are checked as an upload is read, and nothing is stored."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client

from kviz.snapshots.models import Snapshot

pytestmark = pytest.mark.django_db

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
  - name: c
    resources:
      requests:
        cpu: %s
"""


def checked(client: Client, text: str) -> dict[str, Any]:
    body = {"text": text}
    answer = client.post("/api/v1/snapshots/check/", body, content_type="application/json")
    assert answer.status_code == HTTPStatus.OK, answer.content
    assert not Snapshot.objects.exists()
    found: dict[str, Any] = answer.json()
    return found


def test_nothing_is_wrong_with_nothing_and_with_a_pod(client: Client) -> None:
    assert checked(client, "") == {"problems": [], "counts": {}, "ignored": {}}
    assert checked(client, POD % "1") == {"problems": [], "counts": {"Pod": 1}, "ignored": {}}


def test_a_mistake_is_named_with_field_and_line(client: Client) -> None:
    [problem] = checked(client, POD % "lots")["problems"]
    assert problem["line"] == 9
    assert problem["message"].startswith("spec.containers[0].resources.requests")


def test_what_the_scheduler_does_not_read_is_said(client: Client) -> None:
    found = checked(client, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n")
    assert found["ignored"] == {"Secret": 1}
    assert found["problems"] != []


def test_more_than_a_check_takes_is_refused(client: Client) -> None:
    body = {"text": "#" * 1_000_001}
    answer = client.post("/api/v1/snapshots/check/", body, content_type="application/json")
    assert answer.status_code == HTTPStatus.BAD_REQUEST
