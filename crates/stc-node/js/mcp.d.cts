import type { Format } from "./index.cjs";

/** The identifier of the MCP extension, and the key of the mark in a block's `_meta`. */
export const EXTENSION: "io.stoa/stc";

export interface EncodeOptions {
  /** "stc2" is the default. */
  format?: Exclude<Format, "json">;
  /** Shorter texts stay as they are; 128 is the default. */
  minBytes?: number;
  /** The tool's name, which `skipTools` is compared with; of a handler or tool that has one, that is the default. Results of a tool
   * whose name is not known stay, unless `skipTools` is empty. */
  tool?: string;
  /** Tools whose results stay: families ("read", "edit", "write", "bash", "glob", "grep"), names, patterns with `*`. */
  skipTools?: readonly string[];
}

/** Returns a tool's result with its marked text blocks as JSON again, without the marks. */
export function decoded<T>(result: T): T;
/** Returns a tool's result with text blocks of JSON as marked STC, where that is shorter. Errors stay, and tools that handle files. */
export function encoded<T>(result: T, options?: EncodeOptions): T;
/** Returns a tool's handler, as for `registerTool`, whose results are encoded. Every client gets STC. */
export function encodes<A extends unknown[], R>(
  handler: (...args: A) => R | Promise<R>,
  options?: EncodeOptions,
): (...args: A) => Promise<R>;
/** Returns a client whose `callTool` decodes results; everything else is the client's own. */
export function decodingClient<T extends { callTool: (...args: any[]) => Promise<any> }>(client: T): T;
