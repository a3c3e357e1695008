// English: the editor of configurations, scenarios and objects. A chunk of its own, so not part of `en`.

export const editorTexts = {
  default: "default",
  listOf: "list of",
  mapOf: "map of",
  line: "Line {n}",
} as const;
