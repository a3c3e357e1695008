"""Running the scheduler and reading what it found."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Api

N_NODES = 60
N_PODS = 400


def big_cluster() -> dict[str, object]:
    """Enough pods that a person sees the run going on."""
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{i}"},
            "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "pods": "110"}},
        }
        for i in range(N_NODES)
    ]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"pod-{i}", "namespace": "load", "labels": {"app": f"app-{i}"}},
            "spec": {
                "containers": [{"name": "c", "resources": {"requests": {"cpu": f"{1 + i}m"}}}]
            },
        }
        for i in range(N_PODS)
    ]
    return {"apiVersion": "v1", "kind": "List", "items": nodes + pods}


def test_a_run_is_followed_until_its_findings_appear(page: Page, api: Api) -> None:
    snapshot = api.call("POST", "snapshots/?name=load", big_cluster())["id"]
    run = api.run(snapshot)
    page.goto(f"/runs/{run}")
    expect(page.get_by_role("link", name="Step through")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("link", name=f"{N_PODS:,} scheduled")).to_be_visible()


def test_every_finding_leads_to_its_evidence(page: Page, clinic: str) -> None:
    page.goto(f"/runs/{clinic}")
    expect(page.get_by_text("1 of 13 waiting pods got a node; 12 stay pending")).to_be_visible()
    page.get_by_role("table").get_by_role("link", name="clinic/train-1").click()
    expect(page.get_by_role("heading", name="What each node says")).to_be_visible()
    expect(page.get_by_text("Feasible nodes: 0 of 5.")).to_be_visible()
    funnel = page.get_by_role("region", name="From 5 nodes to 0").get_by_role("listitem")
    expect(funnel).to_have_count(3)
    expect(funnel.last).to_contain_text("NodeResourcesFit")
    expect(funnel.last).to_contain_text("Insufficient nvidia.com/gpu")
    page.get_by_text("The message, decoded").click()
    expect(page.locator("#message").get_by_role("link", name="gpu-1")).to_be_visible()
    expect(page.get_by_role("region", name="What happens next")).to_contain_text("pod deleted")

    message = "0/216 nodes are available: 200 Insufficient cpu, 16 node(s) were unschedulable."
    page.get_by_text("Decode another message").click()
    page.get_by_role("textbox", name="Message").fill(message)
    page.get_by_role("button", name="Decode").click()
    yours = page.locator("#message")
    expect(yours).to_contain_text("Your message, decoded")
    expect(yours).to_contain_text("200 nodes")
    expect(yours).to_contain_text("NodeUnschedulable")

    page.goto(f"/runs/{clinic}")
    page.get_by_role("link", name="10 rejected").click()
    expect(page.get_by_role("heading", name="Scheduling cycles")).to_be_visible()
    expect(page.get_by_label("Show")).to_have_value("unschedulable")
    table = page.get_by_role("group", name="Scheduling cycles")
    expect(table.get_by_role("row")).to_have_count(11)
    table.get_by_role("link", name="4", exact=True).click()
    expect(page).to_have_url(re.compile(r"/explore\?c=4"))
