// Where the nodes of the small map are: the same for everybody, so that what is drawn on it lies on the same nodes.

export const WIDTH = 1000;
const TALLEST = 1000;
const GAP = 14;
/** Room for a zone's name. */
const HEAD = 44;

export interface Tile {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Laid {
  readonly tiles: readonly Tile[];
  readonly zones: readonly { readonly name: string; readonly y: number }[];
  readonly height: number;
}

/** Lay out nodes that are in order of their zones, in rows that begin anew with each zone. */
export function layOut(zones: readonly string[]): Laid {
  const n = zones.length;
  const columns = n <= 4 ? Math.max(n, 2) : n <= 9 ? 3 : Math.ceil(Math.sqrt(n * 1.4));
  const places: { column: number; row: number; heads: number }[] = [];
  const heads: { name: string; row: number; heads: number }[] = [];
  let row = -1;
  let column = columns;
  zones.forEach((zone, i) => {
    if (i === 0 || zone !== zones[i - 1] || column === columns) {
      row++;
      column = 0;
    }
    if (zone && (i === 0 || zone !== zones[i - 1])) heads.push({ name: zone, row, heads: heads.length });
    places.push({ column: column++, row, heads: heads.length });
  });
  const width = (WIDTH - GAP * (columns - 1)) / columns;
  const room = TALLEST - heads.length * HEAD;
  const height = Math.min(width * 0.55, room / (row + 1) - GAP);
  const top = (row: number, heads: number): number => row * (height + GAP) + heads * HEAD;
  return {
    tiles: places.map((at) => ({ x: at.column * (width + GAP), y: top(at.row, at.heads), width, height })),
    zones: heads.map((at) => ({ name: at.name, y: top(at.row, at.heads) + HEAD - 14 })),
    height: Math.max(top(row + 1, heads.length) - GAP, 1),
  };
}
