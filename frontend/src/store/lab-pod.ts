// What a pod asks of nodes, as its YAML has it: each rule with its path, so that it can be changed by itself.

import type { Json, Scoring, Target } from "./lab-changes.ts";

/** What the server answers at `cycles/N/lab/`. */
export interface LabInputs {
  readonly pod: PodDocument;
  readonly scoring: Scoring | null;
}

export interface PodDocument {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly resources?: Resources;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly [REQUIRED]?: { readonly nodeSelectorTerms?: readonly NodeTerm[] };
        readonly [PREFERRED]?: readonly { readonly weight: number; readonly preference: NodeTerm }[];
      };
      readonly podAffinity?: PodTerms;
      readonly podAntiAffinity?: PodTerms;
    };
    readonly topologySpreadConstraints?: readonly Spread[];
    readonly tolerations?: readonly Toleration[];
  };
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

interface Container {
  readonly name: string;
  readonly resources?: Resources;
}

export interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface NodeTerm {
  readonly matchExpressions?: readonly Expression[];
  readonly matchFields?: readonly Expression[];
}

interface PodTerms {
  readonly [REQUIRED]?: readonly PodTerm[];
  readonly [PREFERRED]?: readonly { readonly weight: number; readonly podAffinityTerm: PodTerm }[];
}

interface PodTerm {
  readonly labelSelector?: Selector;
  readonly topologyKey: string;
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly Expression[];
}

interface Spread {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: Selector;
}

const SPEC = "spec";
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const AFFINITY = "spec.affinity";
const OF_NODES = `${AFFINITY}.nodeAffinity`;
const TERMS = `${OF_NODES}.${REQUIRED}.nodeSelectorTerms`;
const HOSTNAME = "kubernetes.io/hostname";
/** The API server gives these to every pod. */
const GIVEN_TO_ALL = /^node\.kubernetes\.io\/(not-ready|unreachable):NoExecute$/;
/** The weight of what is softened: as much as may be. */
const SOFTENED_WEIGHT = 100;
/** Upstream's bounds of a preferred term. */
export const LEAST_TERM_WEIGHT = 1;
export const MOST_TERM_WEIGHT = 100;

export const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] as const;
export const TOLERATION_OPERATORS = ["Equal", "Exists"] as const;
/** Without an effect a toleration is about all of them. */
export const EFFECTS = ["", "NoSchedule", "PreferNoSchedule", "NoExecute"] as const;
export const WHEN_UNSATISFIABLE = ["DoNotSchedule", "ScheduleAnyway"] as const;

export type RuleKind = "selector" | "node" | "near" | "apart" | "spread" | "tolerates";

/** One rule; at most one of `weight`, `expressions`, `spread`, `toleration` and `value` says what can be changed. */
export interface Rule {
  readonly kind: RuleKind;
  readonly path: string;
  /** It has to be met; others are preferred. */
  readonly isRequired: boolean;
  /** In the notation of label selectors. */
  readonly asks: string;
  /** Of pods: the label of nodes that says what is one place. */
  readonly topologyKey?: string;
  /** What prefers the same. */
  readonly softened?: { readonly path: string; readonly value: Json };
  readonly weight?: { readonly path: string; readonly value: number };
  readonly expressions?: readonly { readonly path: string; readonly value: Expression }[];
  readonly spread?: { readonly maxSkew: number; readonly whenUnsatisfiable: string };
  readonly toleration?: Toleration;
  /** Of a node selector: the value of its label. */
  readonly value?: string;
}

export const targetOf = ({ metadata: { namespace, name } }: PodDocument): Target => ({ kind: "Pod", namespace, name });

/**
 * Whose requests count, with the path of their resources: the pod as a whole (no name), or its containers, those that
 * run before or beside the others among them.
 */
export function askers({ spec }: PodDocument): readonly { name: string; path: string; resources: Resources }[] {
  const whole = spec.resources?.requests ? [{ name: "", path: "spec.resources", resources: spec.resources }] : [];
  const each = (field: "containers" | "initContainers") =>
    (spec[field] ?? []).map(({ name, resources = {} }, i) => ({
      name,
      path: `${SPEC}.${field}[${i}].resources`,
      resources,
    }));
  return [...whole, ...each("containers"), ...each("initContainers")];
}

export function rulesOf({ spec }: PodDocument): readonly Rule[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return [
    ...Object.entries(spec.nodeSelector ?? {}).map(selectorRule),
    ...(nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? []).map(requiredNodes),
    ...(nodeAffinity?.[PREFERRED] ?? []).map(preferredNodes),
    ...podRules("near", "podAffinity", podAffinity),
    ...podRules("apart", "podAntiAffinity", podAntiAffinity),
    ...(spec.topologySpreadConstraints ?? []).map(spreadRule),
    ...(spec.tolerations ?? []).map(tolerationRule).filter(({ asks }) => !GIVEN_TO_ALL.test(asks)),
  ];
}

/** What can be added to a pod; what is typed for it is read by `added`. */
export const ADDABLE = ["tolerates", "selector", "requires", "node", "near", "apart", "spread"] as const;
export type Addable = (typeof ADDABLE)[number];

interface Field {
  readonly path: string;
  readonly value: Json;
}

/** The fields that add a rule to a pod; null for a text that cannot be read. */
export function added(what: Addable, text: string, pod: PodDocument): readonly Field[] | null {
  if (what !== "requires") {
    const field = addedByLabel(what, text, pod);
    return field && [field];
  }
  const expression = expressionIn(text);
  return expression && requirement(expression, pod);
}

/** Terms are alternatives, so what is required besides goes into each of them. */
function requirement(expression: Expression, { spec }: PodDocument): readonly Field[] {
  const value = expression as unknown as Json;
  const terms = spec.affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  return terms.length
    ? terms.map((_, i) => ({ path: `${TERMS}[${i}].matchExpressions[+]`, value }))
    : [{ path: `${TERMS}[+]`, value: { matchExpressions: [value] } }];
}

/** Reads the notation of label selectors, as `expressionText` writes it. */
export function expressionIn(text: string): Expression | null {
  const [, not, key = "", rest = ""] = /^(!?)([^\s=!<>(),]+)\s*(.*)$/.exec(text.trim()) ?? [];
  if (!key || (not && rest)) return null;
  if (!rest) return { key, operator: not ? "DoesNotExist" : "Exists" };
  const [, sign = "", one = ""] = /^(==?|!=|[<>])\s*([^\s=!<>(),]+)$/.exec(rest) ?? [];
  if (sign) return { key, operator: { "!=": "NotIn", ">": "Gt", "<": "Lt" }[sign] ?? "In", values: [one] };
  const [, word = "", list = ""] = /^(in|notin)\s*\(([^()]*)\)$/.exec(rest) ?? [];
  const values = list.split(",").map((each) => each.trim());
  return word && values.every(Boolean) ? { key, operator: word === "in" ? "In" : "NotIn", values } : null;
}

/** From `KEY=VALUE`, `KEY`, or `KEY=VALUE:EFFECT`. */
function addedByLabel(what: Exclude<Addable, "requires">, text: string, pod: PodDocument): Field | null {
  const [, key = "", value, effect] = /^([^=:\s]+)(?:=([^:\s]*))?(?::(\w+))?$/.exec(text.trim()) ?? [];
  if (!key || (effect && what !== "tolerates")) return null;
  if (what === "tolerates") {
    const of = value === undefined ? { key, operator: "Exists" } : { key, operator: "Equal", value };
    return { path: "spec.tolerations[+]", value: effect ? { ...of, effect } : of };
  }
  if (what === "spread") {
    const labelSelector = { matchLabels: pod.metadata.labels ?? {} };
    const spread = { maxSkew: 1, topologyKey: key, whenUnsatisfiable: "DoNotSchedule", labelSelector };
    return value === undefined ? { path: "spec.topologySpreadConstraints[+]", value: spread } : null;
  }
  if (value === undefined) return null;
  if (what === "selector") return { path: `spec.nodeSelector[${key}]`, value };
  if (what === "node") {
    const preference = { matchExpressions: [{ key, operator: "In", values: [value] }] };
    return { path: `${OF_NODES}.${PREFERRED}[+]`, value: { weight: SOFTENED_WEIGHT, preference } };
  }
  const term = { labelSelector: { matchLabels: { [key]: value } }, topologyKey: HOSTNAME };
  return { path: `${AFFINITY}.${what === "near" ? "podAffinity" : "podAntiAffinity"}.${REQUIRED}[+]`, value: term };
}

/** The rule that is added at the end of a list; null where the path adds none. */
export function ruleAt(path: string, value: Json): Rule | null {
  if (!path.endsWith("[+]")) return null;
  if (path.startsWith(`${TERMS}[`) && path.endsWith(".matchExpressions[+]"))
    return requiredNodes({ matchExpressions: [value as unknown as Expression] }, 0);
  const fields = path.slice("spec.".length, -"[+]".length).split(".");
  const spec = fields.reduceRight<Json>((inner, field) => ({ [field]: inner }), [value]);
  const pod = { metadata: { namespace: "", name: "" }, spec: { containers: [], ...(spec as object) } };
  return rulesOf(pod)[0] ?? null;
}

/**
 * What takes a rule away while others are dropped already. A pod whose required terms are all gone would fit nowhere,
 * so with the last one the requirement as a whole goes.
 */
export function pathOfDrop(rule: Rule, rules: readonly Rule[], isDropped: (path: string) => boolean): string {
  const isTerm = ({ path }: Rule): boolean => path.startsWith(TERMS);
  if (!isTerm(rule)) return rule.path;
  const others = rules.filter((other) => isTerm(other) && other !== rule && !isDropped(other.path));
  return others.length ? rule.path : WHOLE;
}

/** The requirement that all terms are part of. */
export const WHOLE = TERMS.slice(0, TERMS.lastIndexOf("."));

/** Whether a drop at a path takes a rule along. */
export const isTakenBy = (rule: Rule, path: string): boolean => rule.path === path || rule.path.startsWith(`${path}.`);

export function expressionText({ key, operator, values = [] }: Expression): string {
  const list = `(${values.join(", ")})`;
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in ${list}`;
    case "NotIn":
      return `${key} notin ${list}`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return `${key} ${operator === "Gt" ? ">" : "<"} ${values.join(", ")}`;
  }
}

function selectorRule([key, value]: [string, string]): Rule {
  return { kind: "selector", path: `spec.nodeSelector[${key}]`, isRequired: true, asks: `${key}=${value}`, value };
}

function requiredNodes(term: NodeTerm, i: number): Rule {
  const path = `${TERMS}[${i}]`;
  const preferred = { weight: SOFTENED_WEIGHT, preference: term };
  return {
    kind: "node",
    path,
    isRequired: true,
    asks: termText(term),
    softened: { path: `${OF_NODES}.${PREFERRED}[+]`, value: preferred as unknown as Json },
    expressions: expressionsOf(term, path),
  };
}

function preferredNodes({ weight, preference }: { weight: number; preference: NodeTerm }, i: number): Rule {
  const path = `${OF_NODES}.${PREFERRED}[${i}]`;
  return {
    kind: "node",
    path,
    isRequired: false,
    asks: termText(preference),
    weight: { path: `${path}.weight`, value: weight },
    expressions: expressionsOf(preference, `${path}.preference`),
  };
}

function podRules(kind: "near" | "apart", field: string, terms: PodTerms = {}): Rule[] {
  const path = `${AFFINITY}.${field}`;
  const softened = (term: PodTerm): Json => ({ weight: SOFTENED_WEIGHT, podAffinityTerm: term }) as unknown as Json;
  const required = (terms[REQUIRED] ?? []).map((term, i) => ({
    kind,
    path: `${path}.${REQUIRED}[${i}]`,
    isRequired: true,
    asks: selectorText(term.labelSelector),
    topologyKey: term.topologyKey,
    softened: { path: `${path}.${PREFERRED}[+]`, value: softened(term) },
  }));
  const preferred = (terms[PREFERRED] ?? []).map(({ weight, podAffinityTerm: term }, i) => ({
    kind,
    path: `${path}.${PREFERRED}[${i}]`,
    isRequired: false,
    asks: selectorText(term.labelSelector),
    topologyKey: term.topologyKey,
    weight: { path: `${path}.${PREFERRED}[${i}].weight`, value: weight },
  }));
  return [...required, ...preferred];
}

function spreadRule({ maxSkew, topologyKey, whenUnsatisfiable, labelSelector }: Spread, i: number): Rule {
  return {
    kind: "spread",
    path: `spec.topologySpreadConstraints[${i}]`,
    isRequired: whenUnsatisfiable === "DoNotSchedule",
    asks: selectorText(labelSelector),
    topologyKey,
    spread: { maxSkew, whenUnsatisfiable },
  };
}

function tolerationRule(toleration: Toleration, i: number): Rule {
  return {
    kind: "tolerates",
    path: `spec.tolerations[${i}]`,
    isRequired: true,
    asks: tolerationText(toleration),
    toleration,
  };
}

export const tolerationText = ({ key = "", value = "", effect = "" }: Toleration): string =>
  `${key}${value && `=${value}`}${effect && `:${effect}`}`;

const expressionsOf = ({ matchExpressions = [] }: NodeTerm, path: string): NonNullable<Rule["expressions"]> =>
  matchExpressions.map((value, i) => ({ path: `${path}.matchExpressions[${i}]`, value }));

const termText = ({ matchExpressions = [], matchFields = [] }: NodeTerm): string =>
  [...matchExpressions, ...matchFields].map(expressionText).join(", ");

function selectorText({ matchLabels = {}, matchExpressions = [] }: Selector = {}): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...labels, ...matchExpressions.map(expressionText)].join(", ");
}
