// The installed package: names, errors, streams, values, worker threads.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import * as stc from "stc-codec";
import { sharedTests } from "./shared.test.mjs";

const ROWS = Array.from({ length: 50 }, (_, id) => ({ id, state: "open", title: `row ${id}` }));
const JSON_TEXT = JSON.stringify(ROWS);

sharedTests(stc);

test("values come back, in every format", () => {
  for (const value of [ROWS, {}, [], null, true, 1.5, "é\u2028\0", { a: { b: [1, [2, { c: "\ud800" }]] } }, ""])
    for (const format of stc.formats) assert.deepEqual(stc.parse(stc.stringify(value, format)), value);
  assert.equal(stc.stringify(undefined), undefined);
  assert.deepEqual(stc.parse(stc.stringify({ b: 1, a: new Date(0) }, "stc2", ["a"])), { a: "1970-01-01T00:00:00.000Z" });
  assert.deepEqual(stc.parse("[1,2]", (_, value) => (typeof value === "number" ? value * 2 : value)), [2, 4]);
  assert.throws(() => stc.stringify(1n), TypeError);
});

test("texts keep their spelling", () => {
  const text = '{"price":1.0,"rate":1e2,"zero":-0,"a":1,"a":2,"big":12345678901234567890123,"s":"\\u0041"}';
  for (const format of stc.formats) assert.equal(stc.decode(stc.encode(text, format)), text);
  assert.equal(stc.encode(JSON_TEXT), stc.encode(JSON_TEXT, "stc2"));
});

test("an error has its place", () => {
  const caught = (work) => {
    try {
      work();
    } catch (error) {
      return error;
    }
    assert.fail("accepted");
  };
  const error = caught(() => stc.encode('{\n  "a": [1, 2,]\n}'));
  assert.ok(error instanceof stc.STCError && error instanceof Error);
  assert.deepEqual([error.name, error.kind, error.offset, error.line, error.column], ["STCError", "Syntax", 15, 2, 14]);
  assert.equal(error.message, "expected a value at byte 15");
  assert.equal(caught(() => stc.encode('["é\ud800"]')).kind, "Utf8");
  assert.equal(caught(() => stc.encode('["é\ud800"]')).offset, 4);
  assert.equal(caught(() => stc.decode("[".repeat(1000))).kind, "Depth");
  assert.equal(caught(() => new stc.Decoder({ depth: 3 }).decode("[[[[1]]]]")).kind, "Depth");
  assert.equal(caught(() => new stc.Decoder({ input: 3n }).decode("[1,2]")).kind, "Input");
  const encoder = new stc.Encoder({ format: "stc1" });
  encoder.push('{"a": ');
  const streamed = caught(() => encoder.push("}".repeat(200)));
  assert.deepEqual([streamed.offset, streamed.line, streamed.column], [6, undefined, undefined]);
  assert.equal(encoder.encode("[1, 2]"), stc.encode("[1,2]", "stc1"));
  encoder.push("[1");
  encoder.clear();
  assert.equal(Buffer.concat([encoder.push("7"), encoder.finish()]).toString(), "7");
});

test("wrong arguments are errors of JavaScript", async () => {
  for (const input of [1, null, undefined, {}, [1], new Float64Array(2)]) assert.throws(() => stc.encode(input), TypeError);
  for (const format of ["stc3", "", null, 2]) assert.throws(() => stc.encode("1", format), RangeError);
  assert.throws(() => new stc.Encoder({ nonsense: 1 }), /nonsense/);
  for (const depth of [-1, 2n ** 64n]) assert.throws(() => new stc.Encoder({ depth }), /depth/);
  for (const depth of [1.5, "3", NaN]) assert.throws(() => new stc.Encoder({ depth }), TypeError);
  await assert.rejects(stc.encodeAsync("[1"), stc.STCError);
  await assert.rejects(stc.decodeAsync(7), TypeError);
});

test("hostile input is rejected", () => {
  const hostile = ["[".repeat(1e6), '{"a":'.repeat(1e5), `"${"\\".repeat(99999)}`, Buffer.alloc(50000, 0xff), Buffer.alloc(1), "", " ".repeat(1e5)];
  for (const input of hostile) {
    assert.throws(() => stc.encode(input), stc.STCError);
    assert.throws(() => stc.decode(input), stc.STCError);
    assert.throws(() => new stc.Encoder({ format: "stc1" }).encode(input), stc.STCError);
  }
});

test("a buffer may change while the background reads its copy", async () => {
  const bytes = Buffer.from(JSON.stringify(Array.from({ length: 400 }, () => ROWS)));
  const expected = stc.encode(bytes);
  const promise = stc.encodeAsync(bytes);
  bytes.fill(0x5b);
  assert.equal(await promise, expected);
});

test("memory that threads share is read", async () => {
  const text = JSON.stringify(Array.from({ length: 40 }, () => ROWS));
  const shared = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(text)));
  const original = Buffer.from(text);
  shared.set(original);
  const expected = stc.encode(text);
  assert.equal(stc.encode(shared), expected);
  assert.equal(await stc.encodeAsync(shared), expected);
  assert.equal(stc.decode(shared), text);
  assert.equal(stc.estimateTokens(shared), stc.estimateTokens(text));
});

test("memory that another thread changes is checked and converted in one state", async (context) => {
  const document = JSON.stringify(["x".repeat(1 << 16)]);
  const changing = new Uint8Array(new SharedArrayBuffer(document.length));
  changing.set(Buffer.from(document));
  // Bytes that are an `x` or no UTF-8 by turns.
  const code = `
    const { workerData: bytes } = require("node:worker_threads");
    for (;;)
      for (const at of [2, bytes.length >> 1, bytes.length - 3])
        for (const byte of [0xff, 0x78]) Atomics.store(bytes, at, byte);`;
  const codec = new stc.Encoder();
  const converters = [
    [stc.encode, stc.encode(document)],
    [stc.decode, document],
    [(bytes) => codec.encode(bytes), stc.encode(document)],
    [(bytes) => Buffer.concat([codec.push(bytes), codec.finish()]).toString(), stc.encode(document)],
  ];
  const worker = new Worker(code, { eval: true, workerData: changing });
  try {
    await once(worker, "online");
    // What is accepted had no other byte when it was converted. The threads may run one after the other, so until both have been seen,
    // or for a while: a busy machine proves nothing.
    for (const [convert, expected] of converters) {
      const end = Date.now() + 15_000;
      let [accepted, rejected] = [0, 0];
      for (let turn = 0; turn < 20 || ((accepted === 0 || rejected === 0) && Date.now() < end); turn++) {
        let found;
        try {
          found = convert(changing);
        } catch (error) {
          assert.ok(error instanceof stc.STCError && error.kind === "Utf8", error);
          rejected++;
          continue;
        }
        assert.ok(found === expected, "another text");
        accepted++;
      }
      if (accepted === 0 || rejected === 0) context.diagnostic(`${accepted} accepted, ${rejected} rejected`);
    }
  } finally {
    await worker.terminate();
  }
});

test("arrays of another global object, and of buffers that are gone", async () => {
  const foreign = runInNewContext("({ bytes: new Uint8Array([91, 49, 93]), buffer: new Uint8Array([91, 49, 93]).buffer, words: new Uint16Array(3) })");
  for (const input of [foreign.bytes, foreign.buffer]) {
    assert.equal(stc.encode(input), "[1]");
    assert.equal(await stc.encodeAsync(input), "[1]");
    assert.equal(new stc.Decoder().decode(input), "[1]");
  }
  assert.throws(() => stc.encode(foreign.words), TypeError);
  assert.throws(() => stc.encode(Object.create(Uint8Array.prototype)), TypeError);
  const bytes = new Uint8Array([91, 49, 93]);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  for (const convert of [stc.encode, stc.decode, (input) => new stc.Encoder().encode(input)]) assert.throws(() => convert(bytes), { kind: "Truncated", offset: 0 });
  await assert.rejects(stc.encodeAsync(bytes), { kind: "Truncated" });
  assert.equal(new stc.Encoder().push(bytes).length, 0);
  assert.throws(() => stc.encode(bytes.buffer), TypeError);
});

test("a worker may end while the background works for it", async () => {
  const code = `
    const stc = require("stc-codec");
    const text = JSON.stringify(Array.from({ length: 20000 }, (_, id) => ({ id, state: "open" })));
    for (let turn = 0; turn < 8; turn++) stc.encodeAsync(text).catch(() => {});
    require("node:worker_threads").parentPort.postMessage("begun");`;
  for (let turn = 0; turn < 4; turn++) {
    const worker = new Worker(code, { eval: true });
    await once(worker, "message");
    await worker.terminate();
  }
  assert.equal(await stc.encodeAsync("[1]"), "[1]");
});

test("streams", async () => {
  const source = (text, size) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < text.length; at += size) controller.enqueue(Buffer.from(text.slice(at, at + size)));
        controller.close();
      },
    });
  const collected = async (stream) => {
    const parts = [];
    for await (const part of stream) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  for (const format of stc.formats) {
    const text = await collected(source(JSON_TEXT, 7).pipeThrough(new stc.EncoderStream({ format })));
    assert.equal(text, stc.encode(JSON_TEXT, format));
    assert.equal(await collected(source(text, 5).pipeThrough(new stc.DecoderStream())), JSON_TEXT);
  }
  const node = Duplex.fromWeb(new stc.EncoderStream());
  node.end(JSON_TEXT);
  assert.equal(await collected(node), stc.encode(JSON_TEXT));
  await assert.rejects(collected(source("[1", 1).pipeThrough(new stc.EncoderStream())), stc.STCError);
});

test("texts, and CommonJS beside ESM", () => {
  assert.ok(stc.legend().startsWith("STC 2"));
  assert.equal(stc.legend("json"), "");
  assert.ok(stc.estimateTokens(JSON_TEXT) > 100);
  assert.equal(stc.estimateTokens(JSON_TEXT), stc.estimateTokens(Buffer.from(JSON_TEXT)));
  const required = createRequire(import.meta.url)("stc-codec");
  assert.equal(required.encode, stc.encode);
  assert.equal(required.STCError, stc.STCError);
  const { version, license, type, os, cpu, libc } = createRequire(import.meta.url)("stc-codec/package.json");
  assert.equal(type, "commonjs");
  // The addon is for this system alone; npm refuses the package on others.
  assert.deepEqual([os, cpu], [[process.platform], [process.arch]]);
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  assert.deepEqual(libc, process.platform === "linux" ? [isGlibc ? "glibc" : "musl"] : undefined);
  assert.equal(stc.version, version);
  assert.equal(license, "MIT OR Apache-2.0");
  assert.match(readFileSync(new URL("THIRD-PARTY.txt", import.meta.resolve("stc-codec/package.json")), "utf8"), /^  napi [0-9]/m);
});

test("the adapters write STC and nothing else", async () => {
  const { encoded, encodes } = await import("stc-codec/mcp");
  const { encodedTool } = await import("stc-codec/ai");
  const result = { content: [{ type: "text", text: JSON.stringify(ROWS, null, 2) }] };
  for (const format of ["json", "stc3"]) {
    assert.throws(() => encoded(result, { format }), RangeError);
    assert.throws(() => encodes(() => result, { format }), RangeError);
    assert.throws(() => encodedTool({}, { format }), RangeError);
  }
  assert.deepEqual(encoded(result, { format: "stc1", tool: "rows" }).content[0]._meta, { "io.stoa/stc": { format: "stc1" } });
  assert.deepEqual((await encodes(() => result, { tool: "rows" })()).content[0]._meta, { "io.stoa/stc": { format: "stc2" } });
});

test("worker threads", async () => {
  const code = `
    const { workerData, parentPort } = require("node:worker_threads");
    const stc = require("stc-codec");
    let wrong = 0;
    for (let turn = 0; turn < 500; turn++) {
      const rows = Array.from({ length: 1 + (turn % 40) }, (_, n) => ({ id: workerData, n, state: "open" }));
      const text = stc.stringify(rows, stc.formats[turn % 5]);
      if (JSON.stringify(stc.parse(text)) !== JSON.stringify(rows)) wrong++;
    }
    parentPort.postMessage(wrong);`;
  const workers = Array.from({ length: 8 }, (_, seed) => new Worker(code, { eval: true, workerData: seed }));
  const wrong = await Promise.all(workers.map((worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))));
  assert.deepEqual(wrong, Array(8).fill(0));
});

test("the README runs", async () => {
  const blocks = readFileSync(new URL(import.meta.resolve("stc-codec/package.json")).pathname.replace("package.json", "README.md"), "utf8")
    .split("```js\n")
    .slice(1)
    .map((block) => block.split("```")[0]);
  assert.equal(blocks.length, 2);
  // Blocks that need another library are those of the adapters, which adapters.test.mjs has.
  for (const code of blocks.filter((code) => !code.startsWith("// needs"))) {
    const absolute = code.replaceAll('"stc-codec"', JSON.stringify(import.meta.resolve("stc-codec")));
    await import(`data:text/javascript,${encodeURIComponent(absolute)}`);
  }
});

test("results of tools without a name stay", async () => {
  const { encoded, encodes } = await import("stc-codec/mcp");
  const { encodedTool, encodedTools } = await import("stc-codec/ai");
  const rows = Array.from({ length: 40 }, (_, id) => ({ id, state: "open" }));
  const result = { content: [{ type: "text", text: JSON.stringify(rows) }] };
  const calls = [(options) => encoded(result, options), (options) => encodes(() => result, options)()];
  for (const call of calls) {
    for (const options of [undefined, {}, { tool: "" }, { tool: undefined }, { skipTools: ["x"] }]) assert.equal(await call(options), result);
    for (const options of [{ tool: "rows" }, { skipTools: [] }]) assert.notEqual(await call(options), result);
  }
  const isEncoded = (tool) => tool.toModelOutput !== undefined;
  assert.ok(!isEncoded(encodedTool({})) && !isEncoded(encodedTool({ id: "" }, { tool: "" })));
  assert.ok(isEncoded(encodedTool({}, { tool: "rows" })) && isEncoded(encodedTool({}, { skipTools: [] })));
  // A tool of a provider has an id that says more than the key.
  const tools = encodedTools({ rows: {}, read_file: {}, notes: { id: "x.memory" } }, { format: "stc1" });
  assert.deepEqual(Object.keys(tools).filter((name) => isEncoded(tools[name])), ["rows"]);
  assert.equal((await tools.rows.toModelOutput({ output: rows })).value, stc.stringify(rows, "stc1"));
});
