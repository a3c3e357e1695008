// The entry of the site: connects the Explorer on the page's `#explorer` to a run on the server.

import { inQuery, type Surroundings } from "./app/place.ts";
import { start } from "./app/start.ts";
import { served } from "./wire/client.ts";
import { isLive } from "./wire/source.ts";

const root = document.getElementById("explorer");
if (root) {
  const {
    run = "",
    name = "",
    status = "",
    share = "",
    home = "/",
    runUrl = "/",
    optimumUrl = "",
    classic = "",
    devices = "",
    csrf = "",
    release: released = "",
  } = root.dataset;
  const api = `/api/v1/runs/${run}/`;
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const source = served(`${scheme}://${location.host}/ws/runs/${run}/`, api, share, devices !== "");
  const isOver = !isLive(status);
  const { fileUrl = "", fileNote = "", pageUrl = "", pageNote = "" } = root.dataset;
  const downloads: Surroundings["downloads"] = [
    { as: "file", url: fileUrl, note: fileNote },
    { as: "page", url: pageUrl, note: pageNote },
  ];
  void start({
    root,
    run,
    source,
    place: inQuery,
    isOver,
    released,
    page: {
      name,
      home,
      run: runUrl,
      optimum: optimumUrl,
      classic: classic !== "",
      downloads,
      server: { run, api, share, csrf, carrier: source.carrier },
    },
  });
}
