import type { EncodeOptions } from "./mcp.cjs";

/** Returns a tool whose output the model reads as STC, where that is shorter. The output of `execute` is unchanged. A tool
 * in `skipTools`, or that programs may call by `allowedCallers`, is copied as it is. */
export function encodedTool<T extends object>(tool: T, options?: EncodeOptions): T;
