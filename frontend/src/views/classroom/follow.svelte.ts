// What a page of a class has heard: the room, what only this participant is told, the pointer, the connection.

import {
  Link,
  addressOf,
  type ClassState,
  type Frame,
  type LinkState,
  type Me,
  type Point,
} from "../../wire/classroom.ts";

const FADES_MS = 2500;

export class Following<State extends ClassState> {
  state = $state.raw<State | null>(null);
  me = $state.raw<Me | null>(null);
  /** Where the pointer is; it fades when it rests. */
  pointer = $state.raw<Point | null>(null);
  link = $state<LinkState>("up");
  private readonly connection: Link;
  private fade: ReturnType<typeof setTimeout> | undefined;

  constructor(code: string, audience: "class" | "screen" | "teacher") {
    const link = (state: LinkState): void => void (this.link = state);
    this.connection = new Link(addressOf(code, audience), { frame: (frame) => this.hear(frame), link });
  }

  point(at: Point): void {
    this.connection.point(at);
  }

  private hear(frame: Frame): void {
    if (frame.type === "me") this.me = frame;
    else if (frame.type === "state") this.state = frame as State;
    else {
      this.pointer = [frame.x, frame.y];
      clearTimeout(this.fade);
      this.fade = setTimeout(() => (this.pointer = null), FADES_MS);
    }
  }
}
