// Quantities and times as people write them.

import type { Ms } from "./units.ts";

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

/** An amount as the server writes it: `500m` or `51.06` of cpu in milli, `204.2Gi` of memory in bytes. */
export function quantity(resource: string, amount: number): string {
  if (resource === "cpu") return Math.abs(amount) < 1000 ? (amount ? `${amount}m` : "0") : rounded(amount / 1000, 2);
  return inBytes(resource) ? bytes(amount) : String(amount);
}

/** Whether a resource is counted in bytes. */
export const inBytes = (resource: string): boolean => /^(memory|ephemeral-storage|hugepages-.*)$/.test(resource);

/** A number without zeros at its end: `1.5`. */
export const rounded = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** A number of bytes: `1.5Ki`. With `whole` it has the unit that suits that number. */
export function bytes(amount: number, whole = amount): string {
  let power = 0;
  let unit = 1;
  while (Math.abs(whole) / unit >= 1023.95 && power < BINARY.length - 1) {
    unit *= 1024;
    power++;
  }
  return amount ? `${rounded(amount / unit, 1)}${BINARY[power]}` : "0";
}

/** Two amounts of one resource, short: `0.9 / 7.8`, `5.9 / 31 Gi`. */
export function fraction(resource: string, part: number, whole: number): string {
  if (resource === "cpu") return `${compact(part / 1000)} / ${compact(whole / 1000)}`;
  if (!inBytes(resource)) return `${part} / ${whole}`;
  const power = Math.max(0, Math.floor(Math.log2(Math.max(1, whole)) / 10));
  const unit = 1024 ** power;
  return `${compact(part / unit)} / ${compact(whole / unit)} ${BINARY[power] ?? ""}`.trim();
}

const compact = (value: number): string =>
  Math.abs(value) >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");

/** A duration such as `850ms`, `2.1s`, `3m20s`, `4h05m`. */
export function duration(ms: Ms): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${(Math.floor(seconds * 10) / 10).toFixed(1).replace(/\.0$/, "")}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${pad(Math.floor(seconds % 60))}s`;
  return `${Math.floor(minutes / 60)}h${pad(minutes % 60)}m`;
}

/** The run's clock, `00:14:03.200`. */
export function clock(ms: Ms): string {
  const whole = Math.floor(ms);
  const seconds = Math.floor(whole / 1000);
  const hours = pad(Math.floor(seconds / 3600));
  const rest = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return `${hours}:${rest}.${String(whole % 1000).padStart(3, "0")}`;
}

const pad = (value: number): string => String(value).padStart(2, "0");

/** The last part of a resource name: `nvidia.com/gpu` is `gpu` where room is short. */
export const shortResource = (name: string): string =>
  name === "memory" ? "mem" : name.slice(name.lastIndexOf("/") + 1);
