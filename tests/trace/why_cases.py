"""Small runs whose cycles have to be explained alike by Python and by the browser.

`python -m tests.trace.why_cases > tests/trace/why_fixture.json` writes the fixture: for each run
its header events and each cycle's columns, as they go over the wire, and what `why` makes of every
cycle. With `samples` it prints the same of every sample cluster, which vitest asks for.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from kviz.samples import sample_texts
from scheduler_core.api.ingest import ingest
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import JsonValue, load_configuration
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.per_node import NodeView
from scheduler_core.framework.status import Code, Status
from scheduler_core.registry import in_tree_registry
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.cycle_record import cycle_range, cycle_record
from scheduler_core.trace.events import (
    AnyEvent,
    CycleStarted,
    Detail,
    DetailEvent,
    HeaderEvent,
    RunStarted,
)
from scheduler_core.trace.fold import fold
from scheduler_core.trace.why import Why, why
from tests.trace.recorded_runs import events_of

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 5
"""
GPU = "example.com/gpu"
MAX_CYCLES = 6


def node(name: str, cpu: str = "4", pods: int = 9, spec: str = "", labels: str = "") -> str:
    return f"""\
---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{labels}}}}}
spec: {{{spec}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "{pods}"}}}}
"""


def gpu_node(name: str, gpus: int, spec: str = "") -> str:
    return node(name, spec=spec).replace("memory: 8Gi", f'memory: 8Gi, {GPU}: "{gpus}"')


def pod(name: str, cpu: str = "1", *, gpus: int = 0, uid: str = "", **spec: object) -> str:
    more = "".join(f", {key}: {value}" for key, value in spec.items())
    gpu = f", {GPU}: {gpus}" if gpus else ""
    limits = f"limits: {{{GPU}: {gpus}}}, " if gpus else ""
    requests = f'{limits}requests: {{cpu: "{cpu}"{gpu}}}'
    return f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop, uid: {uid or name}}}
spec: {{containers: [{{name: c, image: i, resources: {{{requests}}}}}]{more}}}
"""


def tainted(value: str) -> str:
    return f"taints: [{{key: dedicated, value: {value}, effect: NoSchedule}}]"


def only(*names: str) -> str:
    """Return an affinity to nodes by name, which PreFilter narrows to."""
    terms = ", ".join(
        f"{{matchFields: [{{key: metadata.name, operator: In, values: [{name}]}}]}}"
        for name in names
    )
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}"
    return f"{{nodeAffinity: {{{required}}}}}"


def with_memory(pod: str, memory: str) -> str:
    """Return a pod that requests memory too, and is labelled with its name."""
    name = pod.partition("metadata: {name: ")[2].partition(",")[0]
    return pod.replace("requests: {", f"requests: {{memory: {memory}, ").replace(
        "namespace: shop", f"namespace: shop, labels: {{app: {name}}}"
    )


def beside(app: str) -> str:
    """Return an affinity to pods by label, on the same node."""
    term = f"{{labelSelector: {{matchLabels: {{app: {app}}}}}, topologyKey: host}}"
    return f"{{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"


CLUSTERS = {
    "several plugins and shortages": "".join(
        (
            node("control", spec=tainted("control")),
            node("cordoned", "8", spec="unschedulable: true"),
            node("small", "1"),
            node("medium", "2"),
            node("full", "8", pods=2),
            node("busy", "8"),
            gpu_node("gpus-taken", 1),
            gpu_node("gpus-tainted", 4, tainted("gpu")),
            pod("there-0", nodeName="full"),
            pod("there-1", nodeName="full"),
            pod("there-2", "7500m", nodeName="busy"),
            pod("there-3", "3", nodeName="medium"),
            pod("there-4", gpus=1, nodeName="gpus-taken"),
            pod("too-big", "5"),
            pod("far-too-big", "64"),
            pod("wants-gpu", gpus=1),
            pod("wants-gpus", gpus=2),
            pod("picky", nodeSelector="{disk: ssd}"),
            pod("fits"),
        )
    ),
    "narrowed by PreFilter": "".join(
        (
            *(node(f"n{i}", str(i + 1)) for i in range(5)),
            pod("on-two", "8", affinity=only("n1", "n3")),
            pod("on-two-and-fits", affinity=only("n1", "n3")),
            pod("nowhere", affinity=only("gone")),
            pod("no-claim", volumes="[{name: v, persistentVolumeClaim: {claimName: missing}}]"),
        )
    ),
    "enough feasible nodes": "".join(
        (
            *(
                node(f"n{i:03}", "2" if i % 20 else "1", labels=f"row: r{i % 3}")
                for i in range(112)
            ),
            pod("some", "1500m"),
            pod("many", "3"),
            pod("few", "1900m", nodeSelector="{row: r1}"),
        )
    ),
    "preemption and nomination": "".join(
        (
            node("n1", "2"),
            node("n2", "1"),
            node("n3", "3", spec=tainted("gpu")),
            pod("low", "2", nodeName="n1", priority=-10, terminationGracePeriodSeconds=300),
            pod("vip", "2", priority=100),
            pod("late", "2", priority=50),
            pod("later", "1500m", priority=5),
        )
    ),
    "two-pass Filter": "".join(
        (
            node("n1", labels="host: n1"),
            node("n2", "500m"),
            pod("low", "3", nodeName="n1", priority=-10, terminationGracePeriodSeconds=300),
            with_memory(pod("boss", "4", priority=100), "1Gi"),
            pod("small"),
            with_memory(pod("medium", "2"), "7500Mi"),
            pod("friend", "0", affinity=beside("boss")),
        )
    ),
    "no nodes": pod("lonely"),
}


class Rota:
    """A plugin of another package, which waits for what no plugin of kube-scheduler does."""

    name = "Rota"

    def __init__(self, args: JsonValue, handle: Handle) -> None: ...

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, ActionType.DELETE))]

    def filter_node(self, state: None, pod: PodInfo, node: NodeView) -> Status:
        return Status(Code.UNSCHEDULABLE, ("node(s) had the day off",))


WITH_ROTA = "profiles: [{plugins: {multiPoint: {enabled: [{name: Rota}]}}}]\n"


@dataclass(frozen=True)
class Run:
    """The trace of one of the clusters, apart into headers and columns by cycle."""

    name: str
    headers: list[HeaderEvent]
    details: dict[int, list[Detail]]

    def wakes(self) -> dict[str, tuple[str, ...]]:
        """Return what each plugin of the profile waits for."""
        return fold(self.headers).names.wakes("default-scheduler")

    def whys(self) -> dict[int, Why]:
        """Explain every cycle."""
        found: dict[int, Why] = {}
        for cycle, details in self.details.items():
            place = cycle_range(self.headers, cycle)
            events = self.headers[place.start : place.stop]
            record = cycle_record(events, details=details)
            found[cycle] = why(record, fold(self.headers[: place.start]))
        return found


def runs() -> Iterator[Run]:
    for name, text in CLUSTERS.items():
        ingested = ingest([("cluster.yaml", text.encode())])
        assert not ingested.errors
        options = RunOptions(configuration=load_configuration(CONFIGURATION), max_cycles=MAX_CYCLES)
        yield _apart(name, simulate(list(ingested.objects), options))
    registry = in_tree_registry()
    registry.register_out_of_tree(Rota.name, Rota)
    options = RunOptions(
        configuration=load_configuration(CONFIGURATION + WITH_ROTA), registry=registry
    )
    objects = ingest([("cluster.yaml", (node("n1") + pod("off")).encode())]).objects
    yield _apart("a plugin of another package", simulate(list(objects), options))


def _apart(name: str, events: Iterator[AnyEvent]) -> Run:
    run = Run(name, [], {})
    cycle = 0
    for event in events:
        if isinstance(event, DetailEvent):
            run.details[cycle].append(event)
            continue
        if isinstance(event, RunStarted):
            event = msgspec.structs.replace(event, engine_version="any")
        if isinstance(event, CycleStarted):
            cycle = event.cycle
            run.details[cycle] = []
        run.headers.append(event)
    return run


def sample_runs() -> Iterator[Run]:
    for sample in sample_texts():
        cluster = sample.path.read_text(encoding="utf-8")
        yield _apart(sample.slug, events_of(cluster, sample.scenario, sample.scheduler_config))


def fixture_text(runs: Iterator[Run]) -> str:
    """Return runs as JSON, with one run, and within it one cycle, per line."""
    return "[\n" + ",\n".join(map(_run_text, runs)) + "\n]\n"


def _run_text(run: Run) -> str:
    whys = run.whys()
    cycles = ",\n".join(
        _json(
            {
                "cycle": cycle,
                "details": _packed(details),
                "why": msgspec.to_builtins(whys[cycle]),
            }
        )
        for cycle, details in run.details.items()
    )
    headers = _packed((0, run.headers))
    named = f'"run": {_json(run.name)}, "wakes": {_json(run.wakes())}'
    return f'{{{named}, "headers": {_json(headers)}, "cycles": [\n{cycles}\n]}}'


def _packed(value: object) -> str:
    return base64.b64encode(msgspec.msgpack.encode(value)).decode()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    sys.stdout.write(fixture_text(sample_runs() if sys.argv[1:] == ["samples"] else runs()))
