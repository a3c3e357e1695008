// What can wait until the browser has nothing better to do.

const AT_LATEST_MS = 5_000;

export function onIdle(work: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(work, { timeout: AT_LATEST_MS });
  else setTimeout(work, AT_LATEST_MS);
}
