// The entry: mounts the Explorer on the page's `#explorer` and connects it to the run.

import { mount } from "svelte";

import "./app/app.css";
import App from "./app/App.svelte";
import { useLanguage } from "./base/text/text.ts";
import { Explorer } from "./store/explorer.ts";
import { readAddress } from "./store/link.ts";
import { Client, fetchAlso, fetchDetail, fetchStates, isLive } from "./wire/client.ts";

async function start(root: HTMLElement): Promise<void> {
  const { run = "", name = "", status = "", share = "", home = "/", runUrl = "/", pluginsUrl = "/plugins/" } = root.dataset;
  await useLanguage(document.documentElement.lang);
  const api = `/api/v1/runs/${run}/`;
  const explorer = new Explorer(run, fetchDetail(api, share), storage(), fetchAlso(api, share), fetchStates(api, share));
  explorer.begin(readAddress(location.search), !isLive(status));
  root.replaceChildren();
  mount(App, { target: root, props: { explorer, page: { name, home, run: runUrl, plugins: pluginsUrl } } });
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const client = new Client(`${scheme}://${location.host}/ws/runs/${run}/`, share, {
    headers: (bytes) => explorer.receive(bytes),
    status: (frame) => explorer.setStatus(frame),
    link: (link) => explorer.setLink(link),
    failed: (error) => explorer.setError(error.message),
  });
  client.start();
}

function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

const root = document.getElementById("explorer");
if (root) void start(root);
