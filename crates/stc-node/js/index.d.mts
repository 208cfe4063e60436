import stc from "./index.cjs";

export * from "./index.cjs";
export default stc;
