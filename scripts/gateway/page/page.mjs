// The page of a running demo in a real browser: what it shows, what it does with what is pasted, how it looks.
// node page.mjs GATEWAY CHROMIUM FOLDER MINUTES; the screenshots go into the folder, and the metrics as they were at the end. There is
// mixed traffic for that many minutes before the restart.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [gateway, browserPath, folder, minutes] = process.argv.slice(2);
/** The milliseconds between two turns of traffic. */
const PAUSE = 15_000;
mkdirSync(folder, { recursive: true });

// Starts the program on ports of its own, and returns its process and its addresses.
async function start(parameters) {
  const process = spawn(gateway, [...parameters, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "pipe"] });
  const addresses = [];
  for await (const line of createInterface({ input: process.stderr })) {
    if (!line.includes("http://")) continue;
    addresses.push(`http://${line.split("http://")[1]}`);
    if (addresses.length === 2) break;
  }
  return { process, addresses };
}

async function stop(process) {
  const ended = new Promise((resolve) => process.on("exit", resolve));
  process.kill("SIGTERM");
  await ended;
}

// The demo as the upstream of a gateway with a history, prices and credentials.
const sample = await start(["demo"]);
const kept = mkdtempSync(`${tmpdir()}/stc-history-`);
writeFileSync(`${kept}/tokens`, "search 0123456789abcdef\nads 0123456789abcdef-ads\n");
writeFileSync(`${kept}/gateway.toml`, `
history = "${kept}/history.json"
prices = { "large model" = 3.0, "small model" = 0.25 }
upstream = "${sample.addresses[0]}"
log = "off"
[[routes]]
path = "/team"
upstream = "${sample.addresses[0]}"
strip = true
auth = { tokens = "${kept}/tokens" }
[[routes]]
path = "/gone"
upstream = "http://127.0.0.1:9"
`);
const configured = ["--config", `${kept}/gateway.toml`, "--context", "lossless"];
let demo = await start(configured);
let [traffic, admin] = demo.addresses;
const markup = "<img src=x onerror=\"document.title='pwned'\">";

async function makeTraffic() {
  const reads = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const call = (name) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
  for (const format of ["stc1", "stc2", "stc2-labelled", "toon"]) {
    for (const path of ["users", "issues", "pods", "rows", "logs", "health"]) {
      await (await fetch(`${traffic}/${path}`, { headers: { "x-prefer-format": format } })).text();
    }
    for (const tool of ["list_users", "list_issues", "query_rows"]) {
      await (await fetch(`${traffic}/mcp`, { method: "POST", headers: { ...reads, "x-prefer-format": format }, body: call(tool) })).text();
    }
  }
  for (const token of ["0123456789abcdef", "0123456789abcdef-ads"]) {
    const headers = { authorization: `Bearer ${token}`, "x-prefer-format": "stc2" };
    await (await fetch(`${traffic}/team/pods`, { headers })).text();
  }
  await (await fetch(`${traffic}/gone`)).text();
  // A tool whose name is markup, and a query that must not be shown.
  await (await fetch(`${traffic}/mcp?token=hidden`, { method: "POST", headers: { ...reads, "x-prefer-format": "stc1" }, body: call(markup) })).text();
}

const profile = mkdtempSync(`${tmpdir()}/stc-page-`);
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: browserPath, headless: true, args: quiet, viewport: { width: 1280, height: 900 },
});
let checks = 0;
const check = (holds, what) => {
  assert.ok(holds, what);
  checks += 1;
};
try {
  const page = await browser.newPage();
  const outside = [];
  const problems = [];
  page.on("request", (request) => request.url().startsWith(admin) || request.url().startsWith("data:") || outside.push(request.url()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));

  await page.goto(`${admin}/`);
  await page.waitForSelector("#formats article[data-format=toon]");
  check((await page.textContent("#tools")).includes("clients that opt in"), "the empty table has a hint");

  await makeTraffic();
  await page.waitForFunction(() => document.querySelectorAll("#tools tbody tr").length >= 9);
  const state = await (await fetch(`${admin}/state`)).json();
  // The page may show an earlier state until it asks again.
  await page.waitForFunction((sent) => document.querySelector("#sent").textContent === sent, String(state.sent));
  const text = await page.innerText("main");
  for (const name of ["list_users", "query_rows", "/pods", "stc2", "stc2-labelled", "toon"]) check(text.includes(name), name);
  check((await page.textContent("#sent")) === String(state.sent) && state.sent > 20, "the number sent");
  check((await page.innerText("#skips")).includes("too-small"), "skips and why");
  const rows = () => page.locator("#tools tbody tr").count();
  const by = (of) => new Set(state.tools.map(of)).size;
  check((await rows()) === by((tool) => tool.route + " " + tool.name), "a row for each tool");
  const saved = state.tools.reduce((sum, tool) => sum + tool.estimated_tokens[0] - tool.estimated_tokens[1], 0);
  check(saved === state.estimated_tokens[0] - state.estimated_tokens[1], "the rows add up to the total");
  for (const [group, count, name] of [["route", 2, "/team"], ["format", 4, "STC 2 labelled"], ["tenant", 2, "ads"]]) {
    await page.selectOption("#group", group);
    await page.waitForFunction((count) => document.querySelectorAll("#tools tbody tr").length === count, count);
    check((await page.innerText("#tools")).includes(name), `by ${group}`);
  }
  await page.selectOption("#group", "tool");
  for (const [model, price] of [["large model", 3], ["small model", 0.25]]) {
    await page.selectOption("#price", model);
    const money = ((saved * price) / 1e6).toFixed(2);
    await page.waitForFunction((money) => document.getElementById("money").textContent === money, money);
    checks += 1;
  }
  check((await page.locator("#day rect").count()) >= 1 && (await page.innerText("#day-note")).includes("tokens in"), "the day");
  check(/refused.*127\.0\.0\.1:9/s.test(await page.innerText("#failures")), "failures with their cause");

  check((await page.title()) === "stc-gateway" && (await page.locator("main img").count()) === 0, "names are text");
  check((await page.innerText("#skips")).includes(markup), "and shown as they are");
  const everything = await page.content();
  check(!everything.includes("token=hidden"), "no queries");
  check(!everything.includes("aadler0") && !JSON.stringify(state).includes("aadler0"), "nothing of a body");
  check(await page.isHidden("#excerpt"), "no excerpt that the operator did not allow");
  check(await page.isHidden("#sample"), "no sample traffic outside the demo");
  // "Saved" has one colour and one direction, wherever it is.
  const colours = await page.locator(".saved").evaluateAll((all) => [...new Set(all.map((one) => getComputedStyle(one).color))]);
  check(colours.length === 1, `saved in one colour: ${colours}`);
  const shares = await page.locator(".share").allInnerTexts();
  check(shares.length > 10 && shares.every((share) => /^(\d+ % (saved|more)|–)$/.test(share)), `saved in one direction: ${shares}`);
  // One base: the JSON of a tool in the table, and the same JSON in the box.
  const users = await (await fetch(`${traffic}/users`)).text();
  const base = (await (await fetch(`${admin}/compare`, { method: "POST", body: users })).json()).json;
  const row = state.tools.find((tool) => tool.name === "/users" && tool.format === "stc1");
  check(row.bytes[0] === base.bytes * row.responses, "the table compares with minified JSON");
  check(row.estimated_tokens[0] === base.estimated_tokens * row.responses, "and so do its tokens");

  const shown = (format) => page.locator(`#formats article[data-format="${format}"]`).innerText();
  check(/Minified JSON: [\d,]+ bytes, about [\d,]+ tokens/.test(await page.innerText("#minified")), "the base");
  for (const format of ["stc1", "stc2", "stc2-labelled", "toon"]) {
    const words = await shown(format);
    check(/[\d,]+ bytes, about [\d,]+ tokens/.test(words), `${format}: bytes and tokens`);
  }
  await page.fill("#json", '[{"id": 1, "on": true}, {"id": 2, "on": false}]');
  await page.waitForFunction(() => document.querySelector('[data-format="stc1"] pre')?.textContent === "[2]{id,on}: 1,true / 2,false");
  check((await shown("toon")).includes("[2]{id,on}:"), "TOON beside it");
  await page.fill("#json", '{"n": 123456789012345678901234567890}');
  await page.waitForFunction(() => document.querySelector('[data-format="toon"]')?.textContent.includes("cannot represent"));
  await page.fill("#json", "[1,\n 2,]");
  await page.waitForSelector("#problem:not([hidden])");
  check((await page.textContent("#problem")).includes("line 2, column 4"), "where it stops being JSON");

  // A request to the sample model: its row in the table, and the same request in the box.
  const request = await (await fetch(`${traffic}/chat-request`)).text();
  const json = { "content-type": "application/json" };
  await (await fetch(`${traffic}/v1/chat/completions`, { method: "POST", headers: json, body: request })).text();
  await page.waitForFunction(() => document.querySelectorAll("#context-tools tbody tr:not(.empty)").length > 0);
  check(/list_issues\s+stc2-labelled/.test(await page.innerText("#context-tools")), "the tool and what became of its result");
  check((await page.innerText("#context-latest")).includes("openai-chat"), "the latest request");
  await page.fill("#request", request);
  await page.waitForSelector("#request-results pre");
  check(/openai-chat: 1 of 1 texts change/.test(await page.innerText("#request-total")), "the request in the box");
  const [textBefore, textAfter] = await page.locator("#request-results pre").allInnerTexts();
  check(textBefore.startsWith("[") && textAfter.length < textBefore.length, "the text before and after");
  const saw = await (await fetch(`${traffic}/seen`)).json();
  check(saw.messages[2].content === textAfter, "the box shows what the model saw");
  await page.fill("#request", "{");
  await page.waitForSelector("#request-problem:not([hidden])");
  check((await page.textContent("#request-problem")).includes("line 1, column 2"), "where a request stops being JSON");

  // The demo itself: a button that sends traffic, and the latest response before and after.
  const demoAdmin = sample.addresses[1];
  const demoPage = await browser.newPage();
  demoPage.on("pageerror", (error) => problems.push(String(error)));
  await demoPage.goto(`${demoAdmin}/`);
  await demoPage.click("#sample");
  await demoPage.waitForFunction(() => document.querySelectorAll("#context-latest li:not(.empty)").length > 0, undefined, { timeout: 60000 });
  await demoPage.waitForSelector("#excerpt:not([hidden])");
  const [full, short] = [await demoPage.innerText("#excerpt-before"), await demoPage.innerText("#excerpt-after")];
  check(full.length > 0 && short.length > 0 && full !== short, "the latest response before and after");
  check((await demoPage.locator("#tools tbody tr").count()) >= 10, "sample traffic of every kind");
  for (const [name, width, colorScheme] of [["demo-wide", 1280, "light"], ["demo-narrow", 400, "dark"]]) {
    await demoPage.setViewportSize({ width, height: 900 });
    await demoPage.emulateMedia({ colorScheme });
    await demoPage.waitForTimeout(500);
    const wide = await demoPage.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= width, `${name}: ${wide} pixels wide, nothing to scroll to`);
    await demoPage.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }
  await demoPage.close();

  const end = Date.now() + Number(minutes) * 60_000;
  while (Date.now() < end) {
    await makeTraffic();
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }

  // After a restart, the day is still there.
  const latest = await (await fetch(`${admin}/state`)).json();
  const before = latest.history.slots.reduce((sum, slot) => sum + slot[1], 0);
  check(before === latest.sent, "the day has all of the traffic");
  await page.goto("about:blank");
  await stop(demo.process);
  demo = await start(configured);
  [traffic, admin] = demo.addresses;
  const again = await (await fetch(`${admin}/state`)).json();
  check(again.sent === 0 && again.history.slots.reduce((sum, slot) => sum + slot[1], 0) === before, "the day outlives a restart");

  await page.goto(`${admin}/`);
  await makeTraffic();
  await page.waitForSelector("#formats article[data-format=toon]");
  await page.waitForFunction(() => document.querySelectorAll("#tools tbody tr").length >= 9);
  for (const [name, width, colorScheme] of [["wide-light", 1280, "light"], ["wide-dark", 1280, "dark"], ["narrow-light", 400, "light"], ["narrow-dark", 400, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(500);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= width, `${name}: ${wide} pixels wide, nothing to scroll to`);
    const cut = await page.locator(".scroll").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
    check(cut === 0, `${name}: ${cut} tables are cut`);
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }
  writeFileSync(`${folder}/metrics.txt`, await (await fetch(`${admin}/metrics`)).text());
  assert.deepEqual(outside, [], "nothing from elsewhere");
  // The one complaint allowed is the browser's own, about the 400 for what was not JSON.
  assert.deepEqual(problems.filter((problem) => !problem.includes("400 (Bad Request)")), [], "no errors in the page");
  console.log(`${checks} checks in ${await page.evaluate(() => navigator.userAgent.match(/Chrome\/[\d.]+/)[0])}; screenshots in ${folder}`);
} finally {
  await browser.close();
  await stop(demo.process);
  await stop(sample.process);
  rmSync(kept, { recursive: true, force: true });
  rmSync(profile, { recursive: true, force: true });
}
