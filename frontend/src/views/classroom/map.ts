// The small map of a board on which pods are placed by hand: nodes as tiles, and whether the pod may go there.

import type { NodeDrawn, Point } from "../../wire/classroom.ts";
import { layOut, WIDTH, type Tile } from "./layout.ts";

const NS = "http://www.w3.org/2000/svg";
/** Pods that are drawn one by one. */
const MOST_PODS = 16;

function svg(tag: string, attributes: Readonly<Record<string, string | number>>, text = ""): SVGElement {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text) made.textContent = text;
  return made;
}

/** A state has a shape as well as a colour. */
const SIGNS: Readonly<Record<string, string>> = {
  rejected: "✕",
  feasible: "✓",
  chosen: "★",
  unexamined: "·",
  nominated: "⚑",
};

export type NodeOnMap = Pick<NodeDrawn, "name" | "zone" | "state" | "says" | "n_pods">;

export class SmallMap {
  readonly root: SVGSVGElement;
  private readonly nodes = svg("g", {});
  private tiles: readonly { readonly name: string; readonly at: Tile }[] = [];
  private shown = "";

  constructor() {
    this.root = svg("svg", { class: "map", viewBox: `0 0 ${WIDTH} 400`, "aria-hidden": "true" }) as SVGSVGElement;
    this.root.append(this.nodes);
  }

  show(nodes: readonly NodeOnMap[]): void {
    const key = JSON.stringify(nodes);
    if (key === this.shown) return;
    this.shown = key;
    this.draw(nodes);
  }

  /** Where an event is on the map. */
  at(event: MouseEvent): Point {
    // A map that is as tall as it may be is narrower than its element.
    const onScreen = this.root.getScreenCTM()?.inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(onScreen);
    const within = (value: number): number => Math.max(0, Math.min(1000, Math.round(value)));
    return [within(x), within(y)];
  }

  /** The node at a place; empty between them. */
  nodeAt([x, y]: Point): string {
    const found = this.tiles.find(({ at }) => x >= at.x && x <= at.x + at.width && y >= at.y && y <= at.y + at.height);
    return found?.name ?? "";
  }

  private draw(nodes: readonly NodeOnMap[]): void {
    const { tiles, zones, height } = layOut(nodes.map((node) => node.zone));
    this.root.setAttribute("viewBox", `0 0 ${WIDTH} ${Math.ceil(height)}`);
    this.tiles = nodes.map((node, i) => ({ name: node.name, at: tiles[i]! }));
    const names = zones.map(({ name, y }) => svg("text", { class: "map__zone", x: 2, y }, name));
    this.nodes.replaceChildren(...names, ...nodes.map((node, i) => tileOf(node, tiles[i]!)));
  }
}

function tileOf(node: NodeOnMap, at: Tile): SVGElement {
  const group = svg("g", {
    transform: `translate(${at.x} ${at.y})`,
    class: `map__node map__node--${node.state || "plain"}`,
  });
  const size = Math.min(at.height / 4, at.width / 8);
  group.append(svg("rect", { width: at.width, height: at.height, rx: 10, class: "map__tile" }));
  const fits = Math.max(4, Math.floor((at.width - size * 2) / (size * 0.58)));
  const name = node.name.length > fits ? `${node.name.slice(0, fits - 1)}…` : node.name;
  group.append(svg("text", { x: size * 0.5, y: size * 1.25, "font-size": size, class: "map__name" }, name));
  const sign = SIGNS[node.state];
  if (sign)
    group.append(
      svg(
        "text",
        { x: at.width - size * 0.4, y: size * 1.25, "font-size": size * 1.1, class: "map__sign", "text-anchor": "end" },
        sign,
      ),
    );
  const side = size * 0.62;
  for (let i = 0; i < Math.min(node.n_pods, MOST_PODS); i++) {
    const x = size * 0.5 + (i % 8) * side * 1.35;
    const y = size * 1.75 + Math.floor(i / 8) * side * 1.35;
    if (x + side < at.width && y + side < at.height - size * 0.4)
      group.append(svg("rect", { x, y, width: side, height: side, rx: 3, class: "map__pod" }));
  }
  if (node.says)
    group.append(
      svg(
        "text",
        { x: size * 0.5, y: at.height - size * 0.35, "font-size": size * 0.72, class: "map__says" },
        node.says,
      ),
    );
  return group;
}
