// The steps of a lesson, as the server tells them to those who learn. The contract is docs/lessons.md.

import type { Cycle } from "../base/units.ts";
import { Refused, type ProblemDocument, type Server } from "./preview.ts";
import { failure, reach } from "./reaching.ts";

export interface Answered {
  readonly given: string | number | readonly string[] | null;
  readonly given_text: string;
  readonly right: boolean;
  /** What the lesson says to this wrong answer, as HTML. */
  readonly says: string;
  readonly answer_text: string;
  /** HTML, made from Markdown by the server. */
  readonly because: string;
}

export interface Question {
  readonly ask: string;
  readonly kind: "node" | "number" | "choice" | "order";
  readonly unit: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  /** Wrong answers that may be followed by another; `says` is HTML. */
  readonly tried: readonly { readonly given_text: string; readonly says: string }[];
  readonly answered: Answered | null;
}

export interface Step {
  readonly lesson_title: string;
  readonly number: number;
  readonly n_steps: number;
  readonly title: string;
  /** HTML, made from Markdown by the server; so is `explains`. */
  readonly text: string;
  readonly at: { readonly cycle: Cycle; readonly query: string } | null;
  readonly question: Question | null;
  readonly hides: boolean;
  readonly shown: boolean;
  readonly explains: string;
  readonly task: object | null;
}

export type Answer = string | number | readonly string[];

/** The steps of one lesson that this workspace has begun. */
export class Steps {
  constructor(
    readonly lesson: string,
    private readonly server: Server,
  ) {}

  get(number: number): Promise<Step> {
    return this.call(number, "", null);
  }

  answer(number: number, answer: Answer): Promise<Step> {
    return this.call(number, "answer/", { answer });
  }

  reveal(number: number): Promise<Step> {
    return this.call(number, "reveal/", {});
  }

  next(number: number): Promise<Step> {
    return this.call(number, "next/", {});
  }

  private async call(number: number, path: string, body: object | null): Promise<Step> {
    const headers = { "Content-Type": "application/json", "X-CSRFToken": this.server.csrf };
    const response = await reach(`/api/v1/lessons/${this.lesson}/steps/${number}/${path}`, {
      method: body ? "POST" : "GET",
      credentials: "same-origin",
      headers,
      body: body && JSON.stringify(body),
    });
    if (response.ok) return (await response.json()) as Step;
    const problem = (await response.json().catch(() => ({}))) as ProblemDocument;
    throw new Refused(problem.detail ?? failure(response), problem.errors ?? []);
  }
}
