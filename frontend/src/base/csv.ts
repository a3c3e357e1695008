// Tables as comma-separated values (RFC 4180), the one place where they are written.

export type Cell = string | number | null;

/** Spreadsheets take text that begins like this for a formula, and compute it. */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

/** The file, heads first; null is an empty cell. */
export function csv(columns: readonly string[], rows: Iterable<readonly Cell[]>): string {
  const lines = [line(columns)];
  for (const row of rows) lines.push(line(row));
  return lines.join("");
}

const line = (cells: readonly Cell[]): string => `${cells.map(field).join(",")}\r\n`;

/** Numbers stand as they are; a text that looks like a formula gets an apostrophe in front. */
function field(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
