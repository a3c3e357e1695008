"""Scheduler configurations to start from on the run form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True)
class Preset:
    slug: str
    title: _StrPromise
    text: str


_HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

PRESETS = (
    Preset("default", _("Default profile"), ""),
    Preset(
        "bin-packing",
        _("Pack nodes tightly"),
        _HEAD
        + """\
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: cpu
          weight: 1
        - name: memory
          weight: 1
  plugins:
    score:
      disabled:
      - name: NodeResourcesBalancedAllocation
""",
    ),
    Preset(
        "spread-first",
        _("Let spreading outvote the rest"),
        _HEAD
        + """\
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled:
      - name: PodTopologySpread
      enabled:
      - name: PodTopologySpread
        weight: 10
""",
    ),
    Preset(
        "no-preemption",
        _("Never evict anybody"),
        _HEAD
        + """\
profiles:
- schedulerName: default-scheduler
  plugins:
    postFilter:
      disabled:
      - name: DefaultPreemption
""",
    ),
)


def preset_text(slug: str) -> str:
    """The configuration of a preset; empty, which means the default profile, if unknown."""
    return next((preset.text for preset in PRESETS if preset.slug == slug), "")
