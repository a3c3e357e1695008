// Who may import whom: base <- wire <- store <- views/<one folder per view> <- app. Views never know each other.

const LAYERS = ["base", "wire", "store", "views", "app"];
const ENTRIES = "^src/((main|offline|compare|experiment|classroom|theme)|pages/[^/]+)[.]ts$";
const TESTS = "[.](test|bench)[.]ts$|^src/testing/";

/** A layer looks down only: never at one that stands above it. */
const downwards = LAYERS.slice(0, -1).map((layer, i) => ({
  name: `${layer}-looks-down-only`,
  severity: "error",
  from: { path: `^src/${layer}/`, pathNot: TESTS },
  to: { path: `^src/(${LAYERS.slice(i + 1).join("|")})/` },
}));

export default {
  forbidden: [
    ...downwards,
    {
      name: "views-do-not-know-each-other",
      severity: "error",
      from: { path: "^src/views/([^/]+)/" },
      to: { path: "^src/views/", pathNot: "^src/views/$1/" },
    },
    {
      name: "every-file-has-a-layer",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: [`^src/(${LAYERS.join("|")})/`, ENTRIES, TESTS] },
    },
    {
      name: "nobody-imports-an-entry",
      severity: "error",
      from: {},
      to: { path: ENTRIES },
    },
    {
      name: "only-tests-use-test-support",
      severity: "error",
      from: { pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: "wire-needs-no-library",
      severity: "error",
      from: { path: "^src/wire/", pathNot: TESTS },
      to: { dependencyTypes: ["npm", "npm-dev", "npm-no-pkg", "npm-unknown", "core"] },
    },
    {
      name: "store-needs-no-library",
      severity: "error",
      from: { path: "^src/store/", pathNot: TESTS },
      to: { dependencyTypes: ["npm", "npm-dev", "npm-no-pkg", "npm-unknown", "core"] },
    },
    {
      name: "no-circles",
      severity: "error",
      // A component may contain itself.
      from: { path: "(.+)" },
      to: { circular: true, pathNot: "^$1$" },
    },
    { name: "found", severity: "error", from: {}, to: { couldNotResolve: true, pathNot: "^virtual:" } },
    {
      name: "no-orphans",
      severity: "error",
      from: { orphan: true, pathNot: [ENTRIES, TESTS, "[.]d[.]ts$", "src/base/text/english[.]ts$"] },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["svelte", "import", "browser", "default"] },
  },
};
