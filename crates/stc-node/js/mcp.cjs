// STC in MCP, for the TypeScript SDKs: @modelcontextprotocol/sdk (1.x), @modelcontextprotocol/client and /server (2.x). Results are
// plain objects in all of them, so nothing of an SDK is imported here.
"use strict";
const { decode } = require("./index.cjs");
const { EXTENSION, checkedOptions, isProgram, isSkipped, shorter, elements } = require("./texts.cjs");

/** Returns the mark of a text block, or undefined. */
function mark(block) {
  const found = block?.type === "text" ? block._meta?.[EXTENSION] : undefined;
  return typeof found === "object" && found !== null ? found : undefined;
}

function decoded(result) {
  if (!Array.isArray(result?.content) || !result.content.some(mark)) return result;
  const content = result.content.flatMap((block) => {
    const found = mark(block);
    if (found === undefined) return [block];
    const { [EXTENSION]: _, ...others } = block._meta;
    const { _meta, ...rest } = block;
    const text = decode(block.text);
    // A gateway may fold several blocks into one: an array with an element for each.
    const texts = "blocks" in found ? elements(text) : [text];
    const meta = Object.keys(others).length > 0 ? { _meta: others } : {};
    return texts.map((text) => ({ ...rest, ...meta, text }));
  });
  return { ...result, content };
}

function encoded(result, options) {
  const settings = checkedOptions(options);
  if (!Array.isArray(result?.content) || result.isError) return result;
  if (isSkipped(settings.tool, settings) || isProgram(result._meta?.caller)) return result;
  const content = result.content.map((block) => {
    const text = block.type === "text" && mark(block) === undefined ? shorter(block.text, settings) : undefined;
    if (text === undefined) return block;
    return { ...block, text, _meta: { ...block._meta, [EXTENSION]: { format: settings.format } } };
  });
  return { ...result, content };
}

function encodes(handler, options) {
  const settings = checkedOptions({ tool: handler.name, ...options });
  return async (...args) => encoded(await handler(...args), settings);
}

function decodingClient(client) {
  const callTool = async (...args) => decoded(await client.callTool(...args));
  return new Proxy(client, {
    get(target, name) {
      if (name === "callTool") return callTool;
      const value = Reflect.get(target, name, target);
      // The client has private members: its methods need the client itself as `this`.
      return typeof value === "function" ? value.bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

module.exports = { EXTENSION, decoded, encoded, encodes, decodingClient };
