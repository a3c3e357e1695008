// What a component fetches when it is needed comes late on a busy machine.

import { configure } from "@testing-library/svelte";

configure({ asyncUtilTimeout: 30_000 });
