// Answers prompts with a GGUF model on the CPU: one JSON line in, one out.
//
//     node ask.mjs MODEL.gguf THREADS MOST_TOKENS
//
// The state of the last prompt is kept. A prompt that begins like the one before it is evaluated from where they differ, so the
// questions about one document cost its text once. Decoding is greedy.
import readline from "node:readline";
import { getLlama, LlamaLogLevel } from "node-llama-cpp";

const [path, threads, most] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: LlamaLogLevel.error, maxThreads: threads });
const model = await llama.loadModel({ modelPath: path });
const contextSize = Math.min(8192, model.trainContextSize);
const context = await model.createContext({ contextSize, threads, sequences: 1 });
const sequence = context.getSequence();

// A model with a chat template takes ChatML; the system line is the one its own template puts there.
const system = /smollm/i.test(path)
  ? "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
  : "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";

// A model without one continues a text, and its answer is one line.
const plain = model.fileInfo.metadata.tokenizer.chat_template === undefined;

function tokensOf(prompt) {
  if (plain) return [model.tokens.bos, ...model.tokenize(prompt, false), ...model.tokenize("\nAnswer:", false)];
  return [
    ...model.tokenize(`<|im_start|>system\n${system}<|im_end|>\n<|im_start|>user\n`, true),
    ...model.tokenize(prompt, false),
    ...model.tokenize("<|im_end|>\n<|im_start|>assistant\n", true),
  ];
}

async function answer(prompt) {
  const tokens = tokensOf(prompt);
  if (tokens.length + most > contextSize) return { answer: "", tokens: tokens.length };
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const given = [];
  for await (const token of sequence.evaluate(tokens.slice(sequence.nextTokenIndex), { temperature: 0 })) {
    if (model.isEogToken(token) || (plain && model.detokenize([token]).includes("\n"))) break;
    given.push(token);
    if (given.length >= most) break;
  }
  return { answer: model.detokenize(given), tokens: tokens.length };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line).prompt)) + "\n");
}
process.exit(0);
