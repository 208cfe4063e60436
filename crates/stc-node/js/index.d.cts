/** The names of the formats. A decoder reads all of them. */
export type Format = "json" | "stc1" | "stc2" | "stc2-labelled";

/** A document: a string without lone surrogates, or UTF-8 bytes. A `Buffer` is a `Uint8Array`. */
export type Input = string | Uint8Array | ArrayBuffer;

/** Bounds on what one document may use. A document that exceeds one is rejected with the kind of that name. */
export interface Limits {
  /** Containers open at once. */
  depth?: number | bigint;
  /** Bytes of a document's input. */
  input?: number | bigint;
  /** Bytes of a document's output. */
  output?: number | bigint;
  /** Decoding: bytes of output for each byte of input. */
  ratio?: number | bigint;
  /** Decoding: bytes of output after which `ratio` applies. */
  ratioAfter?: number | bigint;
  /** Keys of a columnar header. */
  columns?: number | bigint;
  /** Bytes of a columnar header. */
  header?: number | bigint;
  /** Decoding: bytes of JSON of a row with templates. */
  row?: number | bigint;
  /** Bytes of JSON of all anchored values. */
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
  /** The kind's name, as "Syntax" or "Depth". */
  readonly kind: string;
  /** Bytes (UTF-8) of the document before the offending one. */
  readonly offset: number;
  /** The line, from 1; not in a stream, whose earlier chunks are gone. */
  readonly line?: number;
  /** The column in characters, from 1; not in a stream. */
  readonly column?: number;
}

/** Encodes a JSON document as STC. */
export function encode(json: Input, format?: Format): string;
/** Decodes STC of any format, or JSON, to minified JSON. */
export function decode(text: Input): string;
/** Encodes a document on a thread of Node's pool. The bytes are copied first. */
export function encodeAsync(json: Input, format?: Format): Promise<string>;
/** Decodes a text on a thread of Node's pool. The bytes are copied first. */
export function decodeAsync(text: Input): Promise<string>;
/** Returns a value as STC, by the rules of `JSON.stringify`. */
export function stringify(
  value: unknown,
  format?: Format,
  replacer?: ((this: unknown, key: string, value: unknown) => unknown) | (string | number)[],
): string;
/** Returns the value of STC in any format, or of JSON, by the rules of `JSON.parse`. */
export function parse(text: Input, reviver?: (this: unknown, key: string, value: unknown) => unknown): any;
/** Returns the lines that explain a format to a model. */
export function legend(format?: Format): string;
/** Returns about how many tokens a text has. */
export function estimateTokens(text: Input): number;

// Only what is marked as such is exported.
export {};

declare class Codec {
  /** Takes the next chunk of a document and returns what is certain so far. */
  push(chunk: Input): Buffer;
  /** Ends the document and returns the rest of it. */
  finish(): Buffer;
  /** Discards a document that was begun and not finished. */
  clear(): void;
}

/** An encoder with settings of its own, for many documents or for one in chunks. */
export class Encoder extends Codec {
  constructor(options?: EncoderOptions);
  encode(json: Input): string;
}

/**
 * A decoder with limits of its own, for many documents or for one in chunks. The options of an encoder will do: `format` and `window` do
 * not matter to it.
 */
export class Decoder extends Codec {
  constructor(limits?: Limits);
  decode(text: Input): string;
}

/** A document's JSON in, its STC out. */
export class EncoderStream extends TransformStream<Input, Uint8Array> {
  constructor(options?: EncoderOptions);
}

/** A document's STC in, its JSON out. */
export class DecoderStream extends TransformStream<Input, Uint8Array> {
  constructor(limits?: Limits);
}

/** The names of the formats. */
export const formats: readonly Format[];
/** The version of this package. */
export const version: string;
