// One official Node client: whole and streaming answers, and the error for an option that cannot be followed.
//
//     node_client.mjs openai|anthropic|ai URL CONVERSATION
//
// CONVERSATION is a file with {question, text, chat, messages, responses}. Prints JSON as python_client.py does.
import { readFileSync } from "node:fs";

const [, , name, url, file] = process.argv;
const conversation = JSON.parse(readFileSync(file, "utf8"));
const model = "gpt-4o";
const claude = "claude-sonnet-4";
const bad = { _stc: { mode: "best" } };
const answers = {};
const counts = {};
const refused = {};

async function refusal(what, call) {
  try {
    await call();
  } catch (error) {
    refused[what] = [error.name === "Error" ? error.constructor.name : error.name, error.message + " " + (error.responseBody ?? "")];
  }
}

async function text(parts, pick) {
  let whole = "";
  for await (const part of parts) whole += pick(part) ?? "";
  return whole;
}

async function openai() {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  const { chat: messages, responses: input } = conversation;
  answers.chat = (await client.chat.completions.create({ model, messages })).choices[0].message.content;
  const chunks = await client.chat.completions.create({ model, messages, stream: true });
  answers["chat stream"] = await text(chunks, (chunk) => chunk.choices[0]?.delta?.content);
  answers.responses = (await client.responses.create({ model, input })).output_text;
  const events = await client.responses.create({ model, input, stream: true });
  answers["responses stream"] = await text(events, (event) => (event.type === "response.output_text.delta" ? event.delta : ""));
  counts["responses/input_tokens"] = (await client.responses.inputTokens.count({ model, input })).input_tokens;
  await refusal("chat", () => client.chat.completions.create({ model, messages, ...bad }));
  await refusal("responses", () => client.responses.create({ model, input, ...bad }));
}

async function anthropic() {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const given = { model: claude, max_tokens: 100, messages: conversation.messages };
  answers.messages = (await client.messages.create(given)).content[0].text;
  answers["messages stream"] = await client.messages.stream(given).finalText();
  const counted = await client.messages.countTokens({ model: claude, messages: conversation.messages });
  counts["messages/count_tokens"] = counted.input_tokens;
  await refusal("messages", () => client.messages.create({ ...given, ...bad }));
}

async function ai() {
  const { generateText, streamText, tool, jsonSchema, stepCountIs, isStepCount } = await import("ai");
  const { createOpenAI } = await import("@ai-sdk/openai");
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const steps = (stepCountIs ?? isStepCount)(3);
  const list_rows = tool({
    description: "Lists rows.",
    inputSchema: jsonSchema({ type: "object", properties: { state: { type: "string" } } }),
    execute: async () => conversation.text,
  });
  const models = (headers) => {
    const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "none", headers });
    const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none", headers });
    return { chat: openai.chat(model), responses: openai.responses(model), messages: anthropic(claude) };
  };
  const given = { prompt: conversation.question, tools: { list_rows }, stopWhen: steps, maxRetries: 0 };
  for (const [what, model] of Object.entries(models({}))) {
    answers[what] = (await generateText({ model, ...given })).text;
    answers[`${what} stream`] = await streamText({ model, ...given }).text;
  }
  for (const [what, model] of Object.entries(models({ "X-STC-Mode": "best" }))) {
    await refusal(what, () => generateText({ model, ...given }));
  }
}

await { openai, anthropic, ai }[name]();
console.log(JSON.stringify({ answers, counts, refused }));
