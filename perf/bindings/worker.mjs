// One contender of the Node table, in a process of its own: node worker.mjs CONTENDER SECONDS FILE... prints nanoseconds a pass.
// Checks its own answers before it is timed. The time of a pass is the least of all passes within the seconds given.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [name, seconds, ...paths] = process.argv.slice(2);
const bytes = paths.map((path) => readFileSync(path));
const texts = bytes.map(String);
const sameValue = (text, original) => assert.deepEqual(JSON.parse(text), JSON.parse(original));

const contenders = {
  async "stc.encode(Buffer)"() {
    const stc = await import("stc-codec");
    return { work: stc.encode, inputs: bytes, check: (text, original) => assert.equal(stc.decode(text), stc.encode(original, "json")) };
  },
  async "stc.encode(string)"() {
    const stc = await import("stc-codec");
    return { work: stc.encode, inputs: texts, check: (text, original) => assert.equal(stc.decode(text), stc.encode(original, "json")) };
  },
  async "JSON.parse+stringify"() {
    return { work: (text) => JSON.stringify(JSON.parse(text)), inputs: texts, check: sameValue };
  },
  async toon() {
    const toon = await import("@toon-format/toon");
    const check = (text, original) => assert.deepEqual(toon.decode(text), JSON.parse(original));
    return { work: (text) => toon.encode(JSON.parse(text)), inputs: texts, check };
  },
  async "wasm.encode(Buffer)"() {
    const { load } = await import("stc-codec-wasm");
    const stc = await load();
    return { work: (json) => stc.encode(json), inputs: bytes, check: (text, original) => assert.equal(stc.decode(text), stc.encode(original, "json")) };
  },
};

const { work, inputs, check } = await contenders[name]();
inputs.forEach((input, at) => check(work(input), texts[at]));
let best = Infinity;
const end = performance.now() + 1000 * Number(seconds);
do {
  const begun = process.hrtime.bigint();
  for (const input of inputs) work(input);
  best = Math.min(best, Number(process.hrtime.bigint() - begun));
} while (performance.now() < end);
console.log(Math.round(best));
