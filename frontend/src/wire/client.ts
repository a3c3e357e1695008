// The live connection: chunks in order, acknowledged, picked up again after a break from the last
// event that arrived. Replay and live are the same stream.

import type { Cycle } from "../base/units.ts";
import {
  gunzip,
  isLive,
  type Also,
  type PreparedStates,
  type Receiver,
  type Source,
  type StatusFrame,
} from "./source.ts";

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
/** Close codes from here on are the server's own: asking again would not help. */
const REFUSED_FROM = 4400;

export class Client {
  private socket: WebSocket | null = null;
  private lastSeq = -1;
  private retryMs = FIRST_RETRY_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private queue: Promise<void> = Promise.resolve();
  private over: StatusFrame | null = null;
  private stopped = false;

  /** `share` is the token of a shared run; empty for one's own. */
  constructor(
    private readonly url: string,
    private readonly share: string,
    private readonly receiver: Receiver,
  ) {}

  start(): void {
    this.stopped = false;
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private connect(): void {
    this.receiver.link("connecting");
    const socket = new WebSocket(withShare(`${this.url}?after=${this.lastSeq}`, this.share, "&"));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      this.receiver.link("open");
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
      this.takeStatus(JSON.parse(data) as StatusFrame);
      return;
    }
    this.lastSeq = this.receiver.headers(await gunzip(data));
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ ack: this.lastSeq }));
    this.endIfComplete();
  }

  private takeStatus(frame: StatusFrame): void {
    if (frame.type !== "status") return;
    this.over = isLive(frame.status) ? null : frame;
    this.receiver.status(frame);
    this.endIfComplete();
  }

  private endIfComplete(): void {
    if (this.over && this.lastSeq >= this.over.last_seq) this.end();
  }

  private end(): void {
    this.stop();
    this.receiver.link("ended");
  }

  private closed(socket: WebSocket, code: number): void {
    if (socket !== this.socket || this.stopped) return;
    if (code >= REFUSED_FROM) {
      this.stopped = true;
      this.receiver.link("refused");
      return;
    }
    this.receiver.link("waiting");
    this.timer = setTimeout(() => this.connect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
  }

  private fail(error: unknown): void {
    this.stop();
    this.receiver.failed(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Fetch the detail of cycles below a run's API address; the browser undoes the gzip. */
export const fetchDetail =
  (api: string, share: string) =>
  async (cycle: Cycle, signal: AbortSignal): Promise<Uint8Array> => {
    const url = withShare(`${api}cycles/${cycle}/detail/`, share, "?");
    const response = await fetch(url, { signal, credentials: "same-origin" });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
    return new Uint8Array(await response.arrayBuffer());
  };

/** Ask for what the trace does not hold; the server simulates the run again up to the cycle. */
export const fetchAlso =
  (api: string, share: string) =>
  async (cycle: Cycle): Promise<Also> =>
    (await reenacted<{ also: Also }>(`${api}cycles/${cycle}/also/`, share)).also;

export const fetchStates =
  (api: string, share: string) =>
  (cycle: Cycle): Promise<PreparedStates> =>
    reenacted(`${api}cycles/${cycle}/state/`, share);

async function reenacted<Answer>(url: string, share: string): Promise<Answer> {
  const response = await fetch(withShare(url, share, "?"), { credentials: "same-origin" });
  const answer = (await response.json()) as Answer & { detail?: string };
  if (!response.ok) throw new Error(answer.detail ?? response.statusText);
  return answer;
}

/** A run on a server: headers over a socket, the rest by request. */
export function served(socket: string, api: string, share: string): Source {
  return {
    start: (receiver) => new Client(socket, share, receiver).start(),
    detail: fetchDetail(api, share),
    also: fetchAlso(api, share),
    states: fetchStates(api, share),
  };
}

const withShare = (url: string, share: string, separator: string): string =>
  share ? `${url}${separator}share=${encodeURIComponent(share)}` : url;
