"""What to start from on the run form: scheduler configurations and scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
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


EXAMPLE_SCENARIO = """\
description: A node goes down for repair
until: 10m
options:
  recreateEvicted: true
steps:
- at: 10s
  note: Maintenance begins
  drain: worker-2
- at: 1m
  create:
    apiVersion: v1
    kind: Pod
    metadata: {name: late, namespace: default}
    spec:
      containers:
      - name: late
        resources: {requests: {cpu: 500m, memory: 1Gi}}
- at: 5m
  uncordon: worker-2
"""
"""Every action is described in docs/scenarios.md."""


_SCENARIOS = Path(__file__).parent / "scenarios"


def _sample(slug: str, title: _StrPromise) -> Preset:
    return Preset(slug, title, (_SCENARIOS / f"{slug}.yaml").read_text(encoding="utf-8"))


SAMPLE_SCENARIOS = (
    _sample("rolling-update", _("Rolling update")),
    _sample("node-failure", _("Node failure")),
    _sample("backoff-ladder", _("Backoff ladder")),
    _sample("gates-lifted", _("Gates lifted one by one")),
    _sample("gang-by-gates", _("A gang behind gates")),
)
"""Each brings its own nodes, so it plays in any cluster."""


def preset_text(slug: str) -> str:
    """The configuration of a preset; empty, which means the default profile, if unknown."""
    return _text_of(PRESETS, slug)


def sample_text(slug: str) -> str:
    """A sample scenario; empty, which means nothing happens meanwhile, if unknown."""
    return _text_of(SAMPLE_SCENARIOS, slug)


def _text_of(presets: tuple[Preset, ...], slug: str) -> str:
    return next((preset.text for preset in presets if preset.slug == slug), "")
