// What a page of templates does while it is open: it asks the server, and fills in texts that it carries.

/** The page at an address as it would be now; null if there is no answer: the server may be restarting. */
export async function pageAt(address: string): Promise<Document | null> {
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

/** The JSON document at an address, likewise. */
export async function documentAt<T>(address: string): Promise<T | null> {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    return answer.ok ? ((await answer.json()) as T) : null;
  } catch {
    return null;
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

/** A text with values in the place of `{name}`. */
export const filled = (text: string, values: Readonly<Record<string, unknown>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));

/** Whether the reader is on the way to another page: a reload, or another page put into place, would take them back. */
export class Leaving {
  now = false;

  constructor() {
    addEventListener("beforeunload", () => (this.now = true));
    // Back again, to the page as it was left.
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted) this.now = false;
    });
  }
}
