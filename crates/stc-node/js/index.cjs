// The codec for Node: names, arguments and errors. The work is done by the addon.
"use strict";
const { TransformStream } = require("node:stream/web");
const native = require("./native.cjs");

const formats = Object.freeze(native.formats());
const numbers = new Map(formats.map((name, number) => [name, number]));

class STCError extends Error {
  constructor({ message, kind, offset, line, column }) {
    super(message);
    this.kind = kind;
    this.offset = offset;
    // A stream's earlier chunks are gone, so it has no line and column.
    this.line = line || undefined;
    this.column = column || undefined;
  }
}
Object.defineProperty(STCError.prototype, "name", { value: "STCError", configurable: true, writable: true });

const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const rejectedSurrogate = (offset) => new STCError({ message: `a lone surrogate at byte ${offset}`, kind: "Utf8", offset });

/**
 * Checks input: a string without lone surrogates, which have no UTF-8, or bytes. `before` is the number of bytes of a document's earlier
 * chunks.
 */
function checked(input, before = 0) {
  if (typeof input === "string") {
    if (!input.isWellFormed()) {
      const at = input.search(loneSurrogate);
      throw rejectedSurrogate(before + Buffer.byteLength(input.slice(0, at)));
    }
    return input;
  }
  if (input instanceof Uint8Array) return input;
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new TypeError("expected a string, a Uint8Array or an ArrayBuffer");
}

function formatNumber(name) {
  const number = numbers.get(name);
  if (number === undefined) throw new RangeError(`format ${String(name)} is not one of ${formats.join(", ")}`);
  return number;
}

// The bytes of strings up to this length are written to a buffer that is kept. The addon would measure a string before it copies it.
const LONGEST_KEPT = 1 << 20;
const utf8 = new TextEncoder();
let kept = new Uint8Array(0);

/** Returns the bytes of checked input, for one call of the addon. */
function bytes(input) {
  if (typeof input !== "string") return input;
  if (input.length > LONGEST_KEPT) return utf8.encode(input);
  // A unit of UTF-16 takes at most three bytes.
  if (kept.length < 3 * input.length) kept = new Uint8Array(3 * input.length);
  return kept.subarray(0, utf8.encodeInto(input, kept).written);
}

/** Returns the addon's answer, or throws its rejection. */
function accepted(answer) {
  if (typeof answer === "string" || answer instanceof Uint8Array) return answer;
  throw new STCError(answer);
}

function encode(json, format = "stc2") {
  const input = checked(json);
  const number = formatNumber(format);
  return accepted(native.encode(bytes(input), number));
}

function decode(text) {
  return accepted(native.decode(bytes(checked(text))));
}

async function encodeAsync(json, format = "stc2") {
  return accepted(await native.encodeAsync(checked(json), formatNumber(format)));
}

async function decodeAsync(text) {
  return accepted(await native.decodeAsync(checked(text)));
}

function stringify(value, format = "stc2", replacer) {
  const json = JSON.stringify(value, replacer);
  return json === undefined ? undefined : encode(json, format);
}

function parse(text, reviver) {
  return JSON.parse(decode(text), reviver);
}

function legend(format = "stc2") {
  return native.legend(formatNumber(format));
}

function estimateTokens(text) {
  return native.estimateTokens(checked(text));
}

/** Creates the addon's codec from options: `ratioAfter` is the addon's `ratio_after`. */
function handle(number, { format, ...limits } = {}) {
  const entries = Object.entries(limits).filter(([, value]) => value !== undefined);
  const values = entries.map(([name, value]) => {
    if (!Number.isSafeInteger(value) && typeof value !== "bigint") throw new TypeError(`${name} is not an integer`);
    return BigInt(value);
  });
  const names = entries.map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return new native.Handle(number, names, values);
}

class Codec {
  #handle;
  /** Bytes of the document's earlier chunks, and the half of a surrogate pair with which the last one ended. */
  #pushed = 0;
  #half = "";
  constructor(handle) {
    this.#handle = handle;
  }
  /** Runs a step of a stream. A document that is rejected is discarded. */
  #step(work) {
    try {
      return accepted(work());
    } catch (error) {
      if (error instanceof STCError) this.clear();
      throw error;
    }
  }
  /** Checks a chunk, after the half that was kept of the last one, and keeps the half with which it ends. */
  #chunk(chunk) {
    if (typeof chunk !== "string") {
      const input = checked(chunk);
      if (this.#half !== "" && input.length > 0) throw rejectedSurrogate(this.#pushed);
      return input;
    }
    const text = this.#half + chunk;
    const last = text.charCodeAt(text.length - 1);
    const end = text.length - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    const input = checked(text.slice(0, end), this.#pushed);
    this.#half = text.slice(end);
    return input;
  }
  push(chunk) {
    return this.#step(() => {
      const input = bytes(this.#chunk(chunk));
      const answer = this.#handle.push(input);
      this.#pushed += input.length;
      return answer;
    });
  }
  finish() {
    return this.#step(() => {
      if (this.#half !== "") throw rejectedSurrogate(this.#pushed);
      this.#pushed = 0;
      return this.#handle.finish();
    });
  }
  clear() {
    this.#pushed = 0;
    this.#half = "";
    this.#handle.clear();
  }
  _convert(input) {
    return this.#step(() => {
      const given = checked(input);
      // A document that was begun is discarded.
      this.clear();
      return this.#handle.convert(given);
    });
  }
}

class Encoder extends Codec {
  constructor(options = {}) {
    super(handle(formatNumber(options.format ?? "stc2"), options));
  }
  encode(json) {
    return this._convert(json);
  }
}

class Decoder extends Codec {
  constructor(options = {}) {
    super(handle(null, options));
  }
  decode(text) {
    return this._convert(text);
  }
}

/** The callbacks of a TransformStream around a codec. */
function transformer(codec) {
  const deliver = (bytes, controller) => {
    if (bytes.length > 0) controller.enqueue(bytes);
  };
  return {
    transform: (chunk, controller) => deliver(codec.push(chunk), controller),
    flush: (controller) => deliver(codec.finish(), controller),
  };
}

class EncoderStream extends TransformStream {
  constructor(options) {
    super(transformer(new Encoder(options)));
  }
}

class DecoderStream extends TransformStream {
  constructor(options) {
    super(transformer(new Decoder(options)));
  }
}

module.exports = {
  STCError,
  Encoder,
  Decoder,
  EncoderStream,
  DecoderStream,
  encode,
  decode,
  encodeAsync,
  decodeAsync,
  stringify,
  parse,
  legend,
  estimateTokens,
  formats,
  version: native.version(),
};
