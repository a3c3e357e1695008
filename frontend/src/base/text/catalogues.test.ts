// What Vite makes of a PO file.

import { expect, test } from "vitest";

import { textsOf } from "../../../catalogues.ts";

test("the texts of a catalogue have their contexts as keys", () => {
  const po = `# a header
msgid ""
msgstr ""
"Language: zh_Hans\\n"

msgctxt "why.bound"
msgid "bound to {node}"
msgstr "已绑定到 {node}"

msgctxt "map.pods"
msgid "{n} pod"
msgid_plural "{n} pods"
msgstr[0] "{n} 个 Pod"

msgctxt "long"
msgid ""
"two "
"lines"
msgstr ""
"两行 \\"引号\\" "
"连在一起"

msgctxt "not.yet"
msgid "not yet"
msgstr ""
`;
  expect(textsOf(po)).toEqual({
    "why.bound": "已绑定到 {node}",
    "map.pods": "{n} 个 Pod",
    long: '两行 "引号" 连在一起',
  });
});
