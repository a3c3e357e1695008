// Node names without what all of them end with, for places in which a full name has no room.

/** The domain that all names share, from their first dot on; empty where there is none, or a single name. */
export function sharedDomain(names: readonly (string | undefined)[]): string {
  const known = names.filter((name) => name !== undefined && name !== "") as string[];
  const domain = domainOf(known[0] ?? "");
  return known.length > 1 && known.every((name) => domainOf(name) === domain) ? domain : "";
}

const domainOf = (name: string): string => (name.includes(".") ? name.slice(name.indexOf(".")) : "");

/** Names that grow in number, each without the domain that all of them share. */
export class ShortNames {
  private domain = "";
  private nNames = 0;

  /** One of the names, shortened. */
  of(name: string, names: readonly (string | undefined)[]): string {
    if (this.nNames !== names.length) {
      this.nNames = names.length;
      this.domain = sharedDomain(names);
    }
    return this.domain && name.endsWith(this.domain) ? name.slice(0, -this.domain.length) : name;
  }
}
