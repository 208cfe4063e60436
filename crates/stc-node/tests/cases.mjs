// The vectors and the corpus through the installed package: node cases.mjs FILE
import * as stc from "stc-codec";
import { run } from "./run_cases.mjs";

await run(`node ${process.versions.node}`, stc, stc.STCError, process.argv[2]);
