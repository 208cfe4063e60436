// Loads the addon for this system. A package has one file for each; a build from source has one for the machine it ran on.
"use strict";

/** The suffix of the addon's file: platform, architecture and, on Linux, the C library. */
function target() {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform}-${arch}`;
  const isMusl = !process.report.getReport().header.glibcVersionRuntime;
  return `${platform}-${arch}-${isMusl ? "musl" : "gnu"}`;
}

try {
  module.exports = require(`../stc.${target()}.node`);
} catch (cause) {
  throw new Error(`stc-codec has no addon for ${target()}`, { cause });
}
