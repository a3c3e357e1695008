// Texts of a lesson's panel: whoever shows it imports this file.

import { lesson } from "./en-lesson.ts";
import { add } from "./text.ts";

add(lesson);
