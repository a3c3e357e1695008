// Prints the English texts of the front end, by their keys, for the catalogues (kviz/catalogues).

import { runnerImport } from "vite";

const { module } = await runnerImport("./src/base/text/english.ts");
process.stdout.write(JSON.stringify(module.english));
