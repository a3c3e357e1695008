// The steps of a scenario: their times in words, and new ones put into the text.

const MS_NS = 1_000_000;
const UNITS = [
  { name: "h", ms: 3_600_000 },
  { name: "m", ms: 60_000 },
  { name: "s", ms: 1_000 },
  { name: "ms", ms: 1 },
] as const;

/** A time as Go writes durations, without parts that are zero. */
export function durationText(ns: number): string {
  let rest = Math.round(ns / MS_NS);
  let text = "";
  for (const { name, ms } of UNITS) {
    const n = Math.floor(rest / ms);
    rest -= n * ms;
    if (n) text += `${n}${name}`;
  }
  return text || "0s";
}

/** The text with a step after its last one; without steps they begin at the end. */
export function withStep(text: string, step: string): string {
  const lines = text.trimEnd().split("\n");
  const head = lines.findIndex((line) => /^steps:\s*(\[\s*\]\s*)?$/.test(line));
  if (head < 0) return `${text.trim() ? `${text.trimEnd()}\n` : ""}steps:\n${step.trimEnd()}\n`;
  lines[head] = "steps:";
  let after = head + 1;
  while (after < lines.length && !/^[^\s#-]/.test(lines[after] ?? "")) after++;
  const indent = /^\s*(?=-)/.exec(lines[head + 1] ?? "")?.[0] ?? "";
  const added = step
    .trimEnd()
    .split("\n")
    .map((line) => indent + line);
  return [...lines.slice(0, after), ...added, ...lines.slice(after)].join("\n") + "\n";
}
