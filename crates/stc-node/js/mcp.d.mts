export * from "./mcp.cjs";
