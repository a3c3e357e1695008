// English: the editor of configurations, scenarios and objects. A chunk of its own, so not part of `en`.

export const editorTexts = {
  default: "default",
  listOf: "list of",
  mapOf: "map of",
  line: "Line {n}",
  form: "The profile without YAML",
  formHint: "Each choice is written into the YAML, and what the YAML says shows here.",
  formWaits: "The YAML is not a valid configuration: correct it, and the choices can be changed again.",
  profile: "Profile",
  percentage: "Nodes to score, in percent",
  adaptive: "adaptive",
  strategy: "Strategy of NodeResourcesFit",
  spreading: "Default spreading",
  plugin: "Plugin",
  weight: "Weight",
  weightOf: "Weight of {plugin}",
  usually: "default {n}",
  points: "Runs at",
} as const;
