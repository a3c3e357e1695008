"""A document in the format of the recordings as a run: its events become steps of a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kviz.conformance.cases import Case
from scheduler_core.api import KubeObject
from scheduler_core.sim import RunOptions
from scheduler_core.sim.scenario import load_scenario
from tests.generator.draw import Json


def run_of(document: Json, *, max_cycles: int = 0) -> tuple[list[KubeObject], RunOptions]:
    """Return the cluster and the options of the run. Raises ConfigError."""
    given: Json = document["input"]
    case = Case(str(document["name"]), str(document["mode"]), given, {})
    objects = list(case.objects)
    if "pod" in given:
        objects += Case("", "", {"objects": [given["pod"]]}, {}).objects
    options = RunOptions(
        configuration=case.configuration(),
        features=case.gates,
        scenario=load_scenario(json.dumps({"steps": list(_steps(given.get("events", [])))})),
        max_cycles=max_cycles,
    )
    return objects, options


def _steps(events: Sequence[Any]) -> Iterator[Json]:
    at_s = 1
    for event in events:
        if event["op"] == "advance":
            at_s += event["seconds"]
            continue
        item = event["object"]
        named = {"kind": item["kind"], **item["metadata"]}
        match event["op"]:
            case "create":
                yield {"at": f"{at_s}s", "create": item}
            case "delete":
                yield {"at": f"{at_s}s", "delete": named}
            case "update":
                yield {"at": f"{at_s}s", "patch": {**named, "merge": event["patch"]}}
