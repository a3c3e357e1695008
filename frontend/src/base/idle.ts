// What can wait until the browser has nothing better to do.

const AT_LATEST_MS = 5_000;

/** Work ahead of its need: what cannot be fetched now, as without a network, is asked for again when it is needed. */
export function onIdle(work: () => unknown): void {
  const ahead = (): void => void Promise.resolve(work()).catch(() => undefined);
  if ("requestIdleCallback" in globalThis) requestIdleCallback(ahead, { timeout: AT_LATEST_MS });
  else setTimeout(ahead, AT_LATEST_MS);
}
