import ai from "./ai.cjs";

export const { encodedTool, encodedTools } = ai;
