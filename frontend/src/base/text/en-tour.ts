// English: the stops of the tour, fetched with it.

export const tour = {
  "tour.next": "Next",
  "tour.back": "Back",
  "tour.done": "Done",
  "tour.progress": "{at} of {of}",
  "tour.stages.title": "One cycle, one pod",
  "tour.stages":
    "The sentence says what the scheduler did in this cycle. Below it are the extension points it went " +
    "through, with how many nodes went in and came out. Click one to see its plugins.",
  "tour.queues.title": "Who is waiting",
  "tour.queues":
    "Pods about to be tried, backing off, or unschedulable until something changes. Each pod shows why it is where " +
    "it is, and which events would wake it. Click one to follow it.",
  "tour.map.title": "Every node's answer",
  "tour.map":
    "Blue fits, hatched orange was rejected, the star was chosen. Zoom in until you see the pods on each " +
    "node; the table button shows the same as rows.",
  "tour.inspector.title": "The evidence",
  "tour.inspector":
    "Why a pod waits, which plugin rejected which node, how the scores add up, who would be evicted. Each " +
    "tab answers one question about the cycle you are in.",
  "tour.timeline.title": "Forward and back",
  "tour.timeline":
    "Play, step, or drag through time. Steps can be whole cycles, extension points or single plugins; the " +
    "arrow keys do the same.",
  "tour.top.title": "Find, share, look up",
  "tour.top":
    "Ctrl+K finds pods, nodes and commands. Share copies a link that opens exactly this view. The question " +
    "mark lists every key. Learn has samples of what is rare: a lost nomination, a victim on Permit, a backoff.",
} as const;
