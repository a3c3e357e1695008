// English: what one can do, by key, by name, and on the tour.

export const commands = {
  "tour.offer": "First time here? Six stops show what is where.",
  "tour.take": "Take the tour",
  "tour.decline": "No, thanks",
  "tour.next": "Next",
  "tour.back": "Back",
  "tour.done": "Done",
  "tour.progress": "{at} of {of}",
  "tour.stages.title": "One cycle, one pod",
  "tour.stages":
    "The sentence says what the scheduler did in this cycle. Below it stand the extension points it went " +
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
    "mark lists every key.",
  "granularity.cycle": "cycle",
  "granularity.point": "point",
  "granularity.plugin": "plugin",

  "command.play": "Play",
  "command.pause": "Pause",
  "command.forward": "Step forward",
  "command.back": "Step back",
  "command.farForward": "100 cycles forward",
  "command.farBack": "100 cycles back",
  "command.first": "First cycle",
  "command.last": "Last cycle",
  "command.coarser": "Step in larger strides",
  "command.finer": "Step in smaller strides",
  "command.nextOfPod": "Next event of the selected pod",
  "command.previousOfPod": "Previous event of the selected pod",
  "command.nextFailure": "Next failure",
  "command.previousFailure": "Previous failure",
  "command.goTo": "Go to a cycle",
  "command.follow": "Follow the run live",
  "command.tab.why": "Inspector: Why",
  "command.tab.filter": "Inspector: Filter",
  "command.tab.score": "Inspector: Score",
  "command.tab.preempt": "Inspector: Preempt",
  "command.tab.cache": "Inspector: Cache",
  "command.tab.state": "Inspector: CycleState",
  "command.tab.log": "Inspector: Log",
  "command.table": "Map as a table",
  "command.cycles": "List of cycles",
  "command.focus": "Focus the node on the map",
  "command.palette": "Find, or run a command",
  "command.bookmark": "Bookmark this cycle",
  "command.unpin": "Clear the selection",
  "command.theme": "Light or dark",
  "command.motion": "Motion on or off",
  "command.help": "Keys and signs",
  "command.tour": "Take the tour",

  "theme.auto": "Theme: as the system",
  "theme.light": "Theme: light",
  "theme.dark": "Theme: dark",
  "motion.on": "Motion is on",
  "motion.off": "Motion is off",

  "find.label": "Find a pod, node, cycle or command",
  "find.results": "Results",
  "find.nothing": "Nothing found.",
  "find.command": "Command",
  "find.cycle": "Cycle",
  "find.node": "Node",
  "find.pod": "Pod",
  "find.waitingPod": "Waiting pod",

  "help.title": "Keys and signs",
  "help.group.move": "Moving",
  "help.group.look": "Looking",
  "help.group.find": "Finding and keeping",
  "help.group.view": "Appearance",
  "help.signs": "Signs",
  "help.sign.feasible": "fits",
  "help.sign.rejected": "rejected",
  "help.sign.chosen": "chosen",
  "help.sign.nominated": "nominated, room is being made",
  "help.sign.victim": "victim of preemption",
  "help.sign.unexamined": "not examined",
  "help.sign.unevaluated": "not evaluated, an earlier plugin had rejected",
  "help.singleKeys": "Use keys without Ctrl or Alt",

  "bookmark.title": "Bookmark cycle {n}",
  "bookmark.note": "Note",
  "bookmark.save": "Save",
  "bookmark.remove": "Remove",
  "bookmark.all": "All bookmarks",
} as const;
