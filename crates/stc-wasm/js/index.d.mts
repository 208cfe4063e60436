/** The names of the formats. A decoder reads all of them. */
export type Format = "json" | "stc1" | "stc2" | "stc2-labelled";
/** A document: a string without lone surrogates, or UTF-8 bytes. */
export type Input = string | Uint8Array | ArrayBuffer;

/** Bounds on what one document may use. A document that exceeds one is rejected with the kind of that name. */
export interface Limits {
  depth?: number | bigint;
  input?: number | bigint;
  output?: number | bigint;
  ratio?: number | bigint;
  ratioAfter?: number | bigint;
  columns?: number | bigint;
  header?: number | bigint;
  row?: number | bigint;
  anchors?: number | bigint;
}
export interface EncoderOptions extends Limits {
  /** What to write; "stc2" is the default. */
  format?: Format;
  /** STC 1: bytes of an array that a stream holds back at most. */
  window?: number | bigint;
}

/** A rejected document: what was wrong, and where. */
export class STCError extends Error {
  readonly kind: string;
  /** Bytes (UTF-8) of the document before the offending one. */
  readonly offset: number;
  /** From 1; not in a stream, whose earlier chunks are gone. */
  readonly line?: number;
  readonly column?: number;
}

export interface Size {
  bytes: number;
  tokens: number;
}
export interface Named {
  name: string;
  path: string;
  text: string;
  uses: number;
  saved: Size;
}
/** What an encoder of version 2 made of a document. */
export interface Explanation {
  json: Size;
  stc: Size;
  plain: boolean;
  planned: "all" | "no references" | "nothing";
  arrays: { path: string; form: "table" | "keyed" | "plain"; header: string; rows: number; json: Size; stc: Size }[];
  shapes: Named[];
  dictionary: Named[];
  templates: Named[];
  anchors: Named[];
}

export interface Handle {
  /** Takes the next chunk of a document and returns what is certain so far. */
  push(chunk: Input): Uint8Array;
  /** Ends the document and returns the rest of it. */
  finish(): Uint8Array;
  /** Discards a document that was begun and not finished. */
  clear(): void;
  /** Frees the memory now; otherwise the garbage collector does, some time. */
  free(): void;
}
export interface Encoder extends Handle {
  encode(json: Input): string;
}
export interface Decoder extends Handle {
  decode(text: Input): string;
}

export interface Codec {
  /** Encodes a JSON document as STC. */
  encode(json: Input, format?: Format): string;
  /** Decodes STC of any format, or JSON, to minified JSON. */
  decode(text: Input): string;
  /** Returns a value as STC, by the rules of `JSON.stringify`. */
  stringify(value: unknown, format?: Format, replacer?: ((key: string, value: unknown) => unknown) | (string | number)[]): string;
  /** Returns the value of STC in any format, or of JSON. */
  parse(text: Input, reviver?: (key: string, value: unknown) => unknown): any;
  /** Explains which form each array of objects gets in a format of STC 2, and what that saves. */
  explain(json: Input, format?: Format): Explanation;
  /** Returns the lines that explain a format to a model. */
  legend(format?: Format): string;
  /** Returns about how many tokens a text has. */
  estimateTokens(text: Input): number;
  Encoder: new (options?: EncoderOptions) => Encoder;
  /** The options of an encoder will do: `format` and `window` do not matter to a decoder. */
  Decoder: new (limits?: Limits) => Decoder;
  EncoderStream: new (options?: EncoderOptions) => TransformStream<Input, Uint8Array>;
  DecoderStream: new (limits?: Limits) => TransformStream<Input, Uint8Array>;
  formats: readonly Format[];
  version: string;
}

export const formats: readonly Format[];
/** Loads the module and returns the codec. Without a source, `stc.wasm` beside this file. */
export function load(source?: WebAssembly.Module | BufferSource | Response | URL | string): Promise<Codec>;
