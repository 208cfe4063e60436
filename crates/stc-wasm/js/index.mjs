// The codec as a WebAssembly module: bytes go in and out through its memory, with the structures of stc.h.
//
// A page of memory that the module does not know is used for these structures and for short documents:
//
//   0 stc_error   192 stc_options   288 stc_bytes or stc_buffer   304 a handle's variable   320 input up to the end of the page

/** The names of the formats, in the order of their numbers in stc.h. */
export const formats = Object.freeze(["json", "stc1", "stc2", "stc2-dense", "stc2-refs"]);

const PAGE = 65536;
const ERROR = 0;
const OPTIONS = 192;
const OUT = 288;
const VARIABLE = 304;
const INPUT = 320;
/** Documents longer than this get an encoder of their own, so that no large buffers are kept. */
const LONGEST = 256 * 1024;
const LIMITS = ["window", "depth", "input", "output", "ratio", "ratioAfter", "columns", "header", "row", "anchors"];

/** A rejected document: what was wrong, and where. */
export class STCError extends Error {
  constructor(message, kind, offset, line, column) {
    super(message);
    this.name = "STCError";
    this.kind = kind;
    this.offset = offset;
    this.line = line || undefined;
    this.column = column || undefined;
  }
}

const writer = new TextEncoder();
const reader = new TextDecoder();

const isHighSurrogate = (unit) => unit >= 0xd800 && unit < 0xdc00;
const isLowSurrogate = (unit) => unit >= 0xdc00 && unit < 0xe000;

/** Returns the index of the first surrogate without its other half, or -1. */
function loneSurrogate(text) {
  if (text.isWellFormed?.()) return -1;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isLowSurrogate(unit)) return at;
    if (isHighSurrogate(unit) && !isLowSurrogate(text.charCodeAt(++at))) return at - 1;
  }
  return -1;
}

const rejectedSurrogate = (offset) => new STCError(`a lone surrogate at byte ${offset}`, "Utf8", offset);

/**
 * Checks input: a string without lone surrogates, which have no UTF-8, or bytes. `before` is the number of bytes of a document's earlier
 * chunks.
 */
function checked(input, before = 0) {
  if (typeof input === "string") {
    const at = loneSurrogate(input);
    if (at < 0) return input;
    throw rejectedSurrogate(before + writer.encode(input.slice(0, at)).length);
  }
  if (input instanceof Uint8Array) return input;
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new TypeError("expected a string, a Uint8Array or an ArrayBuffer");
}

function formatNumber(name) {
  const number = formats.indexOf(name);
  if (number < 0) throw new RangeError(`format ${String(name)} is not one of ${formats.join(", ")}`);
  return number;
}

/** Loads the module and returns the codec. `source`: a compiled module, its bytes, a response, or an address. */
export async function load(source = new URL("./stc.wasm", import.meta.url)) {
  if (source instanceof WebAssembly.Module) return codec(source, await WebAssembly.instantiate(source));
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return load(await WebAssembly.compile(source));
  if (typeof Response !== "undefined" && source instanceof Response) return load(await source.arrayBuffer());
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:" && typeof process !== "undefined" && process.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return load(await readFile(url));
  }
  return load(await fetch(url));
}

/** Returns the codec of a compiled module and its first instance. */
function codec(module, instance) {
  let engine = new Engine(instance);

  /** Runs `work`; after a trap, as of memory that is exhausted, the next call gets a new instance. */
  function safely(work) {
    // The call that makes an instance without waiting; Chrome before 114 refuses it on the main thread, so `load` does not use it.
    if (engine.hasFailed) engine = new Engine(new WebAssembly.Instance(module));
    try {
      return work(engine);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      engine.hasFailed = true;
      throw new Error("the WebAssembly module has failed; the document is discarded", { cause: error });
    }
  }

  class Codec {
    #engine;
    #handle;
    #registered = {};
    /** Bytes of the document's earlier chunks, and the half of a surrogate pair with which the last one ended. */
    #pushed = 0;
    #half = "";
    constructor(number, options) {
      this.#handle = safely((engine) => {
        this.#engine = engine;
        return engine.handle(number, options);
      });
      this.#engine.registry.register(this, this.#handle, this.#registered);
    }
    #call(work) {
      if (this.#handle === undefined) throw new Error("it was freed");
      if (this.#engine.hasFailed) throw new Error("the WebAssembly module has failed since; create another one");
      return safely((engine) => work(engine, this.#handle));
    }
    /** Runs a step of a stream. A document that is rejected is discarded. */
    #step(work) {
      try {
        return this.#call(work);
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
      return this.#step((engine, handle) => {
        const { bytes, taken } = engine.push(handle, this.#chunk(chunk));
        this.#pushed += taken;
        return bytes;
      });
    }
    finish() {
      return this.#step((engine, handle) => {
        if (this.#half !== "") throw rejectedSurrogate(this.#pushed);
        this.#pushed = 0;
        return engine.finish(handle);
      });
    }
    clear() {
      this.#call((engine, handle) => engine.clear(handle));
      this.#pushed = 0;
      this.#half = "";
    }
    free() {
      if (this.#handle === undefined) return;
      this.#engine.registry.unregister(this.#registered);
      this.#engine.free(this.#handle);
      this.#handle = undefined;
    }
    _convert(text) {
      return this.#step((engine, handle) => {
        const input = checked(text);
        // A document that was begun is discarded.
        this.clear();
        return engine.convert(handle, input);
      });
    }
  }
  class Encoder extends Codec {
    constructor({ format = "stc2", ...options } = {}) {
      super(formatNumber(format), options);
    }
    encode(json) {
      return this._convert(json);
    }
  }
  class Decoder extends Codec {
    constructor(options = {}) {
      super(undefined, options);
    }
    decode(text) {
      return this._convert(text);
    }
  }
  const transformer = (codec) => ({
    transform: (chunk, controller) => deliver(codec.push(chunk), controller),
    flush: (controller) => {
      deliver(codec.finish(), controller);
      codec.free();
    },
  });
  const deliver = (bytes, controller) => {
    if (bytes.length > 0) controller.enqueue(bytes);
  };
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

  const encode = (json, format = "stc2") => {
    const input = checked(json);
    const number = formatNumber(format);
    return safely((engine) => engine.once(number, input));
  };
  const decode = (text) => {
    const input = checked(text);
    return safely((engine) => engine.once(undefined, input));
  };
  const explain = (json, format = "stc2") => {
    const input = checked(json);
    const number = formatNumber(format);
    return JSON.parse(safely((engine) => engine.explain(number, input)));
  };
  const stringify = (value, format = "stc2", replacer) => {
    const json = JSON.stringify(value, replacer);
    return json === undefined ? undefined : encode(json, format);
  };
  const parse = (text, reviver) => JSON.parse(decode(text), reviver);
  const legend = (format = "stc2") => safely((engine) => engine.legend(formatNumber(format)));
  const estimateTokens = (text) => {
    const input = checked(text);
    return safely((engine) => engine.estimateTokens(input));
  };
  const version = engine.version();
  return { encode, decode, stringify, parse, explain, legend, estimateTokens, Encoder, Decoder, EncoderStream, DecoderStream, formats, version };
}

/** An instance of the module, and the calls of stc.h. */
class Engine {
  #wasm;
  #page;
  /** Handles of the one-shot calls: one for each format, and the decoder's. */
  #kept = new Map();
  hasFailed = false;

  constructor(instance) {
    this.#wasm = instance.exports;
    // The module's allocator asks for pages as it needs them, and leaves this one alone.
    this.#page = this.#wasm.memory.grow(1) * PAGE;
    this.registry = new FinalizationRegistry((handle) => this.free(handle));
  }

  #view() {
    return new DataView(this.#wasm.memory.buffer, this.#page, PAGE);
  }

  /** Calls `work` with the address and length of the input in the module's memory. */
  #withInput(input, work) {
    const room = typeof input === "string" ? 3 * input.length : input.length;
    let address = this.#page + INPUT;
    const isLong = room > PAGE - INPUT;
    let buffer;
    if (isLong) {
      this.#wasm.stc_buffer_new(this.#page + OUT, room);
      buffer = this.#owned();
      address = buffer[0];
      // The instance keeps what it has grown to, so that a new one is the better.
      if (address === 0) throw new WebAssembly.RuntimeError("no memory for the input");
    }
    const memory = new Uint8Array(this.#wasm.memory.buffer, address, room);
    let length = input.length;
    if (typeof input === "string") length = writer.encodeInto(input, memory).written;
    else memory.set(input);
    try {
      return work(address, length);
    } finally {
      if (isLong) this.#release(buffer);
    }
  }

  /** Reads an stc_buffer. */
  #owned() {
    const view = this.#view();
    return [0, 4, 8].map((at) => view.getUint32(OUT + at, true));
  }

  /** Frees an stc_buffer that was read before. */
  #release(buffer) {
    const view = this.#view();
    buffer.forEach((word, at) => view.setUint32(OUT + 4 * at, word, true));
    this.#wasm.stc_buffer_free(this.#page + OUT);
  }

  /** Reads an stc_bytes, or the beginning of an stc_buffer, in place. */
  #out() {
    const view = this.#view();
    return new Uint8Array(this.#wasm.memory.buffer, view.getUint32(OUT, true), view.getUint32(OUT + 4, true));
  }

  #text(address) {
    const memory = new Uint8Array(this.#wasm.memory.buffer, address);
    return reader.decode(memory.subarray(0, memory.indexOf(0)));
  }

  /** Throws the error that a call has written, if its status is one. */
  #check(status) {
    if (status === 0) return;
    const view = this.#view();
    const [offset, line, column] = [8, 16, 24].map((at) => Number(view.getBigUint64(ERROR + at, true)));
    const kind = this.#text(this.#wasm.stc_status_name(status));
    throw new STCError(this.#text(this.#page + ERROR + 32), kind, offset, line, column);
  }

  handle(number, options) {
    const view = this.#view();
    this.#wasm.stc_options_init(this.#page + OPTIONS);
    if (number !== undefined) view.setUint32(OPTIONS, number, true);
    for (const [name, value] of Object.entries(options)) {
      const at = LIMITS.indexOf(name);
      if (at < 0) throw new TypeError(`unknown setting ${name}`);
      if (value === undefined) continue;
      if (!Number.isSafeInteger(value) && typeof value !== "bigint") throw new TypeError(`${name} is not an integer`);
      if (value < 0 || value >= 2n ** 64n) throw new RangeError(`${name} is out of range`);
      view.setBigUint64(OPTIONS + 8 + 8 * at, BigInt(value), true);
    }
    const isEncoder = number !== undefined;
    const create = isEncoder ? this.#wasm.stc_encoder_new : this.#wasm.stc_decoder_new;
    return { isEncoder, address: create(this.#page + OPTIONS, 0) };
  }

  free({ isEncoder, address }) {
    // The memory of an instance that has failed goes with it.
    if (this.hasFailed) return;
    this.#view().setUint32(VARIABLE, address, true);
    if (isEncoder) this.#wasm.stc_encoder_free(this.#page + VARIABLE);
    else this.#wasm.stc_decoder_free(this.#page + VARIABLE);
  }

  clear({ isEncoder, address }) {
    if (isEncoder) this.#wasm.stc_encoder_clear(address);
    else this.#wasm.stc_decoder_clear(address);
  }

  /** Converts a whole document and returns the text. */
  convert({ isEncoder, address }, input) {
    const convert = isEncoder ? this.#wasm.stc_encoder_encode : this.#wasm.stc_decoder_decode;
    return this.#withInput(input, (data, length) => {
      this.#check(convert(address, data, length, this.#page + OUT, this.#page + ERROR));
      return reader.decode(this.#out());
    });
  }

  push({ isEncoder, address }, input) {
    const push = isEncoder ? this.#wasm.stc_encoder_push : this.#wasm.stc_decoder_push;
    return this.#withInput(input, (data, length) => {
      this.#check(push(address, data, length, this.#page + OUT, this.#page + ERROR));
      return { bytes: this.#out().slice(), taken: length };
    });
  }

  finish({ isEncoder, address }) {
    const finish = isEncoder ? this.#wasm.stc_encoder_finish : this.#wasm.stc_decoder_finish;
    this.#check(finish(address, this.#page + OUT, this.#page + ERROR));
    return this.#out().slice();
  }

  /** Converts a whole document with a handle that is kept, unless the document is long. */
  once(number, input) {
    const handle = this.#kept.get(number) ?? this.handle(number, {});
    this.#kept.set(number, handle);
    let length = input.length;
    try {
      const text = this.convert(handle, input);
      length = Math.max(length, text.length);
      return text;
    } finally {
      if (length > LONGEST) {
        this.#kept.delete(number);
        this.free(handle);
      }
    }
  }

  explain(number, input) {
    return this.#withInput(input, (data, length) => {
      this.#check(this.#wasm.stc_explain(data, length, number, this.#page + OUT, this.#page + ERROR));
      const buffer = this.#owned();
      const text = reader.decode(this.#out());
      this.#release(buffer);
      return text;
    });
  }

  legend(number) {
    this.#wasm.stc_legend(this.#page + OUT, number);
    return reader.decode(this.#out());
  }

  estimateTokens(input) {
    return this.#withInput(input, (data, length) => Number(this.#wasm.stc_estimate_tokens(data, length)));
  }

  version() {
    return this.#text(this.#wasm.stc_version());
  }
}
