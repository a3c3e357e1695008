// The live connection: chunks in order, acknowledged, picked up again after a break from the last
// event that arrived. Replay and live are the same stream.

export type RunStatus = "queued" | "running" | "paused" | "finished" | "failed" | "cancelled";

const LIVE: readonly string[] = ["queued", "running", "paused"];

/** Whether more may come. */
export const isLive = (status: string): boolean => LIVE.includes(status);

export interface StatusFrame {
  readonly type: "status";
  readonly status: RunStatus;
  readonly cycles: number;
  readonly bound: number;
  readonly pending: number;
  readonly last_seq: number;
  readonly error?: string;
}

/** `ended`: the run is over and all of it is here. `refused`: there is no such run for this viewer. */
export type Link = "connecting" | "open" | "waiting" | "ended" | "refused";

export interface Receiver {
  /** Take a chunk's headers; returns the last seq that is now here. */
  headers(bytes: Uint8Array): number;
  status(frame: StatusFrame): void;
  link(link: Link): void;
  failed(error: Error): void;
}

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

export async function gunzip(bytes: ArrayBuffer): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Fetch the detail of cycles below a run's API address; the browser undoes the gzip. */
export const fetchDetail = (api: string, share: string) =>
  async (cycle: number, signal: AbortSignal): Promise<Uint8Array> => {
    const url = withShare(`${api}cycles/${cycle}/detail/`, share, "?");
    const response = await fetch(url, { signal, credentials: "same-origin" });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
    return new Uint8Array(await response.arrayBuffer());
  };

/** What each plugin would have said of a node had the ones before it let it pass, by node name. */
export type Also = Readonly<Record<string, readonly { plugin: string; reasons: readonly string[] }[]>>;

/** A plugin's state as the server tells it: scalars, lists, and values by name. */
export type Told = string | number | boolean | null | readonly Told[] | { readonly [name: string]: Told };

export interface Prepared {
  readonly plugin: string;
  readonly skipped: boolean;
  readonly state: Told;
}

/** What plugins prepared for Filter and for Score in one cycle. */
export interface PreparedStates {
  readonly pre_filter: readonly Prepared[];
  readonly pre_score: readonly Prepared[];
}

/** Ask for what the trace does not hold; the server simulates the run again up to the cycle. */
export const fetchAlso = (api: string, share: string) =>
  async (cycle: number): Promise<Also> => (await reenacted<{ also: Also }>(`${api}cycles/${cycle}/also/`, share)).also;

export const fetchStates = (api: string, share: string) =>
  (cycle: number): Promise<PreparedStates> => reenacted(`${api}cycles/${cycle}/state/`, share);

async function reenacted<Answer>(url: string, share: string): Promise<Answer> {
  const response = await fetch(withShare(url, share, "?"), { credentials: "same-origin" });
  const answer = (await response.json()) as Answer & { detail?: string };
  if (!response.ok) throw new Error(answer.detail ?? response.statusText);
  return answer;
}

const withShare = (url: string, share: string, separator: string): string =>
  share ? `${url}${separator}share=${encodeURIComponent(share)}` : url;
