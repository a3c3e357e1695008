// Where something drawn on one page lies on another: cards are laid out by the width of each page, so a point belongs
// to the node that it is on. What travels is its place in one layout that all pages know (`layout.ts`).

import type { Point } from "../../wire/classroom.ts";
import type { Tile } from "./layout.ts";

/** The box at a point, or the nearest one. */
export function boxAt([x, y]: Point, boxes: readonly Tile[]): number {
  const apart = ({ x: left, y: top, width, height }: Tile): number =>
    Math.hypot(Math.max(left - x, 0, x - left - width), Math.max(top - y, 0, y - top - height));
  let nearest = -1;
  boxes.forEach((box, i) => {
    if (nearest < 0 || apart(box) < apart(boxes[nearest]!)) nearest = i;
  });
  return nearest;
}

/** The same place beside the same box in another layout. */
export function moved(point: Point, from: readonly Tile[], to: readonly Tile[], box = boxAt(point, from)): Point {
  const [here, there] = [from[box], to[box]];
  if (!here || !there) return point;
  const x = (point[0] - here.x) / here.width;
  const y = (point[1] - here.y) / here.height;
  return [there.x + x * there.width, there.y + y * there.height];
}
