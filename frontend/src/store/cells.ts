// Memory one can move through time in. All changing state is integers in cells; every write is
// journalled with what stood there before, so going to any moment, forward or back, is a walk
// over typed arrays: the whole of a 50,000 cycle run takes a few milliseconds, and no checkpoint
// has to be kept.

import type { NodeIndex } from "../base/units.ts";
import { Vector } from "../base/vector.ts";

/** Cells at one moment: the first `moment` events have happened. */
export class Memory {
  moment = 0;
  cells = new Int32Array(1024);
  /** Sums of requests: `[resource][node]`. */
  sums: Float64Array[] = [];
  private position = 0;
  private sumPosition = 0;

  constructor(private readonly journal: Journal) {}

  seek(moment: number): void {
    const { journal } = this;
    this.makeRoom();
    const wanted = journal.marks.at(moment);
    const { address, before, after } = journal;
    let i = this.position;
    for (; i < wanted; i++) this.cells[address.data[i]!] = after.data[i]!;
    for (; i > wanted; i--) this.cells[address.data[i - 1]!] = before.data[i - 1]!;
    this.position = i;
    this.seekSums(journal.sumMarks.at(moment));
    this.moment = moment;
  }

  private seekSums(wanted: number): void {
    const { sumResource, sumNode, sumChange } = this.journal;
    let i = this.sumPosition;
    for (; i < wanted; i++) {
      this.sums[sumResource.data[i]!]![sumNode.data[i]!]! += sumChange.data[i]!;
    }
    for (; i > wanted; i--) {
      this.sums[sumResource.data[i - 1]!]![sumNode.data[i - 1]!]! -= sumChange.data[i - 1]!;
    }
    this.sumPosition = i;
  }

  private makeRoom(): void {
    const { nCells, nResources, nNodes } = this.journal;
    if (this.cells.length < nCells) {
      const bigger = new Int32Array(Math.max(nCells, 2 * this.cells.length));
      bigger.set(this.cells);
      this.cells = bigger;
    }
    for (let r = 0; r < nResources; r++) {
      const sums = this.sums[r];
      if (sums && sums.length >= nNodes) continue;
      const bigger = new Float64Array(Math.max(nNodes, 2 * (sums?.length ?? 64)));
      if (sums) bigger.set(sums);
      this.sums[r] = bigger;
    }
  }
}

/** What was written when. Only the newest moment can be written; it has cells of its own. */
export class Journal {
  nCells = 0;
  nResources = 0;
  nNodes = 0;
  readonly address = Vector.int32();
  readonly before = Vector.int32();
  readonly after = Vector.int32();
  readonly sumResource = Vector.int32();
  readonly sumNode = Vector.int32();
  readonly sumChange = Vector.float64();
  /** Journal lengths after each moment; index 0 is before the first event. */
  readonly marks = Vector.int32();
  readonly sumMarks = Vector.int32();
  private readonly newest = Vector.int32();

  constructor() {
    this.commit();
  }

  /** Give out `n` cells, all 0; returns the address of the first. */
  allocate(n: number): number {
    const first = this.nCells;
    this.nCells += n;
    this.newest.resize(this.nCells);
    return first;
  }

  read(address: number): number {
    return this.newest.at(address);
  }

  write(address: number, value: number): void {
    const before = this.newest.at(address);
    if (before === value) return;
    this.address.push(address);
    this.before.push(before);
    this.after.push(value);
    this.newest.data[address] = value;
  }

  add(address: number, change: number): void {
    this.write(address, this.newest.at(address) + change);
  }

  addToSum(resource: number, node: NodeIndex, change: number): void {
    if (!change) return;
    this.nResources = Math.max(this.nResources, resource + 1);
    this.nNodes = Math.max(this.nNodes, node + 1);
    this.sumResource.push(resource);
    this.sumNode.push(node);
    this.sumChange.push(change);
  }

  /** End the moment: what follows belongs to the next event. */
  commit(): void {
    this.marks.push(this.address.length);
    this.sumMarks.push(this.sumChange.length);
  }
}
