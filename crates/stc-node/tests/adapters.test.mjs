// The adapters with the libraries they are for: the MCP SDKs 1.x and 2.x, the Vercel AI SDK.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as Memory1 } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as Server1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Client as Client2, InMemoryTransport as Memory2 } from "@modelcontextprotocol/client";
import { McpServer as Server2 } from "@modelcontextprotocol/server";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as stc from "stc-codec";
import { encodedTool, encodedTools } from "stc-codec/ai";
import { decoded, decodingClient, encoded, encodes } from "stc-codec/mcp";
import { z } from "zod";

const ROWS = Array.from({ length: 40 }, (_, id) => ({ id, state: "open", labels: ["bug"] }));
const TEXT = `{"total": 1e2, "rows": ${JSON.stringify(ROWS, null, 2)}}`;
const WORDS = "just words, ".repeat(40);

for (const [version, Client, Server, Memory] of [
  ["1.x", Client1, Server1, Memory1],
  ["2.x", Client2, Server2, Memory2],
]) {
  test(`MCP SDK ${version}: a server encodes and a client decodes`, async () => {
    const server = new Server({ name: "adapters", version: "0" });
    const text = (text, isError) => ({ content: [{ type: "text", text }], ...(isError && { isError }) });
    server.registerTool("rows", { description: "Rows." }, encodes(async () => text(TEXT), { tool: "rows" }));
    server.registerTool("words", { description: "Words." }, encodes(() => text(WORDS), { format: "stc2-labelled", tool: "words" }));
    server.registerTool("fails", { description: "Fails." }, encodes(() => text(TEXT, true), { tool: "fails" }));
    const client = new Client({ name: "adapters", version: "0" });
    const [one, two] = Memory.createLinkedPair();
    await Promise.all([server.connect(one), client.connect(two)]);

    const raw = await client.callTool({ name: "rows", arguments: {} });
    assert.deepEqual(raw.content[0]._meta, { "io.stoa/stc": { format: "stc2" } });
    assert.equal(raw.content[0].text, stc.encode(TEXT));
    const decoding = decodingClient(client);
    const [block] = (await decoding.callTool({ name: "rows", arguments: {} })).content;
    assert.deepEqual(block, { type: "text", text: stc.encode(TEXT, "json") });
    assert.equal((await decoding.callTool({ name: "words", arguments: {} })).content[0].text, WORDS);
    assert.equal((await decoding.callTool({ name: "fails", arguments: {} })).content[0].text, TEXT);
    assert.equal((await decoding.listTools()).tools.length, 3);
    await decoding.close();
  });
}

test("folded blocks and other marks", () => {
  const items = ['{"id":1,"rate":1e2,"s":"],\\""}', '{"id":2,"rate":-0}', "[]", '"a"'];
  const folded = { type: "text", text: stc.encode(`[${items}]`), _meta: { "io.stoa/stc": { format: "stc2", blocks: 4 }, k: 1 } };
  const result = decoded({ content: [{ type: "text", text: "a" }, folded] });
  assert.deepEqual(result.content.map((block) => block.text), ["a", ...items]);
  assert.deepEqual(result.content[1]._meta, { k: 1 });
  const once = encoded({ content: [{ type: "text", text: TEXT }] }, { tool: "rows" });
  assert.notEqual(once.content[0].text, TEXT);
  assert.deepEqual(encoded(once, { tool: "rows" }), once);
  assert.throws(() => decoded({ content: [{ ...folded, text: "[2" }] }), stc.STCError);
});

test("AI SDK: the model reads STC, and the program keeps the output", async () => {
  const prompts = [];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      const content =
        prompts.length === 1
          ? ["rows", "words", "few"].map((name) => ({ type: "tool-call", toolCallId: name, toolName: name, input: "{}" }))
          : [{ type: "text", text: "done" }];
      return { content, finishReason: { unified: prompts.length === 1 ? "tool-calls" : "stop" }, usage, warnings: [] };
    },
  });
  const inputSchema = z.object({});
  const result = await generateText({
    model,
    prompt: "go",
    stopWhen: stepCountIs(3),
    tools: encodedTools({
      rows: tool({ inputSchema, execute: async () => ROWS }),
      words: tool({ inputSchema, execute: async () => WORDS }),
      few: tool({ inputSchema, execute: async () => ({ ok: true }) }),
    }),
  });
  assert.equal(result.text, "done");
  const outputs = Object.fromEntries(prompts[1].filter(({ role }) => role === "tool").flatMap(({ content }) => content.map((part) => [part.toolName, part.output])));
  assert.deepEqual(outputs.rows, { type: "text", value: stc.stringify(ROWS) });
  assert.deepEqual(outputs.words, { type: "text", value: WORDS });
  assert.deepEqual(outputs.few, { type: "json", value: { ok: true } });
  assert.deepEqual(result.steps[0].toolResults.find(({ toolName }) => toolName === "rows").output, ROWS);
});

test("tools of files, and what programs read, stay", async () => {
  const result = { content: [{ type: "text", text: TEXT }] };
  for (const tool of ["read_text_file", "edit_file", "write_file", "memory"]) {
    assert.equal(encoded(result, { tool }), result);
    assert.equal(await encodes(() => result, { tool })(), result);
    assert.equal(encodedTool({ id: `x.${tool}` }).toModelOutput, undefined);
  }
  const readFile = () => result;
  assert.equal(await encodes(readFile)(), result);
  assert.notEqual(await encodes(readFile, { skipTools: [] })(), result);
  assert.equal(encoded(result, { tool: "export_rows", skipTools: ["export_*"] }), result);
  assert.notEqual(encoded(result, { tool: "list_rows" }), result);
  const called = { ...result, _meta: { caller: { type: "program" } } };
  assert.equal(encoded(called, { tool: "list_rows" }), called);
  const allowedCallers = ["code_execution_20250825"];
  assert.equal(encodedTool({ id: "x.rows", providerOptions: { anthropic: { allowedCallers } } }).toModelOutput, undefined);
  assert.notEqual(encodedTool({ id: "x.rows", providerOptions: { anthropic: { allowedCallers: ["direct"] } } }).toModelOutput, undefined);
});
