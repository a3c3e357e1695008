"""The run that the landing page plays is a recorded one: that of its first sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from kviz.snapshots.samples import SAMPLES
from tests.web.cast import Person

FILE = settings.SHARE / "static" / "home" / "run.json"


def played(owner: Person) -> dict[str, Any]:
    """What the page shows of the run: by node the plugin that rejected it, and its total score."""
    run = owner.finished(SAMPLES[0].path.read_text(encoding="utf-8"))
    cycles = [
        owner.get(f"/runs/{run.pk}/cycles/{n}/?nodes=all").json() for n in range(1, run.cycles + 1)
    ]
    nodes = sorted({*cycles[0]["filter"], *cycles[0]["feasible"]})
    return {
        "nodes": nodes,
        "cycles": [
            {
                "pod": cycle["pod"],
                "node": cycle["node"],
                "rejected_by": [cycle["filter"].get(name, {}).get("plugin", "") for name in nodes],
                "totals": [cycle["totals"].get(name) for name in nodes]
                if cycle["totals"]
                else None,
            }
            for cycle in cycles
        ],
    }


def test_the_page_plays_what_the_scheduler_decides(owner: Person, tmp_path: Path) -> None:
    fresh = json.dumps(played(owner), separators=(",", ":")) + "\n"
    (tmp_path / "run.json").write_text(fresh, encoding="utf-8")
    recorded = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    assert recorded == fresh, f"the run changed: copy {tmp_path / 'run.json'} to {FILE}"


@pytest.mark.django_db
def test_without_scripts_there_is_a_still_picture(owner: Person) -> None:
    page = owner.client.get("/").content.decode()
    assert page.index('class="three-steps"') < page.index("data-player")
