// Everything one can do, in one registry: the keyboard map, the palette and the help page are read
// from it, so none of them can lie.

import type { TextKey } from "../base/text/text.ts";

export const COMMAND_GROUPS = ["move", "look", "find", "export", "view"] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

export interface Command {
  readonly id: string;
  readonly title: TextKey;
  /** What it belongs to, said before the title where commands of all kinds stand together. */
  readonly under?: TextKey;
  readonly group: CommandGroup;
  /** Keys as `keyName` gives them; the first is shown. */
  readonly keys: readonly string[];
  readonly run: () => void;
  readonly enabled?: () => boolean;
}

export class Commands {
  private readonly byId = new Map<string, Command>();
  private readonly byKey = new Map<string, Command>();

  get all(): readonly Command[] {
    return [...this.byId.values()];
  }

  get(id: string): Command {
    const command = this.byId.get(id);
    if (!command) throw new Error(`no command ${id}`);
    return command;
  }

  /** Add commands; a key or id taken twice is a mistake. */
  add(...commands: Command[]): void {
    for (const command of commands) {
      if (this.byId.has(command.id)) throw new Error(`command ${command.id} exists`);
      this.byId.set(command.id, command);
      for (const key of command.keys) {
        if (this.byKey.has(key)) throw new Error(`key ${key} is taken`);
        this.byKey.set(key, command);
      }
    }
  }

  run(id: string): void {
    const command = this.get(id);
    if (command.enabled?.() !== false) command.run();
  }

  /** The command for a key press; `single` says whether keys without a modifier count. */
  forKey(event: KeyLike, single: boolean): Command | null {
    const name = keyName(event);
    const command = this.byKey.get(name);
    if (!command || command.enabled?.() === false) return null;
    return single || isChord(name) ? command : null;
  }
}

export interface KeyLike {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** `Ctrl+K`, `Shift+ArrowLeft`, `n`, `N`, `?`, `Space`: Shift shows in a letter itself. */
export function keyName(event: KeyLike): string {
  const key = event.key === " " ? "Space" : event.key;
  const letter = key.length === 1;
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && !letter) parts.push("Shift");
  parts.push(parts.length && letter ? key.toUpperCase() : key);
  return parts.join("+");
}

const SIGNS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Ctrl: "Ctrl",
  Shift: "Shift",
};

/** A key as it is written on keyboards: `Shift →`. */
export const keyLabel = (key: string): string =>
  key
    .split("+")
    .map((part) => SIGNS[part] ?? part)
    .join(" ");

const isChord = (name: string): boolean => name.startsWith("Ctrl+") || name.startsWith("Alt+");
