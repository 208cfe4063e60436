// Runs the lines of scripts/bindings/cases through the installed package: whole, reused, in chunks, as strings and bytes, and in the
// background. node cases.mjs FILE
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import * as stc from "stc-codec";

const encoders = new Map(stc.formats.map((format) => [format, new stc.Encoder({ format })]));
const decoder = new stc.Decoder();

function chunks(codec, bytes) {
  const size = 1 + Math.floor(bytes.length / 3);
  const parts = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(codec.push(bytes.subarray(at, at + size)));
  parts.push(codec.finish());
  return Buffer.concat(parts);
}

/** Every way to convert the input. */
function ways(encodes, format, bytes) {
  const text = bytes.toString();
  const all = encodes
    ? [
        () => stc.encode(bytes, format),
        () => stc.encode(new Uint8Array(bytes), format),
        () => encoders.get(format).encode(bytes),
        () => chunks(encoders.get(format), bytes),
        () => stc.encodeAsync(bytes, format),
      ]
    : [
        () => stc.decode(bytes),
        () => stc.decode(new Uint8Array(bytes)),
        () => decoder.decode(bytes),
        () => chunks(decoder, bytes),
        () => stc.decodeAsync(bytes),
      ];
  if (Buffer.from(text).equals(bytes)) all.push(encodes ? () => stc.encode(text, format) : () => stc.decode(text));
  return all;
}

async function outcome(work) {
  try {
    const answer = await work();
    return Buffer.from(answer).toString("hex") || "-";
  } catch (error) {
    if (error instanceof stc.STCError) return String(error.offset);
    throw error;
  }
}

let passed = 0;
let failed = 0;
for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  const [kind, format, name, input, expected] = line.split(" ");
  const bytes = Buffer.from(input === "-" ? "" : input, "hex");
  const answers = await Promise.all(ways(kind.endsWith("encode"), format === "-" ? "stc2" : format, bytes).map(outcome));
  if (answers.every((answer) => answer === expected)) passed++;
  else {
    failed++;
    console.error(`${kind} ${format} ${name}: ${answers.map((answer) => answer === expected)}`);
  }
}
console.log(`node ${process.versions.node}: ${passed} cases passed, each whole, reused, in chunks, as string and bytes, in the background`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
