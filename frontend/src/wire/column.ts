// Columns: NumPy arrays as they stand on the wire, little endian.

import type { Column } from "./events.ts";

export type IntColumn = Uint8Array | Int8Array | Int16Array | Int32Array | Float64Array;

/** Decode a column. 64-bit values become doubles, exact up to 2^53. */
export function columnValues(column: Column): IntColumn {
  const { dtype, data } = column;
  if (dtype === "u1" || dtype === "b1") return data;
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer;
  switch (dtype) {
    case "i1":
      return new Int8Array(bytes);
    case "i2":
      return new Int16Array(bytes);
    case "i4":
      return new Int32Array(bytes);
    case "i8":
      return Float64Array.from(new BigInt64Array(bytes), Number);
    default:
      throw new Error(`a column of type ${dtype} is not part of the contract`);
  }
}
