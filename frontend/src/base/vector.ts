// Numbers that grow at the end, in typed arrays: 50,000 cycles of them must not weigh on the heap.

type Numbers = Int32Array | Uint32Array | Float64Array | Uint8Array;

export class Vector<T extends Numbers> {
  length = 0;

  constructor(public data: T) {}

  static int32 = (): Vector<Int32Array> => new Vector(new Int32Array(256));
  static float64 = (): Vector<Float64Array> => new Vector(new Float64Array(256));
  static uint8 = (): Vector<Uint8Array> => new Vector(new Uint8Array(256));

  push(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1);
    this.data[this.length++] = value;
  }

  at(i: number): number {
    return this.data[i]!;
  }

  /** Make indices below `length` valid; new ones hold 0. */
  resize(length: number): void {
    if (length > this.data.length) this.grow(length);
    if (length > this.length) this.length = length;
  }

  private grow(wanted: number): void {
    const size = Math.max(wanted, this.data.length * 2);
    const bigger = new (this.data.constructor as new (n: number) => T)(size);
    bigger.set(this.data);
    this.data = bigger;
  }
}

/** The number of leading entries of ascending `values` that are at most `limit`. */
export function countUpTo(values: Vector<Numbers>, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values.at(middle) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
