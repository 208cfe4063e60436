// The package in workerd, the runtime of Workers: workerd.mjs FILE... encodes files in every format and decodes them again. STC is the
// command `stc`, whose bytes are expected.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";

const FORMATS = ["json", "stc1", "stc2", "stc2-labelled"];

const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
mkdirSync("workerd", { recursive: true });
for (const name of ["index.mjs", "stc.wasm"]) copyFileSync(`node_modules/stc-codec-wasm/${name}`, `workerd/${name}`);
copyFileSync("worker.mjs", "workerd/worker.mjs");
writeFileSync(
  "workerd/config.capnp",
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (compatibilityDate = "2026-01-01", modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "index.mjs", esModule = embed "index.mjs"),
    (name = "stc.wasm", wasm = embed "stc.wasm"),
  ]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
);
const runtime = spawn("node_modules/.bin/workerd", ["serve", "workerd/config.capnp"], { stdio: ["ignore", "inherit", "inherit"] });

async function post(path, body) {
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/${path}`, { method: "POST", body });
      return [response.status, Buffer.from(await response.arrayBuffer())];
    } catch (error) {
      if (attempt === 200 || runtime.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

try {
  let passed = 0;
  for (const file of process.argv.slice(2)) {
    const document = readFileSync(file);
    const minified = execFileSync(process.env.STC, ["encode", "--format", "json", file]);
    for (const format of FORMATS) {
      const expected = execFileSync(process.env.STC, ["encode", "--format", format, file]);
      assert.deepEqual(await post(format, document), [200, expected], `${file} ${format}`);
      assert.deepEqual(await post("decode", expected), [200, minified], `${file} ${format}, decoded`);
      passed++;
    }
  }
  assert.deepEqual(await post("stc2", '{"a": [1, 2,]}'), [422, Buffer.from("Syntax 12")]);
  assert.ok(passed > 0, "no files");
  console.log(`wasm in workerd: ${passed} texts passed`);
} finally {
  runtime.kill();
}
