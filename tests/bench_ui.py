"""The Explorer against its budgets, in a real browser: `make bench-ui`.

Serves a big run, opens it in headless Chromium, measures, and prints a table; with a DUMP the run
is of that cluster, otherwise of a generated one with 5,000 nodes and 50,000 pods. Figures depend on
the machine, so nothing fails here: what is over its budget is marked.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserType, CDPSession, ConsoleMessage, Page, sync_playwright

from kviz.bench.calibration import N_ITERATIONS, loop_s
from tests.chromium import NoBrowser, find_chromium, sandbox_arguments
from tests.running_server import Server, start_server, stop_server

N_NODES, N_PODS, N_BOUND = 5_000, 50_000, 10_000
N_VISITS, N_SCRUBS, N_SEEKS, N_INTERACTIONS = 5, 400, 60, 60
GROWTH_SEEKS, N_JUMPS = 10_000, 500
RUN_TAKES_S = 900
SETTLE_MS = 1_500
TRIED_CYCLE, N_TRIED = 500, 60
HANDLES = (
    ("pod edit", "cpu, handle", 30, 75, 100),
    ("node edit", "Allocatable cpu, handle", 20, 90, 100),
    ("weight", "Weight of NodeResourcesFit", 2, 12, 33),
)
"""In the Lab: what is edited, by which handle, around which two places, and how long it may take.
The places are far apart, so that each edit changes what is told."""
BUILT = Path(__file__).parents[1] / "static" / "kviz"
MIB = 1_000_000


@dataclass(frozen=True)
class Row:
    """One figure beside its budget; `floor` budgets are met from above."""

    what: str
    measured: float
    budget: float
    unit: str
    floor: bool = False

    @property
    def is_met(self) -> bool:
        return self.measured >= self.budget if self.floor else self.measured <= self.budget


# ---------------------------------------------------------------- the run


def cluster() -> bytes:
    """A List of nodes, bound pods and waiting pods of four sizes, as JSON."""
    nodes = [
        {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {
                "name": f"node-{i:04}",
                "labels": {
                    "kubernetes.io/hostname": f"node-{i:04}",
                    "topology.kubernetes.io/zone": f"zone-{i % 3}",
                },
            },
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
        }
        for i in range(N_NODES)
    ]
    pods = [_pod(i, f"node-{i % N_NODES:04}" if i < N_BOUND else "") for i in range(N_PODS)]
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": [*nodes, *pods]}).encode()


def _pod(i: int, node: str) -> dict[str, Any]:
    requests = {"cpu": f"{100 * (1 + i % 4)}m", "memory": f"{256 * (1 + i % 4)}Mi"}
    spec: dict[str, Any] = {"containers": [{"name": "c", "resources": {"requests": requests}}]}
    if node:
        spec["nodeName"] = node
    metadata = {"name": f"app-{i % 4}-{i:05}", "namespace": "shop", "labels": {"app": f"a{i % 4}"}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec}


def call(server: Server, path: str, body: bytes | None = None, **headers: str) -> Any:
    request = urllib.request.Request(
        f"{server.base_url}/api/v1/{path}",
        data=body,
        headers={"Authorization": f"Bearer {server.token}", **headers},
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


def finished_run(server: Server, dump: Path | None) -> tuple[str, int]:
    """Upload, run, wait; return the run's id and how many cycles it has."""
    body = dump.read_bytes() if dump else cluster()
    packed = {"Content-Encoding": "gzip"} if dump and dump.suffix == ".gz" else {}
    kind = {"Content-Type": "application/json", **packed}
    snapshot = call(server, "snapshots/", body, **kind)["id"]
    wanted = json.dumps({"snapshot": snapshot}).encode()
    run = str(call(server, "runs/", wanted, **{"Content-Type": "application/json"})["id"])
    until = time.monotonic() + RUN_TAKES_S
    while (found := call(server, f"runs/{run}/"))["status"] in ("queued", "running"):
        if time.monotonic() > until:
            raise TimeoutError(f"the run is not finished after {RUN_TAKES_S} s")
        time.sleep(0.5)
    return run, int(found["cycles"])


# ---------------------------------------------------------------- measuring

IN_PAGE = """
window.bench = {
  frame: () => new Promise(requestAnimationFrame),
  go(n) {
    const field = document.getElementById("cycle-number");
    field.value = String(n);
    field.dispatchEvent(new Event("change", {bubbles: true}));
  },
  async seek(n) { this.go(n); await this.frame(); await this.frame(); },
  frames: [],
  async watchFrames() {
    this.frames = [];
    this.watching = true;
    for (let before = await this.frame(); this.watching; ) {
      const now = await this.frame();
      this.frames.push(now - before);
      before = now;
    }
  },
  async jump(cycles) { for (const n of cycles) { this.go(n); await this.frame(); } },
  async drag(label, values) {
    const handle = document.querySelector(`[aria-label="${label}"]`);
    const table = document.querySelector(".lab table");
    const told = () => table.rows[1]?.innerText ?? "";
    const times = [];
    for (const value of values) {
      const before = told();
      const begun = performance.now();
      handle.value = String(value);
      handle.dispatchEvent(new Event("input", {bubbles: true}));
      while (told() === before) await new Promise((done) => {
        const watch = new MutationObserver(() => (watch.disconnect(), done()));
        watch.observe(table, {subtree: true, childList: true, characterData: true});
        setTimeout(done, 5000);
        if (performance.now() - begun > 60000) throw new Error(`${label}: nothing follows`);
      });
      await this.frame();
      await new Promise((done) => {
        const {port1, port2} = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(0);
      });
      times.push(performance.now() - begun);
    }
    return times;
  },
  interactions: [],
  at: {},
  details: [],
};
(function listen() {
  const asked = new Map();
  const {prototype} = WebSocket;
  const {send} = prototype;
  prototype.send = function (message) {
    if (!this.heard) {
      this.heard = true;
      this.addEventListener("message", ({data}) => {
        if (typeof data === "string" || new Uint8Array(data, 0, 1)[0] !== 1) return;
        const cycle = new DataView(data).getUint32(1);
        const ms = performance.now() - asked.get(cycle);
        if (asked.has(cycle)) window.bench.details.push({ms, bytes: data.byteLength});
        asked.delete(cycle);
      });
    }
    const now = performance.now();
    const wanted = JSON.parse(message).details;
    for (const cycle of wanted ? asked.keys() : [])
      if (!wanted.includes(cycle)) asked.delete(cycle);
    for (const cycle of wanted ?? []) if (!asked.has(cycle)) asked.set(cycle, now);
    send.call(this, message);
  };
})();
(function watch() {
  const {at} = window.bench;
  if (document.getElementById("cycle-number")?.value > 0) at.interactive ??= performance.now();
  const live = document.querySelector("header .live")?.textContent ?? "";
  if (live.includes("Recorded")) at.recorded ??= performance.now();
  if (!at.recorded) requestAnimationFrame(watch);
})();
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (entry.interactionId) window.bench.interactions.push(entry.duration);
}).observe({type: "event", durationThreshold: 16});
"""


def p(values: Sequence[float], percent: int) -> float:
    """The percentile, from at least two values."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


@dataclass
class Bench:
    """One page on one run, with the browser's own account of what work it does."""

    page: Page
    devtools: CDPSession
    url: str
    n_cycles: int
    rng: random.Random

    def cycles(self, n: int) -> list[int]:
        return [self.rng.randint(1, self.n_cycles) for _ in range(n)]

    def script_ms(self, action: Callable[[], object]) -> float:
        before = self._script_s()
        action()
        return (self._script_s() - before) * 1000

    def _script_s(self) -> float:
        metrics = self.devtools.send("Performance.getMetrics")["metrics"]
        return next(float(m["value"]) for m in metrics if m["name"] == "ScriptDuration")

    def heap_bytes(self) -> int:
        """What is in use when one looks at the first cycle's story: comparable at any time."""
        self.page.keyboard.press("1")
        self.seek(1)
        self.page.wait_for_timeout(SETTLE_MS)
        for _ in range(2):
            self.devtools.send("HeapProfiler.collectGarbage")
        return int(self.devtools.send("Runtime.getHeapUsage")["usedSize"])

    def seek(self, cycle: int) -> None:
        self.page.evaluate("n => window.bench.seek(n)", cycle)

    def details(self) -> list[dict[str, float]]:
        """Time in ms and bytes of each cycle detail asked for and received since the last call."""
        found: list[dict[str, float]] = self.page.evaluate("() => window.bench.details.splice(0)")
        return found


def visiting(browser_type: BrowserType, browser_path: str, url: str) -> list[Row]:
    """From the address to something to read, to something to use: the median of new browsers."""
    painted_s, interactive_s = [], []
    for _ in range(N_VISITS):
        browser = browser_type.launch(executable_path=browser_path, args=sandbox_arguments())
        page = browser.new_page(viewport={"width": 1600, "height": 900}, bypass_csp=True)
        page.add_init_script(IN_PAGE)
        page.goto(url, wait_until="commit")
        page.wait_for_function("window.bench.at.interactive", timeout=120_000)
        painted_ms = page.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
        )
        painted_s.append(painted_ms / 1000)
        interactive_s.append(page.evaluate("window.bench.at.interactive") / 1000)
        browser.close()
    return [
        Row("first contentful paint", statistics.median(painted_s), 1.0, "s"),
        Row("Explorer interactive", statistics.median(interactive_s), 2.0, "s"),
    ]


def loading(bench: Bench) -> list[Row]:
    """All headers, counted from when the Explorer can be used."""
    bench.page.goto(bench.url, wait_until="commit")
    bench.page.get_by_role("button", name="Recorded").wait_for(timeout=120_000)
    at_ms = bench.page.evaluate("window.bench.at")
    rate = bench.n_cycles * 1000 / (at_ms["recorded"] - at_ms["interactive"])
    return [
        Row("all headers here", at_ms["recorded"] / 1000, 60.0, "s"),
        Row("cycle headers to the screen", rate, 2_000, "per s", floor=True),
    ]


def weights() -> list[Row]:
    """What is fetched before the first picture, gzipped, in kB."""
    manifest = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))
    seen: set[str] = set()
    files: list[str] = []

    def collect(name: str) -> None:
        if name not in seen:
            seen.add(name)
            files.extend([manifest[name]["file"], *manifest[name].get("css", [])])
            for imported in manifest[name].get("imports", []):
                collect(imported)

    for source in ("src/main.ts", "src/views/inspector/WhyTab.svelte"):
        collect(source)
    size = {kind: 0.0 for kind in (".js", ".css")}
    for file in files:
        size[Path(file).suffix] += (BUILT / f"{file}.gz").stat().st_size / 1000
    return [
        Row("initial JS, gzipped", size[".js"], 90, "kB"),
        Row("initial CSS, gzipped", size[".css"], 15, "kB"),
    ]


def seeking(bench: Bench) -> list[Row]:
    """Cycles nobody has looked at, their neighbours, and those that are here already."""
    bench.details()
    far = bench.cycles(N_SEEKS)
    cold: list[dict[str, float]] = []
    warm: list[dict[str, float]] = []
    for cycle in far:
        for offset, into in ((0, cold), (1, warm)):
            bench.seek(min(cycle + offset, bench.n_cycles))
            bench.page.wait_for_timeout(120)
            into += bench.details()
    hits = [
        bench.script_ms(lambda n=cycle: bench.seek(n))  # type: ignore[misc]
        for cycle in far[-10:] * 6
    ]
    sizes = [each["bytes"] / 1000 for each in (*cold, *warm)]
    return [
        Row("seek, client hit, script p95", p(hits, 95), 20, "ms"),
        Row("seek, server warm, p95", p([each["ms"] for each in warm], 95), 150, "ms"),
        Row("seek, server cold, p95", p([each["ms"] for each in cold], 95), 500, "ms"),
        Row("one cycle's detail, compressed p95", p(sizes, 95), 25, "kB"),
    ]


def scrubbing(bench: Bench) -> list[Row]:
    """Drag to the end of the run and back, once counting script, once counting frames."""
    box = bench.page.get_by_role("slider").bounding_box()
    assert box is not None
    left, width, y = box["x"] + 1, box["width"] - 2, box["y"] + box["height"] / 2
    path = [left + width * (1 - abs(1 - 2 * i / N_SCRUBS)) for i in range(N_SCRUBS + 1)]
    mouse = bench.page.mouse

    def drag(move: Callable[[float], object]) -> None:
        mouse.move(path[0], y)
        mouse.down()
        for x in path[1:]:
            move(x)
        mouse.up()

    scripts: list[float] = []
    drag(lambda x: scripts.append(bench.script_ms(lambda: mouse.move(x, y))))
    bench.page.evaluate("void window.bench.watchFrames()")
    drag(lambda x: mouse.move(x, y))
    frames = bench.page.evaluate("(window.bench.watching = false, window.bench.frames)")
    return [
        Row("scrub, script p95", p(scripts, 95), 8, "ms"),
        Row("scrub, frame p50", p(frames, 50), 17, "ms"),
        Row("scrub, frame p95", p(frames, 95), 67, "ms"),
    ]


def interacting(bench: Bench) -> list[Row]:
    """Keys and tabs as a person presses them; what took under 16 ms is not told apart."""
    bench.page.evaluate("window.bench.interactions.length = 0")
    keys = ("ArrowRight", "ArrowLeft", "2", "3", "1", "n", "t", "t", "]", "[")
    for i in range(N_INTERACTIONS):
        bench.page.keyboard.press(keys[i % len(keys)])
        bench.page.wait_for_timeout(60)
    slow = bench.page.evaluate("window.bench.interactions")
    quick = [16.0] * max(2, N_INTERACTIONS - len(slow))
    return [Row("interaction to paint, p95", p([*slow, *quick], 95), 100, "ms")]


def trying(bench: Bench) -> list[Row]:
    """Drag handles in the Lab: from the input to the paint of what follows from it."""
    page = bench.page
    page.goto(f"{bench.url}&lab=-".replace("c=1", f"c={min(TRIED_CYCLE, bench.n_cycles)}"))
    page.get_by_label("cpu, handle", exact=True).wait_for(timeout=120_000)
    page.get_by_role("button", name="Recorded").wait_for(timeout=120_000)
    page.get_by_role("region", name="Lab").get_by_role("row").get_by_role("button").first.click()
    page.get_by_label("Allocatable cpu, handle").wait_for()
    rows = []
    for what, label, low, high, budget in HANDLES:
        values = [(low, high)[i % 2] + i % 9 for i in range(N_TRIED)]
        times = page.evaluate(
            "([label, values]) => window.bench.drag(label, values)", [label, values]
        )
        for percent in (50, 95):
            name = f"Lab, {what}, input to paint p{percent}"
            rows.append(Row(name, p(times, percent), budget, "ms"))
        page.get_by_role("button", name="Back to what happened").click()
    return rows


def remembering(bench: Bench) -> list[Row]:
    before = bench.heap_bytes()
    for _ in range(GROWTH_SEEKS // N_JUMPS):
        bench.page.evaluate("cycles => window.bench.jump(cycles)", bench.cycles(N_JUMPS))
    after = bench.heap_bytes()
    return [
        Row("JS heap", after / MIB, 80, "MB"),
        Row(f"heap growth in {GROWTH_SEEKS:,} seeks", (after - before) / MIB, 2, "MB"),
    ]


def soak(bench: Bench, minutes: float) -> list[Row]:
    """Step, seek and look about at random; the heap at the end beside the one at the start."""
    keys = ["ArrowRight", "ArrowLeft", ".", ",", "n", "N", "]", "[", *"1234567", "End", "Home"]
    actions = [*([key] for key in keys), ["t", "t"]]
    n, before, until = 0, bench.heap_bytes(), time.monotonic() + minutes * 60
    while time.monotonic() < until:
        n += 1
        if bench.rng.random() < 0.3:
            bench.seek(bench.cycles(1)[0])
        else:
            for key in bench.rng.choice(actions):
                bench.page.keyboard.press(key)
    after = bench.heap_bytes()
    what = f"heap growth in {minutes:g} minutes, {n:,} random steps"
    return [
        Row("JS heap afterwards", after / MIB, 80, "MB"),
        Row(what, (after - before) / MIB, 2, "MB"),
    ]


# ---------------------------------------------------------------- all together

PARTS: Mapping[str, Callable[[Bench], list[Row]]] = {
    "seek": seeking,
    "scrub": scrubbing,
    "interact": interacting,
    "heap": remembering,
    "lab": trying,
}
"""What is measured once the page is there, in this order, unless only some is wanted."""


def measure(
    server: Server, browser_path: str, run: str, n_cycles: int, wanted: argparse.Namespace
) -> list[Row]:
    errors: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    with sync_playwright() as playwright:
        url = f"{server.base_url}/runs/{run}/explore?c=1"
        visits = visiting(playwright.chromium, browser_path, url)
        browser = playwright.chromium.launch(executable_path=browser_path, args=sandbox_arguments())
        page = browser.new_page(viewport={"width": 1600, "height": 900}, bypass_csp=True)
        page.add_init_script(IN_PAGE)
        page.on("console", on_console)
        page.on("pageerror", lambda error: errors.append(str(error)))
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")
        bench = Bench(page, devtools, url, n_cycles, random.Random(1))
        rows = [*visits, *loading(bench), *weights()]
        page.wait_for_timeout(SETTLE_MS)
        rows += [row for part in wanted.only or PARTS for row in PARTS[part](bench)]
        if wanted.soak_minutes:
            rows += soak(bench, wanted.soak_minutes)
        browser.close()
    return [*rows, Row("errors on the console", len(errors), 0, "")]


def table(rows: Sequence[Row]) -> str:
    lines = ["| what | measured | budget | |", "|---|---|---|---|"]
    for row in rows:
        limit = f"at {'least' if row.floor else 'most'} {row.budget:,g}"
        mark = "" if row.is_met else "**over**"
        lines.append(
            f"| {row.what} | {row.measured:,.3g} {row.unit} | {limit} {row.unit} | {mark} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-ui", description=__doc__)
    parser.add_argument("dump", type=Path, nargs="?", help="a cluster as JSON, may be gzipped")
    parser.add_argument("--soak-minutes", type=float, default=0.0)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="besides loading the page")
    wanted = parser.parse_args()
    try:
        browser_path = find_chromium()
    except NoBrowser as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder))
        try:
            run, n_cycles = finished_run(server, wanted.dump)
            rows = measure(server, browser_path, run, n_cycles, wanted)
        finally:
            stop_server(server)
    calibration = f"{loop_s(N_ITERATIONS):.2f} s for {N_ITERATIONS:,} additions"
    sys.stdout.write(f"{n_cycles:,} cycles; calibration {calibration}\n\n{table(rows)}\n")


if __name__ == "__main__":
    main()
