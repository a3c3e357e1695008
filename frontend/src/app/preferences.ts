// Small choices kept in this browser; the theme's key and values are those of the pages.

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

export function preference(name: string): string | null {
  try {
    return localStorage.getItem(`kviz.${name}`);
  } catch {
    return null; // storage may be forbidden
  }
}

export function setPreference(name: string, value: string): void {
  try {
    localStorage.setItem(`kviz.${name}`, value);
  } catch {
    // The choice then lasts for this page only.
  }
}

export const isTourKnown = (): boolean => preference("tour") === "seen";
export const forgetTourOffer = (): void => setPreference("tour", "seen");

/** Go on to the next theme and return it. */
export function nextTheme(): Theme {
  const root = document.documentElement;
  const now = THEMES.indexOf((root.dataset.theme ?? "auto") as Theme);
  const next = THEMES[(now + 1) % THEMES.length]!;
  if (next === "auto") delete root.dataset.theme;
  else root.dataset.theme = next;
  setPreference("theme", next);
  return next;
}
