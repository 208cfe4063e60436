import ai from "./ai.cjs";

export const { encodedTool } = ai;
