// English: the list of keys and signs.

export const help = {
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
  "help.sign.held": "would fit, but room is held for nominated pods",
  "help.sign.victim": "victim of preemption",
  "help.sign.unexamined": "not examined",
  "help.sign.unevaluated": "not evaluated, an earlier plugin had rejected",
  "help.singleKeys": "Use keys without Ctrl or Alt",
  "help.classic": "Yesterday's names beside today's",
  "help.group.export": "Saving",
} as const;
