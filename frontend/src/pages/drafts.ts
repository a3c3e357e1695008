// The entry of pages with a form whose draft is kept, and of those that come after it was sent.

import { keepDrafts } from "../views/forms/drafts.ts";

keepDrafts();
