"""Runs with changes, and variants of runs: over REST, on the pages, as files."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from django.test import Client

from kviz.runs import selectors
from kviz.runs.execution.engine import simulate_run
from kviz.runs.models import Run
from kviz.runs.portable import saved
from kviz.runs.reading.after_change import after_change
from kviz.runs.services import run_open
from kviz.runs.sharing import run_share
from scheduler_core.changes import read_changes
from scheduler_core.trace.codec import TraceWriter
from tests.cluster_text import node, pod
from tests.web.cast import CLUSTER, Person, execute

SMALL = "pod/shop/giant set spec.containers[0].resources.requests.cpu=100m"


def snapshot_id(who: Person) -> str:
    created = who.upload(("cluster.yaml", CLUSTER))
    assert created.status_code == 201
    return str(created.json()["id"])


def made(who: Person, **values: object) -> Run:
    answer = who.post("/runs/", values)
    assert answer.status_code == 201, answer.json()
    execute(worker="w")
    run = Run.objects.get(pk=answer.json()["id"])
    assert run.status == Run.Status.FINISHED, run.error
    return run


def refused(who: Person, **values: object) -> list[dict[str, Any]]:
    answer = who.post("/runs/", values)
    assert answer.status_code == 400
    errors: list[dict[str, Any]] = answer.json()["errors"]
    return errors


@pytest.mark.django_db
def test_a_run_with_changes_says_them_in_words(ada: Person) -> None:
    run = made(ada, snapshot=snapshot_id(ada), changes=[SMALL, {"cordon": "south"}, "seed 4"])
    found = ada.get(f"/runs/{run.pk}/").json()
    assert found["pending"] == 3
    assert [each["sentence"] for each in found["changes"]] == [
        "pod shop/giant: requests.cpu 64 → 100m",
        "cordon node south",
        "seed 0 → 4",
    ]
    assert found["changes"][1] == {
        "cycle": 0, "change": {"cordon": "south"}, "sentence": "cordon node south",
    }  # fmt: skip
    assert (found["parent"], found["forked_at"], found["n_inherited"]) == (None, 0, 0)


@pytest.mark.django_db
def test_a_variant_without_changes_is_its_parent(ada: Person) -> None:
    parent = made(ada, snapshot=snapshot_id(ada), queue_order="name")
    same = made(ada, parent=str(parent.pk))
    assert same.trace_hash == parent.trace_hash
    assert same.queue_order == "name"


@pytest.mark.django_db
def test_variants_of_variants_have_all_changes_and_forks_begin_as_their_parent(ada: Person) -> None:
    parent = made(ada, snapshot=snapshot_id(ada))
    first = made(ada, parent=str(parent.pk), changes=["node/south cordon"])
    second = made(ada, parent=str(first.pk), changes=["node/north label a=b", SMALL], cycle=3)
    found = ada.get(f"/runs/{second.pk}/").json()
    assert (found["parent"], found["forked_at"], found["n_inherited"]) == (str(first.pk), 3, 1)
    assert [each["cycle"] for each in found["changes"]] == [0, 3, 3]
    mine = list(second.cycle_rows.filter(number__lt=3).values("number", "pod", "node", "message"))
    theirs = list(first.cycle_rows.filter(number__lt=3).values("number", "pod", "node", "message"))
    assert mine == theirs
    assert second.trace_hash != first.trace_hash
    (tree,) = selectors.variants_of(run=parent, workspace=ada.workspace)
    assert tree.run == first
    assert [each.run for each in tree.variants] == [second]


@pytest.mark.django_db
def test_changes_of_rules_are_followed(ada: Person) -> None:
    parent = made(ada, snapshot=snapshot_id(ada))
    changes = ["queue-order name", "weight NodeResourcesFit=7", "gate VolumeLimitScaling=true"]
    run = made(ada, parent=str(parent.pk), changes=changes)
    writer = TraceWriter()
    for event in simulate_run(run):
        writer.add(event)
    writer.cut()
    assert writer.trace_hash() == run.trace_hash != parent.trace_hash


MOST_ALLOCATED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]
"""


@pytest.mark.django_db
def test_a_changed_scoring_strategy_scores_as_a_configured_one(ada: Person) -> None:
    def raw(**values: object) -> dict[str, int]:
        run = made(ada, snapshot=snapshot_id(ada), **values)
        found = ada.get(f"/runs/{run.pk}/cycles/1/").json()
        scores: dict[str, int] = found["scores"]["NodeResourcesFit"]["raw"]
        return scores

    changed = raw(changes=["scoring MostAllocated"])
    assert changed == raw(scheduler_config=MOST_ALLOCATED)
    assert changed != raw()


NOT_VARIED: list[tuple[dict[str, object], str, str]] = [
    ({"changes": ["node/x cordon"]}, "changes", "changes[0]: cordon node x: there is none"),
    ({"changes": ["node/south cordn"]}, "changes", "changes[0]: "),
    (
        {"changes": [{"weight": {"plugin": "Nope", "weight": 3}}]},
        "changes",
        "no profile scores",
    ),
    ({"changes": ["config sched.yaml"]}, "changes", "no file can be read here"),
    ({"changes": ["gate Nope=true"]}, "changes", "unrecognized feature gate: Nope"),
    ({"changes": [{"config": "kind: x"}]}, "changes", "apiVersion"),
    ({"cycle": 1000}, "cycle", "The run has "),
    ({"changes": ["seed 4"], "cycle": 2}, "changes", "holds from the beginning of a run"),
    ({"seed": 4}, "seed", "Say what is different as changes"),
    ({"parent": "00000000-0000-0000-0000-000000000000"}, "parent", "Not found"),
    ({"snapshot": "00000000-0000-0000-0000-000000000000"}, "snapshot", "parent's snapshot"),
]


@pytest.mark.django_db
def test_what_cannot_be_varied_is_told(ada: Person) -> None:
    parent = made(ada, snapshot=snapshot_id(ada), changes=["node/north label a=b"])
    for values, field, message in NOT_VARIED:
        (error,) = refused(ada, **{"parent": str(parent.pk), **values})
        assert error["field"] == field
        assert message in error["message"]


@pytest.mark.django_db
def test_a_run_needs_a_snapshot_or_a_parent(ada: Person) -> None:
    assert refused(ada)[0]["field"] == "snapshot"
    assert refused(ada, snapshot=snapshot_id(ada), cycle=2)[0]["field"] == "cycle"


@pytest.mark.django_db
def test_nobody_varies_the_runs_of_others(ada: Person, ben: Person) -> None:
    parent = made(ada, snapshot=snapshot_id(ada))
    assert refused(ben, parent=str(parent.pk))[0]["field"] == "parent"


@pytest.mark.django_db
def test_a_variant_comes_back_from_a_file_with_its_changes(ada: Person, ben: Person) -> None:
    parent = made(ada, snapshot=snapshot_id(ada), changes=[SMALL])
    run = made(ada, parent=str(parent.pk), changes=["node/south cordon"], cycle=2)
    file = io.BytesIO(b"".join(saved.pieces(run)))
    opened = run_open(workspace=ben.workspace, file=file)
    assert opened.changes == run.changes
    assert (opened.forked_at, opened.n_inherited, opened.parent) == (2, 0, None)
    writer = TraceWriter()
    for event in simulate_run(opened):
        writer.add(event)
    writer.cut()
    assert writer.trace_hash() == run.trace_hash


# ---------------------------------------------------------------- pages


@pytest.mark.django_db
def test_the_form_makes_a_variant_and_the_pages_link_each_other(owner: Person) -> None:
    parent = made(owner, snapshot=snapshot_id(owner))
    browser = Client()
    form = f"/runs/{parent.pk}/differently"
    assert f'href="{form}"' in browser.get(f"/runs/{parent.pk}").content.decode()
    assert "Changes, one per line" in browser.get(form).content.decode()
    answer = browser.post(form, {"changes": f"# smaller\n{SMALL}\n", "cycle": "2"})
    assert answer.status_code == 302
    execute(worker="w")
    page = browser.get(answer.headers["Location"]).content.decode()
    assert "pod shop/giant: requests.cpu 64 → 100m" in page
    assert f'href="/runs/{parent.pk}"' in page
    assert "</a> from cycle 2 on:" in page
    assert f"?a={parent.pk}" in page
    page = browser.get(f"/runs/{parent.pk}").content.decode()
    assert 'id="variants"' in page
    assert f'href="{answer.headers["Location"]}"' in page


@pytest.mark.django_db
def test_a_switch_makes_a_variant_in_which_owners_recreate_evicted_pods(owner: Person) -> None:
    parent = made(owner, snapshot=snapshot_id(owner), changes=[SMALL], scenario="steps: []")
    answer = Client().post(f"/runs/{parent.pk}/differently", {"recreate": "yes"})
    execute(worker="w")
    variant = Run.objects.get(parent=parent)
    assert answer.headers["Location"] == f"/runs/{variant.pk}"
    assert variant.scenario == "steps: []\noptions: {recreateEvicted: true}\n"
    assert variant.changes == parent.changes
    page = Client().get(f"/runs/{variant.pk}").content.decode()
    assert "custom scenario." in page
    assert "in nothing" not in page
    assert 'name="recreate"' not in Client().get(f"/runs/{variant.pk}/differently").content.decode()


@pytest.mark.django_db
def test_the_form_says_what_is_not_known_before_it_runs(owner: Person) -> None:
    parent = made(owner, snapshot=snapshot_id(owner))
    form, n_runs = f"/runs/{parent.pk}/differently", Run.objects.count()
    answer = Client().post(form, {"changes": f"seed 4\n{SMALL}\n", "cycle": "", "check": "1"})
    page = answer.content.decode()
    assert "These 2 changes can be made" in page
    assert "whether quotas, limit ranges and webhooks of namespace shop" in page
    assert SMALL in page
    assert Run.objects.count() == n_runs
    bad = Client().post(form, {"changes": "node/nope cordon", "check": "1"})
    assert bad.status_code == 400


@pytest.mark.django_db
def test_a_parent_that_one_may_not_see_is_not_linked(owner: Person, ben: Person) -> None:
    parent = made(ben, snapshot=snapshot_id(ben))
    form = f"/runs/{parent.pk}/differently?share={run_share(run=parent).token}"
    answer = Client().post(form, {"changes": "seed 4"})
    execute(worker="w")
    page = Client().get(answer.headers["Location"]).content.decode()
    assert "A variant of a run that is not here:" in page
    assert str(parent.pk) not in page


@pytest.mark.django_db
def test_the_form_tells_the_line_of_a_mistake(owner: Person) -> None:
    parent = made(owner, snapshot=snapshot_id(owner))
    browser = Client()
    form = f"/runs/{parent.pk}/differently"
    answer = browser.post(form, {"changes": "seed 4\nnode/south cordn\n", "cycle": ""})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert "Line 2" in page
    assert "node/south cordn" in page
    answer = browser.post(form, {"changes": "# two\n\nseed 4\nnode/nope cordon\n"})
    page = answer.content.decode()
    assert "Line 4" in page
    assert "cordon node nope: there is none" in page
    answer = browser.post(form, {"changes": "", "cycle": "first"})
    assert "&quot;first&quot; is not the number of a cycle." in answer.content.decode()


def test_after_a_change_one_is_at_the_same_pod_with_the_answer_in_a_sentence(
    owner: Person,
) -> None:
    parent, browser = owner.finished(), owner.client
    sent = {"changes": SMALL, "pod": "shop/giant"}
    at = browser.post(f"/runs/{parent.pk}/differently", sent)["Location"]
    assert at.endswith("/pods/shop/giant/why")
    assert "data-follow" in browser.get(at).content.decode()
    variant = execute(worker="w")
    page = browser.get(at).content.decode()
    heading = re.findall("<h1[^>]*>(.*?)</h1>", page)[0]
    assert heading.startswith("shop/giant binds on ")
    assert f"/runs/compare?a={parent.pk}&amp;b={variant.pk}" in page
    different = page[page.index('id="different"') :]
    assert "/pods/shop/giant/why" in different[: different.index("</table>")]


def test_only_the_pods_that_a_pod_evicted_itself_are_told_as_its_victims(owner: Person) -> None:
    pools = ("a", "b")
    cluster = "".join(
        node(pool, "2", "8Gi", "110")
        + pod(f"low-{pool}", "2", namespace="shop", nodeName=pool)
        + pod(f"high-{pool}", "2", namespace="shop", priority=9, nodeSelector={"pool": pool})
        for pool in pools
    )
    before = owner.finished(cluster)
    changes = read_changes([f"node/{each} label pool={each}" for each in pools])
    now = owner.finished(cluster, changes=changes)
    found = after_change(run=now, before=before, pod="shop/high-a")
    assert found is not None
    assert found.sentence == (
        "shop/high-a binds on a after evicting shop/low-a; shop/low-b was evicted"
    )
    assert [(each.pod, each.evicted_by) for each in found.rows if each.deleted] == [
        ("shop/low-a", "shop/high-a"),
        ("shop/low-b", "shop/high-b"),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("owner_of_victim", "offered", "afterwards"),
    [
        (None, False, ""),
        (("Job", "etl"), True, ""),
        (
            ("DaemonSet", "ds"),
            True,
            "DaemonSet default/ds will recreate default/victim on its node",
        ),
    ],
)
def test_who_was_evicted_is_made_again_only_if_it_has_an_owner(
    owner: Person, owner_of_victim: tuple[str, str] | None, offered: bool, afterwards: str
) -> None:
    victim = pod("victim", "4", nodeName="n", priority=0, owner=owner_of_victim)
    run = owner.finished(node("n", "4", "8Gi", "10") + victim + pod("urgent", "4", priority=9))
    page = Client().get(f"/runs/{run.pk}").content.decode()
    assert 'id="evicted"' in page
    assert ("as their owners would" in page) is offered
    assert ("will recreate" in page) is bool(afterwards)
    assert afterwards in page
