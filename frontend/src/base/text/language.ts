// The language of the page, and its catalogue; English is in the sources.

/** As the page says. */
export const LANGUAGE = globalThis.document?.documentElement.lang || "en";

export type Catalogue = Readonly<Record<string, string>>;

export async function catalogue(): Promise<Catalogue> {
  if (LANGUAGE === "zh-hans") return (await import("virtual:catalogue/zh-hans/explorer")).default;
  if (LANGUAGE === "zh-hant") return (await import("virtual:catalogue/zh-hant/explorer")).default;
  return {};
}

export async function glossaryCatalogue(): Promise<Catalogue> {
  if (LANGUAGE === "zh-hans") return (await import("virtual:catalogue/zh-hans/glossary")).default;
  if (LANGUAGE === "zh-hant") return (await import("virtual:catalogue/zh-hant/glossary")).default;
  return {};
}
