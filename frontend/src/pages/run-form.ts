// The entry of the form of a new run.

import { followRunForm } from "../views/forms/run-form.ts";

followRunForm();
