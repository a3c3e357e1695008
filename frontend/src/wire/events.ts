// Generated from scheduler_core.trace by `npm run wire`. Do not edit.

import type { Cycle, NodeIndex, Ns, PodIndex } from "../base/units.ts";

/** A positional value as MessagePack gave it. */
export type Wire = unknown;
type Row = readonly Wire[];
type Reader<T> = (row: Row) => T;

const num = (v: Wire): number => Number(v ?? 0);
const big = (v: Wire): Ns => BigInt((v as number | bigint | undefined) ?? 0);
const str = (v: Wire): string => (v as string | undefined) ?? "";
const bool = (v: Wire): boolean => (v as boolean | undefined) ?? false;
const bin = (v: Wire): Uint8Array => v as Uint8Array;
const nums = (v: Wire): number[] => ((v as Row | undefined) ?? []).map(Number);
const strs = (v: Wire): string[] => (v as string[] | undefined) ?? [];
const dict = (v: Wire): Record<string, string> => v as Record<string, string>;
const list = <T>(v: Wire, read: Reader<T>): T[] =>
  ((v as Row[] | undefined) ?? []).map(read);

export const Queue = {
  NOWHERE: 0,
  ACTIVE: 1,
  BACKOFF: 2,
  UNSCHEDULABLE: 3,
  GATED: 4,
  IN_FLIGHT: 5,
  WAITING_ON_PERMIT: 6,
  BINDING: 7,
} as const;
export type Queue = (typeof Queue)[keyof typeof Queue];

export const Result = {
  SCHEDULED: 0,
  UNSCHEDULABLE: 1,
  ERROR: 2,
  BIND_ERROR: 3,
  SKIPPED: 4,
  WAITING: 5,
  UNKNOWN: 6,
} as const;
export type Result = (typeof Result)[keyof typeof Result];

export const Cache = {
  ABSENT: 0,
  ASSUMED: 1,
  ADDED: 2,
} as const;
export type Cache = (typeof Cache)[keyof typeof Cache];

export type StatusCode = "Success" | "Error" | "Unschedulable" | "UnschedulableAndUnresolvable" | "Wait" | "Skip" | "Pending";

export type HintValue = "Queue" | "QueueSkip";

export type RequeueStrategy = "" | "skip" | "afterBackoff" | "immediately";

export type PickRule = "single" | "heap" | "draw";

export type QueueOrder = "listed" | "name" | "created";

export type Nominating = "override" | "noop" | "";

export type CriterionName = "pdbViolations" | "highestPriority" | "sumPriorities" | "numVictims" | "latestStartTime";

export type PointAfterPick = "Reserve" | "Permit" | "PreBindPreFlight" | "PreBind" | "Bind" | "PostBind";

export type PermitDecision = "allow" | "reject" | "timeout";

export type EventType = "Normal" | "Warning";

export type ExtenderVerb = "filter" | "prioritize" | "preempt" | "bind";

export interface Column {
  readonly dtype: string;
  readonly data: Uint8Array;
}
export const readColumn: Reader<Column> = (row) => ({
  dtype: str(row[0]),
  data: bin(row[1]),
});

export interface StatusRecord {
  readonly code: StatusCode;
  readonly plugin: number;
  readonly reasons: readonly string[];
}
export const readStatusRecord: Reader<StatusRecord> = (row) => ({
  code: str(row[0]) as StatusCode,
  plugin: num(row[1] ?? -1),
  reasons: strs(row[2]),
});

export interface PointPlugins {
  readonly point: string;
  readonly plugins: readonly number[];
  readonly weights: readonly number[];
}
export const readPointPlugins: Reader<PointPlugins> = (row) => ({
  point: str(row[0]),
  plugins: nums(row[1]),
  weights: nums(row[2]),
});

export interface PluginEvents {
  readonly plugin: number;
  readonly events: readonly string[];
}
export const readPluginEvents: Reader<PluginEvents> = (row) => ({
  plugin: num(row[0]),
  events: strs(row[1]),
});

export interface ProfileRecord {
  readonly scheduler_name: string;
  readonly points: readonly PointPlugins[];
  readonly wakes: readonly PluginEvents[];
}
export const readProfileRecord: Reader<ProfileRecord> = (row) => ({
  scheduler_name: str(row[0]),
  points: list(row[1], readPointPlugins),
  wakes: list(row[2], readPluginEvents),
});

export interface GateRecord {
  readonly name: string;
  readonly enabled: boolean;
}
export const readGateRecord: Reader<GateRecord> = (row) => ({
  name: str(row[0]),
  enabled: bool(row[1]),
});

export interface TaintRecord {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}
export const readTaintRecord: Reader<TaintRecord> = (row) => ({
  key: str(row[0]),
  value: str(row[1]),
  effect: str(row[2]),
});

export interface HintRecord {
  readonly plugin: number;
  readonly hint: HintValue;
}
export const readHintRecord: Reader<HintRecord> = (row) => ({
  plugin: num(row[0]),
  hint: str(row[1]) as HintValue,
});

export interface RejectedBy {
  readonly plugin: number;
  readonly n_nodes: number;
}
export const readRejectedBy: Reader<RejectedBy> = (row) => ({
  plugin: num(row[0]),
  n_nodes: num(row[1]),
});

export interface NominatedPod {
  readonly pod: PodIndex;
  readonly requests: readonly number[];
}
export const readNominatedPod: Reader<NominatedPod> = (row) => ({
  pod: num(row[0]),
  requests: nums(row[1]),
});

export interface NominatedOnNode {
  readonly node: NodeIndex;
  readonly pods: readonly NominatedPod[];
  readonly without: number;
}
export const readNominatedOnNode: Reader<NominatedOnNode> = (row) => ({
  node: num(row[0]),
  pods: list(row[1], readNominatedPod),
  without: num(row[2]),
});

export interface ReprieveRecord {
  readonly pod: PodIndex;
  readonly kept: boolean;
  readonly violates_pdb: boolean;
  readonly plugin: number;
  readonly budgets: readonly string[];
}
export const readReprieveRecord: Reader<ReprieveRecord> = (row) => ({
  pod: num(row[0]),
  kept: bool(row[1]),
  violates_pdb: bool(row[2]),
  plugin: num(row[3] ?? -1),
  budgets: strs(row[4]),
});

export interface CandidateRecord {
  readonly node: NodeIndex;
  readonly removed: readonly number[];
  readonly reprieves: readonly ReprieveRecord[];
  readonly victims: readonly PodIndex[];
  readonly n_pdb_violations: number;
  readonly status: StatusRecord;
}
export const readCandidateRecord: Reader<CandidateRecord> = (row) => ({
  node: num(row[0]),
  removed: nums(row[1]),
  reprieves: list(row[2], readReprieveRecord),
  victims: nums(row[3]),
  n_pdb_violations: num(row[4]),
  status: readStatusRecord(row[5] as Row),
});

export interface CriterionRecord {
  readonly name: CriterionName;
  readonly values: readonly number[];
  readonly kept: readonly number[];
}
export const readCriterionRecord: Reader<CriterionRecord> = (row) => ({
  name: str(row[0]) as CriterionName,
  values: nums(row[1]),
  kept: nums(row[2]),
});

export interface PluginScores {
  readonly plugin: number;
  readonly weight: number;
  readonly raw: Column;
  readonly normalized: Column;
}
export const readPluginScores: Reader<PluginScores> = (row) => ({
  plugin: num(row[0]),
  weight: num(row[1]),
  raw: readColumn(row[2] as Row),
  normalized: readColumn(row[3] as Row),
});

export interface DeviceRecord {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shared: boolean;
  readonly admin_access: boolean;
  readonly consumed: Readonly<Record<string, string>>;
}
export const readDeviceRecord: Reader<DeviceRecord> = (row) => ({
  request: str(row[0]),
  driver: str(row[1]),
  pool: str(row[2]),
  device: str(row[3]),
  shared: bool(row[4]),
  admin_access: bool(row[5]),
  consumed: dict(row[6]),
});

export interface RunStarted {
  readonly kind: "RunStarted";
  readonly engine_version: string;
  readonly seed: number;
  readonly now_ns: Ns;
  readonly plugins: readonly string[];
  readonly profiles: readonly ProfileRecord[];
  readonly not_modelled: readonly string[];
  readonly observed: boolean;
  readonly release: string;
  readonly gates: readonly GateRecord[];
  readonly tie_break: PickRule;
  readonly queue_order: QueueOrder;
  readonly said: Wire;
}
export const readRunStarted: Reader<RunStarted> = (row) => ({
  kind: "RunStarted",
  engine_version: str(row[1]),
  seed: num(row[2]),
  now_ns: big(row[3]),
  plugins: strs(row[4]),
  profiles: list(row[5], readProfileRecord),
  not_modelled: strs(row[6]),
  observed: bool(row[7]),
  release: str(row[8]),
  gates: list(row[9], readGateRecord),
  tie_break: str(row[10]) as PickRule,
  queue_order: str(row[11]) as QueueOrder,
  said: row[12],
});

export interface ClockAdvanced {
  readonly kind: "ClockAdvanced";
  readonly now_ns: Ns;
}
export const readClockAdvanced: Reader<ClockAdvanced> = (row) => ({
  kind: "ClockAdvanced",
  now_ns: big(row[1]),
});

export interface ResourcesDefined {
  readonly kind: "ResourcesDefined";
  readonly names: readonly string[];
}
export const readResourcesDefined: Reader<ResourcesDefined> = (row) => ({
  kind: "ResourcesDefined",
  names: strs(row[1]),
});

export interface NodeAdded {
  readonly kind: "NodeAdded";
  readonly node: NodeIndex;
  readonly name: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly TaintRecord[];
  readonly unschedulable: boolean;
  readonly allocatable: readonly number[];
}
export const readNodeAdded: Reader<NodeAdded> = (row) => ({
  kind: "NodeAdded",
  node: num(row[1]),
  name: str(row[2]),
  zone: str(row[3]),
  labels: dict(row[4]),
  taints: list(row[5], readTaintRecord),
  unschedulable: bool(row[6]),
  allocatable: nums(row[7]),
});

export interface NodeUpdated {
  readonly kind: "NodeUpdated";
  readonly node: NodeIndex;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly TaintRecord[];
  readonly unschedulable: boolean;
  readonly allocatable: readonly number[];
}
export const readNodeUpdated: Reader<NodeUpdated> = (row) => ({
  kind: "NodeUpdated",
  node: num(row[1]),
  zone: str(row[2]),
  labels: dict(row[3]),
  taints: list(row[4], readTaintRecord),
  unschedulable: bool(row[5]),
  allocatable: nums(row[6]),
});

export interface NodeDeleted {
  readonly kind: "NodeDeleted";
  readonly node: NodeIndex;
}
export const readNodeDeleted: Reader<NodeDeleted> = (row) => ({
  kind: "NodeDeleted",
  node: num(row[1]),
});

export interface NodeOrderChanged {
  readonly kind: "NodeOrderChanged";
  readonly nodes: readonly NodeIndex[];
}
export const readNodeOrderChanged: Reader<NodeOrderChanged> = (row) => ({
  kind: "NodeOrderChanged",
  nodes: nums(row[1]),
});

export interface PodAdded {
  readonly kind: "PodAdded";
  readonly pod: PodIndex;
  readonly namespace: string;
  readonly name: string;
  readonly scheduler_name: string;
  readonly priority: number;
  readonly requests: readonly number[];
  readonly owner: string;
  readonly node: NodeIndex;
  readonly nominated_node: NodeIndex;
  readonly phase: string;
  readonly terminating: boolean;
  readonly gone_at_ns: Ns;
  readonly uid: string;
  readonly priority_class: string;
}
export const readPodAdded: Reader<PodAdded> = (row) => ({
  kind: "PodAdded",
  pod: num(row[1]),
  namespace: str(row[2]),
  name: str(row[3]),
  scheduler_name: str(row[4]),
  priority: num(row[5]),
  requests: nums(row[6]),
  owner: str(row[7]),
  node: num(row[8] ?? -1),
  nominated_node: num(row[9] ?? -1),
  phase: str(row[10]),
  terminating: bool(row[11]),
  gone_at_ns: big(row[12]),
  uid: str(row[13]),
  priority_class: str(row[14]),
});

export interface PodUpdated {
  readonly kind: "PodUpdated";
  readonly pod: PodIndex;
  readonly priority: number;
  readonly requests: readonly number[];
  readonly phase: string;
  readonly terminating: boolean;
  readonly gone_at_ns: Ns;
}
export const readPodUpdated: Reader<PodUpdated> = (row) => ({
  kind: "PodUpdated",
  pod: num(row[1]),
  priority: num(row[2]),
  requests: nums(row[3]),
  phase: str(row[4]),
  terminating: bool(row[5]),
  gone_at_ns: big(row[6]),
});

export interface PodDeleted {
  readonly kind: "PodDeleted";
  readonly pod: PodIndex;
}
export const readPodDeleted: Reader<PodDeleted> = (row) => ({
  kind: "PodDeleted",
  pod: num(row[1]),
});

export interface PodEvicted {
  readonly kind: "PodEvicted";
  readonly pod: PodIndex;
  readonly by_pod: PodIndex;
  readonly reason: string;
  readonly gone_at_ns: Ns;
  readonly said: Wire;
}
export const readPodEvicted: Reader<PodEvicted> = (row) => ({
  kind: "PodEvicted",
  pod: num(row[1]),
  by_pod: num(row[2]),
  reason: str(row[3]),
  gone_at_ns: big(row[4]),
  said: row[5],
});

export interface ScenarioStepped {
  readonly kind: "ScenarioStepped";
  readonly index: number;
  readonly text: string;
  readonly refused: boolean;
  readonly said: Wire;
}
export const readScenarioStepped: Reader<ScenarioStepped> = (row) => ({
  kind: "ScenarioStepped",
  index: num(row[1]),
  text: str(row[2]),
  refused: bool(row[3]),
  said: row[4],
});

export interface QueueMoved {
  readonly kind: "QueueMoved";
  readonly pod: PodIndex;
  readonly queue: Queue;
  readonly event: string;
  readonly cause: string;
  readonly hints: readonly HintRecord[];
  readonly strategy: RequeueStrategy;
  readonly gated_by: number;
  readonly backoff_until_ns: Ns;
}
export const readQueueMoved: Reader<QueueMoved> = (row) => ({
  kind: "QueueMoved",
  pod: num(row[1]),
  queue: num(row[2]) as Queue,
  event: str(row[3]),
  cause: str(row[4]),
  hints: list(row[5], readHintRecord),
  strategy: str(row[6]) as RequeueStrategy,
  gated_by: num(row[7] ?? -1),
  backoff_until_ns: big(row[8]),
});

export interface NominationChanged {
  readonly kind: "NominationChanged";
  readonly pod: PodIndex;
  readonly node: NodeIndex;
}
export const readNominationChanged: Reader<NominationChanged> = (row) => ({
  kind: "NominationChanged",
  pod: num(row[1]),
  node: num(row[2]),
});

export interface CycleStarted {
  readonly kind: "CycleStarted";
  readonly cycle: Cycle;
  readonly pod: PodIndex;
  readonly attempt: number;
  readonly profile: number;
  readonly popped_from: Queue;
  readonly start_index: number;
  readonly n_nodes: number;
}
export const readCycleStarted: Reader<CycleStarted> = (row) => ({
  kind: "CycleStarted",
  cycle: num(row[1]),
  pod: num(row[2]),
  attempt: num(row[3]),
  profile: num(row[4]),
  popped_from: num(row[5]) as Queue,
  start_index: num(row[6]),
  n_nodes: num(row[7]),
});

export interface PreFilterFinished {
  readonly kind: "PreFilterFinished";
  readonly status: StatusRecord;
  readonly skipped: readonly number[];
  readonly narrowed: readonly NodeIndex[] | null;
}
export const readPreFilterFinished: Reader<PreFilterFinished> = (row) => ({
  kind: "PreFilterFinished",
  status: readStatusRecord(row[1] as Row),
  skipped: nums(row[2]),
  narrowed: row[3] == null ? null : nums(row[3]),
});

export interface FilterFinished {
  readonly kind: "FilterFinished";
  readonly n_examined: number;
  readonly n_feasible: number;
  readonly n_to_find: number;
  readonly rejected: readonly RejectedBy[];
  readonly by_nomination: boolean;
  readonly hint: number;
  readonly n_held: number;
}
export const readFilterFinished: Reader<FilterFinished> = (row) => ({
  kind: "FilterFinished",
  n_examined: num(row[1]),
  n_feasible: num(row[2]),
  n_to_find: num(row[3]),
  rejected: list(row[4], readRejectedBy),
  by_nomination: bool(row[5]),
  hint: num(row[6] ?? -1),
  n_held: num(row[7]),
});

export interface PreScoreFinished {
  readonly kind: "PreScoreFinished";
  readonly status: StatusRecord;
  readonly skipped: readonly number[];
}
export const readPreScoreFinished: Reader<PreScoreFinished> = (row) => ({
  kind: "PreScoreFinished",
  status: readStatusRecord(row[1] as Row),
  skipped: nums(row[2]),
});

export interface NodeSelected {
  readonly kind: "NodeSelected";
  readonly node: NodeIndex;
  readonly rule: PickRule;
  readonly n_scored: number;
  readonly total: number;
  readonly n_tied: number;
  readonly runner_up: NodeIndex;
  readonly runner_up_total: number;
  readonly deciders: readonly number[];
}
export const readNodeSelected: Reader<NodeSelected> = (row) => ({
  kind: "NodeSelected",
  node: num(row[1]),
  rule: str(row[2]) as PickRule,
  n_scored: num(row[3]),
  total: num(row[4]),
  n_tied: num(row[5]),
  runner_up: num(row[6] ?? -1),
  runner_up_total: num(row[7]),
  deciders: nums(row[8]),
});

export interface PostFilterFinished {
  readonly kind: "PostFilterFinished";
  readonly status: StatusRecord;
  readonly nominating: Nominating;
  readonly node: NodeIndex;
}
export const readPostFilterFinished: Reader<PostFilterFinished> = (row) => ({
  kind: "PostFilterFinished",
  status: readStatusRecord(row[1] as Row),
  nominating: str(row[2]) as Nominating,
  node: num(row[3] ?? -1),
});

export interface PreemptionStarted {
  readonly kind: "PreemptionStarted";
  readonly n_potential: number;
  readonly offset: number;
  readonly n_wanted: number;
}
export const readPreemptionStarted: Reader<PreemptionStarted> = (row) => ({
  kind: "PreemptionStarted",
  n_potential: num(row[1]),
  offset: num(row[2]),
  n_wanted: num(row[3]),
});

export interface PreemptionDecided {
  readonly kind: "PreemptionDecided";
  readonly nodes: readonly NodeIndex[];
  readonly criteria: readonly CriterionRecord[];
  readonly winner: NodeIndex;
  readonly victims: readonly PodIndex[];
}
export const readPreemptionDecided: Reader<PreemptionDecided> = (row) => ({
  kind: "PreemptionDecided",
  nodes: nums(row[1]),
  criteria: list(row[2], readCriterionRecord),
  winner: num(row[3]),
  victims: nums(row[4]),
});

export interface PreemptionIneligible {
  readonly kind: "PreemptionIneligible";
  readonly reason: string;
}
export const readPreemptionIneligible: Reader<PreemptionIneligible> = (row) => ({
  kind: "PreemptionIneligible",
  reason: str(row[1]),
});

export interface Assumed {
  readonly kind: "Assumed";
  readonly pod: PodIndex;
  readonly node: NodeIndex;
}
export const readAssumed: Reader<Assumed> = (row) => ({
  kind: "Assumed",
  pod: num(row[1]),
  node: num(row[2]),
});

export interface Unreserved {
  readonly kind: "Unreserved";
  readonly pod: PodIndex;
  readonly node: NodeIndex;
  readonly plugins: readonly number[];
}
export const readUnreserved: Reader<Unreserved> = (row) => ({
  kind: "Unreserved",
  pod: num(row[1]),
  node: num(row[2]),
  plugins: nums(row[3]),
});

export interface Forgotten {
  readonly kind: "Forgotten";
  readonly pod: PodIndex;
  readonly node: NodeIndex;
}
export const readForgotten: Reader<Forgotten> = (row) => ({
  kind: "Forgotten",
  pod: num(row[1]),
  node: num(row[2]),
});

export interface PointFinished {
  readonly kind: "PointFinished";
  readonly pod: PodIndex;
  readonly point: PointAfterPick;
  readonly status: StatusRecord;
}
export const readPointFinished: Reader<PointFinished> = (row) => ({
  kind: "PointFinished",
  pod: num(row[1]),
  point: str(row[2]) as PointAfterPick,
  status: readStatusRecord(row[3] as Row),
});

export interface PermitWaiting {
  readonly kind: "PermitWaiting";
  readonly pod: PodIndex;
  readonly plugin: number;
  readonly until_ns: Ns;
}
export const readPermitWaiting: Reader<PermitWaiting> = (row) => ({
  kind: "PermitWaiting",
  pod: num(row[1]),
  plugin: num(row[2]),
  until_ns: big(row[3]),
});

export interface PermitResolved {
  readonly kind: "PermitResolved";
  readonly pod: PodIndex;
  readonly plugin: number;
  readonly decision: PermitDecision;
}
export const readPermitResolved: Reader<PermitResolved> = (row) => ({
  kind: "PermitResolved",
  pod: num(row[1]),
  plugin: num(row[2]),
  decision: str(row[3]) as PermitDecision,
});

export interface DevicesAllocated {
  readonly kind: "DevicesAllocated";
  readonly pod: PodIndex;
  readonly node: NodeIndex;
  readonly claim: string;
  readonly devices: readonly DeviceRecord[];
  readonly allocated_before: boolean;
}
export const readDevicesAllocated: Reader<DevicesAllocated> = (row) => ({
  kind: "DevicesAllocated",
  pod: num(row[1]),
  node: num(row[2]),
  claim: str(row[3]),
  devices: list(row[4], readDeviceRecord),
  allocated_before: bool(row[5]),
});

export interface Bound {
  readonly kind: "Bound";
  readonly pod: PodIndex;
  readonly node: NodeIndex;
}
export const readBound: Reader<Bound> = (row) => ({
  kind: "Bound",
  pod: num(row[1]),
  node: num(row[2]),
});

export interface CycleFinished {
  readonly kind: "CycleFinished";
  readonly cycle: Cycle;
  readonly result: Result;
  readonly node: NodeIndex;
  readonly message: string;
  readonly unschedulable_plugins: readonly number[];
  readonly pending_plugins: readonly number[];
}
export const readCycleFinished: Reader<CycleFinished> = (row) => ({
  kind: "CycleFinished",
  cycle: num(row[1]),
  result: num(row[2]) as Result,
  node: num(row[3]),
  message: str(row[4]),
  unschedulable_plugins: nums(row[5]),
  pending_plugins: nums(row[6]),
});

export interface EventRecorded {
  readonly kind: "EventRecorded";
  readonly pod: PodIndex;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}
export const readEventRecorded: Reader<EventRecorded> = (row) => ({
  kind: "EventRecorded",
  pod: num(row[1]),
  type: str(row[2]) as EventType,
  reason: str(row[3]),
  message: str(row[4]),
});

export interface ExtenderCalled {
  readonly kind: "ExtenderCalled";
  readonly extender: string;
  readonly verb: ExtenderVerb;
  readonly n_nodes_in: number;
  readonly n_nodes_out: number;
  readonly duration_ns: Ns;
  readonly summary: string;
  readonly error: string;
  readonly pod: PodIndex;
  readonly status: number;
  readonly response: string;
  readonly ignored: boolean;
  readonly weight: number;
  readonly whole_nodes: boolean;
  readonly n_request_bytes: number;
  readonly n_response_bytes: number;
}
export const readExtenderCalled: Reader<ExtenderCalled> = (row) => ({
  kind: "ExtenderCalled",
  extender: str(row[1]),
  verb: str(row[2]) as ExtenderVerb,
  n_nodes_in: num(row[3]),
  n_nodes_out: num(row[4]),
  duration_ns: big(row[5]),
  summary: str(row[6]),
  error: str(row[7]),
  pod: num(row[8] ?? -1),
  status: num(row[9]),
  response: str(row[10]),
  ignored: bool(row[11]),
  weight: num(row[12]),
  whole_nodes: bool(row[13]),
  n_request_bytes: num(row[14]),
  n_response_bytes: num(row[15]),
});

export interface RunFinished {
  readonly kind: "RunFinished";
  readonly n_cycles: number;
  readonly n_bound: number;
  readonly n_pending: number;
  readonly reason: string;
  readonly said: Wire;
}
export const readRunFinished: Reader<RunFinished> = (row) => ({
  kind: "RunFinished",
  n_cycles: num(row[1]),
  n_bound: num(row[2]),
  n_pending: num(row[3]),
  reason: str(row[4]),
  said: row[5],
});

export type HeaderEvent =
  | RunStarted
  | ClockAdvanced
  | ResourcesDefined
  | NodeAdded
  | NodeUpdated
  | NodeDeleted
  | NodeOrderChanged
  | PodAdded
  | PodUpdated
  | PodDeleted
  | PodEvicted
  | ScenarioStepped
  | QueueMoved
  | NominationChanged
  | CycleStarted
  | PreFilterFinished
  | FilterFinished
  | PreScoreFinished
  | NodeSelected
  | PostFilterFinished
  | PreemptionStarted
  | PreemptionDecided
  | PreemptionIneligible
  | Assumed
  | Unreserved
  | Forgotten
  | PointFinished
  | PermitWaiting
  | PermitResolved
  | DevicesAllocated
  | Bound
  | CycleFinished
  | EventRecorded
  | ExtenderCalled
  | RunFinished;

const readHeaderEventBy: Record<string, Reader<HeaderEvent>> = {
  RunStarted: readRunStarted,
  ClockAdvanced: readClockAdvanced,
  ResourcesDefined: readResourcesDefined,
  NodeAdded: readNodeAdded,
  NodeUpdated: readNodeUpdated,
  NodeDeleted: readNodeDeleted,
  NodeOrderChanged: readNodeOrderChanged,
  PodAdded: readPodAdded,
  PodUpdated: readPodUpdated,
  PodDeleted: readPodDeleted,
  PodEvicted: readPodEvicted,
  ScenarioStepped: readScenarioStepped,
  QueueMoved: readQueueMoved,
  NominationChanged: readNominationChanged,
  CycleStarted: readCycleStarted,
  PreFilterFinished: readPreFilterFinished,
  FilterFinished: readFilterFinished,
  PreScoreFinished: readPreScoreFinished,
  NodeSelected: readNodeSelected,
  PostFilterFinished: readPostFilterFinished,
  PreemptionStarted: readPreemptionStarted,
  PreemptionDecided: readPreemptionDecided,
  PreemptionIneligible: readPreemptionIneligible,
  Assumed: readAssumed,
  Unreserved: readUnreserved,
  Forgotten: readForgotten,
  PointFinished: readPointFinished,
  PermitWaiting: readPermitWaiting,
  PermitResolved: readPermitResolved,
  DevicesAllocated: readDevicesAllocated,
  Bound: readBound,
  CycleFinished: readCycleFinished,
  EventRecorded: readEventRecorded,
  ExtenderCalled: readExtenderCalled,
  RunFinished: readRunFinished,
};

/** Read one positional event; a kind this version does not know is null. */
export const readHeaderEvent = (row: Row): HeaderEvent | null =>
  readHeaderEventBy[row[0] as string]?.(row) ?? null;

export interface FilterColumns {
  readonly kind: "FilterColumns";
  readonly statuses: readonly StatusRecord[];
  readonly status: Column;
  readonly feasible: Column;
  readonly nodes: Column | null;
  readonly nominated: readonly NominatedOnNode[];
}
export const readFilterColumns: Reader<FilterColumns> = (row) => ({
  kind: "FilterColumns",
  statuses: list(row[1], readStatusRecord),
  status: readColumn(row[2] as Row),
  feasible: readColumn(row[3] as Row),
  nodes: row[4] == null ? null : readColumn(row[4] as Row),
  nominated: list(row[5], readNominatedOnNode),
});

export interface ScoreColumns {
  readonly kind: "ScoreColumns";
  readonly nodes: Column;
  readonly plugins: readonly PluginScores[];
  readonly totals: Column;
}
export const readScoreColumns: Reader<ScoreColumns> = (row) => ({
  kind: "ScoreColumns",
  nodes: readColumn(row[1] as Row),
  plugins: list(row[2], readPluginScores),
  totals: readColumn(row[3] as Row),
});

export interface PreemptionDryRun {
  readonly kind: "PreemptionDryRun";
  readonly candidates: readonly CandidateRecord[];
}
export const readPreemptionDryRun: Reader<PreemptionDryRun> = (row) => ({
  kind: "PreemptionDryRun",
  candidates: list(row[1], readCandidateRecord),
});

export interface ExtenderColumns {
  readonly kind: "ExtenderColumns";
  readonly call: number;
  readonly removed: Column;
  readonly reasons: readonly string[];
  readonly reason: Column;
  readonly nodes: Column;
  readonly scores: Column;
}
export const readExtenderColumns: Reader<ExtenderColumns> = (row) => ({
  kind: "ExtenderColumns",
  call: num(row[1]),
  removed: readColumn(row[2] as Row),
  reasons: strs(row[3]),
  reason: readColumn(row[4] as Row),
  nodes: readColumn(row[5] as Row),
  scores: readColumn(row[6] as Row),
});

export type Detail =
  | FilterColumns
  | ScoreColumns
  | PreemptionDryRun
  | ExtenderColumns;

const readDetailBy: Record<string, Reader<Detail>> = {
  FilterColumns: readFilterColumns,
  ScoreColumns: readScoreColumns,
  PreemptionDryRun: readPreemptionDryRun,
  ExtenderColumns: readExtenderColumns,
};

/** Read one positional event; a kind this version does not know is null. */
export const readDetail = (row: Row): Detail | null =>
  readDetailBy[row[0] as string]?.(row) ?? null;

export const TERMINAL_PHASES: ReadonlySet<string> = new Set(["Succeeded", "Failed"]);
export const OCCUPYING: ReadonlySet<Cache> = new Set<Cache>([Cache.ASSUMED, Cache.ADDED]);
export const WAITING_QUEUES: readonly Queue[] = [Queue.ACTIVE, Queue.BACKOFF, Queue.UNSCHEDULABLE, Queue.GATED];

export const REJECTING: ReadonlySet<string> = new Set(["Unschedulable", "UnschedulableAndUnresolvable", "Pending"]);
export const RESOLVABLE = "Unschedulable";
export const UNRESOLVABLE = "UnschedulableAndUnresolvable";
export const FIT = "NodeResourcesFit";
export const PODS = "pods";
export const TOO_MANY_PODS = "Too many pods";
export const INSUFFICIENT = "Insufficient ";
export const INSUFFICIENT_OTHERS = "Insufficient further resources";

/** What the cache holds of an event's pod afterwards. */
export const CACHE_AFTER = {
  Assumed: Cache.ASSUMED,
  Forgotten: Cache.ABSENT,
  Bound: Cache.ADDED,
} as const;

/** Where a pod is that its cycle left in flight. */
export const QUEUE_AFTER: Readonly<Record<Result, Queue>> = {
  [Result.SCHEDULED]: Queue.BINDING,
  [Result.UNSCHEDULABLE]: Queue.NOWHERE,
  [Result.ERROR]: Queue.NOWHERE,
  [Result.BIND_ERROR]: Queue.NOWHERE,
  [Result.SKIPPED]: Queue.NOWHERE,
  [Result.WAITING]: Queue.WAITING_ON_PERMIT,
  [Result.UNKNOWN]: Queue.NOWHERE,
};

/** How long a pod stays in unschedulablePods at most. */
export const UNSCHEDULABLE_MINUTES = 5;

/** By header event: the parts of the state it may change. */
export const CHANGES = {
  RunStarted: ["run", "now_ns"],
  ClockAdvanced: ["now_ns"],
  ResourcesDefined: ["resources", "usage"],
  NodeAdded: ["nodes"],
  NodeUpdated: ["nodes"],
  NodeDeleted: ["nodes"],
  NodeOrderChanged: ["node_order"],
  PodAdded: ["pods", "usage"],
  PodUpdated: ["pods", "usage"],
  PodDeleted: ["pods", "usage"],
  PodEvicted: ["pods", "n_evicted"],
  ScenarioStepped: [],
  QueueMoved: ["pods"],
  NominationChanged: ["pods"],
  CycleStarted: ["pods", "cycle"],
  PreFilterFinished: [],
  FilterFinished: [],
  PreScoreFinished: [],
  NodeSelected: [],
  PostFilterFinished: [],
  PreemptionStarted: [],
  PreemptionDecided: [],
  PreemptionIneligible: [],
  Assumed: ["pods", "usage"],
  Unreserved: [],
  Forgotten: ["pods", "usage"],
  PointFinished: ["pods"],
  PermitWaiting: ["pods"],
  PermitResolved: ["pods"],
  DevicesAllocated: [],
  Bound: ["pods", "usage", "n_bound"],
  CycleFinished: ["pods", "cycle", "results"],
  EventRecorded: [],
  ExtenderCalled: [],
  RunFinished: ["finished"],
} as const satisfies Record<HeaderEvent["kind"], readonly string[]>;
