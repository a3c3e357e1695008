// A dry run of preemption on the map: the node's card, larger than life, with the pods that are on it at
// this step, and below a line those that were taken away.

import "../../base/text/late.ts";
import { short, t } from "../../base/text/text.ts";
import type { Palette } from "../../base/palette.ts";
import type { Pen } from "../../base/pen.ts";
import type { PodIndex } from "../../base/units.ts";
import type { Explorer } from "../../store/explorer.ts";
import { shownResources } from "../../store/nodes.ts";
import type { Standing, TrialShown } from "../../store/trial.ts";
import { find, type Layout } from "./layout.ts";
import { clip } from "./clip.ts";
import { drawBar, drawPod, type NodeCard, type Overlay, type PodBlock } from "./paint.ts";

interface Line {
  readonly block: PodBlock;
  readonly name: string;
  readonly priority: string;
  readonly isTried: boolean;
}

interface TrialCard {
  readonly name: string;
  readonly step: string;
  readonly on: readonly Line[];
  readonly away: readonly Line[];
  readonly bars: NodeCard["bars"];
}

const LEAST_WIDTH = 248;
const PAD = 10;
const ROW = 17;
const BAR = 17;
const TITLE = 38;
const RULE = 20;
const EDGE = 4;
/** More rows than these are counted, not drawn. */
const MOST_LINES = 7;

const BLOCKS: Record<Standing, PodBlock> = { removed: "nominated", reprieved: "pod", victim: "victim" };

export function trialOverlay(explorer: Explorer, layout: Layout, palette: Palette, played: TrialShown): Overlay | null {
  const spot = find(layout, played.trial.node);
  if (!spot) return null;
  const card = trialCard(explorer, played);
  const width = Math.max(LEAST_WIDTH, layout.cell.width);
  const height = Math.max(heightOf(card), layout.cell.height);
  return (c, view) => {
    const x = within(spot.x + (layout.cell.width - width) / 2, view.width - width);
    const y = view.top + within(spot.y - view.top + (layout.cell.height - height) / 2, view.height - height);
    drawTrial(c, palette, card, x, y, width, height);
  };
}

const within = (at: number, most: number): number => Math.round(Math.max(EDGE, Math.min(at, most - EDGE)));

const heightOf = ({ on, away, bars }: TrialCard): number =>
  TITLE + ROW * (linesOf(on) + linesOf(away)) + (away.length ? RULE : 0) + BAR * bars.length + 2 * PAD;

const linesOf = (lines: readonly Line[]): number => Math.min(lines.length, MOST_LINES + 1);

function trialCard(explorer: Explorer, { trial, candidate, standings, tried }: TrialShown): TrialCard {
  const { state, navigation } = explorer;
  const preemptor = navigation.record!.started.pod;
  const line = (pod: PodIndex, block: PodBlock): Line => ({
    block,
    name: state.podFacts(pod)?.name ?? "",
    priority: short(state.podFacts(pod)?.priority ?? 0),
    isTried: pod === tried,
  });
  const stays = state.podsWhere((pod) => state.nodeOf(pod) === trial.node && !standings.has(pod));
  const of = (...wanted: Standing[]): Line[] =>
    [...standings].filter(([, how]) => wanted.includes(how)).map(([pod, how]) => line(pod, BLOCKS[how]));
  return {
    name: explorer.shortNodeName(trial.node),
    step: t("preempt.step", { x: trial.step, n: candidate.reprieves.length }),
    on: [line(preemptor, "incoming"), ...of("reprieved"), ...stays.map((pod) => line(pod, "pod"))],
    away: of("removed", "victim"),
    bars: barsAt(explorer, { trial, standings }, preemptor),
  };
}

/** What the pods on the node take at this step, the preemptor among them. */
function barsAt(
  explorer: Explorer,
  { trial, standings }: Pick<TrialShown, "trial" | "standings">,
  preemptor: PodIndex,
): NodeCard["bars"] {
  const { state } = explorer;
  const gone = [...standings].filter(([pod, how]) => how !== "reprieved" && state.nodeOf(pod) === trial.node);
  return shownResources(explorer, trial.node).map((resource) => {
    const requests = (pod: PodIndex): number => state.podFacts(pod)?.requests[resource] ?? 0;
    const away = gone.reduce((sum, [pod]) => sum + requests(pod), 0);
    const adds = requests(preemptor);
    return {
      resource: state.resources[resource]!,
      requested: state.requested(trial.node, resource) - away + adds,
      adds,
      held: 0,
      allocatable: state.allocatable(trial.node, resource),
    };
  });
}

function drawTrial(
  c: Pen,
  palette: Palette,
  card: TrialCard,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const inner = width - 2 * PAD;
  c.fillStyle = palette.surface;
  c.fillRect(x, y, width, height);
  c.strokeStyle = palette.focus;
  c.lineWidth = 3;
  c.strokeRect(x + 1.5, y + 1.5, width - 3, height - 3);
  c.textBaseline = "top";
  c.fillStyle = palette.ink;
  c.font = `600 13px ${palette.font}`;
  c.fillText(clip(c, card.name, inner), x + PAD, y + PAD);
  c.font = `11.5px ${palette.font}`;
  c.fillStyle = palette.ink2;
  c.fillText(card.step, x + PAD, y + PAD + 17);
  let top = y + PAD + TITLE;
  top = drawLines(c, palette, card.on, x + PAD, top, inner);
  if (card.away.length) {
    drawRule(c, palette, x + PAD, top, inner);
    drawLines(c, palette, card.away, x + PAD, top + RULE, inner);
  }
  card.bars.forEach((bar, i) => {
    drawBar(c, palette, bar, x + PAD, y + height - PAD - BAR * (card.bars.length - i), inner, true);
  });
}

function drawRule(c: Pen, palette: Palette, x: number, y: number, width: number): void {
  const text = t("preempt.away");
  c.font = `11px ${palette.font}`;
  c.fillStyle = palette.ink3;
  c.fillText(text, x, y + 4);
  const from = x + c.measureText(text).width + 6;
  c.fillStyle = palette.line;
  c.fillRect(from, y + 10, Math.max(0, x + width - from), 1);
}

/** Pods by name with their priorities; returns where the next line begins. */
function drawLines(c: Pen, palette: Palette, lines: readonly Line[], x: number, y: number, width: number): number {
  const shown = lines.length > MOST_LINES + 1 ? lines.slice(0, MOST_LINES) : lines;
  shown.forEach((line, i) => {
    const top = y + i * ROW;
    if (line.isTried) {
      c.fillStyle = palette.sunken;
      c.fillRect(x - 4, top - 2, width + 8, ROW);
    }
    drawPod(c, palette, line.block, x, top + 2, 9);
    c.font = `${line.isTried ? "600 " : ""}11.5px ${palette.font}`;
    const priority = t("queue.priority", { n: line.priority });
    const room = width - c.measureText(priority).width - 24;
    c.fillStyle = line.block === "nominated" || line.block === "victim" ? palette.ink3 : palette.ink;
    c.fillText(clip(c, line.name, room), x + 15, top);
    c.fillStyle = palette.ink2;
    c.textAlign = "right";
    c.fillText(priority, x + width, top);
    c.textAlign = "left";
  });
  const rest = lines.length - shown.length;
  if (rest > 0) {
    c.font = `11px ${palette.font}`;
    c.fillStyle = palette.ink3;
    c.fillText(`+${rest}`, x + 15, y + MOST_LINES * ROW);
  }
  return y + linesOf(lines) * ROW;
}
