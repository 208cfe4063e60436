import mcp from "./mcp.cjs";

export const { EXTENSION, decoded, encoded, encodes, decodingClient } = mcp;
