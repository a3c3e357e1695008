// The entry of the page of an optimum that is searched for.

import { Leaving } from "../base/page.ts";
import { followSearch } from "../views/waiting/optimum.ts";

const box = document.querySelector<HTMLElement>("[data-search]");
if (box) void followSearch(box, new Leaving());
