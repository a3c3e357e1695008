// Where a page keeps what it shows: in the query of its address, or, opened from a disk, behind `#`.

import { readAddress, writeAddress, type Address } from "../store/link.ts";
import type { Server } from "../wire/preview.ts";
import type { Download } from "../views/export/exporting.ts";

/** What is around the Explorer; an address is empty where there is no such page. */
export interface Surroundings {
  readonly name: string;
  readonly home: string;
  readonly run: string;
  /** Whether yesterday's names are wanted from the start. */
  readonly classic: boolean;
  /** The page of the optimum, where that has been found. */
  readonly optimum: string;
  /** What the server makes files of; a page that carries its run has none. */
  readonly downloads: readonly Download[];
  /** Where changes of objects are tried; null likewise. */
  readonly server: Server | null;
}

export interface Place {
  read(): Address;
  write(address: Address, how: "pushState" | "replaceState"): void;
}

export const inQuery: Place = {
  read: () => readAddress(location.search),
  write: (address, how) => go(location.search, writeAddress(address, location.search), location.pathname, how),
};

export const inFragment: Place = {
  read: () => readAddress(location.hash.slice(1)),
  write: (address, how) => go(location.hash, writeAddress(address, "").replace(/^\?/, "#"), "", how),
};

function go(from: string, to: string, path: string, how: "pushState" | "replaceState"): void {
  if (to !== from) history[how](null, "", path + to);
}
