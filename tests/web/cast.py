"""The cast: Ada and Ben have a workspace each; Eve has a browser and no invitation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from kviz.accounts.models import Workspace
from kviz.accounts.services import token_create
from kviz.runs import services
from kviz.runs.execution.claim import run_claim
from kviz.runs.execution.record import run_execute
from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot

API = "/api/v1"

NODES = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: north, labels: {topology.kubernetes.io/zone: north}}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
- apiVersion: v1
  kind: Node
  metadata: {name: south, labels: {topology.kubernetes.io/zone: south}}
  status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
"""


def pod(name: str, cpu: str = "1", **spec: object) -> str:
    """One pod as a YAML document."""
    more = "".join(f", {key}: {value}" for key, value in spec.items())
    return f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]{more}}}
"""


CLUSTER = (
    NODES
    + pod("old", nodeName="north")
    + "".join(pod(f"web-{i}") for i in range(4))
    + pod("giant", "64")
    + pod("gated", schedulingGates="[{name: later}]")
)
"""Two nodes; four pods fit, one is too big, one is gated, one was bound before."""


def crowd(n_pods: int) -> str:
    """Enough pods for several chunks."""
    return NODES + "".join(pod(f"p-{i:03}", "1m") for i in range(n_pods))


@dataclass
class Person:
    """Somebody with a workspace and its token; paths are below /api/v1."""

    workspace: Workspace
    token: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(API + path, headers=self.headers, **more)

    def post(self, path: str, data: object) -> Any:
        return self.client.post(
            API + path, data, content_type="application/json", headers=self.headers
        )

    def delete(self, path: str) -> Any:
        return self.client.delete(API + path, headers=self.headers)

    def upload(self, *files: tuple[str, bytes | str], **more: str) -> Any:
        sent = [
            SimpleUploadedFile(name, body.encode() if isinstance(body, str) else body)
            for name, body in files
        ]
        return self.client.post(f"{API}/snapshots/", {"files": sent, **more}, headers=self.headers)

    def snapshot(self, text: str = CLUSTER) -> Snapshot:
        response = self.upload(("cluster.yaml", text))
        assert response.status_code == 201, response.json()
        return Snapshot.objects.get(pk=response.json()["id"])

    def queued(self, text: str = CLUSTER, **inputs: Any) -> Run:
        return services.run_create(workspace=self.workspace, snapshot=self.snapshot(text), **inputs)

    def finished(self, text: str = CLUSTER, **inputs: Any) -> Run:
        """A run that a worker has executed."""
        run = self.queued(text, **inputs)
        execute(worker="test")
        run.refresh_from_db()
        return run


def execute(*, worker: str, **more: Any) -> Run:
    """Claim the oldest run and execute it."""
    run = run_claim(worker=worker)
    assert run is not None
    run_execute(run=run, worker=worker, **more)
    return run


def person() -> Person:
    workspace = Workspace.objects.create(kind=Workspace.Kind.GUEST)
    return Person(workspace, token_create(workspace=workspace))


def problem(response: Any, status: int) -> dict[str, Any]:
    """The problem document of a response, checked for its shape."""
    assert response.status_code == status, response.content[:500]
    assert response.headers["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert {"type", "title", "status", "detail"} <= document.keys()
    assert document["status"] == status
    assert document["detail"]
    assert b"Traceback" not in response.content
    return document
