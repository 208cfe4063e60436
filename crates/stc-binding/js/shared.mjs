// What the packages for Node and for WebAssembly share: errors, checks of arguments, chunks, streams, values. Their build scripts copy this
// file into both, without the keyword `export`. A line that begins with it names one function, class or constant.

/** A rejected document: what was wrong, and where. */
export class STCError extends Error {
  constructor(message, kind, offset, line, column) {
    super(message);
    this.kind = kind;
    this.offset = offset;
    // A stream's earlier chunks are gone, so it has no line and column.
    this.line = line || undefined;
    this.column = column || undefined;
  }
}
Object.defineProperty(STCError.prototype, "name", { value: "STCError", configurable: true, writable: true });

const utf8 = new TextEncoder();
const isHighSurrogate = (unit) => unit >= 0xd800 && unit < 0xdc00;
const isLowSurrogate = (unit) => unit >= 0xdc00 && unit < 0xe000;

/** Returns the index of the first surrogate without its other half, or -1. */
function loneSurrogate(text) {
  // Not in every browser that has the vectors of WebAssembly.
  if (text.isWellFormed?.()) return -1;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isLowSurrogate(unit)) return at;
    if (isHighSurrogate(unit) && !isLowSurrogate(text.charCodeAt(++at))) return at - 1;
  }
  return -1;
}

const rejectedSurrogate = (offset) => new STCError(`a lone surrogate at byte ${offset}`, "Utf8", offset);

/** The name of a typed array's class, whatever global object it comes from: a test runner may give its tests another one. */
const arrayName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const isBytes = (input) => input instanceof Uint8Array || arrayName.call(input) === "Uint8Array";
const isArrayBuffer = (input) => input instanceof ArrayBuffer || Object.prototype.toString.call(input) === "[object ArrayBuffer]";

/**
 * Checks input: a string without lone surrogates, which have no UTF-8, or bytes. `before` is the number of bytes of a document's earlier
 * chunks.
 */
export function checked(input, before = 0) {
  if (typeof input === "string") {
    const at = loneSurrogate(input);
    if (at < 0) return input;
    throw rejectedSurrogate(before + utf8.encode(input.slice(0, at)).length);
  }
  if (isBytes(input)) return input;
  if (isArrayBuffer(input)) return new Uint8Array(input);
  throw new TypeError("expected a string, a Uint8Array or an ArrayBuffer");
}

/** Returns the number of a format; `formats` has the names in the order of their numbers. */
export function formatNumber(formats, name) {
  const number = formats.indexOf(name);
  if (number < 0) throw unknownFormat(formats, name);
  return number;
}

/** What became of formats that had these names before. */
const BEFORE = { "stc2-refs": "stc2-refs is now stc2", "stc2-dense": "stc2-dense is part of stc2" };

/** Returns the error for a name that is not one of these formats. */
export function unknownFormat(formats, name) {
  const hint = Object.hasOwn(BEFORE, String(name)) ? BEFORE[String(name)] : undefined;
  return new RangeError(hint ?? `format ${String(name)} is not one of ${formats.join(", ")}`);
}

/** The names of the window and the limits, in the order of stc.h. */
export const LIMITS = ["window", "depth", "input", "output", "ratio", "ratioAfter", "columns", "header", "row", "anchors"];

/** Returns the limits that are set, as pairs of name and bigint. */
export function limits(options) {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => {
    if (!LIMITS.includes(name)) throw new TypeError(`unknown setting ${name}`);
    if (!Number.isSafeInteger(value) && typeof value !== "bigint") throw new TypeError(`${name} is not an integer`);
    if (value < 0 || value >= 2n ** 64n) throw new RangeError(`${name} is out of range`);
    return [name, BigInt(value)];
  });
}

/** A codec of one direction. `engine` converts checked input: `convert`, `push`, which says how many bytes it took, `finish`, `clear`. */
export class Codec {
  #engine;
  /** Bytes of the document's earlier chunks, and the half of a surrogate pair with which the last one ended. */
  #pushed = 0;
  #half = "";
  constructor(engine) {
    this.#engine = engine;
  }
  /** Runs a step of a stream. A document that is rejected is discarded. */
  #step(work) {
    try {
      return work(this.#engine);
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
    const end = text.length - (isHighSurrogate(text.charCodeAt(text.length - 1)) ? 1 : 0);
    const input = checked(text.slice(0, end), this.#pushed);
    this.#half = text.slice(end);
    return input;
  }
  push(chunk) {
    return this.#step((engine) => {
      const { bytes, taken } = engine.push(this.#chunk(chunk));
      this.#pushed += taken;
      return bytes;
    });
  }
  finish() {
    return this.#step((engine) => {
      if (this.#half !== "") throw rejectedSurrogate(this.#pushed);
      this.#pushed = 0;
      return engine.finish();
    });
  }
  clear() {
    this.#pushed = 0;
    this.#half = "";
    this.#engine.clear();
  }
  _convert(input) {
    return this.#step((engine) => {
      const given = checked(input);
      // A document that was begun is discarded.
      this.clear();
      return engine.convert(given);
    });
  }
}

/** The callbacks of a TransformStream around a codec. */
function transformer(codec) {
  const deliver = (bytes, controller) => {
    if (bytes.length > 0) controller.enqueue(bytes);
  };
  return {
    transform: (chunk, controller) => deliver(codec.push(chunk), controller),
    flush: (controller) => {
      deliver(codec.finish(), controller);
      codec.free?.();
    },
  };
}

/** Returns the classes of streams around the classes of codecs. */
export function streams(Encoder, Decoder) {
  return {
    EncoderStream: class EncoderStream extends TransformStream {
      constructor(options) {
        super(transformer(new Encoder(options)));
      }
    },
    DecoderStream: class DecoderStream extends TransformStream {
      constructor(options) {
        super(transformer(new Decoder(options)));
      }
    },
  };
}

/** Returns the functions for values, by the rules of `JSON`. */
export function values(encode, decode) {
  return {
    stringify(value, format = "stc2", replacer) {
      const json = JSON.stringify(value, replacer);
      return json === undefined ? undefined : encode(json, format);
    },
    parse: (text, reviver) => JSON.parse(decode(text), reviver),
  };
}
