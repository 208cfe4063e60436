import type { EncodeOptions } from "./mcp.cjs";

/** Returns a tool whose output the model reads as STC, where that is shorter. The output of `execute` is unchanged. A tool
 * in `skipTools`, or that programs may call by `allowedCallers`, is copied as it is. A tool has its name in `options.tool`, because
 * most have none of their own; one without a name is copied as it is, unless `skipTools` is empty. */
export function encodedTool<T extends object>(tool: T, options?: EncodeOptions): T;
/** Returns an object of tools, as `generateText` takes it, with each encoded; the keys are the names. */
export function encodedTools<T extends Record<string, object>>(tools: T, options?: Omit<EncodeOptions, "tool">): T;
