// Ten million encodes with flat memory. node endurance.mjs [ENCODES]
import assert from "node:assert/strict";
import * as stc from "stc-codec";

const encodes = Number(process.argv[2] ?? 10_000_000);
const documents = [1, 3, 10].map((size) => JSON.stringify(Array.from({ length: size }, (_, id) => ({ id, state: "open" }))));
const expected = documents.map((document) => stc.encode(document));
const resident = () => Math.round(process.memoryUsage.rss() / 1024);

let warm = 0;
for (let turn = 0; turn < encodes; turn++) {
  // The heap of JavaScript grows at first, whatever runs in it: memory counts from a quarter on.
  if (turn === encodes / 4) warm = resident();
  if (stc.encode(documents[turn % 3]) !== expected[turn % 3]) assert.fail(`encode ${turn}: other bytes`);
  if (turn % 1_000_000 === 0) assert.throws(() => stc.decode("[1"), stc.STCError);
}
const grown = resident() - warm;
console.log(`${encodes.toLocaleString("en")} encodes: memory grew by ${grown} KiB after the first quarter (${warm} KiB)`);
assert.ok(grown < 8192, "memory is not flat");
