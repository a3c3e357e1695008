"""What the cluster said of a pod beside what kviz says: run, why page, cluster page, REST."""

from __future__ import annotations

from tests.questions.why.test_pending import said
from tests.web.cast import NODES, Person, pod

AGREES = pod("same", "64") + said("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")
DIFFERS = pod("other", "1") + said("Unschedulable", "0/5 nodes are available: 5 Too many pods.")
WHY = "the state was another: the cluster counted 5 nodes, the file has 2 nodes"


def test_every_screen_says_it(owner: Person) -> None:
    run = owner.finished(NODES + AGREES + DIFFERS)
    same, other = (
        owner.client.get(f"/api/v1/runs/{run.pk}/pods/shop/{name}/why/").json()["cluster_says"]
        for name in ("same", "other")
    )
    assert (same["verdict"], same["agrees"], same["because"]) == ("unschedulable", True, None)
    assert (other["agrees"], other["because"]) == (False, WHY)
    for address in (f"/runs/{run.pk}", f"/runs/{run.pk}/pods/shop/other/why"):
        assert other["text"] in owner.client.get(address).content.decode()
    assert run.snapshot is not None
    page = owner.client.get(run.snapshot.get_absolute_url()).content.decode()
    table = page.split('aria-labelledby="pending"')[-1].split("</table>")[0]
    assert f"it has a node. Why it differs: {WHY}." in table
    assert table.count("the same") == 1


def test_a_run_that_changes_its_cluster_is_not_compared(owner: Person) -> None:
    run = owner.finished(NODES + DIFFERS, scenario="steps: []")
    assert not run.pod_outcomes.filter(cluster_says__isnull=False).exists()
