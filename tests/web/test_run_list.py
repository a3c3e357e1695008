"""The list of runs says what each was made of, and a run has a name that can be changed."""

from __future__ import annotations

import re
from html import unescape

import pytest

from kviz.runs.inputs import changes_given
from kviz.runs.models import Run
from kviz.runs.presets import PRESETS, SAMPLE_SCENARIOS
from kviz.runs.services import run_vary
from kviz.runs.titles import differences, run_before, run_title
from tests.web.cast import CLUSTER, NODES, Person, execute, pod

OWN = "description: A pod too many\nsteps: []\n"
CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def rows(owner: Person, query: str = "") -> list[list[str]]:
    """The cells of each run: its name with what differs, cluster, outcome."""
    html = owner.client.get(f"/runs/{query}").content.decode()
    found = re.findall(r"<tbody>(.*?)</tbody>", html, re.DOTALL)
    each = re.findall(r"<tr>(.*?)</tr>", found[0], re.DOTALL) if found else []
    return [[text_of(cell) for cell in cells_of(row)[1:4]] for row in each]


def cells_of(row: str) -> list[str]:
    return re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_a_run_of_nothing_special(owner: Person) -> None:
    owner.finished(CLUSTER)
    said = "cluster as uploaded · v1.37.2 (nothing says which; the newest that kviz knows)"
    assert rows(owner) == [[said, "cluster", "5 on nodes, 2 pending"]]


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["as written", "as browsers send it"])
def test_presets_and_samples_are_named_by_their_titles(owner: Person, ends: str) -> None:
    preset, sample = PRESETS[1], SAMPLE_SCENARIOS[0]
    run = owner.queued(
        CLUSTER,
        scheduler_config=preset.text.replace("\n", ends),
        scenario=sample.text.replace("\n", ends),
    )
    assert run_title(run) == f"cluster + {preset.title} + {sample.title}"


def test_a_scenario_is_named_by_what_it_says_of_itself(owner: Person) -> None:
    run = owner.queued(CLUSTER, scheduler_config=CONFIG, scenario=OWN)
    assert differences(run) == ["custom configuration", "A pod too many"]
    for text in ("steps: []\n", "no longer: readable"):
        run.scenario = text
        assert differences(run)[1] == "custom scenario"


CHANGES = {
    "node/south cordon": "cordon south",
    'pod/shop/giant set spec.tolerations[+]={"key":"gpu","operator":"Exists"}': "tolerate gpu",
    "pod/shop/giant set spec.containers[0].resources.requests.cpu=1": "giant cpu 1",
    "pod/shop/web-0 delete": "delete web-0",
}


def test_a_variant_is_named_by_what_differs(owner: Person) -> None:
    parent = owner.finished(CLUSTER)
    made = [
        run_vary(workspace=owner.workspace, parent=parent, changes=changes_given([line]))
        for line in CHANGES
    ]
    assert [differences(run) for run in made] == [[text] for text in CHANGES.values()]
    assert run_title(made[0]) == "cluster + cordon south"
    all_of_them = run_vary(
        workspace=owner.workspace, parent=parent, changes=changes_given(list(CHANGES))
    )
    assert run_title(all_of_them) == "cluster + cordon south + tolerate gpu + 2 more"


def test_the_run_to_compare_with_differs_in_one_thing(owner: Person) -> None:
    lines = list(CHANGES)
    parent = owner.finished(CLUSTER)

    def variant(*changes: str) -> Run:
        given = changes_given(changes)
        run = run_vary(workspace=owner.workspace, parent=parent, changes=given)
        execute(worker="test")
        return run

    one = variant(lines[0])
    variant(lines[1], lines[2])
    assert run_before(variant(lines[0], lines[3]), owner.workspace) == one
    assert run_before(parent, owner.workspace) is None


def test_a_list_is_narrowed_and_what_is_ticked_deleted_or_compared(
    owner: Person, ada: Person
) -> None:
    parent, other = owner.finished(CLUSTER), ada.queued(CLUSTER)
    cordoned = run_vary(
        workspace=owner.workspace, parent=parent, changes=changes_given(["node/south cordon"])
    )
    named = {"?q=south": 1, "?differs=nothing": 1, "?differs=changes": 1, "?status=queued": 1}
    named |= {f"?cluster={parent.snapshot_id}": 2, "?q=nowhere": 0, "?status=nonsense": 2}
    assert {query: len(rows(owner, query)) for query in named} == named
    ticked = {"run": [str(cordoned.pk), str(parent.pk)]}
    assert owner.client.get("/runs/compare", ticked)["Location"] == (
        f"/runs/compare?a={parent.pk}&b={cordoned.pk}"
    )
    assert owner.client.post("/runs/delete", {"run": [str(other.pk)]}).status_code == 404
    assert owner.client.post("/runs/delete", {}).status_code == 400
    assert owner.client.post("/runs/delete", ticked).status_code == 302
    assert list(Run.objects.all()) == [other]


def test_a_long_list_has_pages(owner: Person) -> None:
    run = owner.queued(CLUSTER)
    columns = {"workspace": run.workspace, "snapshot": run.snapshot, "release": run.release}
    Run.objects.bulk_create([Run(**columns) for _ in range(59)])
    assert [len(rows(owner, query)) for query in ("", "?page=2", "?page=99")] == [50, 10, 10]


def test_a_run_can_be_renamed_by_its_owner_only(owner: Person, ada: Person) -> None:
    run, other = owner.queued(CLUSTER), ada.queued(CLUSTER)
    name = "  before the upgrade " + "x" * 300
    assert owner.client.post(f"/runs/{run.pk}/rename", {"name": name}).status_code == 302
    run.refresh_from_db()
    assert run.name == name.strip()[:200]
    assert run_title(run) == run.name
    owner.client.post(f"/runs/{run.pk}/rename", {"name": ""})
    run.refresh_from_db()
    assert run_title(run) == "cluster"
    assert owner.client.post(f"/runs/{other.pk}/rename", {"name": "mine"}).status_code == 404


def test_ties_are_folded(owner: Person) -> None:
    twins = NODES.replace('cpu: "2"', 'cpu: "4"') + pod("web")
    run = owner.finished(twins)
    html = owner.client.get(f"/runs/{run.pk}").content.decode()
    ties = html[html.index('id="ties"') :]
    assert ties.index("<table") < ties.index("</details>")
