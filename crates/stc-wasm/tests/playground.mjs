// The playground in a real browser, from the file system: what it shows, links, errors, how it looks.
// node playground.mjs PAGE CHROMIUM FOLDER; the screenshots go into the folder.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { load } from "stc-codec-wasm";

const [file, browserPath, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const address = pathToFileURL(file).href;
const stc = await load();
const profile = mkdtempSync(`${tmpdir()}/stc-playground-`);
const quiet = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launchPersistentContext(profile, { executablePath: browserPath, headless: true, args: quiet });
let checks = 0;
const check = (holds, what) => {
  assert.ok(holds, what);
  checks += 1;
};
try {
  await browser.setOffline(true);
  const page = await browser.newPage();
  const outside = [];
  const problems = [];
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || outside.push(request.url()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const ready = () => page.waitForSelector("body[data-ready=true]");
  const shown = (format) => page.textContent(`section[data-format="${format}"] pre`);

  await page.goto(address);
  await ready();
  const example = await page.inputValue("#input");
  for (const format of stc.formats) check((await shown(format)) === stc.encode(example, format), `${format} of the example`);
  check((await page.textContent("#explanation")).includes("a table"), "the explanation names a table");
  check((await page.textContent("#legend")) === stc.legend(), "the legend");
  const figures = await page.textContent('section[data-format="stc2"] .figures');
  check(figures.includes(`about ${stc.estimateTokens(stc.encode(example))} tokens`), figures);

  await page.selectOption("#level", "stc2-labelled");
  check((await page.textContent("#legend")) === stc.legend("stc2-labelled"), "the legend of another level");

  // Other documents: STC, an error, markup, an empty text, a long one.
  const rows = JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id, state: "open", user: { login: `u${id % 7}`, type: "User" } })));
  await page.fill("#input", stc.encode(rows));
  check((await shown("json")) === rows, "STC is decoded");
  check((await page.textContent("#status")).includes("This is STC"), "and named");
  await page.fill("#input", '{\n  "a": [1, 2,]\n}');
  check((await page.textContent("#status")).startsWith("Line 2, column 14"), "an error has its place");
  check(await page.isHidden("#formats"), "an error hides the formats");
  await page.fill("#input", '["<img src=x onerror=document.title=1>"]');
  check((await page.title()) === "STC playground" && (await shown("json")).includes("<img"), "markup is text");
  await page.fill("#input", "");
  check((await page.textContent("#status")) === "", "no text, no error");

  // A link contains the document.
  const text = '{"name": "é €", "list": [1, 2, 3]}';
  await page.fill("#input", text);
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#json="));
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await ready();
  check((await page.inputValue("#input")) === text, "a link brings the document back");
  await page.goto("about:blank");
  await page.goto(`${address}#json=!!!`);
  await ready();
  check((await page.textContent("#status")).includes("damaged"), "a damaged link is noticed");

  for (const scheme of ["light", "dark"])
    for (const width of [1280, 400]) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 900 });
      await page.goto("about:blank");
      await page.goto(address);
      await ready();
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(over <= 0, `${width} pixels: the page is ${over} pixels too wide`);
      const cut = await page.evaluate(() => [...document.querySelectorAll(".wide")].some((frame) => frame.scrollWidth > frame.clientWidth));
      check(!cut, `${width} pixels: a table of the explanation is cut off`);
      await page.screenshot({ path: `${folder}/playground-${scheme}-${width}.png`, fullPage: true });
    }
  check(outside.length === 0, `requests: ${outside}`);
  check(problems.length === 0, `errors in the console: ${problems}`);
  console.log(`playground: ${checks} checks passed, screenshots in ${folder}`);
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
