// The handles of a task: which line of changes each writes when it is moved.

import type { Handle } from "../../wire/classroom.ts";

/** The line that moves a handle to a value; empty where it stands there. */
export function lineFor(handle: Handle, value: string): string {
  if (value === handle.now || (value === "" && !handle.options.length)) return "";
  if (handle.options.length) return handle.options.find((each) => each.value === value)?.line ?? "";
  return handle.line + value + handle.unit;
}

/** The handles by what they are of, in their order. */
export function byObject(handles: readonly Handle[]): readonly (readonly [string, readonly Handle[]])[] {
  const found = new Map<string, Handle[]>();
  for (const each of handles) found.set(each.of, [...(found.get(each.of) ?? []), each]);
  return [...found];
}
