// The TypeScript SDK, 1.x: connects, calls what it is told, prints what it got.
// node ts1_client.mjs URL HEADERS CALLS, the last two as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, headers, calls] = process.argv.slice(2);
const client = new Client({ name: "matrix", version: "0" });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: JSON.parse(headers) } });
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const [name, args] of JSON.parse(calls)) results.push(await client.callTool({ name, arguments: args }));
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), results }));
await client.close();
