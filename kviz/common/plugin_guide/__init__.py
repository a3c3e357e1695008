"""The plugin reference: what each plugin does, in kviz's words, one module each.

Reasons, weights and formulas are kube-scheduler v1.36's; a test compares weights and points
with the engine's own registry, so that a page cannot drift from what a run does.
"""

from __future__ import annotations

import re

from kviz.common.plugin_guide import (
    default_binder,
    default_preemption,
    dynamic_resources,
    image_locality,
    inter_pod_affinity,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_resources_balanced_allocation,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    priority_sort,
    scheduling_gates,
    taint_toleration,
    teaching_gang,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from kviz.common.plugin_guide.guide import PluginGuide, Reason

__all__ = ["GUIDES", "TEACHING_GUIDES", "PluginGuide", "Reason", "guide_of", "reason_guide"]

GUIDES: tuple[PluginGuide, ...] = (
    scheduling_gates.GUIDE,
    priority_sort.GUIDE,
    node_unschedulable.GUIDE,
    node_name.GUIDE,
    taint_toleration.GUIDE,
    node_affinity.GUIDE,
    node_ports.GUIDE,
    node_resources_fit.GUIDE,
    volume_restrictions.GUIDE,
    node_volume_limits.GUIDE,
    volume_binding.GUIDE,
    volume_zone.GUIDE,
    pod_topology_spread.GUIDE,
    inter_pod_affinity.GUIDE,
    dynamic_resources.GUIDE,
    default_preemption.GUIDE,
    node_resources_balanced_allocation.GUIDE,
    image_locality.GUIDE,
    default_binder.GUIDE,
    node_declared_features.GUIDE,
)
"""In the order of the default profile."""

TEACHING_GUIDES: tuple[PluginGuide, ...] = (teaching_gang.GUIDE,)
"""Of kviz's own plugins, which no profile has unless a configuration enables them."""

_ALL = (*GUIDES, *TEACHING_GUIDES)
_BY_NAME = {guide.name: guide for guide in _ALL}


def guide_of(name: str) -> PluginGuide | None:
    """The guide of a plugin, or None for a name kviz does not know."""
    return _BY_NAME.get(name)


def reason_guide(text: str, code: str = "") -> tuple[PluginGuide, Reason] | None:
    """The plugin that says `text` and what it means; capital words in a reason stand for names.

    The same words can mean more or less depending on the status `code`, if that is known.
    """
    found = [(guide, reason) for pattern, guide, reason in _PATTERNS if pattern.fullmatch(text)]
    exact = [(guide, reason) for guide, reason in found if reason.code == code]
    return next(iter(exact or found), None)


_PLACEHOLDER = re.compile(r"NAME\\ \\.\\.\\.|NAME|RESOURCE")


def _pattern(reason: Reason) -> re.Pattern[str]:
    """Match the reason with anything where it has a placeholder."""
    return re.compile(_PLACEHOLDER.sub(".+", re.escape(reason.text)))


_PATTERNS = [(_pattern(reason), guide, reason) for guide in _ALL for reason in guide.reasons]
