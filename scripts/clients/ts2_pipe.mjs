// The TypeScript client, 2.x, and a server by pipe. node ts2_pipe.mjs COMMAND CALLS, both as JSON.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { report } from "./pipe_report.mjs";

await report(Client, StdioClientTransport);
