// Runs the lines of scripts/bindings/cases through a JavaScript package: whole, reused, in chunks, as strings and bytes. The tests of both
// packages copy this file beside their own cases.mjs, which hands the package over.
import { Buffer } from "node:buffer";
import { createReadStream } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

function chunks(codec, bytes) {
  const size = 1 + Math.floor(bytes.length / 3);
  const parts = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(codec.push(bytes.subarray(at, at + size)));
  parts.push(codec.finish());
  return Buffer.concat(parts);
}

/** Every way to convert the input. `encodeAsync` and `decodeAsync` count if the package has them. */
function ways(stc, reused, encodes, format, bytes) {
  const text = bytes.toString();
  const [once, inBackground] = encodes ? [stc.encode, stc.encodeAsync] : [stc.decode, stc.decodeAsync];
  const codec = encodes ? reused.encoders.get(format) : reused.decoder;
  const rest = encodes ? [format] : [];
  const all = [
    () => once(bytes, ...rest),
    () => once(new Uint8Array(bytes), ...rest),
    () => (encodes ? codec.encode(bytes) : codec.decode(bytes)),
    () => chunks(codec, bytes),
  ];
  if (inBackground) all.push(() => inBackground(bytes, ...rest));
  if (Buffer.from(text).equals(bytes)) all.push(() => once(text, ...rest));
  return all;
}

/** The answer in hexadecimal, or the offset of an error. */
async function outcome(work, STCError) {
  try {
    return Buffer.from(await work()).toString("hex") || "-";
  } catch (error) {
    if (error instanceof STCError) return String(error.offset);
    throw error;
  }
}

/** Runs all cases of a file through the package and prints how many passed. */
export async function run(name, stc, STCError, file) {
  const encoders = new Map(stc.formats.map((format) => [format, new stc.Encoder({ format })]));
  const reused = { encoders, decoder: new stc.Decoder() };
  let passed = 0;
  let failed = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [kind, format, title, input, expected] = line.split(" ");
    const bytes = Buffer.from(input === "-" ? "" : input, "hex");
    const all = ways(stc, reused, kind.endsWith("encode"), format === "-" ? "stc2" : format, bytes);
    const answers = await Promise.all(all.map((work) => outcome(work, STCError)));
    if (answers.every((answer) => answer === expected)) passed++;
    else {
      failed++;
      console.error(`${kind} ${format} ${title}: ${answers.map((answer) => answer === expected)}`);
    }
  }
  const background = stc.encodeAsync ? ", in the background" : "";
  console.log(`${name}: ${passed} cases passed, each whole, reused, in chunks, as string and bytes${background}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
