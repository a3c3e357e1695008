// The live connection: chunks in order, acknowledged, picked up again after a break from the last
// event that arrived. Replay and live are the same stream. Details of cycles come over the same line:
// those asked for, and the newest while the run is followed. The contract is in kviz/live/consumers.py.

import type { Cycle } from "../base/units.ts";
import { Asked } from "./asked.ts";
import { failure, reach } from "./reaching.ts";
import {
  gunzip,
  isLive,
  type Also,
  type Ask,
  type Carrier,
  type DeviceSurvey,
  type Link,
  type PreparedStates,
  type Receiver,
  type Source,
  type StatusFrame,
} from "./source.ts";

/** How a frame with details begins: this byte, then the cycle. A chunk is gzip, and begins otherwise. */
const DETAIL = 0x01;
const DETAIL_HEAD = 5;
/** How a frame with a preview begins; who asked for it reads on (previews.ts). */
const PREVIEW = 0x02;

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
/** Close codes from here on are the server's own: asking again would not help. */
const REFUSED_FROM = 4400;
/** The status of a server that is at work for somebody else. */
const BUSY = 503;
const BUSY_RETRY_MS = 1500;
const MOST_RETRIES = 6;

interface MissingFrame {
  readonly type: "missing";
  readonly cycle: Cycle;
}

interface PreviewFrame {
  readonly type: "preview";
}

/** Hears nothing: what there is before the start. */
const NOBODY: Receiver = {
  headers: () => -1,
  status: () => undefined,
  link: () => undefined,
  failed: () => undefined,
  detail: () => undefined,
};

export class Client implements Carrier {
  onPreview: Carrier["onPreview"] = () => undefined;
  private receiver: Receiver = NOBODY;
  private socket: WebSocket | null = null;
  private lastSeq = -1;
  private retryMs = FIRST_RETRY_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private queue: Promise<void> = Promise.resolve();
  private over: StatusFrame | null = null;
  private stopped = false;
  /** All of the run is here; the line stays open for details, and is opened again when one is wanted. */
  private ended = false;
  private following = false;
  private readonly asked = new Asked((cycles) => {
    if (!this.socket && this.ended) this.connect();
    else this.tell({ details: cycles });
  });

  /** `share` is the token of a shared run; empty for one's own. */
  constructor(
    private readonly url: string,
    private readonly share: string,
  ) {}

  start(receiver: Receiver): void {
    this.receiver = receiver;
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  detail(cycle: Cycle, signal: AbortSignal): Promise<Uint8Array> {
    if (this.stopped) return Promise.reject(new Error("the connection is closed"));
    return this.asked.ask(cycle, signal);
  }

  follow(isFollowing: boolean): void {
    if (this.following === isFollowing) return;
    this.following = isFollowing;
    this.tell({ following: isFollowing });
  }

  tell(message: object): boolean {
    const isOpen = this.socket?.readyState === WebSocket.OPEN;
    if (isOpen) this.socket!.send(JSON.stringify(message));
    return isOpen;
  }

  private connect(): void {
    this.link("connecting");
    const socket = new WebSocket(withShare(`${this.url}?after=${this.lastSeq}`, this.share, "&"));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      this.link("open");
      if (this.following) this.tell({ following: true });
      this.asked.tellAgain();
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      this.queue = this.queue.then(() => this.take(socket, data)).catch((e: unknown) => this.fail(e));
    };
    socket.onclose = (event: CloseEvent) => this.closed(socket, event.code);
    this.socket = socket;
  }

  private async take(socket: WebSocket, data: ArrayBuffer | string): Promise<void> {
    if (socket !== this.socket) return;
    if (typeof data === "string") {
      const frame = JSON.parse(data) as StatusFrame | MissingFrame | PreviewFrame;
      if (frame.type === "preview") void this.onPreview(frame);
      else if (frame.type === "status") this.takeStatus(frame);
      else if (frame.type === "missing") this.asked.refuse(frame.cycle, new Error("not recorded"));
      return;
    }
    const view = new DataView(data);
    if (view.getUint8(0) === DETAIL) return this.takeDetail(view);
    if (view.getUint8(0) === PREVIEW) return this.onPreview(view);
    this.lastSeq = this.receiver.headers(await gunzip(data));
    this.tell({ ack: this.lastSeq });
    this.endIfComplete();
  }

  private async takeDetail(frame: DataView<ArrayBuffer>): Promise<void> {
    const cycle = frame.getUint32(1);
    const bytes = await gunzip(new Uint8Array(frame.buffer, DETAIL_HEAD));
    this.tell({ got: cycle });
    if (!this.asked.answer(cycle, bytes) && this.following) this.receiver.detail(cycle, bytes);
  }

  private takeStatus(frame: StatusFrame): void {
    this.over = isLive(frame.status) ? null : frame;
    this.receiver.status(frame);
    this.endIfComplete();
  }

  private endIfComplete(): void {
    if (this.over && this.lastSeq >= this.over.last_seq) this.end();
  }

  private end(): void {
    this.link("ended");
    this.ended = true;
  }

  /** Whoever has all of the run is not bothered with how the line is. */
  private link(link: Link): void {
    if (!this.ended) this.receiver.link(link);
  }

  private closed(socket: WebSocket, code: number): void {
    if (socket !== this.socket || this.stopped) return;
    this.socket = null;
    void this.onPreview(null);
    if (code >= REFUSED_FROM) {
      this.stopped = true;
      this.link("refused");
    }
    if (this.stopped || this.ended) {
      this.asked.refuseAll(new Error("the connection is lost"));
      return;
    }
    this.link("waiting");
    this.timer = setTimeout(() => this.connect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
  }

  private fail(error: unknown): void {
    this.stop();
    this.asked.refuseAll(new Error("the connection is closed"));
    this.receiver.failed(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Ask for what the trace does not hold; the server simulates the run again up to the cycle. */
export const fetchAlso =
  (ask: Ask) =>
  async (cycle: Cycle): Promise<Also> =>
    (await ask<{ also: Also }>(`cycles/${cycle}/also/`, NEVER)).also;

export const fetchStates =
  (ask: Ask) =>
  (cycle: Cycle): Promise<PreparedStates> =>
    ask(`cycles/${cycle}/state/`, NEVER);

export const fetchDevices =
  (ask: Ask) =>
  (cycle: Cycle, node: string): Promise<DeviceSurvey> =>
    ask(`cycles/${cycle}/devices/?node=${encodeURIComponent(node)}`, NEVER);

/** Given up by nobody. */
const NEVER = new AbortController().signal;

/** Asks below the run's path. One run is simulated again at a time: who comes meanwhile asks again. */
export const asking =
  (api: string, share: string): Ask =>
  async <Answer>(path: string, signal: AbortSignal): Promise<Answer> => {
    const again = (): Promise<Response> =>
      reach(withShare(api + path, share, path.includes("?") ? "&" : "?"), { credentials: "same-origin", signal });
    let response = await again();
    for (let left = MOST_RETRIES; response.status === BUSY && left > 0; left--) {
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
      response = await again();
    }
    if (!response.ok) {
      const problem = (await response.json().catch(() => ({}))) as { detail?: string };
      throw new Error(problem.detail ?? failure(response));
    }
    if (response.headers.get("Content-Type")?.startsWith("text/")) return (await response.text()) as Answer;
    return (await response.json()) as Answer;
  };

/** A run on a server: headers and details over a socket, what is simulated again by request. */
export function served(socket: string, api: string, share: string, hasDevices: boolean): Source & { carrier: Carrier } {
  const client = new Client(socket, share);
  const ask = asking(api, share);
  return {
    carrier: client,
    start: (receiver) => client.start(receiver),
    detail: (cycle, signal) => client.detail(cycle, signal),
    follow: (isFollowing) => client.follow(isFollowing),
    also: fetchAlso(ask),
    states: fetchStates(ask),
    devices: hasDevices ? fetchDevices(ask) : null,
    ask,
  };
}

const withShare = (url: string, share: string, separator: string): string =>
  share ? `${url}${separator}share=${encodeURIComponent(share)}` : url;
