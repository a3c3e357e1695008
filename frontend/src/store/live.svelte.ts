// How it stands with the run itself, and with the line to it.

import type { Link, StatusFrame } from "../wire/source.ts";

export class Live {
  link = $state<Link>("connecting");
  status = $state.raw<StatusFrame | null>(null);
  /** Why nothing more can be read; empty while all is well. */
  error = $state("");
  /** The cycle that an address asked for, 0 for none; it may still be on its way. */
  wanted = $state(0);
}
