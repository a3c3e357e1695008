// Tables as files: all rows, in names, as filtered and sorted on the screen, and nothing from ahead.

import { beforeEach, describe, expect, test, vi } from "vitest";

import { SyntheticRun } from "../testing/synthetic.ts";
import { Queue } from "../wire/events.ts";
import { Explorer } from "./explorer.ts";
import { LANE_HEAD } from "./lanes.ts";
import { readAddress } from "./link.ts";
import { TABLES, tableOf, type Table, type TableName } from "./tables.ts";

const run = new SyntheticRun({ nodes: 12, pods: 900, chunk: 200, seed: 3 });

describe("tables as data", () => {
  let explorer: Explorer;
  const table = (name: TableName): Table => {
    const found = tableOf(name, explorer);
    if (!found) throw new Error(`no table ${name}`);
    return found;
  };
  const column = (name: TableName, head: string): unknown[] => {
    const { columns, rows } = table(name);
    expect(columns).toContain(head);
    return rows.map((row) => row[columns.indexOf(head)]);
  };
  const arrived = (): Promise<unknown> => vi.waitFor(() => expect(explorer.details.shown.kind).toBe("ready"));

  beforeEach(async () => {
    explorer = new Explorer("run", (cycle) => Promise.resolve(run.detail(cycle)));
    explorer.begin(readAddress("?c=1"), true);
    for (const chunk of run.chunks()) explorer.receive(chunk);
    await arrived();
  });

  test("have as many cells in every row as heads, and no head twice", () => {
    for (const name of TABLES) {
      const found = tableOf(name, explorer);
      if (!found) continue;
      expect(new Set(found.columns).size).toBe(found.columns.length);
      for (const row of found.rows) expect(row.length).toBe(found.columns.length);
    }
  });

  test("of nodes follow search, isolated verdict and order", () => {
    expect(table("nodes").rows.length).toBe(12);
    explorer.display.setTables({ nodesBy: "node", nodesUp: false });
    const names = column("nodes", "node") as string[];
    expect(names).toEqual([...names].sort(new Intl.Collator("en", { numeric: true }).compare).reverse());
    explorer.display.setMap({ query: names[3]! });
    expect(column("nodes", "node")).toContain(names[3]);
    expect(table("nodes").rows.length).toBeLessThan(12);
    explorer.display.setMap({ query: "", isolate: 4 });
    expect(column("nodes", "verdict")).toEqual(["chosen"]);
  });

  test("of Filter have a word for every plugin, and only what the matrix shows", async () => {
    explorer.navigation.toFailure(1);
    await arrived();
    const { columns, rows } = table("filter");
    expect(columns).toContain("NodeResourcesFit");
    for (const row of rows) expect(row.filter((cell) => cell === "rejected").length).toBe(1);
    explorer.display.setTables({ filterShows: "fits" });
    expect(tableOf("filter", explorer)).toBeNull();
  });

  test("of scores add up, best first", () => {
    const { columns, rows } = table("scores");
    const weighted = columns.flatMap((head, i) => (head.includes(" × ") ? [i] : []));
    expect(weighted.length).toBeGreaterThan(2);
    const total = columns.indexOf("total");
    for (const row of rows) expect(weighted.reduce((sum, i) => sum + Number(row[i]), 0)).toBe(row[total]);
    const totals = column("scores", "total") as number[];
    expect(totals).toEqual([...totals].sort((a, b) => b - a));
    expect(column("scores", "chosen").filter(Boolean)).toEqual(["chosen"]);
  });

  test("give nothing away that lies ahead", () => {
    explorer.navigation.go({ cycle: 1, point: "PreFilter", plugin: null });
    for (const name of ["filter", "scores", "dryRuns", "criteria"] as const) {
      expect(tableOf(name, explorer)).toBeNull();
    }
  });

  test("of the cache hold the pods of the node at hand, and what they request adds up", () => {
    explorer.navigation.goToCycle(60);
    const node = explorer.navigation.record!.selected!.node;
    for (const chosen of [-1, node]) {
      explorer.selection.select({ node: chosen });
      expect(new Set(column("cache", "node"))).toEqual(new Set([explorer.nodeName(node)]));
      const held = column("cache", "in the cache").filter((state) => state !== "nominated");
      expect(held.length).toBe(explorer.state.nPodsOn(node));
      const cpu = column("cache", "cpu requested milli") as number[];
      expect(cpu.reduce((sum, milli) => sum + milli, 0)).toBe(
        explorer.state.requested(node, explorer.state.resources.indexOf("cpu")),
      );
    }
  });

  test("of events and of the log end at the moment shown", () => {
    explorer.navigation.toFailure(1);
    expect(column("events", "reason")).toContain("FailedScheduling");
    const whole = table("log").rows;
    expect(column("log", "kind")).toContain("CycleFinished");
    explorer.navigation.go({ ...explorer.navigation.position, point: "Filter" });
    const soFar = table("log").rows;
    expect(soFar.length).toBeLessThan(whole.length);
    expect(whole.slice(0, soFar.length)).toEqual(soFar);
    expect(column("log", "kind")).not.toContain("CycleFinished");
    expect(tableOf("events", explorer)).toBeNull();
  });

  test("of queues hold every pod of every lane, also beyond what is shown", () => {
    const lanes = column("queues", "queue");
    const n = explorer.state.count(Queue.ACTIVE);
    expect(n).toBeGreaterThan(LANE_HEAD);
    expect(lanes.filter((lane) => lane === "active").length).toBe(n);
    const priorities = column("queues", "priority").filter((_, i) => lanes[i] === "active") as number[];
    expect(priorities).toEqual([...priorities].sort((a, b) => b - a));
  });

  test("of cycles hold all of them, with names", () => {
    expect(column("cycles", "cycle")).toEqual(Array.from({ length: explorer.navigation.nCycles }, (_, i) => i + 1));
    expect(column("cycles", "pod").every((pod) => /^[\w-]+\/[\w-]+$/.test(String(pod)))).toBe(true);
    expect(new Set(column("cycles", "result"))).toEqual(new Set(["scheduled", "unschedulable"]));
  });
});
