// The entry of the page of a session that waits for its scheduler.

import { Leaving } from "../base/page.ts";
import { awaitCalls } from "../views/waiting/session.ts";

const light = document.querySelector<HTMLElement>("[data-session]");
if (light) void awaitCalls(light.dataset.session ?? "", new Leaving());
