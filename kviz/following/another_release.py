"""Whether a cluster's scheduler is of another release than the one it is compared with.

Two things tell: what the cluster says of itself, and texts that only some releases write. Either
way its decisions cannot be explained, and no state of the cluster needs to be tried for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from kviz.following.decisions import REASONS, scheduled_condition
from kviz.following.follower import Journal
from scheduler_core.api import Pod
from scheduler_core.config import FeatureGates
from scheduler_core.config.types import Plugins
from scheduler_core.releases import RELEASES
from scheduler_core.releases.choosing import is_known, why
from scheduler_core.releases.switches import Switches
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.wording import say

PREEMPTION: Final = " preemption: "


class _Mark(Struct, frozen=True):
    """A text that is written only where a switch is on, or only where it is off.

    `always`: every message about preemption has it then, if DynamicResources is enabled.
    """

    switch: str
    text: str
    is_on: bool
    always: bool = False

    def written_by(self, switches: Switches) -> bool:
        return getattr(switches, self.switch) is self.is_on


MARKS: Final = (
    _Mark("placement_in_message", "preemption: found a potential placement for pod on node", True),
    _Mark("quiet_claim_post_filter", "no new claims to deallocate", False, always=True),
    _Mark("quiet_claim_post_filter", "still not schedulable", False),
)


def another_release(journal: Journal, options: SchedulerOptions) -> str:
    """Say why the scheduler that was followed is of another release; empty if nothing says so."""
    gates = options.features
    if not is_known(journal.release_told):
        return say(
            "another_release.unknown",
            "kviz compares with v{release}: {why}.",
            release=gates.release.name,
            why=why(journal.release_told),
        )
    messages = list(_messages(journal, options))
    said = _contradiction(messages, gates.switches, _has_dynamic_resources(options))
    if not said:
        return ""
    if fits := _fitting(messages, gates, options):
        return say(
            "another_release.other",
            "{said}, so this is no scheduler of v{release}; v{fits} writes so.",
            said=said,
            release=gates.release.name,
            fits=fits,
        )
    return say(
        "another_release.none",
        "{said}, so this is no scheduler of v{release}.",
        said=said,
        release=gates.release.name,
    )


def in_group(pod: Pod) -> bool:
    """Return whether the pod belongs to a group, which the scheduler places together."""
    return pod.spec.scheduling_group is not None or pod.spec.workload_ref is not None


def _messages(journal: Journal, options: SchedulerOptions) -> Iterator[str]:
    """Yield what the scheduler wrote of pods without a node, but for those in groups.

    A message that a pod already had may be of the release before an upgrade, and that of a pod of
    another scheduler says nothing of this one.
    """
    names = {profile.scheduler_name for profile in options.configuration.profiles}
    known = {
        pod.uid: _message_of(pod)
        for found in journal.lists
        for pod in found.items
        if isinstance(pod, Pod)
    }
    for change in journal.changes:
        pod = change.item
        if not isinstance(pod, Pod):
            continue
        message = _message_of(pod)
        is_new = message != known.get(pod.uid, message)
        known[pod.uid] = message
        if is_new and message and pod.spec.scheduler_name in names and not in_group(pod):
            yield message


def _message_of(pod: Pod) -> str:
    """Return what a scheduling attempt wrote of a pod without a node, empty if nothing."""
    told = None if pod.spec.node_name else scheduled_condition(pod)
    return told.message if told is not None and told.reason in REASONS else ""


def _contradiction(messages: Sequence[str], switches: Switches, always: bool) -> str:
    """Say which text contradicts a release, empty if none does."""
    for mark in MARKS:
        found = any(mark.text in message for message in messages)
        if found and not mark.written_by(switches):
            return say("another_release.says", 'Messages say "{text}"', text=mark.text)
        if mark.always and always and mark.written_by(switches):
            without = (each for each in messages if PREEMPTION in each and mark.text not in each)
            if not found and any(without):
                return say(
                    "another_release.does_not_say",
                    'Messages about preemption do not say "{text}"',
                    text=mark.text,
                )
    return ""


def _has_dynamic_resources(options: SchedulerOptions) -> bool:
    def has(plugins: Plugins) -> bool:
        enabled = (*plugins.multi_point.enabled, *plugins.post_filter.enabled)
        disabled = {each.name for each in plugins.post_filter.disabled}
        named = any(each.name == "DynamicResources" for each in enabled)
        return named and not disabled & {"DynamicResources", "*"}

    return all(has(profile.plugins) for profile in options.configuration.profiles)


def _fitting(messages: Sequence[str], gates: FeatureGates, options: SchedulerOptions) -> str:
    """Return the newest release that the messages do not contradict, if there is one."""
    always = _has_dynamic_resources(options)
    fitting = [
        name
        for name, release in RELEASES.items()
        if release is not gates.release and not _contradiction(messages, release.switches, always)
    ]
    return fitting[-1] if fitting else ""
