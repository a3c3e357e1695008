// The picture of a class in its place on the page, and what lies over it.

import { flushSync, mount } from "svelte";

import type { Mark, Picture, Point } from "../../wire/classroom.ts";
import Scene from "./Scene.svelte";

const FADES_MS = 2500;

interface Shown {
  picture: Picture;
  marks: readonly Mark[];
  pointer: Point | null;
  chosen: string;
  canTap: boolean;
  ontap: (node: string) => void;
}

export class SceneInPlace {
  readonly root = document.createElement("div");
  ontap: (node: string) => void = () => undefined;
  private props: Shown | null = null;
  private scene: { at: (event: MouseEvent) => Point } | null = null;
  private fade: ReturnType<typeof setTimeout> | undefined;

  show(picture: Picture, marks: readonly Mark[], chosen: string, canTap: boolean): void {
    if (this.props) Object.assign(this.props, { picture, marks, chosen, canTap });
    else {
      const props: Shown = $state({ picture, marks, pointer: null, chosen, canTap, ontap: (node) => this.ontap(node) });
      this.props = props;
      this.scene = mount(Scene, { target: this.root, props }) as unknown as { at: (event: MouseEvent) => Point };
    }
    flushSync();
  }

  /** Where the pointer is; it fades when it rests. */
  point(x: number, y: number): void {
    if (!this.props) return;
    this.props.pointer = [x, y];
    clearTimeout(this.fade);
    this.fade = setTimeout(() => this.props && (this.props.pointer = null), FADES_MS);
  }

  /** Where an event is on the map, in the layout that all pages share. */
  at(event: MouseEvent): Point {
    return this.scene?.at(event) ?? [0, 0];
  }
}
