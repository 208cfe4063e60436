export * from "./ai.cjs";
