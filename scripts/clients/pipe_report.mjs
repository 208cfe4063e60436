// Calls the tools of a server by pipe and prints decoded results, and how many blocks were STC.
import { EXTENSION, decoded } from "stc-codec/mcp";

export async function report(Client, Transport) {
  const [[command, ...args], calls] = process.argv.slice(2).map((text) => JSON.parse(text));
  const client = new Client({ name: "pipe", version: "0" });
  await client.connect(new Transport({ command, args, stderr: "ignore" }));
  const { tools } = await client.listTools();
  const results = [];
  for (const [name, given] of calls) results.push(await client.callTool({ name, arguments: given }));
  const marked = results.flatMap(({ content }) => content).filter((block) => block._meta?.[EXTENSION]).length;
  console.log(JSON.stringify({ marked, tools: tools.map(({ name }) => name), results: results.map(decoded) }));
  await client.close();
}
