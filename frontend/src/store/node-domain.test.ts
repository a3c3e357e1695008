// In narrow places nodes go by what tells them apart.

import { describe, expect, test } from "vitest";

import { sharedDomain, ShortNames } from "./node-domain.ts";

describe("the domain that node names share", () => {
  test("is all from the first dot on", () => {
    const names = ["ip-10-0-0-1.eu-west-1.compute.internal", "", undefined, "ip-10-0-0-2.eu-west-1.compute.internal"];
    expect(sharedDomain(names)).toBe(".eu-west-1.compute.internal");
  });

  test.each([[["a.one.example", "b.two.example"]], [["a.example", "b"]], [["a", "b"]], [["only.example"]], [[]]])(
    "is none of %j",
    (names) => {
      expect(sharedDomain(names)).toBe("");
    },
  );
});

describe("short names", () => {
  test("are whole again once a node of another domain joins", () => {
    const short = new ShortNames();
    const names = ["a.example", "b.example"];
    expect(short.of("a.example", names)).toBe("a");
    names.push("c.elsewhere");
    expect(short.of("a.example", names)).toBe("a.example");
  });
});
