"""One node and one pod side by side, in words: what each plugin asks, and how scores come about."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.evidence.cycle import NodeEvidence, PluginEvidence


def node_lines(found: NodeEvidence) -> Iterator[str]:
    """Yield a line for every requirement, those not met first, then preemption and scores."""
    rejections = found.rejections
    yield f"On {found.node}:" if rejections else f"On {found.node} nothing rejects it:"
    for each in sorted(found.plugins, key=lambda each: each.status.is_success):
        yield from _plugin_lines(each)
    if found.preemption is not None:
        yield f"  Preemption: {found.preemption.sentence}"
    if found.scores:
        yield from _score_lines(found)


def _plugin_lines(found: PluginEvidence) -> Iterator[str]:
    for requirement in sorted(found.requirements, key=lambda each: each.met):
        mark = "+" if requirement.met else "-"
        yield f"  {mark} {found.plugin}: {requirement.sentence}"
    if found.with_nominated and not found.status.is_success:
        yield f"      with nominated pods counted: {', '.join(found.with_nominated)}"


def _score_lines(found: NodeEvidence) -> Iterator[str]:
    yield f"  Score {found.total}:"
    for score in found.scores:
        yield f"    {score.weighted:>5} {score.plugin}: {score.raw.text}"
        if score.normalized.rule != "none":
            yield f"          normalized: {score.normalized.text}"
        if score.weight != 1:
            yield f"          weight {score.weight}"
