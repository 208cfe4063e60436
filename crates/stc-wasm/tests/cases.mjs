// The vectors and the corpus through the installed package: node cases.mjs FILE, or deno run -R cases.mjs FILE
import process from "node:process";
import { STCError, load } from "stc-codec-wasm";
import { run } from "./run_cases.mjs";

const runtime = process.versions.deno ? `deno ${process.versions.deno}` : `node ${process.versions.node}`;
await run(`wasm in ${runtime}`, await load(), STCError, process.argv[2]);
