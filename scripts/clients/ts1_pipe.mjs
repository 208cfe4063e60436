// The TypeScript client, 1.x, and a server by pipe. node ts1_pipe.mjs COMMAND CALLS, both as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { report } from "./pipe_report.mjs";

await report(Client, StdioClientTransport);
