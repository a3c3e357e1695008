"""What the scheduler said of pods, in whatever form people have it."""

from __future__ import annotations

import msgspec
import pytest

from scheduler_core.api.ingest import ingest
from scheduler_core.api.said_events import SaidOfPod

MESSAGE = "0/2 nodes are available: 2 Insufficient cpu."
DESCRIBED = f"""$ kubectl describe pod web -n shop
Name:             web
Namespace:        shop
Priority:         0
Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
  Warning  FailedScheduling  2m (x3 over 5m)    default-scheduler  {MESSAGE}
"""
TABLE = f"""NAMESPACE   LAST SEEN         TYPE      REASON             OBJECT    MESSAGE
shop        2m (x3 over 5m)   Warning   FailedScheduling   pod/web   {MESSAGE}
shop        5m                Normal    Pulled             pod/api   pulled the image
"""
CORE = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "web.1", "namespace": "shop"},
    "involvedObject": {"kind": "Pod", "name": "web", "namespace": "shop"},
    "reason": "FailedScheduling",
    "message": MESSAGE,
}
NEWER = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "web.1", "namespace": "shop"},
    "regarding": {"kind": "Pod", "name": "web", "namespace": "shop"},
    "reason": "FailedScheduling",
    "note": MESSAGE,
}


@pytest.mark.parametrize(
    "text",
    [
        DESCRIBED,
        TABLE,
        msgspec.json.encode(CORE).decode(),
        msgspec.json.encode(NEWER).decode(),
        f"---\n# printed today\n{msgspec.yaml.encode(CORE).decode()}",
    ],
)
def test_a_failed_attempt_is_found(text: str) -> None:
    found = ingest([("file", text.encode())])
    assert [(each.pod, each.message) for each in found.said] == [("shop/web", MESSAGE)]
    (error,) = found.errors
    assert "kubectl" in error.message or "-o yaml" in error.message


def test_a_bare_message_is_told_from_other_text() -> None:
    found = ingest([("file", MESSAGE.encode())])
    assert found.said == (SaidOfPod(MESSAGE),)
    assert str(found.errors[0]).startswith("file: holds messages of the scheduler")


LOGGED = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."


@pytest.mark.parametrize(
    ("text", "pod"),
    [
        (f'I1120 "Unable to schedule pod; no fit" pod="shop/web" err="{LOGGED}"\n', "shop/web"),
        ("Warning  FailedScheduling  12s   default-scheduler  " + LOGGED, ""),
        ("conditions:\n- message: '" + LOGGED.replace("'", "''") + "'\n", ""),
    ],
)
def test_messages_in_other_text_are_told(text: str, pod: str) -> None:
    found = ingest([("file", text.encode())])
    assert found.said == (SaidOfPod(LOGGED, pod),)
    assert "holds messages of the scheduler" in str(found.errors[0])


def test_the_latest_event_counts() -> None:
    late = CORE | {"message": "0/2 nodes are available: 2 Too many pods.", "lastTimestamp": "2026"}
    texts = (msgspec.json.encode(each) for each in (late, CORE | {"lastTimestamp": "2025"}))
    found = ingest([("file", b"\n".join(texts))])
    assert [each.message for each in found.said] == ["0/2 nodes are available: 2 Too many pods."]
