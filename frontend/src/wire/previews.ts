// Previews over the line of the run: the newest request takes the place of one that waits, an answer that is older
// than what is shown is dropped. While the line is down they are asked for by request. The contract is docs/lab.md.

import type { Cycle } from "../base/units.ts";
import { fetchPreview, readPreview, Refused, type Preview, type ProblemDocument, type Server } from "./preview.ts";
import { gunzip } from "./source.ts";

const HEAD = 5;

/** How far the run has been simulated again, which the first preview of a cycle waits for. */
export interface Progress {
  readonly cycles: Cycle;
  readonly of: Cycle;
  /** Another simulation goes first. */
  readonly waiting?: boolean;
}

interface TextFrame {
  readonly id: number;
  readonly reenacting?: Progress;
  readonly problem?: ProblemDocument;
}

interface Listener {
  /** `isLatest`: nothing that was asked for later is on its way. */
  readonly answer: (preview: Preview, isLatest: boolean) => void;
  readonly problem: (refused: Refused) => void;
  readonly progress: (progress: Progress) => void;
}

interface Question {
  readonly id: number;
  readonly cycle: Cycle;
  readonly changes: readonly unknown[];
}

export class Previews {
  /** What was asked last; null once it is answered, or when nothing is wanted. */
  private asked: Question | null = null;
  private lastId = 0;
  /** Answers up to this one are of no interest any more. */
  private taken = 0;
  private request: AbortController | null = null;

  constructor(
    private readonly server: Server,
    private readonly listener: Listener,
  ) {
    server.carrier.onPreview = (frame) => this.take(frame);
  }

  ask(cycle: Cycle, changes: readonly unknown[]): void {
    if (this.asked?.cycle !== cycle) this.taken = this.lastId;
    this.request?.abort();
    this.asked = { id: ++this.lastId, cycle, changes };
    if (!this.server.carrier.tell({ preview: this.asked })) void this.byRequest(this.asked);
  }

  /** What was asked is not wanted any more. */
  forget(): void {
    this.taken = this.lastId;
    this.asked = null;
    this.request?.abort();
  }

  close(): void {
    this.forget();
    this.server.carrier.onPreview = () => undefined;
  }

  private async take(frame: DataView<ArrayBuffer> | object | null): Promise<void> {
    if (frame instanceof DataView) return this.takeAnswer(frame);
    if (frame) return this.hear(frame as TextFrame);
    if (this.asked) await this.byRequest(this.asked);
  }

  private async takeAnswer(frame: DataView<ArrayBuffer>): Promise<void> {
    const id = frame.getUint32(1);
    this.server.carrier.tell({ previewed: id });
    if (id <= this.taken) return;
    const bytes = await gunzip(new Uint8Array(frame.buffer, HEAD));
    if (id > this.taken) this.answered(id, readPreview(bytes));
  }

  private answered(id: number, preview: Preview): void {
    const isLatest = id === this.asked?.id;
    this.taken = id;
    if (isLatest) this.asked = null;
    this.listener.answer(preview, isLatest);
  }

  private hear({ id, reenacting, problem }: TextFrame): void {
    if (id !== this.asked?.id) return;
    if (reenacting) this.listener.progress(reenacting);
    if (problem) this.refused(new Refused(problem.detail ?? "", problem.errors ?? []));
  }

  private refused(refused: Refused): void {
    this.asked = null;
    this.taken = this.lastId;
    this.listener.problem(refused);
  }

  private async byRequest({ id, cycle, changes }: Question): Promise<void> {
    this.request?.abort();
    const request = (this.request = new AbortController());
    try {
      const preview = await fetchPreview(this.server, cycle, changes, request.signal);
      if (!request.signal.aborted) this.answered(id, preview);
    } catch (error) {
      if (!request.signal.aborted) this.refused(error instanceof Refused ? error : failed(error));
    }
  }
}

const failed = (error: unknown): Refused => new Refused((error as Error).message, []);
