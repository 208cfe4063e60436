// What the compiler sees: `tsc --strict` accepts this file, and rejects the last line.
import * as stc from "stc-codec";
import whole from "stc-codec";
// @ts-expect-error There is no such class at run time.
import { Codec } from "stc-codec";
import { encodedTool } from "stc-codec/ai";
import { decodingClient, encodes } from "stc-codec/mcp";

const text: string = stc.stringify({ a: [1, 2] }, "stc2-labelled");
const same: string = whole.encode(text) + new whole.Decoder().decode(text);
const json: string = stc.decode(new Uint8Array([91, 93]));
const later: Promise<string> = stc.encodeAsync(Buffer.from(json), "stc1");
const encoder = new stc.Encoder({ format: "stc1", depth: 64, ratioAfter: 10n });
const chunk: Uint8Array = encoder.push(text);
const stream: ReadableStream<Uint8Array> = new ReadableStream<string>().pipeThrough(new stc.EncoderStream());
const client = decodingClient({ callTool: async (_: { name: string }) => ({ content: [] }) });
const handler: (name: string) => Promise<{ content: string[] }> = encodes((name: string) => ({ content: [name] }));
const tool: { description: string } = encodedTool({ description: "x" });
try {
  stc.decode("[");
} catch (error) {
  if (error instanceof stc.STCError) console.log(error.kind, error.offset + (error.line ?? 0), later, same, chunk, stream, client, handler, tool);
}
stc.encode("1", "stc3"); // a name that is no format
