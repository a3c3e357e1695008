"""The command line, REST and the page explain a pod alike.

The Explorer's own computation is held against the engine's in `frontend/src/store/why.test.ts`.
"""

from __future__ import annotations

import re
from typing import Any

from kviz.questions.why.answer import explain
from kviz.questions.why.text import as_json
from kviz.runs.sharing import run_share
from kviz.samples import FOLDER
from scheduler_core.api.ingest import ingest

from .cast import Person

CLINIC = FOLDER / "why-pending.yaml"
"""Its pods wait for reasons that do not depend on which of them is tried first."""
KNOWN_TO_THE_COMMAND_LINE_ONLY = ("also", "plugins")
PENDING = (
    "analytics-0",
    "archiver-0",
    "backup-0",
    "ingress-2",
    "ledger-2",
    "router-0",
    "sensor-0",
    "train-1",
    "train-2",
    "zonal-0",
)
REJECTED_BY_PRE_FILTER = ("archiver-0", "backup-0")


def as_recorded(misses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return near misses without what only the evaluation of every plugin finds out."""
    return [
        {key: miss[key] for key in miss if key not in KNOWN_TO_THE_COMMAND_LINE_ONLY}
        for miss in misses
    ]


def nodes_on_page(page: str) -> list[str]:
    """Return the nodes of the page's table of nearest misses, in order."""
    _, _, table = page.partition('id="nearest"')
    return re.findall(r'<th scope="row"[^>]*><a[^>]*>([^<]+)</a>', table)


def by_node(nearest: list[Any]) -> list[Any]:
    return sorted(nearest, key=lambda miss: miss["node"])


def test_every_pending_pod_of_the_clinic(ada: Person) -> None:
    run = ada.finished(CLINIC.read_text())
    token = run_share(run=run).token
    objects = list(ingest([("clinic.yaml", CLINIC.read_bytes())]).objects)
    for name in PENDING:
        rest = ada.get(f"/runs/{run.pk}/pods/clinic/{name}/why/").json()
        assert rest["status"] == "pending"
        command: Any = as_json(explain(objects, f"clinic/{name}"))
        n_evaluated = 0 if name in REJECTED_BY_PRE_FILTER else 5
        assert len(rest["nearest"]) == n_evaluated
        assert command["why"]["funnel"] == rest["funnel"]
        assert command["why"]["reasons"] == rest["reasons"]
        # What the trace has does not know what every plugin says of each node, which orders them.
        detailed, recorded = by_node(command["why"]["nearest"]), by_node(rest["nearest"])
        assert as_recorded(detailed) == as_recorded(recorded)
        for one, other in zip(detailed, recorded, strict=True):
            assert set(other["plugins"]) <= set(one["plugins"])
        page = ada.client.get(f"/runs/{run.pk}/pods/clinic/{name}/why?share={token}")
        assert page.status_code == 200
        nearest_first = [miss["node"] for miss in command["why"]["nearest"]]
        assert nodes_on_page(page.content.decode()) == nearest_first
