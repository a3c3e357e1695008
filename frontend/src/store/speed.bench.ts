// The store's budgets, measured with `npm run bench`: a run of 20,000 cycles folds at 2,000 cycles
// per second or faster, and seeking anywhere in it takes less than 20 ms.

import { bench, describe } from "vitest";

import { SyntheticRun } from "../testing/synthetic.ts";
import { Fold } from "./fold.ts";
import { State } from "./state.ts";

const CYCLES = 20_000;
const chunks = [...new SyntheticRun({ nodes: 60, pods: CYCLES, chunk: 20_000 }).chunks()];

function folded(): Fold {
  const fold = new Fold();
  for (const chunk of chunks) fold.append(chunk);
  return fold;
}

describe("the store", () => {
  bench(`folds ${CYCLES} cycles`, () => void folded(), { iterations: 3, time: 0 });

  const fold = folded();
  const state = new State(fold);
  const { endMoment, nCycles } = fold.chronicle;
  let step = 0;

  bench(
    "seeks from one end of the run to the other",
    () => {
      step = (step + 1) % nCycles;
      state.seek(endMoment.at(step % 2 ? nCycles - step : step + 1));
    },
    { iterations: 200, time: 0 },
  );
});
