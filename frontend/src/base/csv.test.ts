import { describe, expect, test } from "vitest";

import { csv, type Cell } from "./csv.ts";

/** The cells of a file, by the letter of RFC 4180. */
function read(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe("comma-separated values", () => {
  test("come back as they were, whatever stands in a cell", () => {
    const rows = [
      ["a,b", 'say "no"', "two\r\nlines"],
      ["", "plain", "ünï, 节点"],
      ['"', ",", "\n"],
    ];
    expect(read(csv(["x", "y", "z"], rows))).toEqual([["x", "y", "z"], ...rows]);
  });

  test.each<[Cell, string]>([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    [-1, "-1"],
    [0.5, "0.5"],
    [null, ""],
    ["a=b", "a=b"],
    ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
  ])("%j is written %j, so that no spreadsheet computes it", (cell, written) => {
    expect(csv(["head"], [[cell]])).toBe(`head\r\n${written}\r\n`);
  });
});
