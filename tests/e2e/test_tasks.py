"""What a newcomer must manage unaided, on recorded clusters: by roles and names only.

The clusters were dumped from a real API server. Two are part of the tests; `openb` (1,523 nodes of
a production cluster) is other people's data and is used where it lies (docs/adr/0021).
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Api
from tests.e2e.test_explorer import explore, inspector, queues, story

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "tests" / "conformance" / "data" / "dumps"
BESIDE = Path(os.environ.get("KVIZ_DUMPS", ROOT.parent / "shared" / "snapshots"))
CLUSTERS = ("small", "preemption", pytest.param("openb", marks=pytest.mark.long))
"""The long one has 1,523 nodes."""
PLAYS_MS = 60_000
MAX_STEPS = 40

Cycle = dict[str, Any]


@dataclass(frozen=True)
class Played:
    """A cluster's dump and a finished run over it, with its cycles as REST gives them."""

    name: str
    dump: Path
    run: str
    cycles: list[Cycle]

    def first(self, wanted: Callable[[Cycle], bool]) -> Cycle:
        return next(filter(wanted, self.cycles))


@pytest.fixture(scope="module", params=CLUSTERS)
def played(request: pytest.FixtureRequest, api: Api) -> Played:
    name: str = request.param
    places = (KEPT / f"{name}.yaml.gz", BESIDE / f"{name}.json.gz")
    dump = next(filter(Path.is_file, places), None)
    if dump is None:
        pytest.skip(f"ADR 0021: {name} is not part of the repository")
    run = api.finished_run(api.upload(gzip.decompress(dump.read_bytes()).decode()))
    return Played(name, dump, run, api.call("GET", f"runs/{run}/cycles/?limit=1000")["cycles"])


def of(*names: object) -> pytest.MarkDecorator:
    """Only for these clusters: the others hold nothing of the kind."""
    return pytest.mark.parametrize("played", names, indirect=True)


def cycle_field(page: Page) -> Any:
    return page.get_by_label("Go to cycle")


def test_a_dump_is_uploaded_run_and_played(page: Page, played: Played) -> None:
    page.goto("/")
    page.get_by_role("link", name="Explain my cluster").click()
    page.get_by_label("Files").set_input_files(played.dump)
    page.get_by_label("Name").fill(f"my {played.name}")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name=f"my {played.name}", level=1)).to_be_visible(
        timeout=PLAYS_MS
    )
    page.get_by_role("button", name="Run the scheduler").click()
    page.get_by_role("link", name=re.compile("Step through|Watch it live")).click()
    expect(cycle_field(page)).not_to_have_value("0")
    page.keyboard.press("Home")
    expect(cycle_field(page)).to_have_value("1")
    page.get_by_label("speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    last = str(len(played.cycles))
    expect(cycle_field(page)).to_have_value(last, timeout=PLAYS_MS)


@of("small", CLUSTERS[-1])
def test_why_a_pod_is_pending_and_on_how_many_nodes(page: Page, played: Played) -> None:
    failed = played.first(
        lambda each: (
            each["result"] == "unschedulable" and each["n_examined"] and not each["n_victims"]
        )
    )
    last = [each for each in played.cycles if each["pod"] == failed["pod"]][-1]
    namespace, _, name = failed["pod"].partition("/")
    page.goto(f"/runs/{played.run}")
    table = page.locator(".causes")
    table.locator("details").evaluate_all("found => found.forEach(each => (each.open = true))")
    table.get_by_role("link", name=failed["pod"], exact=True).click()
    expect(page.get_by_role("heading", name="What each node says")).to_be_visible()
    expect(page.get_by_text(f"Feasible nodes: 0 of {last['n_nodes']:,}.")).to_be_visible()
    page.get_by_text("The message, decoded").click()
    expect(page.locator("#message p.message")).to_have_text(last["message"])
    expect(page.locator("#message").get_by_role("listitem").first).to_be_visible()
    explore(page, played.run, f"?c={last['cycle']}&pod={namespace}/{name}")
    panel = inspector(page).get_by_role("tabpanel", name="Why")
    expect(
        panel.get_by_role("heading", name=f"From {last['n_nodes']:,} nodes to 0")
    ).to_be_visible()
    expect(panel.get_by_role("button", name=re.compile(last["first_cause"])).first).to_be_visible()


@of("small")
def test_the_plugin_and_margin_that_won_or_that_it_was_a_tie(page: Page, played: Played) -> None:
    won = played.first(lambda each: each["result"] == "scheduled" and each["n_feasible"] > 1)
    explore(page, played.run, f"?c={won['cycle']}&tab=score")
    panel = inspector(page).get_by_role("tabpanel", name="Score")
    tied = won["n_tied"]
    told = f"{tied} of .* share the highest total" if tied > 1 else "ahead of"
    expect(panel.or_(story(page)).filter(has_text=re.compile(told)).first).to_be_visible()
    sums = panel.get_by_role("table").first
    expect(sums.get_by_role("row", name=re.compile("NodeResourcesFit"))).to_be_visible()
    expect(sums.get_by_role("row", name=re.compile("^Total"))).to_be_visible()
    expect(story(page)).to_contain_text(won["node"])


@of("small")
def test_stepping_to_taint_toleration_and_back_by_keyboard(page: Page, played: Played) -> None:
    filtered = played.first(lambda each: bool(each["n_examined"]))
    explore(page, played.run, f"?c={filtered['cycle']}")
    page.keyboard.press("]")
    page.keyboard.press("]")
    place = page.get_by_role("navigation", name="Where you are")
    wanted = re.compile("Filter.*TaintToleration", re.DOTALL)
    for _ in range(MAX_STEPS):
        page.keyboard.press("ArrowRight")
        if wanted.search(place.inner_text()):
            break
    expect(place).to_contain_text("TaintToleration")
    expect(page).to_have_url(re.compile("p=Filter&g=TaintToleration"))
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(place).not_to_contain_text("Filter")
    expect(cycle_field(page)).to_have_value(str(filtered["cycle"]))


@of("preemption")
def test_a_pod_is_followed_through_the_queues_to_the_event_that_requeued_it(
    page: Page, played: Played
) -> None:
    again = played.first(lambda each: each["attempt"] == 2 and each["result"] == "scheduled")
    before = played.first(lambda each: each["pod"] == again["pod"])
    explore(page, played.run, f"?c={before['cycle']}")
    queues(page).get_by_role("button", name=again["pod"]).click()
    for _ in range(MAX_STEPS):
        page.keyboard.press(".")
        if cycle_field(page).input_value() == str(again["cycle"]):
            break
    expect(cycle_field(page)).to_have_value(str(again["cycle"]))
    moves = inspector(page).get_by_role("listitem").filter(has_text="after AssignedPodDelete")
    expect(moves.first).to_contain_text("NodeResourcesFit: Queue")
