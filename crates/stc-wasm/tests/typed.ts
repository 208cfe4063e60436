// What the compiler sees: `tsc --strict` accepts this file, and rejects the last line.
import { STCError, formats, load } from "stc-codec-wasm";
import type { Codec, Explanation, Format } from "stc-codec-wasm";

const stc: Codec = await load(new URL("https://example.org/stc.wasm"));
const text: string = stc.stringify({ a: [1, 2] }, "stc2-labelled");
const json: string = stc.decode(new Uint8Array([91, 93]));
const encoder = new stc.Encoder({ format: "stc1", depth: 64, ratioAfter: 10n });
const chunk: Uint8Array = encoder.push(text);
encoder.free();
const stream: ReadableStream<Uint8Array> = new ReadableStream<string>().pipeThrough(new stc.EncoderStream());
const explanation: Explanation = stc.explain(json, "stc2");
const names: readonly Format[] = [...formats, ...stc.formats];
try {
  stc.decode("[");
} catch (error) {
  if (error instanceof STCError) console.log(error.kind, error.offset + (error.line ?? 0), chunk, stream, explanation.arrays[0]?.rows, names);
}
// @ts-expect-error The interface of what `load` returns is no value.
new Codec();
stc.encode("1", "stc3"); // a name that is no format
