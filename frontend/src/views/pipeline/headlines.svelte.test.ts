// The sentence of every stop of every sample, in the languages of the interface.

import simplified from "virtual:catalogue/zh-hans/explorer";
import traditional from "virtual:catalogue/zh-hant/explorer";
import { expect, inject, test } from "vitest";

import { t } from "../../base/text/text.ts";
import { opened, type RunName } from "../../testing/opened.ts";
import { narrate } from "../../store/narrate.ts";
import { GRANULARITIES } from "../../store/position.ts";

const LONGEST = 120;
const SLIPS = /\b1 (nodes|pods|plugins)\b|\ball 1\b|\bevicts 0\b|[{}]|undefined| {2}/;

test.each(Object.keys(inject("runs")))("the sentences of %s are whole, and those of its cycles short", (run) => {
  const explorer = opened(run as RunName);
  const { navigation } = explorer;
  const wrong = new Set<string>();
  for (const by of GRANULARITIES) {
    navigation.goToCycle(1);
    navigation.setGranularity(by);
    do {
      const { key, params } = narrate(explorer);
      const filled = (text = ""): string =>
        text.replaceAll(/\{(\w+)\}/g, (hole, name: string) => String(params[name] ?? hole));
      for (const sentence of [t(key, params), ...[simplified, traditional].map((texts) => filled(texts[key]))]) {
        const isLong = by === "cycle" && sentence.length > LONGEST;
        if (!sentence || isLong || SLIPS.test(sentence)) wrong.add(sentence || key);
      }
    } while (navigation.step(1));
  }
  expect([...wrong]).toEqual([]);
  expect(navigation.position.cycle).toBe(explorer.fold.chronicle.nCycles);
});
