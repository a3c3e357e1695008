// MessagePack, read in place. A trace of 50,000 cycles stays as bytes; any one of its events is
// decoded when somebody looks at it, so the reader can also skip over values and say where they are.

const utf8 = new TextDecoder();

export class MessagePackError extends Error {}

export class Reader {
  at = 0;
  private readonly view: DataView;

  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Enter an array and return how many values it holds. */
  array(): number {
    const head = this.byte();
    if ((head & 0xf0) === 0x90) return head & 0x0f;
    if (head === 0xdc) return this.uint(2);
    if (head === 0xdd) return this.uint(4);
    throw new MessagePackError(`expected an array at byte ${this.at - 1}`);
  }

  /** Read the next value; integers beyond 2^53 come as bigint. */
  value(): unknown {
    const head = this.byte();
    if (head < 0x80) return head;
    if (head >= 0xe0) return head - 0x100;
    if (head < 0x90) return this.map(head & 0x0f);
    if (head < 0xa0) return this.items(head & 0x0f);
    if (head < 0xc0) return this.string(head & 0x1f);
    return this.tagged(head);
  }

  /** Step over the next value. */
  skip(): void {
    const head = this.byte();
    if (head < 0x80 || head >= 0xe0) return;
    if (head < 0x90) this.skipMany(2 * (head & 0x0f));
    else if (head < 0xa0) this.skipMany(head & 0x0f);
    else if (head < 0xc0) this.advance(head & 0x1f);
    else this.skipTagged(head);
  }

  private tagged(head: number): unknown {
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.take(this.uint(1));
      case 0xc5:
        return this.take(this.uint(2));
      case 0xc6:
        return this.take(this.uint(4));
      case 0xca:
        return this.float(4);
      case 0xcb:
        return this.float(8);
      case 0xcc:
        return this.uint(1);
      case 0xcd:
        return this.uint(2);
      case 0xce:
        return this.uint(4);
      case 0xcf:
        return this.big(this.view.getBigUint64(this.advance(8)));
      case 0xd0:
        return this.view.getInt8(this.advance(1));
      case 0xd1:
        return this.view.getInt16(this.advance(2));
      case 0xd2:
        return this.view.getInt32(this.advance(4));
      case 0xd3:
        return this.big(this.view.getBigInt64(this.advance(8)));
      case 0xd9:
        return this.string(this.uint(1));
      case 0xda:
        return this.string(this.uint(2));
      case 0xdb:
        return this.string(this.uint(4));
      case 0xdc:
        return this.items(this.uint(2));
      case 0xdd:
        return this.items(this.uint(4));
      case 0xde:
        return this.map(this.uint(2));
      case 0xdf:
        return this.map(this.uint(4));
      default:
        throw new MessagePackError(`unknown head 0x${head.toString(16)}`);
    }
  }

  private skipTagged(head: number): void {
    switch (head) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        return;
      case 0xcc:
      case 0xd0:
        this.advance(1);
        return;
      case 0xcd:
      case 0xd1:
        this.advance(2);
        return;
      case 0xca:
      case 0xce:
      case 0xd2:
        this.advance(4);
        return;
      case 0xcb:
      case 0xcf:
      case 0xd3:
        this.advance(8);
        return;
      case 0xc4:
      case 0xd9:
        this.advance(this.uint(1));
        return;
      case 0xc5:
      case 0xda:
        this.advance(this.uint(2));
        return;
      case 0xc6:
      case 0xdb:
        this.advance(this.uint(4));
        return;
      case 0xdc:
        this.skipMany(this.uint(2));
        return;
      case 0xdd:
        this.skipMany(this.uint(4));
        return;
      case 0xde:
        this.skipMany(2 * this.uint(2));
        return;
      case 0xdf:
        this.skipMany(2 * this.uint(4));
        return;
      default:
        throw new MessagePackError(`unknown head 0x${head.toString(16)}`);
    }
  }

  private skipMany(n: number): void {
    for (let i = 0; i < n; i++) this.skip();
  }

  private byte(): number {
    return this.view.getUint8(this.advance(1));
  }

  private advance(n: number): number {
    const at = this.at;
    this.at = at + n;
    if (this.at > this.bytes.length) throw new MessagePackError("the bytes end inside a value");
    return at;
  }

  private uint(size: 1 | 2 | 4): number {
    const at = this.advance(size);
    if (size === 1) return this.view.getUint8(at);
    return size === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
  }

  private float(size: 4 | 8): number {
    const at = this.advance(size);
    return size === 4 ? this.view.getFloat32(at) : this.view.getFloat64(at);
  }

  private big(value: bigint): number | bigint {
    const near = Number(value);
    return Number.isSafeInteger(near) ? near : value;
  }

  private take(n: number): Uint8Array {
    const at = this.advance(n);
    return this.bytes.subarray(at, at + n);
  }

  private string(n: number): string {
    const at = this.advance(n);
    if (n > 24) return utf8.decode(this.bytes.subarray(at, at + n));
    let text = "";
    for (let i = at; i < at + n; i++) {
      const code = this.bytes[i]!;
      if (code > 0x7f) return utf8.decode(this.bytes.subarray(at, at + n));
      text += String.fromCharCode(code);
    }
    return text;
  }

  private items(n: number): unknown[] {
    const items = new Array<unknown>(n);
    for (let i = 0; i < n; i++) items[i] = this.value();
    return items;
  }

  private map(n: number): Record<string, unknown> {
    const entries: Record<string, unknown> = {};
    for (let i = 0; i < n; i++) {
      const key = String(this.value());
      Object.defineProperty(entries, key, { value: this.value(), enumerable: true });
    }
    return entries;
  }
}

/** Decode one whole value. */
export const decode = (bytes: Uint8Array): unknown => new Reader(bytes).value();
