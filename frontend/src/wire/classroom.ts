// A class as the server tells it (kviz/classroom/documents.py): over a websocket that comes back by itself, and REST
// for what is said to it.

export type Amounts = Readonly<Record<string, number>>;

/** A pod with what it requests; `priority` is null where it is not in question. */
export interface PodDrawn {
  readonly name: string;
  readonly requests: Amounts;
  readonly priority: number | null;
  readonly labels: readonly string[];
  readonly asks: readonly string[];
}

export interface PodInQuestion extends PodDrawn {
  readonly tolerates: readonly string[];
}

export interface PodOnNode extends PodDrawn {
  readonly is_victim: boolean;
  readonly breaks_budget: boolean;
  /** RFC 3339, where victims are in question. */
  readonly started: string;
}

export interface Waiting extends PodDrawn {
  readonly place: "active" | "backoff" | "unschedulable" | "waiting_on_permit" | "gated";
  readonly held_on: string;
}

/** A node with the values that are in question (kviz/classroom/drawing.py); all others are empty. */
export interface NodeDrawn {
  readonly name: string;
  readonly zone: string;
  readonly state: "" | "rejected" | "feasible" | "unexamined" | "chosen" | "nominated";
  readonly says: string;
  readonly is_cordoned: boolean;
  /** What is free, and what is allocatable. */
  readonly room: Readonly<Record<string, readonly [number, number]>>;
  readonly taints: readonly { readonly text: string; readonly is_soft: boolean }[];
  readonly labels: readonly string[];
  readonly pods: readonly PodOnNode[];
  readonly n_pods: number;
  readonly holds: readonly string[];
  readonly scores: readonly { readonly plugin: string; readonly weight: number; readonly points: number }[];
}

/** The cluster as a step shows it (kviz/lessons/picture.py). */
export interface Picture {
  readonly cycle: number;
  readonly kinds: readonly string[];
  readonly pod: PodInQuestion | null;
  /** No cycle has begun for the pod yet. */
  readonly is_next: boolean;
  readonly resources: readonly string[];
  readonly most: Amounts;
  readonly weights: Amounts;
  readonly nodes: readonly NodeDrawn[];
  readonly n_nodes: number;
  readonly waiting: readonly Waiting[];
  readonly n_waiting: number;
  /** `waiting` is the queue's order, else that of arrival. */
  readonly in_order: boolean;
  readonly history: readonly {
    readonly cycle: number;
    readonly pod: string;
    readonly result: string;
    readonly node: string;
  }[];
  readonly events: readonly { readonly at_s: number; readonly text: string }[];
}

export interface Count {
  readonly text: string;
  readonly n: number;
  readonly right: boolean | null;
}

export interface Asked {
  readonly vote: number;
  readonly number: number;
  readonly is_open: boolean;
  readonly is_shown: boolean;
  /** The teacher asks it on the spot; there may be no right answer. */
  readonly is_own: boolean;
  readonly is_second_try: boolean;
  readonly ask: string;
  readonly kind: "node" | "number" | "choice" | "order";
  readonly unit: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  readonly answer: Given | null;
  readonly answer_text: string;
  /** HTML, made from Markdown by the server. */
  readonly because: string;
  /** What the lesson says to wrong answers, as HTML. */
  readonly wrong: readonly { readonly given: Given; readonly says: string }[];
  readonly votes: readonly { readonly number: number; readonly n: number; readonly counts: readonly Count[] | null }[];
  readonly gain: {
    readonly n: number;
    readonly right_before: number;
    readonly right_after: number;
    readonly became_right: number;
    readonly became_wrong: number;
  } | null;
}

export type Given = string | number | readonly string[];
export type Point = readonly [number, number];

export interface Mark {
  readonly kind: "circle" | "pen";
  readonly points: readonly Point[];
}

export interface Seat {
  readonly number: number;
  readonly name: string;
  readonly is_in: boolean;
  readonly answered: boolean;
  readonly score: number;
}

export interface ClassState {
  readonly type: "state";
  readonly version: number;
  readonly is_open: boolean;
  readonly title: string;
  readonly number: number;
  /** 0: not known. */
  readonly n_steps: number;
  readonly step_title: string;
  /** HTML, made from Markdown by the server; so is `explains`. */
  readonly text: string;
  readonly explains: string;
  readonly cycle: number;
  readonly query: string;
  readonly explore: string;
  readonly picture: Picture | null;
  readonly is_waiting: boolean;
  readonly question: Asked | null;
  readonly is_black: boolean;
  readonly is_held: boolean;
  readonly marks: readonly Mark[];
  readonly pointer_seat: number;
  readonly leaders: readonly { readonly name: string; readonly number: number; readonly score: number }[];
  readonly contest: Contest | null;
  readonly task: Task | null;
}

/** A control that writes a line of changes (kviz/lessons/handles.py): its `line`, number and `unit`, or an option's. */
export interface Handle {
  readonly id: string;
  readonly of: string;
  readonly label: string;
  readonly kind: "number" | "range" | "choice" | "toggle";
  readonly now: string;
  readonly options: readonly { readonly value: string; readonly text: string; readonly line: string }[];
  readonly line: string;
  readonly unit: string;
  readonly least: number | null;
  readonly most: number | null;
  readonly step: string;
}

/** What a step is to try (kviz/classroom/documents.py); `text` is HTML. `goals` is null while a try is run. */
export interface Task {
  readonly text: string;
  readonly at_most: number;
  readonly of: readonly string[];
  readonly handles: readonly Handle[];
  readonly tried: {
    readonly changes: string;
    readonly goals: readonly { readonly goal: string; readonly met: boolean; readonly instead: string }[] | null;
    readonly met: boolean;
    readonly error: string;
  } | null;
}

/** Waiting pods that the class places by hand (kviz/classroom/contests.py); `of` is by priority. */
export interface Contest {
  readonly id: string;
  readonly of: Readonly<Record<string, number>>;
  /** What pods ask of a node beside their requests. */
  readonly asks: Readonly<Record<string, readonly string[]>>;
  readonly nodes: readonly string[];
  readonly is_revealed: boolean;
  readonly outcome: Outcome | null;
  /** How many reached what, the best first; empty before the reveal. */
  readonly spread: readonly Reached[];
  readonly shown: { readonly number: number; readonly name: string; readonly side: Side } | null;
  readonly leaders: readonly {
    readonly number: number;
    readonly name: string;
    readonly placed: number;
    readonly worth: number;
  }[];
}

export interface Reached {
  readonly placed: number;
  readonly worth: number;
  readonly n: number;
}

export interface ContestCounts {
  readonly n_begun: number;
  readonly n_done: number;
}

export interface ContestOfTeacher extends ContestCounts {
  readonly done: readonly number[];
  readonly spread: readonly Reached[];
}

export interface ScreenState extends ClassState {
  readonly n_in: number;
  readonly n_answered: number;
  readonly contest_counts: ContestCounts | null;
  /** What the class is placing. */
  readonly to_place: Pick<BoardState, "pods" | "nodes"> | null;
}

export interface TeacherState extends ClassState {
  readonly teacher: {
    readonly notes: string;
    readonly has_question: boolean;
    readonly is_shown: boolean;
    readonly hides: boolean;
    /** Of the lesson's steps; empty in a class about a run. */
    readonly titles: readonly string[];
    readonly seats: readonly Seat[];
    readonly n_in: number;
    readonly n_answered: number;
    readonly counts: readonly Count[];
    readonly is_scored: boolean;
    readonly may_play: boolean;
    readonly contest: ContestOfTeacher | null;
    readonly task: {
      readonly hint: string;
      readonly run: string;
      readonly proposals: readonly { readonly changes: string; readonly n: number }[];
    } | null;
    readonly opened_at: string;
    readonly closes_at: string;
  };
}

/** What only this participant is sent. */
export interface Me {
  readonly type: "me";
  readonly number: number;
  readonly name: string;
  readonly vote: number;
  readonly given: Given | null;
  /** What was answered before a second try, and what the lesson says to it, as HTML. */
  readonly before: { readonly given_text: string; readonly right: boolean; readonly says: string } | null;
}

export type Frame = ClassState | Me | { readonly type: "pointer"; readonly x: number; readonly y: number };

export interface Hears {
  frame(frame: Frame): void;
  link(state: LinkState): void;
}

/** Connected, or being connected again; for good: the class is over, this browser has no seat in it, or newer pages of
 * it have taken this one's place. */
export type LinkState = "up" | "away" | "over" | "noSeat" | "crowded";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** The codes after which a page does not connect again. */
const FOR_GOOD: Readonly<Record<number, LinkState>> = { 4403: "noSeat", 4404: "over", 4429: "crowded" };

/** The connection to a room: a lost one is made again, each time after a longer pause. */
export class Link {
  private socket: WebSocket | null = null;
  private pause = FIRST_PAUSE_MS;
  private hasEnded = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly url: string,
    private readonly hears: Hears,
  ) {
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
    this.connect();
  }

  point([x, y]: Point): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ point: [x, y] }));
  }

  private connect(): void {
    const socket = (this.socket = new WebSocket(this.url));
    socket.onmessage = ({ data }) => {
      this.pause = FIRST_PAUSE_MS;
      this.hears.link("up");
      this.hears.frame(JSON.parse(String(data)) as Frame);
    };
    socket.onclose = ({ code }) => {
      this.socket = null;
      const end = FOR_GOOD[code];
      if (end) return this.end(end);
      this.hears.link("away");
      // A class that lost its connection together does not come back in one moment.
      this.timer = setTimeout(() => this.connect(), this.pause * (0.5 + Math.random()));
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
    };
  }

  private end(state: LinkState): void {
    this.hasEnded = true;
    this.hears.link(state);
  }

  /** Do not wait any longer: the network is back, or somebody looks at the page again. */
  private hurry(): void {
    if (this.socket || this.hasEnded) return;
    clearTimeout(this.timer);
    this.pause = FIRST_PAUSE_MS;
    this.connect();
  }
}

/** What a browser may say to a room; a refusal is an Error with the server's words. */
export class Saying {
  constructor(
    readonly code: string,
    private readonly csrf: string,
  ) {}

  answer(vote: number, answer: Given): Promise<Me> {
    return this.post("answer", { vote, answer }) as Promise<Me>;
  }

  async propose(changes: string): Promise<void> {
    await this.post("propose", { changes });
  }

  async mine(): Promise<Me> {
    return (await read(await fetch(`/api/v1/classes/${this.code}/answer/`, { credentials: "same-origin" }))) as Me;
  }

  async control(what: string, more: object = {}): Promise<void> {
    await this.post("control", { do: what, ...more });
  }

  private post(path: string, body: object): Promise<unknown> {
    return post(`/api/v1/classes/${this.code}/${path}/`, this.csrf, body);
  }
}

async function post(url: string, csrf: string, body: object): Promise<unknown> {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrf };
  return read(await fetch(url, { method: "POST", credentials: "same-origin", headers, body: JSON.stringify(body) }));
}

async function read(response: Response): Promise<unknown> {
  if (response.status === 204) return null;
  const document = (await response.json().catch(() => ({}))) as { detail?: string };
  if (!response.ok) throw new Error(document.detail ?? response.statusText);
  return document;
}

/** What a placement comes to; `placed` by priority. */
export interface Side {
  readonly placed: Readonly<Record<string, number>>;
  readonly worth: number | null;
  readonly placement: Readonly<Record<string, string>>;
  readonly objections: readonly string[];
}

/** What is revealed of a game; `scheduler` null while its run is under way. */
export interface Outcome {
  readonly scheduler: Side | null;
  readonly best: {
    readonly state: "waiting" | "proven" | "found" | "unknown";
    readonly side: Side | null;
    readonly why: string;
    readonly not_comparable: readonly string[];
  };
}

export interface BoardPod {
  readonly name: string;
  readonly priority: number;
  readonly asks: string;
  readonly node: string;
  readonly total: number | null;
  /** The highest total of any node at its turn; null until it is revealed. */
  readonly best: number | null;
  readonly scores: Readonly<Record<string, number>>;
}

export interface BoardNode {
  readonly name: string;
  readonly zone: string;
  readonly taints: readonly string[];
  readonly pods: readonly string[];
  readonly n_pods: number;
  readonly room: string;
}

/** A player's board (kviz/by_hand/documents.py). */
export interface BoardState {
  readonly title: string;
  readonly pods: readonly BoardPod[];
  readonly nodes: readonly BoardNode[];
  /** How many pods wait, by priority. */
  readonly of: Readonly<Record<string, number>>;
  readonly n_moves: number;
  readonly is_finished: boolean;
  readonly is_revealed: boolean;
  readonly mine: Side | null;
  readonly outcome: Outcome | null;
  readonly verdict: string;
}

export interface Refusal {
  readonly plugin: string;
  readonly message: string;
  readonly sentence: string;
}

/** For every node why a pod may not go there; null where it may. */
export type Refusals = Readonly<Record<string, Refusal | null>>;
export type Did = "place" | "undo" | "reset" | "finish";

/** Where a board is read and played on. */
export class Playing {
  constructor(
    private readonly url: string,
    private readonly csrf: string,
  ) {}

  async board(): Promise<BoardState> {
    return (await read(await fetch(this.url, { credentials: "same-origin" }))) as BoardState;
  }

  async look(pod: string): Promise<Refusals> {
    const url = `${this.url}?pod=${encodeURIComponent(pod)}`;
    const found = (await read(await fetch(url, { credentials: "same-origin" }))) as { readonly nodes: Refusals };
    return found.nodes;
  }

  async say(what: Did, more: { readonly pod?: string; readonly node?: string } = {}): Promise<BoardState> {
    return (await post(this.url, this.csrf, { do: what, ...more })) as BoardState;
  }
}

/** Where the room is followed. */
export function addressOf(code: string, audience: string): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return `${scheme}://${location.host}/ws/class/${code}/?as=${audience}&in=${document.documentElement.lang}`;
}
