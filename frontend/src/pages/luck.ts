// The entry of the line about luck on a run's page.

import { awaitLuck } from "../views/waiting/luck.ts";

const line = document.querySelector<HTMLElement>("[data-expected]");
if (line) void awaitLuck(line);
