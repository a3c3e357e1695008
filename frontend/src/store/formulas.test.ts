import { describe, expect, it } from "vitest";

import { t } from "../base/text/text.ts";
import { normalization } from "./formulas.ts";

const written = (plugin: string, raw: number, all: number[], normalized: number): string | null => {
  const formula = normalization(plugin, raw, all, normalized);
  return formula && t(formula.key, formula.params);
};

describe("how a normalised score comes about", () => {
  it.each([
    ["TaintToleration", 1, [0, 1, 3], 67, "100 − 100 × 1 ÷ 3 = 67"],
    ["TaintToleration", 0, [0, 0], 100, "all raw scores are 0, which is 100"],
    ["NodeAffinity", 1, [0, 1, 3], 33, "100 × 1 ÷ 3 = 33"],
    ["NodeAffinity", 0, [0, 0], 0, "0 is on 0 to 100 already"],
    ["PodTopologySpread", 2, [2, 5, 6], 100, "100 × (6 + 2 − 2) ÷ 6 = 100"],
    ["InterPodAffinity", -5, [-10, -5, 10], 25, "100 × (-5 − -10) ÷ (10 − -10) = 25"],
    ["InterPodAffinity", 7, [7, 7], 0, "all raw scores are equal, which is 0"],
    ["NodeResourcesFit", 77, [77, 12], 77, "77 is on 0 to 100 already"],
  ])("%s with %i of %j is %i", (plugin, raw, all, normalized, text) => {
    expect(written(plugin, raw, all, normalized)).toBe(text);
  });

  it("says nothing where a plugin reckons otherwise", () => {
    expect(normalization("NodeAffinity", 1, [1, 2], 51)).toBeNull();
    expect(normalization("SomebodysOwn", 5, [5], 100)).toBeNull();
  });
});
