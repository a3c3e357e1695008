// The entry of a run's page: what it waits for comes without a reload by hand.

import { Leaving } from "../base/page.ts";
import { awaitCauses } from "../views/waiting/causes.ts";
import { followRun } from "../views/waiting/run.ts";

const box = document.querySelector<HTMLElement>("[data-follow]");
if (box) void followRun(box, new Leaving());
if (document.querySelector("[data-causes-expected]")) void awaitCauses();
