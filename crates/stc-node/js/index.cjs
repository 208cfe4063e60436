// The codec for Node: names, arguments and errors. The work is done by the addon.
"use strict";
const native = require("./native.cjs");
const { Codec, STCError, checked, formatNumber, limits, streams, values } = require("./shared.cjs");

const formats = Object.freeze(native.formats());
const numberOf = (format) => formatNumber(formats, format);

// The bytes of strings up to this length are written to a buffer that is kept. The addon would measure a string before it copies it.
const LONGEST_KEPT = 1 << 20;
const utf8 = new TextEncoder();
let kept = new Uint8Array(0);

/** Returns bytes that no other thread can change while the addon reads them: memory that threads share is copied. */
function stable(input) {
  return typeof input === "string" || input.buffer instanceof ArrayBuffer ? input : new Uint8Array(input);
}

/** Returns the bytes of checked input, for one call of the addon. */
function bytes(input) {
  if (typeof input !== "string") return stable(input);
  if (input.length > LONGEST_KEPT) return utf8.encode(input);
  // A unit of UTF-16 takes at most three bytes.
  if (kept.length < 3 * input.length) kept = new Uint8Array(3 * input.length);
  return kept.subarray(0, utf8.encodeInto(input, kept).written);
}

/** Returns the addon's answer, or throws its rejection. */
function accepted(answer) {
  if (typeof answer === "string" || ArrayBuffer.isView(answer)) return answer;
  const { message, kind, offset, line, column } = answer;
  throw new STCError(message, kind, offset, line, column);
}

function encode(json, format = "stc2") {
  const input = checked(json);
  const number = numberOf(format);
  return accepted(native.encode(bytes(input), number));
}

function decode(text) {
  return accepted(native.decode(bytes(checked(text))));
}

async function encodeAsync(json, format = "stc2") {
  return accepted(await native.encodeAsync(stable(checked(json)), numberOf(format)));
}

async function decodeAsync(text) {
  return accepted(await native.decodeAsync(stable(checked(text))));
}

function legend(format = "stc2") {
  return native.legend(numberOf(format));
}

function estimateTokens(text) {
  return native.estimateTokens(stable(checked(text)));
}

/** Returns the addon's codec for options, an encoder if it has the number of a format. `ratioAfter` is the addon's `ratio_after`. */
function engine(number, options) {
  const set = limits(options);
  const names = set.map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const handle = new native.Handle(number, names, set.map(([, value]) => value));
  return {
    convert: (input) => accepted(handle.convert(stable(input))),
    push(input) {
      const taken = bytes(input);
      return { bytes: accepted(handle.push(taken)), taken: taken.length };
    },
    finish: () => accepted(handle.finish()),
    clear: () => handle.clear(),
  };
}

class Encoder extends Codec {
  constructor({ format, ...options } = {}) {
    super(engine(numberOf(format ?? "stc2"), options));
  }
  encode(json) {
    return this._convert(json);
  }
}

class Decoder extends Codec {
  // The options of an encoder will do: a decoder reads every format.
  constructor({ format, ...options } = {}) {
    super(engine(null, options));
  }
  decode(text) {
    return this._convert(text);
  }
}

module.exports = {
  STCError,
  Encoder,
  Decoder,
  ...streams(Encoder, Decoder),
  encode,
  decode,
  encodeAsync,
  decodeAsync,
  ...values(encode, decode),
  legend,
  estimateTokens,
  formats,
  version: native.version(),
};
