// Tests that the packages for Node and for WebAssembly share. Their test scripts copy this file beside their own tests.
import assert from "node:assert/strict";
import { test } from "node:test";

/** Tests a package, given its functions and classes. */
export function sharedTests(stc) {
  const JSON_TEXT = JSON.stringify(Array.from({ length: 50 }, (_, id) => ({ id, state: "open", title: `row ${id}` })));

  test("a string's surrogates in chunks", () => {
    const codec = new stc.Encoder({ format: "json" });
    const written = (chunks) => Buffer.concat([...chunks.map((chunk) => codec.push(chunk)), codec.finish()]).toString();
    const text = '["é😀", "𝄞x"]';
    assert.equal(written([...Array(text.length).keys()].map((at) => text[at])), stc.encode(text, "json"));
    for (let at = 0; at <= text.length; at++) assert.equal(written([text.slice(0, at), "", text.slice(at)]), stc.encode(text, "json"));
    // Offsets count from the start of the document, and what was begun is discarded.
    for (const [chunks, offset] of [
      [['["é', "\ud83d", 'x"]'], 4],
      [['["é', "\ud83d"], 4],
      [['["é', '\udc00"]'], 4],
      [['["é', "ab\ud83d", "\ud83d"], 6],
      [['["é\ud83d', Buffer.from('"]')], 4],
      [[Buffer.from('["é'), '\ud83d"]'], 4],
      [['["é😀', 'x\ud83d"]'], 9],
    ]) {
      assert.throws(() => written(chunks), { name: "STCError", kind: "Utf8", offset, line: undefined, message: `a lone surrogate at byte ${offset}` });
      assert.equal(written(["[1, ", "2]"]), "[1,2]");
    }
    codec.push('["\ud83d');
    codec.clear();
    assert.equal(written(["[1, 2]"]), "[1,2]");
    codec.push('["\ud83d');
    assert.equal(codec.encode("[3]"), "[3]");
    assert.equal(written(["[1, 2]"]), "[1,2]");
    codec.push("[7, ");
    assert.throws(() => codec.encode('"\ud800"'), { kind: "Utf8", offset: 1 });
    assert.equal(written(["[1, 2]"]), "[1,2]");
  });

  test("one object has the options of both directions", async () => {
    const options = { format: "stc2-labelled", window: 1000, depth: 3, ratioAfter: undefined };
    const text = new stc.Encoder(options).encode(JSON_TEXT);
    assert.equal(text, stc.encode(JSON_TEXT, "stc2-labelled"));
    const decoder = new stc.Decoder(options);
    assert.equal(decoder.decode(text), JSON_TEXT);
    assert.throws(() => decoder.decode("[[[[1]]]]"), { kind: "Depth" });
    let streamed = "";
    const stream = new Blob([JSON_TEXT]).stream().pipeThrough(new stc.EncoderStream(options)).pipeThrough(new stc.DecoderStream(options));
    for await (const part of stream) streamed += Buffer.from(part);
    assert.equal(streamed, JSON_TEXT);
    for (const format of [undefined, null]) assert.equal(new stc.Encoder({ format }).encode(JSON_TEXT), stc.encode(JSON_TEXT));
    assert.throws(() => new stc.Encoder({ format: "stc3" }), RangeError);
    assert.throws(() => new stc.Encoder({ format: "stc2-refs" }), { name: "RangeError", message: "stc2-refs is now stc2" });
    assert.throws(() => stc.encode(JSON_TEXT, "stc2-dense"), { name: "RangeError", message: "stc2-dense is part of stc2" });
    assert.throws(() => stc.encode(JSON_TEXT, "constructor"), { message: /^format constructor is not one of json, stc1, stc2, stc2-labelled$/ });
    for (const Codec of [stc.Encoder, stc.Decoder]) assert.throws(() => new Codec({ ...options, formats: 1 }), TypeError);
  });
}
