"""The values behind verdicts and scores: pod and node side by side, and two nodes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.e2e.test_explorer import explore, inspector


@pytest.fixture(scope="module")
def fit(api: Api) -> str:
    return api.finished_run(api.sample("fit-and-balance"))


def test_clicking_a_node_answers_on_whichever_tab_is_open(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=10&tab=log")
    page.locator("#cluster-map").click(position={"x": 60, "y": 60})
    strip = inspector(page).get_by_role("group", name="The selected node")
    says = "clinic/train-2 does not tolerate taint nvidia.com/gpu=present:NoSchedule."
    expect(strip).to_contain_text(f"gpu-1 {says}")
    strip.get_by_role("button", name="Side by side").click()
    expect(inspector(page).get_by_role("tab", name="Node")).to_have_attribute(
        "aria-selected", "true"
    )
    sides = inspector(page).get_by_role("table", name="What clinic/train-2 asks and what gpu-1 has")
    rows = sides.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("TaintToleration")
    expect(rows.nth(1).get_by_role("img", name="not met")).to_be_visible()
    expect(rows.nth(2)).to_contain_text("short by 1; largest: clinic/train-0 1")
    expect(rows.nth(3).get_by_role("img", name="met", exact=True)).to_be_visible()
    expect(inspector(page)).to_contain_text("What the scheduler knows of gpu-1")
    assert serious_findings(page) == []


def test_two_nodes_are_set_side_by_side_by_pointer_and_by_name(page: Page, fit: str) -> None:
    explore(page, fit, "?c=1&n=compare-2")
    page.locator("#cluster-map").click(position={"x": 60, "y": 60}, modifiers=["Shift"])
    tab = inspector(page)
    expect(tab).to_contain_text("compare-2 or compare-1?")
    expect(tab).to_contain_text("compare-1 scores 423, compare-2 419: 4 more")
    decisive = tab.get_by_role("row", name=re.compile("Node ?Resources ?Fit"))
    expect(decisive.first).to_contain_text("decides")
    expect(decisive.first).to_contain_text("-13")
    expect(page).to_have_url(re.compile("n=compare-2&vs=compare-1&tab=node"))
    assert serious_findings(page) == []
    page.reload()
    expect(tab).to_contain_text("compare-2 or compare-1?")

    explore(page, fit, "?c=1&n=twin-1&tab=node")
    field = tab.get_by_role("combobox", name="Compare with")
    expect(field).to_have_value("compare-1")
    field.fill("nowhere")
    field.press("Enter")
    expect(tab.get_by_role("alert")).to_have_text("There is no node nowhere.")
    field.fill("compare-3")
    field.press("Enter")
    expect(tab).to_contain_text("twin-1 is rejected: ")
    expect(tab).to_contain_text("What the pod asks of both")
    tab.get_by_role("button", name="Stop comparing").click()
    expect(tab).not_to_contain_text("What the pod asks of both")


def test_scores_and_verdicts_are_written_out(page: Page, clinic: str, fit: str) -> None:
    explore(page, fit, "?c=6&tab=score")
    tab = inspector(page)
    expect(tab).to_contain_text("(1*100*(4 - 0.5)/4 (cpu: 87) + 1*100*(16Gi - 1Gi)/16Gi")
    expect(tab).to_contain_text("weight 1 = 90")
    expect(tab).to_contain_text("1*90 (NodeResourcesFit)")
    expect(tab).to_contain_text("= 463")
    explore(page, clinic, "?c=1&tab=filter")
    table = inspector(page).get_by_role("table", name="Filter verdicts, node by plugin")
    table.get_by_role("button", name="worker-2").click()
    sides = inspector(page).get_by_role(
        "table", name="What clinic/analytics-0 asks and what worker-2 has"
    )
    expect(sides).to_contain_text("12 cpu")
    expect(sides.get_by_role("row").nth(1)).to_contain_text("free of 8")
    sides.get_by_text("values").first.press("Enter")
    expect(sides).to_contain_text("allocatable")


def test_the_why_tab_leads_with_the_cause_and_copies_it(page: Page, clinic: str, api: Api) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explore(page, clinic, "?c=9")
    tab = inspector(page)
    expect(tab).to_contain_text("train-1 needs 1 nvidia.com/gpu, 0 free of 1: short by 1")
    tab.get_by_role("button", name="Copy as Markdown").click()
    expect(tab.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("**clinic/train-1** needs 1 nvidia.com/gpu")
    assert copied.endswith("\nKubernetes v1.36.2 (nodes say v1.36.2)\n")
    miss = tab.get_by_role("listitem").get_by_role("button", name="control-plane")
    expect(miss).to_have_attribute("aria-expanded", "false")
    miss.click()
    sides = tab.get_by_role("table", name="What clinic/train-1 asks and what control-plane has")
    expect(sides).to_contain_text("node-role.kubernetes.io/control-plane:NoSchedule")
    page.goto(f"/runs/{clinic}/pods/clinic/train-1/why")
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == copied
