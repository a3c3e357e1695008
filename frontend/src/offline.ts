// The entry of a page that carries its run: no server, no other page.

import { decompress } from "fzstd";

import { inFragment } from "./app/place.ts";
import { start } from "./app/start.ts";
import { readPage } from "./wire/embedded.ts";

const root = document.getElementById("explorer");
if (root) {
  const { run = "", name = "", release: released = "" } = root.dataset;
  const page = { name, home: "", run: "", optimum: "", classic: false, downloads: [], server: null };
  void start({ root, run, source: readPage(document, decompress), place: inFragment, isOver: true, page, released });
}
