import { describe, expect, it } from "vitest";

import { classicOf, type OldRow } from "./classic.ts";

const row = (then: string[], more: Partial<OldRow>): OldRow => ({
  then,
  group: "names",
  was: "",
  plugins: [],
  terms: [],
  ...more,
});

const CLASSIC = classicOf(
  [
    row(["PodFitsResources"], { was: "predicate", plugins: ["NodeResourcesFit"] }),
    row(["GeneralPredicates"], { was: "predicate", plugins: ["NodeName", "NodeResourcesFit"] }),
    row(["LeastRequestedPriority"], { was: "priority", plugins: ["NodeResourcesFit"] }),
    row(["MostRequestedPriority"], { was: "priority", plugins: ["NodeResourcesFit"] }),
    row(["RequestedToCapacityRatioPriority"], { was: "priority", plugins: ["NodeResourcesFit"] }),
    row(["activeQ + unschedulableQ", "unschedulableQ"], { group: "queue", terms: ["active-queue", "gated"] }),
    row(["didn't match node selector"], { group: "messages", plugins: ["NodeAffinity"] }),
  ],
  { Filter: { then: ["podFitsOnNode"], now: ["findNodesThatFitPod"] }, Bind: { then: ["bind"], now: ["bind"] } },
);

describe("yesterday's names", () => {
  it("are those of the point: predicates at Filter, priorities at Score", () => {
    expect(CLASSIC.plugin("NodeResourcesFit", "Filter")).toBe("PodFitsResources, GeneralPredicates");
    expect(CLASSIC.plugin("NodeResourcesFit", "Score")).toBe("LeastRequestedPriority, MostRequestedPriority, …");
    expect(CLASSIC.plugin("NodeResourcesFit", "Bind")).toBe("");
    expect(CLASSIC.plugin("ImageLocality", "Filter")).toBe("");
  });

  it("are there for lanes and messages that had others", () => {
    expect(CLASSIC.term("gated")).toBe("activeQ + unschedulableQ");
    expect(CLASSIC.term("binding")).toBe("");
    expect(CLASSIC.message("NodeAffinity")).toBe("didn't match node selector");
    expect(CLASSIC.message("NodeName")).toBe("");
  });

  it("are those of functions, too, with today's behind the arrow", () => {
    expect(CLASSIC.functions("Filter")).toBe("podFitsOnNode → findNodesThatFitPod");
    expect(CLASSIC.functions("Bind")).toBe("bind");
    expect(CLASSIC.functions("PreEnqueue")).toBe("");
  });
});
