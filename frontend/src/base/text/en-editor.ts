// English: the editor of configurations, scenarios and objects. A chunk of its own, so not part of `en`.

export const editorTexts = {
  default: "default",
  listOf: "list of",
  mapOf: "map of",
  notChecked: "Not checked: the server does not answer.",
  checked: "No problem found.",
  problems: { one: "1 problem", other: "{n} problems" },
  line: "Line {n}",
} as const;
