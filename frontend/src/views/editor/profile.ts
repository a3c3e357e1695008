// A configuration's profile, changed by one choice at a time: what else its text says, and its comments, stay.
// What a text comes to is the engine's to say (`Checked.profiles`); this writes only.

import { Document, isMap, isSeq, parseDocument, YAMLMap, YAMLSeq } from "yaml";

/** A plugin of a profile: the points that it has, and those at which the profile runs it. */
export interface PluginOfProfile {
  readonly name: string;
  readonly implements: readonly string[];
  readonly points: readonly string[];
  readonly weight: number | null;
}

export interface Profile {
  readonly scheduler_name: string;
  /** 0 is adaptive. */
  readonly percentage_of_nodes_to_score: number;
  readonly scoring_strategy: string;
  readonly default_spreading: string;
  readonly plugins: readonly PluginOfProfile[];
}

export const STRATEGIES = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] as const;
export const SPREADINGS = ["System", "List"] as const;
export type Strategy = (typeof STRATEGIES)[number];

const KIND = "KubeSchedulerConfiguration";
const HEAD = `apiVersion: kubescheduler.config.k8s.io/v1
kind: ${KIND}
`;
const START = `${HEAD}profiles:
- schedulerName: default-scheduler
`;
/** Utilization to score as MostAllocated has it: somewhere to begin. */
const SHAPE = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];
const ALL = "*";
const MULTI_POINT = "multiPoint";

const field = (point: string): string => point.charAt(0).toLowerCase() + point.slice(1);

/** Whether a text is empty or one configuration, so that choices can be written into it. */
export function canBeChanged(text: string): boolean {
  if (!text.trim()) return true;
  const doc = parseDocument(text);
  return doc.errors.length === 0 && isMap(doc.contents) && doc.get("kind") === KIND;
}

/** The text with a plugin on or off at one point of the profile with this index. */
export const withPoint = (text: string, index: number, name: string, point: string, isOn: boolean): string =>
  changed(text, index, (profile) => {
    const at = sets(profile, field(point));
    const multi = sets(profile, MULTI_POINT);
    const isInMulti = multi.enabled.has(name) || !(multi.disabled.has(name) || multi.disabled.has(ALL));
    if (isOn) {
      const wasNamed = at.disabled.remove(name);
      if (!wasNamed || !isInMulti || at.disabled.has(ALL)) at.enabled.add(name);
    } else {
      const wasNamed = at.enabled.remove(name);
      if (!at.disabled.has(ALL) && (isInMulti || !wasNamed)) at.disabled.add(name);
    }
  });

/** The text with a plugin on at every point that it has, or off everywhere. */
export const withPlugin = (text: string, index: number, plugin: PluginOfProfile, isOn: boolean): string =>
  changed(text, index, (profile) => {
    const multi = sets(profile, MULTI_POINT);
    for (const point of plugin.implements) {
      const at = sets(profile, field(point));
      at.disabled.remove(plugin.name);
      if (!isOn) at.enabled.remove(plugin.name);
    }
    if (isOn) {
      if (!multi.disabled.remove(plugin.name) || multi.disabled.has(ALL)) multi.enabled.add(plugin.name);
    } else {
      multi.enabled.remove(plugin.name);
      if (!multi.disabled.has(ALL)) multi.disabled.add(plugin.name);
    }
  });

/** The text with a plugin's weight at Score. */
export const withWeight = (text: string, index: number, name: string, weight: number): string =>
  changed(text, index, (profile) => {
    const [score, multi] = [sets(profile, "score").enabled, sets(profile, MULTI_POINT).enabled];
    const named = !score.has(name) && multi.has(name) ? multi : score;
    named.add(name).set("weight", weight);
  });

/** The text with the share of nodes to score in percent; null leaves it to the scheduler. */
export const withPercentage = (text: string, index: number, percent: number | null): string =>
  changed(text, index, (profile) => {
    if (percent === null) profile.delete("percentageOfNodesToScore");
    else profile.set("percentageOfNodesToScore", percent);
  });

export const withStrategy = (text: string, index: number, type: Strategy): string =>
  changed(text, index, (profile, doc) => {
    const strategy = mapIn(argsOf(profile, "NodeResourcesFit"), "scoringStrategy");
    strategy.set("type", type);
    if (type !== "RequestedToCapacityRatio") strategy.delete("requestedToCapacityRatio");
    else if (!strategy.has("requestedToCapacityRatio"))
      strategy.set("requestedToCapacityRatio", doc.createNode({ shape: SHAPE }));
  });

export const withSpreading = (text: string, index: number, type: string): string =>
  changed(text, index, (profile) => {
    const args = argsOf(profile, "PodTopologySpread");
    args.set("defaultingType", type);
    if (type === "System") args.delete("defaultConstraints");
  });

function changed(text: string, index: number, change: (profile: YAMLMap, doc: Document) => void): string {
  const doc = parseDocument(text.trim() ? text : START);
  if (!isMap(doc.contents)) return text;
  const profiles = seqIn(doc.contents, "profiles");
  if (profiles.items.length === 0) profiles.add(doc.createNode({ schedulerName: "default-scheduler" }));
  const profile = profiles.items[index];
  if (!isMap(profile)) return text;
  change(profile, doc);
  withoutEmpty(profile, "plugins");
  const isIndented = /^profiles:\s*\n\s+-/m.test(text);
  return doc.toString({ lineWidth: 0, indentSeq: isIndented });
}

/** The plugins that a list names, as its text has them. */
class Named {
  constructor(
    private readonly set: YAMLMap,
    private readonly key: string,
  ) {}

  private readonly found = (name: string): YAMLMap | undefined =>
    this.items().find((each): each is YAMLMap => isMap(each) && each.get("name") === name);

  has(name: string): boolean {
    return this.found(name) !== undefined;
  }

  add(name: string): YAMLMap {
    const known = this.found(name);
    if (known) return known;
    const made = new YAMLMap();
    made.set("name", name);
    seqIn(this.set, this.key).add(made);
    return made;
  }

  /** Whether it was there. */
  remove(name: string): boolean {
    const at = this.items().findIndex((each) => isMap(each) && each.get("name") === name);
    if (at >= 0) this.items().splice(at, 1);
    return at >= 0;
  }

  private items(): unknown[] {
    const named = this.set.get(this.key);
    return isSeq(named) ? named.items : [];
  }
}

function sets(profile: YAMLMap, point: string): { enabled: Named; disabled: Named } {
  const set = mapIn(mapIn(profile, "plugins"), point);
  return { enabled: new Named(set, "enabled"), disabled: new Named(set, "disabled") };
}

const argsOf = (profile: YAMLMap, plugin: string): YAMLMap =>
  mapIn(new Named(profile, "pluginConfig").add(plugin), "args");

const mapIn = (parent: YAMLMap, key: string): YAMLMap =>
  held(parent, key, (node): node is YAMLMap => isMap(node), new YAMLMap());

const seqIn = (parent: YAMLMap, key: string): YAMLSeq =>
  held(parent, key, (node): node is YAMLSeq => isSeq(node), new YAMLSeq());

/** What a map holds under a key, or else `empty`, which it then holds. */
function held<T>(parent: YAMLMap, key: string, isOne: (node: unknown) => node is T, empty: T): T {
  const known = parent.get(key);
  if (isOne(known)) return known;
  parent.set(key, empty);
  return empty;
}

/** Leave out what holds nothing, from the innermost outwards. */
function withoutEmpty(parent: YAMLMap, key: string): void {
  const inside = parent.get(key);
  if (isMap(inside)) for (const { key: inner } of [...inside.items]) withoutEmpty(inside, String(inner));
  if ((isMap(inside) || isSeq(inside)) && inside.items.length === 0) parent.delete(key);
}
