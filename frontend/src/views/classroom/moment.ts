// The moment that the Explorer's address names.

/** What of an address is no moment, but says who looks. */
const OURS = ["share", "class", "lead", "lesson", "step"];

export function momentOf(search: string): string {
  const query = new URLSearchParams(search);
  for (const name of OURS) query.delete(name);
  return query.toString().replaceAll("%2F", "/");
}

/** Go to another moment in the same Explorer, as who looks now. */
export function openMoment(query: string): void {
  const now = new URLSearchParams(location.search);
  const wanted = new URLSearchParams(query);
  for (const name of OURS) if (now.has(name)) wanted.set(name, now.get(name)!);
  history.pushState(null, "", `?${wanted.toString().replaceAll("%2F", "/")}`);
  dispatchEvent(new PopStateEvent("popstate"));
}
