// Where every node stands on the map: groups in rows of boxes, cells in each box. The cell is as
// large as lets everything fit, times the zoom.

import type { NodeIndex } from "../../base/units.ts";
import type { Group } from "../../store/grouping.ts";

/** How much larger than fitting cells can be. */
export const ZOOMS = [1, 1.5, 2, 3, 5, 8, 12, 20] as const;

export interface Box {
  readonly group: Group;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly columns: number;
}

export interface Layout {
  readonly boxes: readonly Box[];
  readonly cell: Cell;
  /** Height of everything; may exceed the viewport when zoomed in. */
  readonly height: number;
}

export interface Cell {
  readonly width: number;
  readonly height: number;
  readonly gap: number;
}

export const HEADER = 24;
const PADDING = 8;
const MARGIN = 8;
const SMALLEST = 2;
const LARGEST = 240;
const MOST_COLUMNS = 8;
const STRETCHED_FROM = 58;
const MOST_STRETCH = 1.8;
/** About what a letter of a group's name takes. */
const LETTER = 7.5;
const WIDEST_TITLE = 260;

/** Cells are square while small and grow wide, to hold a name, as they get larger. */
export function cellOf(size: number): Cell {
  const gap = size < 5 ? 1 : size < 48 ? 2 : 6;
  const width = Math.floor(size);
  const height = Math.floor(size <= 28 ? size : 28 + (size - 28) * 0.55);
  return { width, height, gap };
}

export function layout(groups: readonly Group[], width: number, height: number, zoom: number): Layout {
  if (!groups.length || width < 40) return { boxes: [], cell: cellOf(SMALLEST), height: 0 };
  let best = { size: 0, perRow: 1 };
  const most = Math.min(groups.length, MOST_COLUMNS, Math.max(1, Math.floor(width / titleWidth(groups))));
  for (let perRow = 1; perRow <= most; perRow++) {
    const size = largestThatFits(groups, width, height, perRow);
    if (size > best.size + 0.5) best = { size, perRow };
  }
  const size = Math.min(best.size * zoom, width - 4 * PADDING);
  let perRow = best.perRow;
  while (perRow > 1 && cellOf(size).width > roomIn(width, perRow)) perRow--;
  const placed = place(groups, width, size, perRow);
  return zoom === 1 ? filled(placed, groups, width, height, size, perRow) : placed;
}

/** How wide the cells of a box may be together, with so many boxes in a row. */
function roomIn(width: number, perRow: number): number {
  return widthOfBox(width, perRow) - 2 * PADDING;
}

function widthOfBox(width: number, perRow: number): number {
  return Math.floor((width - MARGIN * (perRow + 1)) / perRow);
}

/** How wide a box has to be for the longest name of a group to stand in it, within reason. */
function titleWidth(groups: readonly Group[]): number {
  const longest = Math.max(...groups.map(({ name, nodes }) => name.length + String(nodes.length).length + 2));
  return Math.min(WIDEST_TITLE, longest * LETTER) + 2 * PADDING + MARGIN;
}

/** Cards grow taller while there is height left over. */
function filled(
  placed: Layout,
  groups: readonly Group[],
  width: number,
  height: number,
  size: number,
  perRow: number,
): Layout {
  if (placed.cell.width < STRETCHED_FROM || placed.height >= height) return placed;
  let lines = 0;
  for (let row = 0; row < placed.boxes.length; row += perRow) {
    const inRow = placed.boxes.slice(row, row + perRow);
    lines += Math.max(...inRow.map((box) => Math.ceil(box.group.nodes.length / box.columns)));
  }
  const more = Math.floor((height - placed.height) / lines);
  return place(groups, width, size, perRow, Math.min(more, Math.floor(placed.cell.height * (MOST_STRETCH - 1))));
}

function largestThatFits(groups: readonly Group[], width: number, height: number, perRow: number): number {
  let low = SMALLEST;
  let high = Math.min(LARGEST, width / perRow - 4 * PADDING);
  if (high <= low) return 0;
  while (high - low > 0.5) {
    const middle = (low + high) / 2;
    if (place(groups, width, middle, perRow).height <= height) low = middle;
    else high = middle;
  }
  return low;
}

function place(groups: readonly Group[], width: number, size: number, perRow: number, taller = 0): Layout {
  const least = cellOf(Math.max(SMALLEST, size));
  const boxWidth = widthOfBox(width, perRow);
  const room = roomIn(width, perRow);
  const largest = Math.max(...groups.map((group) => group.nodes.length));
  const columns = Math.max(1, Math.min(largest, Math.floor((room + least.gap) / (least.width + least.gap))));
  const wide = stretched(least, room, columns);
  const cell = { ...wide, height: wide.height + taller };
  const boxes: Box[] = [];
  let y = MARGIN;
  for (let row = 0; row < groups.length; row += perRow) {
    const inRow = groups.slice(row, row + perRow);
    const most = Math.max(...inRow.map((group) => group.nodes.length));
    const lines = Math.ceil(most / columns);
    const boxHeight = HEADER + lines * (cell.height + cell.gap) - cell.gap + PADDING;
    inRow.forEach((group, i) => {
      const x = MARGIN + i * (boxWidth + MARGIN);
      boxes.push({ group, x, y, width: boxWidth, height: boxHeight, columns });
    });
    y += boxHeight + MARGIN;
  }
  return { boxes, cell, height: y };
}

/** Cards take up the width that is left over. */
function stretched(cell: Cell, room: number, columns: number): Cell {
  if (cell.width < STRETCHED_FROM) return cell;
  const full = Math.floor((room - (columns - 1) * cell.gap) / columns);
  const most = Math.max(LARGEST, Math.floor(cell.width * MOST_STRETCH));
  return { ...cell, width: Math.max(cell.width, Math.min(full, most)) };
}

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** The upper left corner of the n-th cell of a box. */
export function spotOf(box: Box, cell: Cell, n: number): Spot {
  const column = n % box.columns;
  const line = Math.floor(n / box.columns);
  return {
    x: box.x + PADDING + column * (cell.width + cell.gap),
    y: box.y + HEADER + line * (cell.height + cell.gap),
  };
}

/** Which node is at a point; -1 for none. */
export function nodeAt({ boxes, cell }: Layout, x: number, y: number): number {
  const box = boxes.find((b) => x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height);
  if (!box) return -1;
  const column = Math.floor((x - box.x - PADDING) / (cell.width + cell.gap));
  const line = Math.floor((y - box.y - HEADER) / (cell.height + cell.gap));
  if (column < 0 || column >= box.columns || line < 0) return -1;
  return box.group.nodes[line * box.columns + column] ?? -1;
}

/** Where a node stands; null if it is on no box. */
export function find({ boxes, cell }: Layout, node: NodeIndex): Spot | null {
  for (const box of boxes) {
    const n = box.group.nodes.indexOf(node);
    if (n >= 0) return spotOf(box, cell, n);
  }
  return null;
}

/** The node next to another in a direction, crossing from box to box; -1 at the edge. */
export function nextNode(map: Layout, node: NodeIndex, key: string): number {
  const from = find(map, node);
  if (!from) return map.boxes[0]?.group.nodes[0] ?? -1;
  const order = map.boxes.flatMap((box) => box.group.nodes);
  if (key === "Home") return order[0]!;
  if (key === "End") return order.at(-1)!;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    return order[order.indexOf(node) + (key === "ArrowRight" ? 1 : -1)] ?? -1;
  }
  return nearestVertical(map, from, key === "ArrowDown" ? 1 : -1);
}

function nearestVertical(map: Layout, from: Spot, direction: 1 | -1): number {
  let best = -1;
  let bestDistance = Infinity;
  for (const box of map.boxes) {
    box.group.nodes.forEach((node, n) => {
      const spot = spotOf(box, map.cell, n);
      const down = (spot.y - from.y) * direction;
      if (down < map.cell.height / 2) return;
      const distance = down + 4 * Math.abs(spot.x - from.x);
      if (distance < bestDistance) [best, bestDistance] = [node, distance];
    });
  }
  return best;
}
