"""Words of older books lead to what is there today."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils.translation import override

from kviz.reference.classic import messages_then, names_then
from kviz.reference.glossary import glossary
from kviz.reference.plugin_guide import guide_of
from kviz.reference.then_and_now import MODEL, SINCE, TODAYS_WORDS, old_words_in, table
from kviz.runs.sharing import run_share
from scheduler_core.config.old_names import OLD_NAMES
from scheduler_core.config.old_settings import OLD_FIELDS, OLD_GATES
from scheduler_core.releases import UNNAMED
from tests.web.cast import NODES, Person, pod


def test_every_row_leads_somewhere() -> None:
    rows = table().rows
    assert len({row.id for row in rows}) == len(rows)
    assert {row.group for row in rows} == {group.id for group in table().groups}
    for row in rows:
        assert all(guide_of(plugin) for plugin in row.plugins), row
        assert all(term in glossary().terms for term in row.terms), row


def test_a_name_is_found_as_a_whole_word_only() -> None:
    assert [row.id for row in old_words_in("PodFitsResources failed")] == ["PodFitsResources"]
    assert not old_words_in("MyPodFitsResources2")
    assert [row.id for row in old_words_in("先预选再打分")] == ["predicates"]


OLD_ROWS = {
    "predicates": ("predicates and priorities", "预选", "优选", "預選", "優選"),
    "PodFitsHost": ("PodFitsHost",),
    "two-passes": ("podFitsOnNode run twice",),
    "predicate-metadata": ("PredicateMetadata",),
    "equivalence-cache": ("equivalence cache",),
    "unresolvable": (
        "ErrNodeSelectorNotMatch",
        "ErrPodAffinityRulesNotMatch",
        "ErrVolumeNodeConflict",
        "ErrVolumeBindConflict",
    ),
    "conditions": (
        "ErrNodeUnknownCondition",
        "ErrNodeNotReady",
        "ErrNodeUnderDiskPressure",
        "ErrNodeNetworkUnavailable",
    ),
    "label-presence": ("NodeLabelPresence", "ErrNodeLabelPresenceViolated"),
    "preempt": ("scheduler.preempt()", "--disable-preemption", "抢占", "搶占"),
    "field-disablePreemption": ("disablePreemption",),
    "victims-in-the-cycle": ("victims deleted within the cycle", "victims in a goroutine"),
    "all-candidates": ("all potential nodes dry-run in parallel",),
    "preempted-by": ("Preempted by ns/name on node",),
    "nominated-by": ("nominatedNodeName set by preemption only",),
    "two-queues": ("activeQ + unschedulableQ",),
    "move-all": ("any event moves everything", "moveRequestCycle"),
    "backoff-by-attempts": ("backoff by attempts",),
    "retry-60s": ("unschedulable pods retried after 60 s",),
    "assume-expiry": ("assumed pods expire", "FinishBinding", "assume TTL"),
    "select-host": ("selectHost", "reservoir"),
    "post-filter-118": ("framework 1.18 PostFilter",),
    "unreserve": ("Unreserve as a point",),
    "permit-waits": ("Permit waits inside RunPermitPlugins",),
    "cycle-state": ("CycleState RWMutex, Clone",),
    "pre-filter-stops": ("PreFilter stops at any rejection",),
    "no-pre-enqueue": ("no PreEnqueue, EnqueueExtensions, PreScore",),
    "policy": ("Policy file", "--policy-config-file", "ClusterAutoscalerProvider"),
    "field-algorithmSource": ("algorithmSource",),
    "EBSLimits": ("EBSLimits", "CinderLimits"),
    "extender-v1beta1": ("enableHttps", "extender v1beta1"),
    "priority-class": ("scheduling.k8s.io/v1alpha1",),
    "node-phase": ("Node.status.phase = Running",),
    "bind-in-the-loop": ("single-threaded binding",),
    "versions": ("kubescheduler.config.k8s.io/v1beta2",),
    "gate-BalanceAttachedNodeVolumes": ("BalanceAttachedNodeVolumes",),
    "fn-victims": ("selectVictimsOnNode",),
    "fn-pick": ("pickOneNodeForPreemption",),
    "fn-eligible": ("podEligibleToPreemptOthers",),
    "fn-might-help": ("nodesWherePreemptionMightHelp",),
    "fn-preempt-extenders": ("processPreemptionWithExtenders",),
    "fn-updated-pod": ("getUpdatedPod",),
    "fn-generic-scheduler": ("genericScheduler",),
    "fn-add-unschedulable": ("AddUnschedulableIfNotPresent",),
    "fn-assigned-pod": ("AssignedPodAdded",),
    "fn-activate": ("Activate",),
    "fn-forget": ("ForgetPod",),
    "fn-start-index": ("nextStartNodeIndex",),
    "fn-nominated-pods": ("RunFilterPluginsWithNominatedPods",),
    "fn-handle": ("FrameworkHandle",),
    "fn-plugin-to-status": ("PluginToStatus", "runAllFilters"),
    "fn-plugin-metrics": ("recordPluginMetrics",),
    "fn-waiting-pods": ("waitingPodsMap",),
    "fn-host-priority": ("HostPriority",),
    "fn-max-total": ("MaxTotalScore",),
    "fn-backoff-queue": ("podBackoffQ",),
    "model-placement": ("placement",),
    "model-feasible": ("feasible", "可用"),
    "model-viable": ("viable", "可行"),
    "model-bound": ("BoundTo", "Unbound"),
    "model-jeopardy": ("Jeopardy",),
    "model-casualty": ("Casualty",),
}
"""By the row that each shall lead to, what a reader of an old book types."""


@pytest.mark.parametrize("language", ["en", "zh-hans", "zh-hant"])
def test_what_an_old_book_says_leads_to_its_row(language: str) -> None:
    with override(language):
        for row, old in OLD_ROWS.items():
            for typed in old:
                assert row in [each.id for each in table().matching(typed).rows], typed


def test_every_old_name_is_found_and_decoded() -> None:
    """Typed into the search, and as part of a message."""
    names = {*OLD_NAMES, *OLD_FIELDS, *OLD_GATES} - TODAYS_WORDS
    assert [name for name in names if not table().matching(name).rows] == []
    message = f"0/3: {', '.join(names)}."
    assert names <= {word for row in old_words_in(message) for word in row.then}


def test_words_of_today_are_not_taken_for_old_ones() -> None:
    assert not old_words_in("plugins: bindTimeoutSeconds, schedulerName and priorities")


def test_every_row_says_since_when_it_is_so() -> None:
    for row in table().rows:
        assert re.fullmatch(r"1\.\d\d", row.since) or row.since in SINCE, row.id
        assert (row.since == "none") == (row.group == MODEL), row.id
    unknown = [row.id for row in table().rows if row.since == "unknown"]
    assert unknown == ["unschedulable-pod-update", "resized-requests"]


def test_every_row_has_a_link() -> None:
    for row in table().rows:
        names = row.group == "names" and not row.plugins  # what is gone without a successor
        assert row.plugins or row.terms or row.gate or names, row.id
        assert not row.gate or row.gate in UNNAMED.gates


@pytest.mark.django_db
def test_looking_a_word_up(client: Client) -> None:
    found = client.get("/then-and-now/", {"q": "selectorspread"}).content.decode()
    assert 'id="SelectorSpreadPriority"' in found
    assert "/plugins/PodTopologySpread" in found
    assert 'id="policy"' not in found
    nothing = client.get("/then-and-now/", {"q": "<b>"}).content.decode()
    assert "No old word has “&lt;b&gt;” in it" in nothing


STATIONS = (
    *("QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score"),
    *("Reserve", "Permit", "PreBind", "Bind", "PostBind"),
)


@pytest.mark.django_db
def test_the_explorer_gets_all_of_them(client: Client) -> None:
    answer = client.get("/then-and-now/words.json").json()
    words = answer["words"]
    assert tuple(answer["functions"]) == STATIONS
    assert len(words) == len(table().rows)
    assert {"then", "now", "href", "group", "was", "plugins", "terms"} == set(words[0])
    [fits] = [each for each in words if each["then"] == ["PodFitsResources"]]
    assert (fits["was"], fits["plugins"]) == ("predicate", ["NodeResourcesFit"])


def test_names_are_those_of_the_point_and_all_from_the_table() -> None:
    assert names_then("NodeResourcesFit", "Filter")[0] == "PodFitsResources"
    assert names_then("NodeResourcesFit", "Score")[0] == "LeastRequestedPriority"
    assert names_then("NodeResourcesFit", "Bind") == ()
    assert messages_then("NodeAffinity") == ("node(s) didn't match node selector",)


def test_yesterdays_names_stand_beside_todays_once_they_are_wanted(owner: Person) -> None:
    run = owner.finished(NODES + pod("p", "64"))
    why, explorer = f"/runs/{run.pk}/pods/shop/p/why", f"/runs/{run.pk}/explore"
    assert "PodFitsResources" not in owner.client.get(why).content.decode()
    assert "data-classic" not in owner.client.get(explorer).content.decode()

    assert owner.client.post("/then-and-now/classic", {"classic": "on"}).status_code == 302
    assert "then: PodFitsResources" in owner.client.get(why).content.decode()
    assert 'data-classic="on"' in owner.client.get(explorer).content.decode()
    assert "PodFitsResources" in owner.client.get(explorer, {"view": "tables"}).content.decode()
    assert "PodFitsResources" not in owner.client.get(why, {"classic": "off"}).content.decode()

    owner.client.post("/then-and-now/classic", {"classic": "off"})
    assert "PodFitsResources" not in owner.client.get(why).content.decode()
    assert "PodFitsResources" in owner.client.get(why, {"classic": "on"}).content.decode()


def test_an_old_message_is_decoded(ada: Person) -> None:
    run = ada.finished(NODES + pod("p", "64"))
    address = f"/runs/{run.pk}/pods/shop/p/why"
    share = run_share(run=run).token
    pasted = "0/1 nodes are available: 1 node(s) didn't match node selector."
    page = ada.client.get(address, {"message": pasted, "share": share}).content.decode()
    assert "Old words in it" in page
    assert "/then-and-now/#message-selector" in page
    assert "Old words in it" not in ada.client.get(address, {"share": share}).content.decode()
