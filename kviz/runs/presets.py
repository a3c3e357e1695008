"""What to start from on the run form: scheduler configurations and scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from kviz.snapshots.samples import GANGS, SAMPLES
from scheduler_core.config import ConfigError
from scheduler_core.sim import load_scenario, recreating

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True)
class Preset:
    """Something to start from; `shows` says in one line what it does."""

    slug: str
    title: _StrPromise
    text: str
    shows: _StrPromise


_HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

PRESETS = (
    Preset(
        "default",
        _("Default profile"),
        "",
        _("What kube-scheduler runs with when it is given no configuration."),
    ),
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
        _("Fuller nodes score higher, so that others stay empty; balance does not count."),
    ),
    Preset(
        "spread-first",
        _("Weigh spreading above the rest"),
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
        _("PodTopologySpread counts ten times instead of twice."),
    ),
    Preset(
        "no-preemption",
        _("No preemption"),
        _HEAD
        + """\
profiles:
- schedulerName: default-scheduler
  plugins:
    postFilter:
      disabled:
      - name: DefaultPreemption
""",
        _("A pod that fits nowhere waits; no pod is evicted for it."),
    ),
    Preset(
        "gangs",
        _("Hold gangs on Permit"),
        GANGS.scheduler_config,
        _("kviz's own plugin TeachingGang lets pods of a gang start together or not at all."),
    ),
    Preset(
        "extender",
        _("A scheduler extender"),
        _HEAD
        + """\
extenders:
- urlPrefix: http://127.0.0.1:12345/api/scheduler
  filterVerb: filter
  preemptVerb: preempt
  prioritizeVerb: prioritize
  bindVerb: bind
  weight: 1
  enableHTTPS: false
  nodeCacheCapable: false
  managedResources:
  - name: example.com/opaque-foo
    ignoredByScheduler: true
  ignorable: true
""",
        _("The sample of KEP-1819 in v1: asked about pods that request example.com/opaque-foo."),
    ),
)


@dataclass(frozen=True)
class StepPreset:
    """A step to begin with: what it does, and its text with names to be replaced."""

    title: _StrPromise
    text: str


STEP_PRESETS = (
    StepPreset(_("Drain a node"), "- at: 10s\n  drain: NODE\n"),
    StepPreset(_("Cordon a node"), "- at: 10s\n  cordon: NODE\n"),
    StepPreset(_("Make a node schedulable again"), "- at: 5m\n  uncordon: NODE\n"),
    StepPreset(
        _("Taint a node"),
        "- at: 10s\n  taint:\n    node: NODE\n    key: example.com/maintenance\n"
        "    effect: NoExecute\n",
    ),
    StepPreset(_("Delete a pod"), "- at: 10s\n  delete:\n    kind: Pod\n    name: POD\n"),
    StepPreset(
        _("Create pods"),
        "- at: 10s\n  copies: 3\n  create:\n    apiVersion: v1\n    kind: Pod\n"
        "    metadata:\n      name: late\n    spec:\n      containers:\n      - name: main\n"
        "        resources:\n          requests:\n            cpu: 500m\n",
    ),
    StepPreset(
        _("Scale an owner's pods"),
        "- at: 10s\n  scale:\n    kind: ReplicaSet\n    name: NAME\n    replicas: 5\n",
    ),
    StepPreset(_("Add nodes like one"), "- at: 10s\n  copyNode:\n    node: NODE\n    copies: 2\n"),
    StepPreset(
        _("Change an object"),
        "- at: 10s\n  patch:\n    kind: Node\n    name: NODE\n    merge:\n      metadata:\n"
        "        labels:\n          tier: fast\n",
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


@dataclass(frozen=True)
class SampleScenario(Preset):
    """A scenario to start from.

    `fits` are the slugs of sample clusters in which that happens: in others, pending pods take
    room that it needs.
    """

    fits: tuple[str, ...] = ("fit-and-balance", "zone-spread")

    @property
    def clusters(self) -> list[str]:
        """The titles of the sample clusters it fits."""
        return [sample.title for sample in SAMPLES if sample.slug in self.fits]


def _sample(slug: str, title: _StrPromise, shows: _StrPromise) -> SampleScenario:
    text = (_SCENARIOS / f"{slug}.yaml").read_text(encoding="utf-8")
    return SampleScenario(slug, title, text, shows)


SAMPLE_SCENARIOS = (
    _sample(
        "rolling-update",
        _("Rolling update"),
        _("a new version starts pod by pod while the old one stops"),
    ),
    _sample(
        "node-failure",
        _("Node failure"),
        _("a node stops responding; its pods are evicted and recreated elsewhere"),
    ),
    _sample(
        "backoff-ladder",
        _("Backoff ladder"),
        _("events requeue a pod that still does not fit, and its backoff grows each time"),
    ),
    _sample(
        "gates-lifted",
        _("Gates lifted one by one"),
        _("pods stay out of the active queue until every scheduling gate is removed"),
    ),
    _sample(
        "gang-by-gates",
        _("A gang behind gates"),
        _("four workers arrive one by one and are ungated when all are there"),
    ),
    _sample(
        "another-scheduler",
        _("Another scheduler binds first"),
        _("a pod is assumed on one node, found bound to another, and its own binding fails"),
    ),
)
"""Each brings its own nodes; every step can be carried out in any cluster without such nodes."""


def preset_text(slug: str) -> str:
    """The configuration of a preset; empty, which means the default profile, if unknown."""
    return _text_of(PRESETS, slug)


def sample_text(slug: str) -> str:
    """A sample scenario; empty, which means nothing happens meanwhile, if unknown."""
    return _text_of(SAMPLE_SCENARIOS, slug)


def scenario_meant(written: str, slug: str) -> str:
    """The editor's text, unless that is empty or an untouched sample and a sample is chosen."""
    lines = written.strip().splitlines()
    untouched = any(lines == sample.text.strip().splitlines() for sample in SAMPLE_SCENARIOS)
    return (sample_text(slug) or written) if not lines or untouched else written


def _text_of(presets: Sequence[Preset], slug: str) -> str:
    return next((preset.text for preset in presets if preset.slug == slug), "")


def configuration_named(text: str) -> str:
    """The title of the preset that a configuration is; any other is custom."""
    return _title_of(text, PRESETS) or gettext("custom configuration")


def scenario_named(text: str) -> str:
    """The title of a sample scenario, else what it says of itself; empty for none."""
    if not text:
        return ""
    if text == recreating(""):
        return gettext("owners recreate evicted pods")
    return _title_of(text, SAMPLE_SCENARIOS) or _description(text) or gettext("custom scenario")


def _title_of(text: str, known: Sequence[Preset]) -> str:
    """Browsers send other ends of lines than the presets have."""
    lines = text.splitlines()
    return next((str(each.title) for each in known if each.text.splitlines() == lines), "")


@lru_cache(maxsize=256)
def _description(scenario: str) -> str:
    try:
        return load_scenario(scenario).description
    except ConfigError:
        return ""
