// server-everything with JSON responses: its own program only streams. node everything_server.mjs PORT
import { randomUUID } from "node:crypto";
import express from "express";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createServer } from "./node_modules/@modelcontextprotocol/server-everything/dist/server/index.js";

const transports = new Map();
const app = express();
app.all("/mcp", async (request, response) => {
    let transport = transports.get(request.headers["mcp-session-id"]);
    if (!transport) {
        transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: () => randomUUID(),
            enableJsonResponse: true,
            onsessioninitialized: (id) => transports.set(id, transport),
        });
        await createServer().server.connect(transport);
    }
    await transport.handleRequest(request, response);
});
app.listen(Number(process.argv[2]), "127.0.0.1");
