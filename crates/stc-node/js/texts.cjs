// Which texts the adapters encode: JSON containers that become shorter.
"use strict";
const { STCError, encode, estimateTokens, formats } = require("./index.cjs");
const { toolFamily } = require("./native.cjs");
const { unknownFormat } = require("./shared.cjs");

/** The identifier of the MCP extension, and the key of the mark on a block. */
const EXTENSION = "io.stoa/stc";

/** Families of tools whose results stay: an agent that edits a file copies from what it has read. */
const SKIP_TOOLS = Object.freeze(["read", "edit", "write"]);

const written = formats.filter((name) => name !== "json");

/**
 * Returns the options of an adapter, with a format that adapters write: not "json", which is what texts are without them, and would be
 * marked as STC.
 */
function checkedOptions({ format = "stc2", ...others } = {}) {
  if (!written.includes(format)) throw unknownFormat(written, format);
  return { format, ...others };
}

/**
 * Returns whether the results of a tool stay: `skipTools` has its family, its name or a pattern with `*` that fits. With any entry,
 * results of a tool whose name is not known stay too: it may be one that is skipped.
 */
function isSkipped(tool, { skipTools = SKIP_TOOLS } = {}) {
  if (typeof tool !== "string" || tool === "") return skipTools.length > 0;
  const family = toolFamily(tool);
  const parts = (entry) => entry.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  const fits = (entry) => new RegExp(`^${parts(entry).join(".*")}$`, "s").test(tool);
  return skipTools.some((entry) => entry === family || fits(entry));
}

/** Returns whether a caller is anything but the model. What a program parses stays as it came. */
function isProgram(caller) {
  return caller !== undefined && caller !== null && caller.type !== "direct";
}

/** Returns a JSON object or array as STC, or undefined for texts that stay: not JSON, too short, or not shorter as STC. */
function shorter(text, { format = "stc2", minBytes = 128 } = {}) {
  if (!/^[ \t\r\n]*[{[]/.test(text)) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes < minBytes) return undefined;
  let encoded;
  try {
    encoded = encode(text, format);
  } catch (error) {
    if (error instanceof STCError) return undefined;
    throw error;
  }
  const isShorter = Buffer.byteLength(encoded) < bytes && estimateTokens(encoded) <= estimateTokens(text);
  return isShorter ? encoded : undefined;
}

/** Returns the elements of a minified JSON array as texts, spelled as they are. */
function elements(text) {
  const found = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      for (at++; text[at] !== '"'; at++) if (text[at] === "\\") at++;
    } else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if ((depth === 1 && character === ",") || (depth === 0 && at > start)) {
      found.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return found;
}

module.exports = { EXTENSION, checkedOptions, isProgram, isSkipped, shorter, elements };
