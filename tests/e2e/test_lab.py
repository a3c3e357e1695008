"""The Lab: change something in a cycle, and see what follows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.e2e.test_explorer import explore
from tests.waiting import eventually

BALANCE = "Weight of NodeResourcesBalancedAllocation"


@pytest.fixture(scope="module")
def balance(api: Api) -> str:
    """A finished run of the sample in which compare-1 wins the first cycle by a weight of 1."""
    return api.finished_run(api.sample("fit-and-balance"))


def lab(page: Page) -> Locator:
    return page.get_by_role("region", name="Lab")


def outcome(page: Page, row: str) -> Locator:
    return lab(page).get_by_role("row").filter(has=page.get_by_role("rowheader", name=row))


def tried(page: Page) -> Locator:
    return lab(page).get_by_role("list", name="Tried changes").get_by_role("listitem")


def previews_asked(page: Page) -> list[str]:
    """What is asked over the socket from now on, of the pages that are opened."""
    asked: list[str] = []

    def sent(frame: str | bytes) -> None:
        if isinstance(frame, str) and frame.startswith('{"preview":'):
            asked.append(frame)

    page.on("websocket", lambda line: line.on("framesent", sent))
    return asked


def open_lab(page: Page) -> None:
    page.keyboard.press("w")
    expect(lab(page)).to_be_visible()


def test_a_teacher_changes_a_weight_and_the_star_moves(page: Page, balance: str) -> None:
    explore(page, balance, "?c=1&tab=score")
    open_lab(page)
    slider = lab(page).get_by_label(BALANCE, exact=True)
    expect(slider).to_have_accessible_description("stays at 1 only")

    slider.focus()
    page.keyboard.press("ArrowRight")

    expect(outcome(page, "Happened")).to_contain_text("compare-1 total 423")
    expect(outcome(page, "Tried")).to_contain_text("compare-2")
    expect(lab(page).get_by_text("With these weights compare-2 is chosen.").first).to_be_visible()
    expect(page.get_by_text("Tried, not run")).to_be_visible()
    story = page.get_by_role("region", name="Pipeline").get_by_role("paragraph")
    expect(story).to_contain_text("compare-2")
    score = page.get_by_role("region", name="Inspector").get_by_role("tabpanel")
    expect(score.get_by_role("row").filter(has_text="Balanced")).to_contain_text(
        "\N{MULTIPLICATION SIGN}2"
    )
    assert serious_findings(page) == []

    page.get_by_role("button", name="Back to what happened").click()
    expect(outcome(page, "Tried")).to_be_hidden()
    expect(story).to_contain_text("compare-1")


def test_what_is_tried_is_undone_linked_and_left(page: Page, balance: str) -> None:
    explore(page, balance, "?c=1")
    open_lab(page)
    number = lab(page).get_by_label(f"{BALANCE}, as a number")
    number.fill("7")
    expect(outcome(page, "Tried")).to_contain_text("compare-2")
    expect(page).to_have_url(re.compile(r"[?&]lab=\w{10}"))

    page.reload()
    expect(outcome(page, "Tried")).to_contain_text("compare-2")
    expect(number).to_have_value("7")

    number.fill("0")
    expect(number).to_have_attribute("aria-invalid", "true")
    expect(number).to_have_accessible_description(re.compile("from 1 to"))
    number.fill("9")
    lab(page).get_by_role("button", name="Undo").click()
    expect(number).to_have_value("7")
    lab(page).get_by_role("button", name="Redo").click()
    expect(number).to_have_value("9")

    number.press("Escape")
    expect(lab(page)).to_be_hidden()
    expect(page.get_by_text("Tried, not run")).to_be_hidden()
    page.keyboard.press("w")
    expect(number).to_have_value("9")

    page.set_viewport_size({"width": 390, "height": 844})
    sheet = lab(page).bounding_box()
    assert sheet is not None
    assert sheet["width"] == 390
    assert sheet["y"] > 300

    explore(page, balance, "?c=1&lab=W3sid2")
    expect(lab(page).get_by_role("alert")).to_contain_text("cannot be read")


def test_a_student_finds_a_change_for_a_pending_pod_and_runs_it(
    page: Page, clinic: str, api: Api
) -> None:
    cycles = api.call("GET", f"runs/{clinic}/cycles/")["cycles"]
    cycle = next(row["cycle"] for row in cycles if row["pod"] == "clinic/ingress-2")
    asked = previews_asked(page)
    explore(page, clinic, f"?c={cycle}")

    page.get_by_role("button", name="Change and re-run").click()
    expect(outcome(page, "Happened")).to_contain_text("no node")
    lab(page).get_by_role("button", name=re.compile("Tolerate .*control-plane")).click()

    expect(outcome(page, "Tried")).to_contain_text("control-plane")
    expect(page.get_by_role("strong").get_by_text("Tried, not run")).to_be_visible()
    expect(page.get_by_role("tabpanel").get_by_text("Tried, not run")).to_be_visible()
    expect(page.get_by_role("region", name="Pipeline").get_by_role("paragraph")).to_contain_text(
        "control-plane"
    )
    changes = lab(page).get_by_role("list", name="Tried changes")
    expect(changes).to_contain_text("ingress-2 tolerates node-role.kubernetes.io/control-plane")
    assert len(asked) == 1, "one change is asked about once, over the line of the run"
    assert serious_findings(page) == []

    lab(page).get_by_role("button", name="Run from the beginning").click()
    page.wait_for_url(lambda url: clinic not in url)
    variant = re.search(r"/runs/([^/]+)/", page.url)
    assert variant is not None

    def over() -> bool:
        return str(api.call("GET", f"runs/{variant[1]}/")["status"]) == "finished"

    eventually(over)
    rows = api.call("GET", f"runs/{variant[1]}/cycles/")["cycles"]
    last = [row for row in rows if row["pod"] == "clinic/ingress-2"][-1]
    assert (last["result"], last["node"]) == ("scheduled", "control-plane")
    explore(page, variant[1], f"?c={last['cycle']}")
    expect(page.get_by_role("region", name="Pipeline").get_by_role("paragraph")).to_contain_text(
        "control-plane"
    )


def test_a_wrong_value_is_refused_at_its_change_and_a_moment_is_kept_as_a_cluster(
    page: Page, clinic: str
) -> None:
    explore(page, clinic, "?c=1&n=worker-1")
    open_lab(page)
    amount = lab(page).get_by_label("Allocatable cpu", exact=True)
    amount.fill("plenty")
    amount.press("Enter")
    expect(amount).to_have_accessible_description(re.compile("Write an amount such as 500m"))
    taint = lab(page).get_by_label("Add a taint")
    taint.fill("gpu=yes:Sometimes")
    taint.press("Enter")
    expect(tried(page).get_by_role("alert")).to_contain_text("Sometimes")
    lab(page).get_by_role("button", name="Undo").click()
    lab(page).get_by_role("button", name="Cordon").click()
    changes = lab(page).get_by_role("list", name="Tried changes")
    expect(changes).to_contain_text("worker-1 is cordoned")
    expect(lab(page).get_by_role("button", name="Uncordon")).to_be_visible()
    # The sentence about the node is about what is tried, not about what happened.
    strip = page.get_by_role("group", name="The selected node")
    expect(strip).to_contain_text("node(s) were unschedulable")

    explore(page, clinic, "?c=3")
    open_lab(page)
    lab(page).get_by_role("button", name="Keep the cluster as cycle 3 found it").click()
    page.wait_for_url(re.compile("/snapshots/[0-9a-f-]{36}$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("The pending clinic, cycle 3")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as YAML").click()
    assert download.value.suggested_filename == "the-pending-clinic-cycle-3.yaml"


CROWD = """
apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels: {{kubernetes.io/hostname: {name}, disk: {disk}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10", example.com/gpu: "2"}}}}
---
"""
PICKY = """
apiVersion: v1
kind: Pod
metadata: {name: picky, namespace: shop, labels: {app: picky}}
spec:
  containers:
  - name: app
    resources: {requests: {cpu: "6", memory: 1Gi}, limits: {cpu: "12"}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: disk, operator: In, values: [nvme]}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}
---
apiVersion: v1
kind: Pod
metadata: {name: small, namespace: shop}
spec: {containers: [{name: app, resources: {requests: {cpu: "1", memory: 2Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: old, namespace: shop}
spec: {nodeName: one, containers: [{name: app, resources: {requests: {cpu: "1", memory: 2Gi}}}]}
"""


@pytest.fixture(scope="module")
def picky(api: Api) -> str:
    """A pod that asks too much in three ways, and then one that fits anywhere."""
    nodes = [CROWD.format(name=name, disk=disk) for name, disk in (("one", "ssd"), ("two", "hdd"))]
    return api.finished_run(api.upload("".join(nodes) + PICKY))


def test_rules_and_requests_are_changed_until_the_pod_fits(page: Page, picky: str) -> None:
    explore(page, picky, "?c=1&n=one")
    open_lab(page)
    panel = lab(page)
    panel.get_by_label("cpu", exact=True).fill("2")
    panel.get_by_label("cpu", exact=True).press("Enter")
    expect(tried(page)).to_contain_text(["requests cpu = 2", "limits cpu = 4"])
    panel.get_by_role("button", name="Undo").click()
    expect(tried(page)).to_have_count(0)
    handle = panel.get_by_label("cpu, handle", exact=True)
    handle.focus()
    for _ in range(30):
        page.keyboard.press("ArrowLeft")
    expect(tried(page).first).to_contain_text(re.compile(r"requests cpu = \d+m"))

    panel.get_by_role("button", name="Only prefer: needs nodes with disk=nvme").click()
    # The selected node answers for what is tried, with values.
    strip = page.get_by_role("group", name="The selected node")
    expect(strip).to_contain_text("zone")
    panel.get_by_label("whenUnsatisfiable").select_option("ScheduleAnyway")
    expect(panel.get_by_text("The pod binds on").first).to_be_visible()
    expect(strip).to_contain_text(re.compile("picky fits|ahead|is chosen|score"))
    expect(tried(page).filter(has_text="picky drops: needs nodes with disk=nvme")).to_be_visible()
    expect(tried(page).filter(has_text="picky: prefers nodes with disk=nvme")).to_be_visible()
    inspector = page.get_by_role("region", name="Inspector")
    inspector.get_by_role("tab", name="More").click()
    inspector.get_by_role("tab", name="Log").click()
    expect(inspector.get_by_text("events of what is tried")).to_be_visible()
    assert serious_findings(page) == []

    panel.get_by_role("button", name="Put back: needs nodes with disk=nvme").click()
    expect(panel.get_by_text("The pod still finds no node").first).to_be_visible()
    expect(tried(page)).to_have_count(3)

    panel.get_by_label("What else the pod asks for").select_option("not on a node with pods")
    panel.get_by_label("Label, key or taint").fill("app web")
    panel.get_by_role("button", name="Add", exact=True).click()
    expect(panel.get_by_text("Write it like this: app=web.")).to_be_visible()
    panel.get_by_label("Label, key or taint").fill("app=web")
    panel.get_by_role("button", name="Add", exact=True).click()
    expect(tried(page).filter(has_text="picky: no pods app=web in its")).to_be_visible()
    panel.get_by_label("What else the pod asks for").select_option("needs nodes by a rule")
    panel.get_by_label("Label, key or taint").fill("disk notin (hdd, tape)")
    panel.get_by_role("button", name="Add", exact=True).click()
    expect(
        tried(page).filter(has_text="picky: needs nodes with disk notin (hdd, tape)")
    ).to_be_visible()
    inspector.get_by_role("tab", name="State").click()
    expect(inspector.get_by_text("From the recorded cycle").first).to_be_visible()
    expect(tried(page).get_by_role("alert")).to_have_count(0)


TOLERANT = """
apiVersion: v1
kind: Node
metadata: {name: only}
spec: {taints: [{key: team, value: red, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: tolerant, namespace: shop}
spec:
  containers: [{name: app}]
  tolerations: [{key: team, operator: Equal, value: blue, effect: NoSchedule}]
"""


def test_a_toleration_is_edited_until_it_fits_the_taint(page: Page, api: Api) -> None:
    run = api.finished_run(api.upload(TOLERANT))
    explore(page, run, "?c=1")
    open_lab(page)
    panel = lab(page)
    panel.get_by_label("Value: tolerates team=blue:NoSchedule").fill("red")
    panel.get_by_label("Value: tolerates team=blue:NoSchedule").press("Enter")
    expect(tried(page)).to_contain_text(["team=red:NoSchedule"])
    expect(panel.get_by_text("The pod binds on").first).to_be_visible()
    panel.get_by_label("Effect: tolerates team=blue:NoSchedule").select_option("NoExecute")
    expect(panel.get_by_text("The pod still finds no node").first).to_be_visible()
    panel.get_by_label("Operator for tolerates team=blue:NoSchedule").select_option("Exists")
    panel.get_by_label("Effect: tolerates team=blue:NoSchedule").select_option("every effect")
    expect(panel.get_by_text("The pod binds on").first).to_be_visible()
    expect(panel.get_by_label("Value: tolerates team=blue:NoSchedule")).to_be_disabled()
    expect(tried(page).get_by_role("alert")).to_have_count(0)
    assert serious_findings(page) == []


def test_nodes_come_and_go_and_another_strategy_packs(page: Page, picky: str) -> None:
    explore(page, picky, "?c=2&n=one")
    open_lab(page)
    panel = lab(page)
    expect(outcome(page, "Happened")).to_contain_text("two")
    panel.get_by_label("How NodeResourcesFit scores").select_option("MostAllocated")
    expect(outcome(page, "Tried")).to_contain_text("one")
    expect(panel.get_by_role("button", name="Run on from")).to_be_hidden()
    panel.get_by_label("How NodeResourcesFit scores").select_option("LeastAllocated")
    expect(tried(page)).to_have_count(0)

    panel.get_by_role("button", name="Add one more node like one").click()
    expect(page.get_by_role("application")).to_have_accessible_name(re.compile("3 nodes"))
    panel.get_by_role("button", name="Remove the node").click()
    expect(tried(page)).to_contain_text(["1 more node like one", "without one"])
    expect(page.get_by_role("application")).to_have_accessible_name(re.compile("2 nodes"))
