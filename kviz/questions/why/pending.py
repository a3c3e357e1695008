"""All pods that a run leaves pending, in groups: those of one owner with one cause together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.analysis.advice.bugs import FoundBug, bugs_about, bugs_documents
from scheduler_core.api import KubeObject
from scheduler_core.api.counting import counted
from scheduler_core.changes.owners import BARE
from scheduler_core.evidence.document import free_room_document, lead_document
from scheduler_core.evidence.free_room import FreeRoom
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim.pending import Pending, PendingPod
from scheduler_core.sim.run import RunOptions
from scheduler_core.wording import some_of

NEVER_TRIED = "was never tried: the run ended first"


@dataclass
class PendingGroup:
    """Pending pods of one owner and namespace with the same cause; an owner may be empty."""

    owner: str
    cause: str
    message: str
    in_full: str = ""
    also: Sequence[str] = ()
    elsewhere: Sequence[str] = ()
    free_room: FreeRoom | None = None
    """As the first of the pods found it."""
    pods: list[str] = field(default_factory=list)
    bugs: tuple[FoundBug, ...] = ()
    """The scheduler's own bugs that decide about the first of the pods."""

    @property
    def title(self) -> str:
        """Return the pods, with their owner: `shop/web-1 and 3 more of ReplicaSet/web`."""
        if self.owner:
            return f"{some_of(self.pods)} of {self.owner}"
        return f"{some_of(self.pods)} (bare {'pod' if len(self.pods) == 1 else 'pods'})"


def grouped(
    found: Pending, objects: Sequence[KubeObject], options: RunOptions
) -> list[PendingGroup]:
    """Group the pending pods of `objects`, the largest group first, else as they came.

    Raises ConfigError and PluginFailure.
    """
    groups: dict[tuple[str, ...], PendingGroup] = {}
    for pod in found.pods:
        lead, namespace = pod.lead, pod.pod.partition("/")[0]
        cause = lead.text if lead is not None else _without_lead(pod)
        # Pods without an owner are unlike each other.
        own = () if pod.owner or lead is None else (lead.in_full, *lead.elsewhere)
        key = namespace, pod.owner, cause, *own
        if key not in groups:
            groups[key] = PendingGroup(pod.owner, cause, pod.message, free_room=pod.free_room)
            if lead is not None:
                groups[key].in_full = lead.in_full
                groups[key].also, groups[key].elsewhere = lead.also, lead.elsewhere
        groups[key].pods.append(pod.pod)
    scheduler = SchedulerOptions(
        configuration=options.configuration,
        features=options.features,
        registry=options.registry,
        tie_break=options.tie_break,
    )
    for group in groups.values():
        group.bugs = bugs_about(objects, group.pods[0], scheduler, message=group.message)
    return sorted(groups.values(), key=lambda group: -len(group.pods))


def _without_lead(pod: PendingPod) -> str:
    return pod.message if pod.cycle else NEVER_TRIED


def as_json(
    found: Pending, groups: Sequence[PendingGroup], without_pods: Sequence[str]
) -> dict[str, object]:
    """Return what `kviz explain --format json` prints about all pods."""
    return {
        "pending": [
            {
                "pod": pod.pod,
                "owner": pod.owner,
                "priority": pod.priority,
                "cycle": pod.cycle,
                "gated": pod.gated,
                "message": pod.message,
                "lead": lead_document(pod.lead) if pod.lead is not None else None,
                "freeRoom": free_room_document(pod.free_room) if pod.free_room else None,
                "cluster_says": _said(found, pod.pod),
            }
            for pod in found.pods
        ],
        "groups": [
            {
                "owner": group.owner,
                "cause": group.cause,
                "pods": group.pods,
                "bugs": bugs_documents(group.bugs),
            }
            for group in groups
        ],
        "bound": [
            {
                "pod": each.pod,
                "node": each.node,
                "evicted": list(each.evicted),
                "cluster_says": _said(found, each.pod),
            }
            for each in found.bound
        ],
        "afterwards": list(found.afterwards),
        "podKinds": dict(found.pod_kinds),
        "notModelled": list(found.not_modelled),
        "incomplete": [each.document for each in found.absent],
        "withoutPods": list(without_pods),
    }


def _said(found: Pending, pod: str) -> dict[str, object] | None:
    said = found.cluster_says.get(pod)
    return said.document if said is not None else None


def as_text(found: Pending, groups: Sequence[PendingGroup], without_pods: Sequence[str]) -> str:
    """Return the causes as lines of plain text, each with the pods it keeps waiting.

    First comes which workloads have no pod in the file, as none of theirs can be pending.
    """
    return "\n".join(_lines(found, groups, without_pods)) + "\n"


def _lines(
    found: Pending, groups: Sequence[PendingGroup], without_pods: Sequence[str]
) -> Iterator[str]:
    yield from _headlines(found, without_pods)
    yield from (f"This may be wrong: {text}" for text in found.not_modelled)
    yield from found.stuck if found.pods else ()
    for group in groups:
        yield from ("", group.title, f"  {group.cause}")
        yield from (f"  {each}" for each in [group.in_full] if each)
        yield from (f"  also: {each}" for each in group.also)
        yield from (f"  {each}" for each in group.elsewhere)
        if group.free_room is not None:
            yield f"  {group.free_room.sentence}"
        if group.message and group.message != group.cause:
            yield f"  {group.message}"
        yield from (f"  {each.sentence}" for each in group.bugs)
    yield from _bound(found)
    differing = list(_differing(found))
    yield from ["", *differing] if differing else ()


def as_markdown(found: Pending, groups: Sequence[PendingGroup], without_pods: Sequence[str]) -> str:
    """Return the same as one would paste it into a ticket."""
    parts = [*(f"**{each}**" for each in _headlines(found, without_pods)), ""]
    parts += [f"- this may be wrong: {text}" for text in found.not_modelled]
    parts += [f"- {text}" for text in (found.stuck if found.pods else ())]
    for group in groups:
        parts.append(f"- `{group.title}` {group.cause}")
        parts += [f"  - {each}" for each in [group.in_full] if each]
        parts += [f"  - also: {each}" for each in group.also]
        parts += [f"  - {each}" for each in group.elsewhere]
        if group.free_room is not None:
            parts.append(f"  - {group.free_room.sentence}")
        if group.message and group.message != group.cause:
            parts.append(f"  > {group.message}")
        parts += [f"  - {each.sentence}" for each in group.bugs]
    parts += [f"- {each}" for each in _bound(found) if each]
    parts += [f"- {each}" for each in _differing(found)]
    return "\n".join(parts) + "\n"


def _differing(found: Pending) -> Iterator[str]:
    """Yield of which pods the cluster says something else, one line for all with the same cause."""
    pods_of: dict[str, list[str]] = {}
    for each in found.cluster_says.values():
        if not each.agrees:
            pods_of.setdefault(each.sentence, []).append(each.pod)
    yield from (f"{some_of(pods)}: {sentence}" for sentence, pods in pods_of.items())


def _headlines(found: Pending, without_pods: Sequence[str]) -> Iterator[str]:
    yield from without_pods
    if found.pods or found.bound or not without_pods:
        yield _headline(found)


def _headline(found: Pending) -> str:
    if found.pods:
        return f"{counted(len(found.pods), 'pod')} pending"
    if not found.has_pods:
        nodes = "only nodes" if found.has_nodes else "and no nodes"
        return f"There are no pods here, {nodes}"
    return "No pod stays pending" if found.bound else "No pod is pending"


def _bound(found: Pending) -> Iterator[str]:
    """Yield what becomes of the pods that are pending in the file and get a node, a few by name."""
    pods = found.bound
    if not pods:
        return
    with_victims_first = sorted(pods, key=lambda each: not each.evicted)
    named = [
        f"{each.pod} on {each.node}"
        + (f" after evicting {_called(each.evicted, found.pod_kinds)}" if each.evicted else "")
        for each in with_victims_first
    ]
    binds = "binds" if len(pods) == 1 else "bind"
    yield ""
    yield f"{counted(len(pods), 'pod')} pending in the file {binds}: {some_of(named)}"
    evicted = [key for each in pods for key in each.evicted]
    if not found.recreates_evicted and any(found.pod_kinds.get(key) != BARE for key in evicted):
        yield "kviz did not make evicted pods again: --recreate-evicted does, as their owners would"
        yield from found.afterwards


def _called(pods: Sequence[str], kinds: Mapping[str, str]) -> str:
    """Name some pods, each with what it is called."""
    return some_of([f"{key} ({kinds[key]})" if key in kinds else key for key in pods])
