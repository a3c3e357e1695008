"""The plugin reference knows every in-tree plugin, and says what the engine says."""

from collections.abc import Iterator

import pytest
from django.utils.functional import Promise

from kviz.reference import plugin_facts as facts
from kviz.reference import plugin_guide
from kviz.reference.events import event_text
from kviz.reference.form import Part, Prose, read, read_file
from kviz.reference.plugin_facts import NORMALIZE_SCORE, plugin_facts
from kviz.reference.plugin_guide import guide_of, guides, reason_guide
from kviz.reference.plugin_texts import FOLDER, plugin_texts
from scheduler_core.config import ConfigError, FeatureGates, default_configuration
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.releases import RELEASES
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.events import RunStarted
from tests.web.cast import Person


def test_there_is_a_page_for_every_plugin_and_no_other() -> None:
    assert set(plugin_texts()) == set(plugin_facts())
    assert guide_of("NoSuchPlugin") is None


def test_the_pages_are_in_the_order_of_the_default_profile() -> None:
    for release in RELEASES.values():
        gates = FeatureGates((), release)
        options = RunOptions(configuration=default_configuration(gates), features=gates)
        started = next(iter(simulate([], options)))
        assert isinstance(started, RunStarted)
        assert tuple(guide.name for guide in guides(release.name)) == started.plugins


def test_points_weight_events_and_defaults_are_the_engines() -> None:
    taints = plugin_facts()["TaintToleration"]
    assert taints.points == ("Filter", "PreScore", "Score", NORMALIZE_SCORE)
    assert taints.weight == 3
    assert taints.wakes == ("NodeAdd", "NodeUpdateNodeTaint", "TargetPodUpdatePodToleration")
    assert plugin_facts()["VolumeBinding"].defaults["bindTimeoutSeconds"] == "600"
    assert plugin_facts()["NodeResourcesBalancedAllocation"].defaults["resources"] == "cpu, memory"


def test_a_page_is_about_the_release_that_is_asked_for(owner: Person) -> None:
    older = plugin_facts("1.36.2")["TaintToleration"]
    assert older.wakes == ("NodeAdd", "NodeUpdateNodeTaint", "PodUpdatePodToleration")
    page = owner.client.get("/plugins/TaintToleration?release=1.36.2").content.decode()
    assert "<code>PodUpdatePodToleration</code>" in page
    assert "kubernetes v1.36, pkg/scheduler" in page
    newest = owner.client.get("/plugins/TaintToleration").content.decode()
    assert "TargetPodUpdatePodToleration" in newest
    assert owner.client.get("/plugins/TaintToleration?release=9").status_code == 404


@pytest.fixture
def waits_for_more(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """TaintToleration registers for one more event, as a later release might have it."""
    registered = TaintToleration.events_to_register
    more = ClusterEventWithHint(ClusterEvent(EventResource.CSI_DRIVER, ActionType.DELETE))
    monkeypatch.setattr(
        TaintToleration, "events_to_register", lambda self: [*registered(self), more]
    )
    caches = (facts.plugin_facts, plugin_guide._all)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("waits_for_more")
def test_an_event_that_a_plugin_registers_is_on_its_page_and_on_why_pages(owner: Person) -> None:
    page = owner.client.get("/plugins/TaintToleration").content.decode()
    assert "storage.k8s.io/CSIDriverDelete" in page
    assert "CSI driver deleted" in page
    run = owner.finished(TAINTED)
    why = owner.client.get(f"/runs/{run.pk}/pods/default/web/why").content.decode()
    assert "CSI driver deleted" in why
    document = owner.client.get(f"/api/v1/runs/{run.pk}/pods/default/web/why/").json()
    assert "storage.k8s.io/CSIDriverDelete" in document["next"]["wakes"]["TaintToleration"]


TAINTED = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {taints: [{key: a, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {containers: [{name: c, image: i}]}
"""


@pytest.mark.parametrize(
    ("said", "plugin"),
    [
        ("Insufficient cpu", "NodeResourcesFit"),
        ("Insufficient nvidia.com/gpu", "NodeResourcesFit"),
        ("node(s) had untolerated taint(s)", "TaintToleration"),
        ('persistentvolumeclaim "data" not found', "VolumeBinding"),
        ("waiting for scheduling gates: [example.com/quota]", "SchedulingGates"),
        ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity"),
    ],
)
def test_a_reason_leads_to_its_plugin(said: str, plugin: str) -> None:
    found = reason_guide(said)
    assert found is not None
    assert found[0].name == plugin


def test_an_unknown_reason_leads_nowhere() -> None:
    assert reason_guide("the moon is full") is None


@pytest.mark.parametrize("name", sorted(plugin_facts()))
def test_texts_are_translatable_and_facts_are_not(name: str) -> None:
    guide = guide_of(name)
    assert guide is not None
    assert isinstance(guide.text.purpose, Promise)
    assert all(isinstance(text, Promise) for _, text in guide.points)
    assert not any(isinstance(reason.text, Promise) for reason in guide.text.reasons)
    assert plugin_texts()[name].purpose.endswith(".")
    assert all("{" not in str(text) for _, text in guide.settings)


def test_every_event_of_every_plugin_has_words() -> None:
    labels = {label for each in plugin_facts().values() for label in each.wakes}
    assert [label for label in labels if event_text(label) == label] == []
    assert event_text("NodeUpdateNodeTaint") == "node with other taints"
    assert event_text("SomethingElse") == "SomethingElse"


class Page(Part, frozen=True):
    title: Prose
    lines: tuple[Prose, ...] = ()


def test_a_file_that_is_wrong_is_refused_with_its_field_and_line() -> None:
    with pytest.raises(ConfigError) as refused:
        read("title: Words\nlines:\n- one\n- 2\n", Page)
    (problem,) = refused.value.problems
    assert (problem.path, problem.line) == (("lines", 1), 4)
    with pytest.raises(ConfigError, match="author"):
        read("title: Words\nauthor: nobody\n", Page)
    with pytest.raises(ValueError, match=r"TaintToleration\.yaml: .*purpose"):
        read_file(FOLDER / "TaintToleration.yaml", Page)
