import { encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";

import { decode, MessagePackError, Reader } from "./msgpack.ts";

const VALUES: unknown[] = [
  null,
  true,
  false,
  0,
  1,
  127,
  128,
  255,
  256,
  65535,
  65536,
  4294967295,
  4294967296,
  -1,
  -32,
  -33,
  -128,
  -129,
  -32768,
  -32769,
  -2147483648,
  -2147483649,
  Number.MAX_SAFE_INTEGER,
  1.5,
  -2.25e300,
  "",
  "short",
  "日本",
  "x".repeat(31),
  "y".repeat(32),
  "z".repeat(300),
  "w".repeat(70000),
  [],
  [1, [2, [3]]],
  new Array(16).fill("a"),
  new Array(70000).fill(7),
  {},
  { a: 1, b: { c: "d" } },
  Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i])),
  new Uint8Array([1, 2, 3]),
  new Uint8Array(300),
  new Uint8Array(70000),
];

describe("MessagePack reader", () => {
  test.each(VALUES.map((value, i) => [i, value]))("reads value %i as written", (_, value) => {
    expect(decode(encode(value))).toEqual(value);
  });

  test.each(VALUES.map((value, i) => [i, value]))("skips value %i to its end", (_, value) => {
    const bytes = encode(value);
    const reader = new Reader(bytes);
    reader.skip();
    expect(reader.at).toBe(bytes.length);
  });

  test("keeps 64-bit integers exact", () => {
    const ns = 1_772_442_000_123_456_789n;
    expect(decode(encode(ns, { useBigInt64: true }))).toBe(ns);
    expect(decode(encode(-ns, { useBigInt64: true }))).toBe(-ns);
    expect(decode(encode(1n << 40n, { useBigInt64: true }))).toBe(2 ** 40);
  });

  test("does not let a label named __proto__ change an object's prototype", () => {
    const label = new Uint8Array([0x81, 0xa9, ...new TextEncoder().encode("__proto__"), 0xa1, 0x78]);
    const read = decode(label) as Record<string, string>;
    expect(Object.keys(read)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  test.each([1, 2, 6])("says so when the bytes end after %i", (n) => {
    const cut = encode(["one", "two"]).subarray(0, n);
    expect(() => decode(cut)).toThrow(MessagePackError);
    expect(() => new Reader(cut).skip()).toThrow(MessagePackError);
  });
});
