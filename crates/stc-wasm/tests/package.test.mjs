// The installed package: names, errors, streams, memory, the explanation.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { STCError, load } from "stc-codec-wasm";
import { sharedTests } from "./shared.test.mjs";

const stc = await load();
const ROWS = Array.from({ length: 50 }, (_, id) => ({ id, state: "open", title: `row ${id}` }));
const JSON_TEXT = JSON.stringify(ROWS);

sharedTests(stc);

test("values come back, in every format", () => {
  for (const value of [ROWS, {}, [], null, true, 1.5, "é\u2028\0", { a: { b: [1, [2, { c: "\ud800" }]] } }, ""])
    for (const format of stc.formats) assert.deepEqual(stc.parse(stc.stringify(value, format)), value);
  const text = '{"price":1.0,"rate":1e2,"zero":-0,"a":1,"a":2,"big":12345678901234567890123,"s":"\\u0041"}';
  for (const format of stc.formats) assert.equal(stc.decode(stc.encode(text, format)), text);
});

test("an error has its place", () => {
  assert.throws(() => stc.encode('{\n  "a": [1, 2,]\n}'), { name: "STCError", kind: "Syntax", offset: 15, line: 2, column: 14, message: "expected a value at byte 15" });
  assert.throws(() => stc.encode('["é\ud800"]'), { kind: "Utf8", offset: 4 });
  assert.throws(() => new stc.Decoder({ depth: 3 }).decode("[[[[1]]]]"), { kind: "Depth" });
  assert.throws(() => new stc.Decoder({ input: 3n }).decode("[1,2]"), { kind: "Input" });
  assert.throws(() => new stc.Decoder({ anchors: 0 }).decode("[&a[1],*a]"), { kind: "Anchors" });
  const encoder = new stc.Encoder({ format: "stc1" });
  encoder.push('{"a": ');
  assert.throws(() => encoder.push("}".repeat(200)), { offset: 6, line: undefined });
  assert.equal(encoder.encode("[1, 2]"), stc.encode("[1,2]", "stc1"));
  encoder.free();
  encoder.free();
  assert.throws(() => encoder.encode("1"), /freed/);
});

test("wrong arguments are errors of JavaScript", async () => {
  for (const input of [1, null, undefined, {}, [1]]) assert.throws(() => stc.encode(input), TypeError);
  for (const format of ["stc3", "", null, 2]) assert.throws(() => stc.encode("1", format), RangeError);
  assert.throws(() => new stc.Encoder({ nonsense: 1 }), /nonsense/);
  for (const depth of [-1, 2n ** 64n]) assert.throws(() => new stc.Encoder({ depth }), RangeError);
  for (const depth of [1.5, "3", NaN]) assert.throws(() => new stc.Encoder({ depth }), TypeError);
});

test("arrays of another global object, of shared memory, and of buffers that are gone", () => {
  const foreign = runInNewContext("({ bytes: new Uint8Array([91, 49, 93]), buffer: new Uint8Array([91, 49, 93]).buffer })");
  const shared = new Uint8Array(new SharedArrayBuffer(3));
  shared.set(foreign.bytes);
  for (const input of [foreign.bytes, foreign.buffer, shared]) {
    assert.equal(stc.encode(input), "[1]");
    assert.equal(new stc.Decoder().decode(input), "[1]");
  }
  const bytes = new Uint8Array([91, 49, 93]);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  assert.throws(() => stc.encode(bytes), TypeError);
  assert.throws(() => stc.encode(bytes.buffer), TypeError);
});

test("hostile input is rejected", () => {
  const hostile = ["[".repeat(1e6), '{"a":'.repeat(1e5), `"${"\\".repeat(99999)}`, Buffer.alloc(50000, 0xff), Buffer.alloc(1), "", " ".repeat(1e5)];
  for (const input of hostile) {
    assert.throws(() => stc.encode(input), STCError);
    assert.throws(() => stc.decode(input), STCError);
  }
});

test("a trap gives the next call a new instance", async () => {
  const own = await load();
  const decoder = new own.Decoder({ ratio: 2n ** 60n, output: 2n ** 60n });
  // Two gigabytes of output from two megabytes of input: more than the module's memory.
  const bomb = `[200000]{*,a="${"x".repeat(20000)}"}:\n${"{}\n".repeat(200000)}`;
  assert.throws(() => decoder.decode(bomb), /has failed/);
  assert.throws(() => decoder.decode("1"), /create another/);
  assert.equal(own.decode("[1, 2]"), "[1,2]");
});

test("a module is loaded without a call that blocks", async () => {
  const { Instance } = WebAssembly;
  const file = readFileSync(new URL(import.meta.resolve("stc-codec-wasm/stc.wasm")));
  const compiled = await WebAssembly.compile(file);
  // As in Chrome before 114 on the main thread, for modules of more than 4 KB.
  WebAssembly.Instance = function () {
    throw new RangeError("refused on the main thread");
  };
  try {
    for (const source of [file, compiled, undefined]) assert.equal((await load(source)).decode("[1, 2]"), "[1,2]");
  } finally {
    WebAssembly.Instance = Instance;
  }
});

test("streams", async () => {
  const collected = async (stream) => {
    const parts = [];
    for await (const part of stream) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  for (const format of stc.formats) {
    const source = new Blob([JSON_TEXT]).stream();
    assert.equal(await collected(source.pipeThrough(new stc.EncoderStream({ format }))), stc.encode(JSON_TEXT, format));
  }
  assert.equal(await collected(new Blob([stc.encode(JSON_TEXT)]).stream().pipeThrough(new stc.DecoderStream())), JSON_TEXT);
});

test("memory stays flat", () => {
  const documents = [JSON_TEXT, "x".repeat(10), JSON.stringify(Array.from({ length: 400 }, () => ROWS))];
  const turn = () => {
    for (let at = 0; at < 40; at++) {
      for (const document of documents)
        try {
          stc.decode(stc.encode(document));
        } catch (error) {
          assert.ok(error instanceof STCError);
        }
      new stc.Encoder().free();
      stc.explain(JSON_TEXT);
    }
    return process.memoryUsage().arrayBuffers + process.memoryUsage().external;
  };
  turn();
  const before = turn();
  assert.ok(turn() <= before + (1 << 20), "memory grew");
});

test("the explanation is that of the command line", () => {
  for (const format of ["stc2", "stc2-labelled"]) {
    const input = JSON.stringify({ total: 50, rows: ROWS, 'odd "\n': [{ a: 1 }, { b: 2 }] });
    const expected = JSON.parse(execFileSync(process.env.STC, ["explain", "--json", "--format", format, "-"], { input }));
    assert.deepEqual(stc.explain(input, format), expected);
  }
});

test("the package has the notices of third parties", () => {
  assert.match(readFileSync(new URL("THIRD-PARTY.txt", import.meta.resolve("stc-codec-wasm/package.json")), "utf8"), /^  memchr [0-9]/m);
});

test("texts", () => {
  assert.ok(stc.legend().startsWith("STC 2"));
  assert.ok(stc.estimateTokens(JSON_TEXT) > 100);
  assert.equal(stc.version, JSON.parse(readFileSync(new URL("node_modules/stc-codec-wasm/package.json", import.meta.url))).version);
});
