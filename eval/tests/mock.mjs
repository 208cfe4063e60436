// A mock chat endpoint for the tests: aimock answers each question from a file, asks for a key, and knows two models.
//
//     node mock.mjs ANSWERS.json BUSY
//
// ANSWERS.json maps a question, or a whole prompt, to its answer; one that begins with a model's name and a space is of that model
// alone. Of every BUSY requests the first is refused once with 429 and Retry-After: 0.
// The first line of the output is the address.
import fs from "node:fs";
import { LLMock } from "@copilotkit/aimock";

const answers = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const busy = Number(process.argv[3]);
const refused = new Set();
let count = 0;

const mock = new LLMock({ port: 0, auth: { apiKeys: ["right-key"] } });
mock.on({ model: /^mock-(1|small)$/ }, (request) => {
  const prompt = request.messages.at(-1).content;
  count += 1;
  if (busy && count % busy === 1 && !refused.has(prompt)) {
    refused.add(prompt);
    return { error: { message: "busy", type: "rate_limit_error" }, status: 429, retryAfter: 0 };
  }
  const question = prompt.slice(prompt.lastIndexOf("Question: ") + "Question: ".length);
  return { content: answers[`${request.model} ${prompt}`] ?? answers[prompt] ?? answers[question] ?? "no idea" };
});
mock.on({ model: /^(?!mock-(1|small)$)/ }, () => ({ error: { message: "The model does not exist", type: "invalid_request_error", code: "model_not_found" }, status: 404 }));
await mock.start();
process.stdout.write(mock.url + "\n");
process.stdin.on("end", () => mock.stop().then(() => process.exit(0)));
process.stdin.resume();
