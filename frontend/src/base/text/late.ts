// Texts that the first screen does not need. A module that asks for one of them imports this file, so that
// they come along when it is fetched.

import { late } from "./en-late.ts";
import { add } from "./text.ts";

add(late);
