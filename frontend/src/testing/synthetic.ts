// A made-up run of any size, the same for the same numbers: for tests of speed and for looking at
// the Explorer without a server. It obeys the wire contract, not the scheduler's arithmetic.

import { encode } from "@msgpack/msgpack";

const ZONE = "topology.kubernetes.io/zone";
const START_NS = 1_772_442_000_000_000_000n;
const GIB = 2 ** 30;

const PLUGINS = [
  "SchedulingGates",
  "PrioritySort",
  "NodeUnschedulable",
  "NodeName",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "VolumeBinding",
  "PodTopologySpread",
  "InterPodAffinity",
  "DynamicResources",
  "DefaultPreemption",
  "NodeResourcesBalancedAllocation",
  "ImageLocality",
  "DefaultBinder",
];
const P = Object.fromEntries(PLUGINS.map((name, i) => [name, i])) as Record<string, number>;
const FILTERS = [
  "NodeUnschedulable",
  "NodeName",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "VolumeBinding",
  "PodTopologySpread",
  "InterPodAffinity",
].map((n) => P[n]!);
const SCORES: [string, number][] = [
  ["TaintToleration", 3],
  ["NodeAffinity", 2],
  ["NodeResourcesFit", 1],
  ["PodTopologySpread", 2],
  ["NodeResourcesBalancedAllocation", 1],
  ["ImageLocality", 1],
];
const POINTS: [string, number[], number[]][] = [
  ["PreEnqueue", [P.SchedulingGates!, P.DefaultPreemption!], []],
  ["QueueSort", [P.PrioritySort!], []],
  ["PreFilter", FILTERS.filter((p) => p !== P.NodeUnschedulable), []],
  ["Filter", FILTERS, []],
  ["PostFilter", [P.DynamicResources!, P.DefaultPreemption!], []],
  ["PreScore", SCORES.map(([name]) => P[name]!), []],
  ["Score", SCORES.map(([name]) => P[name]!), SCORES.map(([, weight]) => weight)],
  ["Reserve", [P.VolumeBinding!, P.DynamicResources!], []],
  ["Permit", [], []],
  ["PreBind", [P.VolumeBinding!, P.DynamicResources!], []],
  ["Bind", [P.DefaultBinder!], []],
  ["PostBind", [], []],
];
const OK = ["Success", -1, []];
const WORDS = ["web", "api", "db", "cache", "search", "ledger", "batch", "train", "queue", "mail"];
const SPACES = ["shop", "payments", "batch", "ml"];

interface Node {
  cpu: number;
  memory: number;
  gpu: number;
  pods: number;
  taint: boolean;
  cordoned: boolean;
  zone: number;
}
interface Pod {
  number: number;
  key: string;
  cpu: number;
  memory: number;
  gpu: number;
  priority: number;
  attempts: number;
}

/** `detailed` false keeps no details, for runs too large to hold them. */
export interface Sizes {
  nodes: number;
  pods: number;
  chunk?: number;
  seed?: number;
  detailed?: boolean;
}

/** Every event of the run as rows: headers in order, details by cycle. */
export class SyntheticRun {
  readonly headers: unknown[][] = [];
  readonly details = new Map<number, unknown[][]>();
  private readonly nodes: Node[] = [];
  private now = START_NS;
  private cycle = 0;
  private start = 0;
  private random: number;

  constructor(private readonly sizes: Sizes) {
    this.random = sizes.seed ?? 1;
    this.setUp();
    const pods = Array.from({ length: sizes.pods }, (_, i) => this.addPod(i));
    for (const pod of pods) this.schedule(pod);
    for (const pod of pods) if (pod.attempts === 1 && pod.number % 3 === 0) this.wake(pod);
    this.emit("RunFinished", this.cycle, 0, 0, "");
  }

  /** The run in chunks as the server stores them (before compression). */
  *chunks(): Generator<Uint8Array> {
    const size = this.sizes.chunk ?? 1000;
    for (let first = 0; first < this.headers.length; first += size) {
      yield encode([first, this.headers.slice(first, first + size)], { useBigInt64: true });
    }
  }

  detail(cycle: number): Uint8Array {
    return encode(this.details.get(cycle) ?? []);
  }

  private emit(...row: unknown[]): void {
    this.headers.push(row);
  }

  private draw(below: number): number {
    this.random = (Math.imul(this.random, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.random / 2 ** 32) * below);
  }

  private setUp(): void {
    const points = POINTS.map(([point, plugins, weights]) => [point, plugins, weights]);
    this.emit("RunStarted", "0.1.0", 0, this.now, PLUGINS, [["default-scheduler", points]], []);
    this.emit("ResourcesDefined", ["cpu", "memory", "nvidia.com/gpu"]);
    const { nodes } = this.sizes;
    for (let i = 0; i < nodes; i++) this.addNode(i);
    const zones = [0, 1, 2].map((z) => this.nodes.flatMap((n, i) => (n.zone === z ? [i] : [])));
    const order: number[] = [];
    for (let i = 0; order.length < nodes; i++) zones.forEach((z) => i < z.length && order.push(z[i]!));
    this.emit("NodeOrderChanged", order);
  }

  private addNode(i: number): void {
    const gpu = i % 10 === 7;
    const node: Node = {
      cpu: gpu ? 32000 : 16000,
      memory: (gpu ? 128 : 64) * GIB,
      gpu: gpu ? 4 : 0,
      pods: 0,
      taint: gpu || i % 50 === 0,
      cordoned: i % 97 === 13,
      zone: (i * 7) % 3,
    };
    this.nodes.push(node);
    const name = `node-${gpu ? "gpu-" : ""}${String(i).padStart(4, "0")}`;
    const zone = "abc"[node.zone]!;
    const labels = {
      [ZONE]: zone,
      "kubernetes.io/hostname": name,
      pool: gpu ? "gpu" : "general",
      "kubernetes.io/arch": i % 11 === 3 ? "arm64" : "amd64",
    };
    const taints = node.taint
      ? [[gpu ? "nvidia.com/gpu" : "node-role.kubernetes.io/control-plane", "", "NoSchedule"]]
      : [];
    const allocatable = [node.cpu, node.memory, node.gpu];
    this.emit("NodeAdded", i, name, zone, labels, taints, node.cordoned, allocatable);
  }

  private addPod(i: number): Pod {
    const word = WORDS[i % WORDS.length]!;
    const name = `${word}-${((i * 2654435761) % 4096).toString(36)}-${i.toString(36)}`;
    const space = SPACES[this.draw(SPACES.length)]!;
    const gpu = word === "train" ? 1 : 0;
    const pod: Pod = {
      number: i,
      key: `${space}/${name}`,
      cpu: 250 * (1 + this.draw(8)),
      memory: (1 + this.draw(6)) * GIB,
      gpu,
      priority: i % 13 === 5 ? 1000 : 0,
      attempts: 0,
    };
    const requests = [pod.cpu, pod.memory, gpu];
    this.emit(
      "PodAdded",
      i,
      space,
      name,
      "default-scheduler",
      pod.priority,
      requests,
      `ReplicaSet/${word}`,
      -1,
      -1,
      "Pending",
      false,
    );
    this.emit("QueueMoved", i, 1, "UnschedulablePodAdd", pod.key, [], "", -1, 0);
    return pod;
  }

  private wake(pod: Pod): void {
    const hints = [
      [P.NodeResourcesFit, "Queue"],
      [P.TaintToleration, "QueueSkip"],
    ];
    this.emit("QueueMoved", pod.number, 1, "AssignedPodDelete", "batch/report", hints, "afterBackoff", -1, 0);
    this.schedule(pod);
  }

  private schedule(pod: Pod): void {
    this.now += 1_000_000n * BigInt(1 + this.draw(20));
    this.emit("ClockAdvanced", this.now);
    this.cycle++;
    pod.attempts++;
    const n = this.nodes.length;
    this.emit("CycleStarted", this.cycle, pod.number, pod.attempts, 0, 1, this.start, n);
    this.emit("PreFilterFinished", OK, [P.NodePorts, P.VolumeBinding, P.PodTopologySpread], null);
    const feasible = this.filter(pod);
    if (!feasible.length) this.fail(pod);
    else this.bind(pod, this.score(pod, feasible));
  }

  private filter(pod: Pod): number[] {
    const n = this.nodes.length;
    const wanted = n < 100 ? n : Math.max(100, Math.floor((n * Math.max(5, 50 - Math.floor(n / 125))) / 100));
    const statuses: unknown[][] = [OK];
    const found: number[] = [];
    const status: number[] = [];
    const counts = new Map<number, number>();
    const reject = (plugin: number, ...reasons: string[]): number => {
      counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
      const known = statuses.findIndex((s) => s[1] === plugin && (s[2] as string[]).join() === reasons.join());
      return known >= 0 ? known : statuses.push(["Unschedulable", plugin, reasons]) - 1;
    };
    for (let i = 0; i < n && found.length < wanted; i++) {
      const number = this.examined(i);
      const code = this.verdict(pod, this.nodes[number]!, reject);
      status.push(code);
      if (!code) found.push(number);
    }
    this.start = (this.start + status.length) % n;
    const rejected = [...counts].sort(([a], [b]) => a - b);
    this.emit("FilterFinished", status.length, found.length, wanted, rejected, false);
    const columns = ["FilterColumns", statuses, ["u1", Uint8Array.from(status)], ints(found), null];
    if (this.sizes.detailed !== false) this.details.set(this.cycle, [columns]);
    return found;
  }

  // Three zones in turn, like the node order (which for uneven zones differs; nobody minds here).
  private examined(i: number): number {
    const order = (this.order ??= this.headers.find((row) => row[0] === "NodeOrderChanged")![1] as number[]);
    return order[(this.start + i) % order.length]!;
  }

  private order: number[] | undefined;

  private verdict(pod: Pod, node: Node, reject: (plugin: number, ...reasons: string[]) => number): number {
    if (node.cordoned) return reject(P.NodeUnschedulable!, "node(s) were unschedulable");
    if (node.taint && !pod.gpu) return reject(P.TaintToleration!, "node(s) had untolerated taint(s)");
    const short = [
      ...(node.cpu < pod.cpu ? ["Insufficient cpu"] : []),
      ...(node.memory < pod.memory ? ["Insufficient memory"] : []),
      ...(node.gpu < pod.gpu ? ["Insufficient nvidia.com/gpu"] : []),
    ];
    return short.length ? reject(P.NodeResourcesFit!, ...short) : 0;
  }

  private score(pod: Pod, feasible: number[]): number {
    this.emit("PreScoreFinished", OK, [P.PodTopologySpread]);
    if (feasible.length === 1) {
      this.emit("NodeSelected", feasible[0], "single", 1, 0, 1, -1, 0, []);
      return feasible[0]!;
    }
    const totals = new Array<number>(feasible.length).fill(0);
    const plugins = SCORES.filter(([name]) => name !== "PodTopologySpread").map(([name, weight]) => {
      const raw = feasible.map((node) => this.rawScore(name, pod, node));
      const top = Math.max(...raw);
      const normalized = name === "NodeAffinity" && top ? raw.map((v) => Math.floor((v * 100) / top)) : raw;
      normalized.forEach((v, i) => (totals[i]! += v * weight));
      return [P[name], weight, ints(raw), ints(normalized)];
    });
    this.details.get(this.cycle)?.push(["ScoreColumns", ints(feasible), plugins, ints(totals)]);
    const best = Math.max(...totals);
    const tied = totals.filter((total) => total === best).length;
    const winner = totals.indexOf(best);
    const rest = totals.map((total, i) => (i === winner ? -1 : total));
    const second = rest.indexOf(Math.max(...rest));
    this.emit(
      "NodeSelected",
      feasible[winner],
      "heap",
      feasible.length,
      best,
      tied,
      feasible[second],
      rest[second],
      tied > 1 ? [] : [P.NodeResourcesFit, P.NodeResourcesBalancedAllocation],
    );
    return feasible[winner]!;
  }

  private rawScore(name: string, pod: Pod, number: number): number {
    const node = this.nodes[number]!;
    if (name === "TaintToleration") return 100;
    if (name === "NodeAffinity") return node.zone === pod.number % 3 ? 10 : 0;
    if (name === "ImageLocality") return (number * 31 + pod.number) % 7 ? 0 : 12;
    const cpu = 100 - Math.floor((100 * pod.cpu) / Math.max(node.cpu, 1));
    return name === "NodeResourcesFit" ? cpu : Math.floor(50 + cpu / 3);
  }

  private fail(pod: Pod): void {
    const n = this.nodes.length;
    const message =
      `0/${n} nodes are available: ${n} Insufficient cpu. no new claims to deallocate, ` +
      `preemption: 0/${n} nodes are available: ${n} No preemption victims found for incoming pod.`;
    this.emit("PreemptionStarted", n, 0, Math.max(100, Math.floor(n / 10)));
    this.emit("PreemptionDecided", [], [], -1, []);
    this.emit("PostFilterFinished", ["Unschedulable", P.DefaultPreemption, []], "override", -1);
    this.emit("CycleFinished", this.cycle, 1, -1, message, [P.NodeResourcesFit, P.TaintToleration], []);
    this.emit("QueueMoved", pod.number, 3, "ScheduleAttemptFailure", "", [], "", -1, 0);
    this.emit("EventRecorded", pod.number, "Warning", "FailedScheduling", message);
  }

  private bind(pod: Pod, number: number): void {
    const node = this.nodes[number]!;
    node.cpu -= pod.cpu;
    node.memory -= pod.memory;
    node.gpu -= pod.gpu;
    this.emit("Assumed", pod.number, number);
    this.emit("PointFinished", pod.number, "Reserve", OK);
    this.emit("PointFinished", pod.number, "Permit", OK);
    this.emit("CycleFinished", this.cycle, 0, number, "", [], []);
    this.emit("PointFinished", pod.number, "PreBind", OK);
    this.emit("Bound", pod.number, number);
    this.emit("PointFinished", pod.number, "Bind", OK);
    this.emit("EventRecorded", pod.number, "Normal", "Scheduled", `Successfully assigned ${pod.key}`);
    this.emit("PointFinished", pod.number, "PostBind", OK);
  }
}

function ints(values: number[]): [string, Uint8Array] {
  const data = Int32Array.from(values);
  return ["i4", new Uint8Array(data.buffer)];
}
