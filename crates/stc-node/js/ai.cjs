// STC for tools of the Vercel AI SDK (`ai`, 6 and newer): the model reads STC, and the program keeps the tool's own output.
"use strict";
const { checkedOptions, isSkipped, shorter } = require("./texts.cjs");

/** Returns whether programs may call a tool: they parse what it returns. */
function mayBeProgram(tool) {
  const lists = Object.values(tool.providerOptions ?? {}).map((options) => options?.allowedCallers);
  return lists.some((callers) => callers !== undefined && callers !== null && !(callers.length === 1 && callers[0] === "direct"));
}

/** Returns whether the output of a tool stays: any of its names is skipped, or it has none. */
function stays(tool, settings) {
  const names = [settings.tool, tool.id, tool.name].filter((name) => typeof name === "string" && name !== "");
  return (names.length > 0 ? names : [undefined]).some((name) => isSkipped(name, settings)) || mayBeProgram(tool);
}

function encodedTool(tool, options) {
  const settings = checkedOptions(options);
  if (stays(tool, settings)) return { ...tool };
  const toModelOutput = async (call) => {
    const given = tool.toModelOutput === undefined ? undefined : await tool.toModelOutput(call);
    if (given !== undefined && given.type !== "text" && given.type !== "json") return given;
    const output = given === undefined ? call.output : given.value;
    const json = typeof output === "string" ? output : JSON.stringify(output);
    const text = json === undefined ? undefined : shorter(json, settings);
    if (text !== undefined) return { type: "text", value: text };
    if (given !== undefined) return given;
    return typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output ?? null };
  };
  return { ...tool, toModelOutput };
}

function encodedTools(tools, options) {
  const encoded = ([name, tool]) => [name, encodedTool(tool, { ...options, tool: name })];
  return Object.fromEntries(Object.entries(tools).map(encoded));
}

module.exports = { encodedTool, encodedTools };
