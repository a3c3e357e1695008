// Texts of two maps side by side: whoever draws them imports this file.

import { pair } from "./en-pair.ts";
import { add } from "./text.ts";

add(pair);
