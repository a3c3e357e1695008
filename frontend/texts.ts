// Vite's part in texts that are data: a YAML file is imported as the value it holds.

import { parse } from "yaml";
import type { Plugin } from "vite";

export function yaml(): Plugin {
  return {
    name: "yaml",
    transform(code, id) {
      if (!id.endsWith(".yaml")) return null;
      return { code: `export default ${JSON.stringify(parse(code))};`, map: null, moduleType: "js" };
    },
  };
}
