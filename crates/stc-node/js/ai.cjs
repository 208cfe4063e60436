// STC for tools of the Vercel AI SDK (`ai`, 6 and newer): the model reads STC, and the program keeps the tool's own output.
"use strict";
const { checkedOptions, shorter } = require("./texts.cjs");

function encodedTool(tool, options) {
  const settings = checkedOptions(options);
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

module.exports = { encodedTool };
