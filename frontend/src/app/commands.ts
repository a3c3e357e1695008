// The commands of the Explorer and their keys.

import { Commands, type Command } from "../store/commands.ts";
import type { Explorer } from "../store/explorer.ts";
import { EXPORTS, type Export } from "../store/exports.ts";
import type { TextKey } from "../base/text/text.ts";
import { TABS } from "../store/link.ts";
import { GRANULARITIES } from "../store/position.ts";
import type { Player } from "./player.ts";

/** What only the page can do. */
export interface Page {
  /** Whether there is a server that others can reach a link of. */
  readonly isOnline: boolean;
  readonly palette: () => void;
  readonly help: () => void;
  readonly tour: () => void;
  readonly bookmark: () => void;
  readonly cycles: () => void;
  readonly lab: () => void;
  readonly share: () => void;
  readonly exports: () => void;
  readonly carryOut: (what: Export) => void;
  readonly theme: () => void;
  readonly focusCycleNumber: () => void;
  readonly focusMap: () => void;
  readonly toggleMotion: () => void;
  readonly classic: () => void;
}

const FAR = 100;

export function makeCommands(explorer: Explorer, player: Player, page: Page): Commands {
  const commands = new Commands();
  commands.add(
    ...moves(explorer, player, page),
    ...looks(explorer, page),
    ...finds(explorer, page),
    ...exports(page),
    ...views(explorer, page),
  );
  return commands;
}

function moves(explorer: Explorer, player: Player, page: Page): Command[] {
  const still = (action: () => void) => (): void => {
    player.stop();
    action();
  };
  const group = "move";
  const finer = (direction: 1 | -1) => (): void => {
    const to = GRANULARITIES[GRANULARITIES.indexOf(explorer.navigation.by) + direction];
    if (to) explorer.navigation.setGranularity(to);
  };
  return [
    { id: "play", title: "command.play", group, keys: ["Space"], run: () => player.toggle() },
    {
      id: "forward",
      title: "command.forward",
      group,
      keys: ["ArrowRight"],
      run: still(() => explorer.navigation.step(1)),
    },
    { id: "back", title: "command.back", group, keys: ["ArrowLeft"], run: still(() => explorer.navigation.step(-1)) },
    {
      id: "farForward",
      title: "command.farForward",
      group,
      keys: ["Shift+ArrowRight"],
      run: still(() => explorer.navigation.jump(FAR)),
    },
    {
      id: "farBack",
      title: "command.farBack",
      group,
      keys: ["Shift+ArrowLeft"],
      run: still(() => explorer.navigation.jump(-FAR)),
    },
    { id: "first", title: "command.first", group, keys: ["Home"], run: still(() => explorer.navigation.goToCycle(1)) },
    {
      id: "last",
      title: "command.last",
      group,
      keys: ["End"],
      run: still(() => explorer.navigation.goToCycle(Infinity)),
    },
    { id: "coarser", title: "command.coarser", group, keys: ["["], run: finer(-1) },
    { id: "finer", title: "command.finer", group, keys: ["]"], run: finer(1) },
    { id: "nextOfPod", title: "command.nextOfPod", group, keys: ["."], run: still(() => explorer.toEventOfPod(1)) },
    {
      id: "previousOfPod",
      title: "command.previousOfPod",
      group,
      keys: [","],
      run: still(() => explorer.toEventOfPod(-1)),
    },
    {
      id: "nextFailure",
      title: "command.nextFailure",
      group,
      keys: ["n"],
      run: still(() => explorer.navigation.toFailure(1)),
    },
    {
      id: "previousFailure",
      title: "command.previousFailure",
      group,
      keys: ["N"],
      run: still(() => explorer.navigation.toFailure(-1)),
    },
    { id: "goTo", title: "command.goTo", group, keys: ["g"], run: page.focusCycleNumber },
    { id: "follow", title: "command.follow", group, keys: ["l"], run: still(() => explorer.navigation.follow()) },
  ];
}

function looks(explorer: Explorer, page: Page): Command[] {
  const tabs = TABS.map((tab, i): Command => ({
    id: `tab-${tab}`,
    title: `tab.${tab}`,
    under: "inspector.label",
    group: "look",
    keys: [String((i + 1) % 10)],
    run: () => explorer.selection.select({ tab }),
    enabled: () => explorer.tabs.includes(tab),
  }));
  return [
    ...tabs,
    {
      id: "table",
      title: "command.table",
      group: "look",
      keys: ["t"],
      run: () => explorer.display.setMap({ asTable: !explorer.display.map.asTable }),
    },
    {
      id: "lab",
      title: "command.lab",
      group: "look",
      keys: ["w"],
      run: page.lab,
      enabled: () => !explorer.fold.observed,
    },
    { id: "cycles", title: "command.cycles", group: "look", keys: ["c"], run: page.cycles },
    { id: "focus", title: "command.focus", group: "look", keys: ["f"], run: page.focusMap },
  ];
}

function finds(explorer: Explorer, page: Page): Command[] {
  const group = "find";
  return [
    { id: "palette", title: "command.palette", group, keys: ["Ctrl+K", "/"], run: page.palette },
    { id: "bookmark", title: "command.bookmark", group, keys: ["m"], run: page.bookmark },
    { id: "share", title: "command.share", group, keys: ["s"], run: page.share, enabled: () => page.isOnline },
    {
      id: "unpin",
      title: "command.unpin",
      group,
      keys: [],
      run: () => explorer.selection.select({ pod: null, node: -1 }),
      enabled: () => explorer.selection.podIsPinned || explorer.selection.node >= 0,
    },
  ];
}

function exports(page: Page): Command[] {
  const group = "export";
  const offered = EXPORTS.filter((each) => page.isOnline || each.kind !== "run");
  return [
    { id: "export", title: "command.export", group, keys: ["e"], run: page.exports },
    ...offered.map((each): Command => ({
      id: each.id,
      title: `export.${each.id}` as TextKey,
      under: "topbar.export",
      group,
      keys: [],
      run: () => page.carryOut(each),
    })),
  ];
}

function views(_: Explorer, page: Page): Command[] {
  const group = "view";
  return [
    { id: "theme", title: "command.theme", group, keys: ["d"], run: page.theme },
    { id: "motion", title: "command.motion", group, keys: [], run: page.toggleMotion },
    { id: "classic", title: "command.classic", group, keys: [], run: page.classic, enabled: () => page.isOnline },
    { id: "help", title: "command.help", group, keys: ["?"], run: page.help },
    { id: "tour", title: "command.tour", group, keys: [], run: page.tour },
  ];
}
