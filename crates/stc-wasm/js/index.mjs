// The codec as a WebAssembly module: bytes go in and out through its memory, with the structures of stc.h. The build script puts the file
// that is imported here in place of the import, so that the package is one file.
//
// A page of memory that the module does not know is used for these structures and for short documents:
//
//   0 stc_error   192 stc_options   288 stc_bytes or stc_buffer   304 a handle's variable   320 input up to the end of the page

import { Codec, LIMITS, STCError, checked, formatNumber, limits, streams, values } from "./shared.mjs";

export { STCError };
/** The names of the formats, in the order of their numbers in stc.h. */
export const formats = Object.freeze(["json", "stc1", "stc2", "stc2-labelled"]);

const PAGE = 65536;
const ERROR = 0;
const OPTIONS = 192;
const OUT = 288;
const VARIABLE = 304;
const INPUT = 320;
/** Documents longer than this get an encoder of their own, so that no large buffers are kept. */
const LONGEST = 256 * 1024;

const writer = new TextEncoder();
const reader = new TextDecoder();

const numberOf = (format) => formatNumber(formats, format);

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

  /** A codec whose memory can be given back. */
  class Handle extends Codec {
    #engine;
    #handle;
    #registered = {};
    constructor(number, options) {
      super({
        convert: (input) => this.#call((engine, handle) => engine.convert(handle, input)),
        push: (input) => this.#call((engine, handle) => engine.push(handle, input)),
        finish: () => this.#call((engine, handle) => engine.finish(handle)),
        clear: () => this.#call((engine, handle) => engine.clear(handle)),
      });
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
    free() {
      if (this.#handle === undefined) return;
      this.#engine.registry.unregister(this.#registered);
      this.#engine.free(this.#handle);
      this.#handle = undefined;
    }
  }
  class Encoder extends Handle {
    constructor({ format, ...options } = {}) {
      super(numberOf(format ?? "stc2"), options);
    }
    encode(json) {
      return this._convert(json);
    }
  }
  class Decoder extends Handle {
    // The options of an encoder will do: a decoder reads every format.
    constructor({ format, ...options } = {}) {
      super(undefined, options);
    }
    decode(text) {
      return this._convert(text);
    }
  }

  const encode = (json, format = "stc2") => {
    const input = checked(json);
    const number = numberOf(format);
    return safely((engine) => engine.once(number, input));
  };
  const decode = (text) => {
    const input = checked(text);
    return safely((engine) => engine.once(undefined, input));
  };
  const explain = (json, format = "stc2") => {
    const input = checked(json);
    const number = numberOf(format);
    return JSON.parse(safely((engine) => engine.explain(number, input)));
  };
  const legend = (format = "stc2") => safely((engine) => engine.legend(numberOf(format)));
  const estimateTokens = (text) => {
    const input = checked(text);
    return safely((engine) => engine.estimateTokens(input));
  };
  const version = engine.version();
  return { encode, decode, ...values(encode, decode), explain, legend, estimateTokens, Encoder, Decoder, ...streams(Encoder, Decoder), formats, version };
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
    for (const [name, value] of limits(options)) view.setBigUint64(OPTIONS + 8 + 8 * LIMITS.indexOf(name), value, true);
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
