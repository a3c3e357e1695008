// The entry of pages with texts to copy.

import { offerCopy } from "../views/forms/copy.ts";

// Browsers give no clipboard to pages without TLS, except on this machine.
if ("clipboard" in navigator)
  for (const button of document.querySelectorAll<HTMLElement>("[data-copy], [data-copy-from]")) offerCopy(button);
