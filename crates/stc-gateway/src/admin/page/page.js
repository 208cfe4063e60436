// The page: fetches the state every two seconds, and a comparison 250 ms after the last change of the text.
// Names are untrusted: they are inserted as text only.
"use strict";

const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const names = { stc1: "STC 1", stc2: "STC 2", "stc2-labelled": "STC 2 labelled", toon: "TOON" };
const reasons = {
  "too-small": "shorter than min_bytes",
  "too-large": "longer than max_bytes",
  "not-json": "the content type is not JSON",
  "not-smaller": "the result would not be smaller",
  "invalid": "not valid JSON, or the format cannot represent it",
  "no-transform": "Cache-Control: no-transform",
  "encoded": "a content coding that is not decoded here",
  "excluded": "excluded by the policy",
  "busy": "max_held bodies are in memory",
  "unknown-format": "X-Prefer-Format names no format that is known here",
};

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function bytes(count) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]]) {
    if (count >= size) return (count / size).toFixed(1) + " " + unit;
  }
  return count + " B";
}

function percent(part, whole) {
  return whole ? Math.round((100 * part) / whole) + " %" : "–";
}

// What was saved of a size: always the same direction and colour. A text that became longer has the other colour.
function share(before, after) {
  if (!before) return element("span", "share", "–");
  if (after > before) return element("span", "share lost", percent(after - before, before) + " more");
  return element("span", "share saved", percent(before - after, before) + " saved");
}

function span(seconds) {
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) return Math.floor(seconds / size) + " " + unit;
  }
  return Math.max(0, Math.floor(seconds)) + " s";
}

function meter(share) {
  const outer = element("div", "meter");
  const inner = element("i");
  inner.style.width = Math.min(100, 100 * share) + "%";
  outer.append(inner);
  return outer;
}

function showTotals(state) {
  const [bytesIn, bytesOut] = state.bytes;
  const [tokensIn, tokensOut] = state.estimated_tokens;
  byId("tokens").textContent = compact.format(tokensIn - tokensOut);
  byId("tokens-meter").style.width = tokensIn ? (100 * (tokensIn - tokensOut)) / tokensIn + "%" : "0";
  byId("tokens-note").textContent = tokensIn
    ? `${percent(tokensIn - tokensOut, tokensIn)} of ${compact.format(tokensIn)} in converted responses as minified JSON`
    : "no client has opted in yet";
  byId("bytes").textContent = bytes(bytesIn - bytesOut);
  byId("bytes-note").textContent = bytesIn ? `${percent(bytesIn - bytesOut, bytesIn)} of ${bytes(bytesIn)} minified` : "\u00a0";
  byId("sent").textContent = number.format(state.sent);
  byId("sent-note").textContent = `of ${number.format(state.sent + state.skipped)} to clients that opted in`;
  const took = state.encode_microseconds;
  byId("took").textContent = took === null ? "–" : took < 1000 ? Math.round(took) + " µs" : (took / 1000).toFixed(1) + " ms";
  byId("responses").textContent = compact.format(state.responses);
  const failures = Object.values(state.upstream_failures).reduce((sum, count) => sum + count, 0);
  byId("responses-note").textContent = `${number.format(failures)} upstream failures`;
  const status = byId("status");
  status.className = "status" + (state.draining ? " draining" : "");
  status.textContent = `${state.draining ? "draining" : "ready"}, version ${state.version}, up ${span(state.uptime_seconds)}, `
    + `${number.format(state.connections)} connections`;
}

// The sums of the rows that have the same name, route or format; tenants are counted apart.
function grouped(state, group) {
  if (group === "tenant") return state.tenants.map((row) => ({ ...row, formats: [] }));
  const rows = new Map();
  for (const tool of state.tools) {
    const name = { tool: tool.name, route: tool.route, format: names[tool.format] || tool.format }[group];
    const key = group === "tool" ? tool.route + " " + name : name;
    const row = rows.get(key) || { name, formats: [], responses: 0, bytes: [0, 0], estimated_tokens: [0, 0] };
    if (group === "tool") row.route = tool.route;
    if (!row.formats.includes(tool.format)) row.formats.push(tool.format);
    row.responses += tool.responses;
    for (const side of [0, 1]) {
      row.bytes[side] += tool.bytes[side];
      row.estimated_tokens[side] += tool.estimated_tokens[side];
    }
    rows.set(key, row);
  }
  return [...rows.values()];
}

// A bar for each slot of the last day, as high as the tokens that were saved in it.
function showDay(history, now) {
  const size = history.slot_seconds;
  const count = Math.round(86400 / size);
  const last = Math.floor(now / 1000 / size) * size;
  const most = Math.max(1, ...history.slots.map(([, , before, after]) => before - after));
  let total = 0;
  let responses = 0;
  const bars = history.slots.map(([start, times, before, after]) => {
    total += before - after;
    responses += times;
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const height = Math.max(1, (58 * (before - after)) / most);
    const place = { x: count - 1 - (last - start) / size, y: 60 - height, width: 0.9, height };
    for (const [name, value] of Object.entries(place)) bar.setAttribute(name, value);
    return bar;
  });
  byId("day").replaceChildren(...bars);
  if (history.slots.length) {
    byId("day-note").textContent = `${compact.format(total)} tokens in ${number.format(responses)} responses; `
      + `the highest bar is ${compact.format(most)} tokens`;
  }
}

function showMoney(state) {
  const models = Object.keys(state.prices);
  byId("money-figure").hidden = !models.length;
  if (!models.length) return;
  const price = byId("price");
  if (price.options.length !== models.length) price.replaceChildren(...models.map((model) => new Option(model, model)));
  const each = state.prices[price.value];
  const [before, after] = state.estimated_tokens;
  byId("money").textContent = (((before - after) * each) / 1e6).toFixed(2);
  byId("money-note").textContent = `${each} for a million tokens`;
}

function showFailures(failures, now) {
  if (!failures.length) return;
  byId("failures").replaceChildren(...failures.map((failure) => {
    const item = element("li");
    if (failure.request_id) item.title = "request " + failure.request_id;
    item.append(
      element("span", "tag bad", failure.cause), element("span", "name", failure.upstream), element("span", "note", failure.why),
      element("time", "", span((now - failure.time_ms) / 1000) + " ago"),
    );
    return item;
  }));
}

function showTools(table, tools, label, tag, number_of) {
  if (!tools.length) return;
  const saved = (tool) => tool.estimated_tokens[0] - tool.estimated_tokens[1];
  const rows = tools.sort((a, b) => saved(b) - saved(a)).map((tool) => {
    const row = element("tr");
    const format = element("td");
    format.append(...[tag(tool)].flat().map((text) => element("span", "tag", text)));
    const [before, after] = tool.estimated_tokens;
    const left = element("div", "left");
    left.append(meter(before ? Math.max(0, before - after) / before : 0), share(before, after));
    const cell = element("td", "meter-cell");
    cell.append(left);
    const count = (label, text) => {
      const made = element("td", "count", text);
      made.title = label;
      return made;
    };
    row.append(
      nameOf(tool), format, count(label, number.format(number_of(tool))),
      count("Bytes", `${bytes(tool.bytes[0])} → ${bytes(tool.bytes[1])}`),
      count("Tokens, est.", `${compact.format(before)} → ${compact.format(after)}`), cell,
    );
    return row;
  });
  byId(table).tBodies[0].replaceChildren(...rows);
}

function nameOf(row) {
  const cell = element("td", "name", row.name);
  if (row.route && row.route !== "/" && row.route !== row.name) cell.append(element("small", "", " at " + row.route));
  return cell;
}

// The start of a body, which the state has only if the operator allows it. A new text replaces the old one; the same text stays, with
// what is selected in it.
let excerptTime;
function showExcerpt(excerpt, now) {
  byId("excerpt").hidden = !excerpt;
  if (!excerpt) return;
  byId("excerpt-note").textContent =
    `${number.format(excerpt.bytes[0])} → ${number.format(excerpt.bytes[1])} bytes, ${span((now - excerpt.time_ms) / 1000)} ago`;
  if (excerpt.time_ms === excerptTime) return;
  excerptTime = excerpt.time_ms;
  for (const part of ["name", "format", "before", "after"]) byId("excerpt-" + part).textContent = excerpt[part];
}

function showSkips(skips, now) {
  if (!skips.length) return;
  byId("skips").replaceChildren(...skips.map((skip) => {
    const item = element("li");
    const time = element("time", "", span((now - skip.time_ms) / 1000) + " ago");
    if (skip.request_id) item.title = "request " + skip.request_id;
    item.append(
      element("span", "tag reason", skip.reason), element("span", "name", skip.name),
      element("span", "note", [reasons[skip.reason], skip.format && `${skip.format} by ${skip.source}`].filter(Boolean).join("; ")), time,
    );
    return item;
  }));
}

function readerOf(reader) {
  if (!reader) return "";
  return (reader.level ? `${reader.level} reader` : names[reader.format] || reader.format) + ` by ${reader.by}`;
}

function showLatest(latest, now) {
  if (!latest.length) return;
  byId("context-latest").replaceChildren(...latest.map((request) => {
    const item = element("li");
    const statuses = Object.entries(request.statuses).map(([status, count]) => `${number.format(count)} ${status}`).join(", ");
    const [before, after] = request.estimated_tokens;
    item.append(
      element("span", "tag", request.api), element("span", "name", statuses),
      element("span", "note", [`${compact.format(before)} → ${compact.format(after)} tokens, est.`, readerOf(request.reader)].filter(Boolean).join("; ")),
      element("time", "", span((now - request.time_ms) / 1000) + " ago"),
    );
    return item;
  }));
}

let later;
async function refresh() {
  clearTimeout(later);
  try {
    const state = await (await fetch("state")).json();
    showTotals(state);
    showMoney(state);
    showDay(state.history, state.now_ms);
    showTools("tools", grouped(state, byId("group").value), "Responses", (tool) => tool.formats, (tool) => tool.responses);
    showExcerpt(state.excerpt, state.now_ms);
    byId("sample").hidden = !state.has_sample;
    showFailures(state.failures, state.now_ms);
    showTools("context-tools", state.context.tools, "Texts", (tool) => tool.status, (tool) => tool.texts);
    showLatest(state.context.latest, state.now_ms);
    showSkips(state.skips, state.now_ms);
  } catch {
    const status = byId("status");
    status.className = "status away";
    status.textContent = "no answer";
  }
  later = setTimeout(refresh, 2000);
}

function showFormat(one, json, best) {
  const box = element("article", "format" + (one === best ? " best" : ""));
  box.dataset.format = one.format;
  const head = element("h3", "", names[one.format]);
  box.append(head);
  if (one.skipped) {
    box.append(element("p", "note", one.skipped));
    return box;
  }
  head.append(share(json.estimated_tokens, one.estimated_tokens));
  box.append(element("p", "note", `${number.format(one.bytes)} bytes, about ${number.format(one.estimated_tokens)} tokens`));
  box.append(element("pre", "", one.text.length > 20000 ? one.text.slice(0, 20000) + "…" : one.text));
  return box;
}

let asked = 0;
async function compare() {
  const turn = ++asked;
  const problem = byId("problem");
  const text = byId("json").value;
  if (!text.trim()) {
    problem.hidden = true;
    byId("formats").replaceChildren();
    byId("minified").textContent = "";
    return;
  }
  let answer;
  try {
    answer = await (await fetch("compare", { method: "POST", body: text })).json();
  } catch {
    answer = { error: "no answer from the gateway" };
  }
  if (turn !== asked) return; // a newer comparison was started
  problem.hidden = !answer.error;
  problem.textContent = answer.error || "";
  if (answer.error) return;
  const sizes = answer.formats.filter((one) => !one.skipped);
  const best = sizes.toSorted((a, b) => a.estimated_tokens - b.estimated_tokens)[0];
  byId("minified").textContent =
    `Minified JSON: ${number.format(answer.json.bytes)} bytes, about ${number.format(answer.json.estimated_tokens)} tokens. `
    + "Tokens that each format saves, compared with that:";
  byId("formats").replaceChildren(...answer.formats.map((one) => showFormat(one, answer.json, best)));
}

function showResult(result) {
  const box = element("article", "format");
  const head = element("h3", "", `${result.tool || "unknown tool"}: ${result.status}`);
  const [before, after] = result.estimated_tokens;
  head.append(share(before, after));
  box.append(head, element("p", "note", `${number.format(before)} → ${number.format(after)} tokens, est.; family ${result.family}`));
  box.append(element("pre", "", result.before));
  if (result.after !== result.before) box.append(element("pre", "", result.after));
  return box;
}

let inspected = 0;
async function inspect() {
  const turn = ++inspected;
  const problem = byId("request-problem");
  const text = byId("request").value;
  problem.hidden = true;
  byId("request-total").textContent = "";
  byId("request-results").replaceChildren();
  if (!text.trim()) return;
  let answer;
  try {
    answer = await (await fetch("context", { method: "POST", body: text })).json();
  } catch {
    answer = { error: "no answer from the gateway" };
  }
  if (turn !== inspected) return; // a newer request was pasted
  problem.hidden = !answer.error;
  problem.textContent = answer.error || "";
  if (answer.error) return;
  const [before, after] = answer.estimated_tokens;
  byId("request-total").textContent =
    `${answer.api}: ${answer.changed} of ${answer.results.length} texts change, ${number.format(before)} → ${number.format(after)} tokens, est.`
    + (answer.reader ? `; ${readerOf(answer.reader)}` : "");
  byId("request-results").replaceChildren(...answer.results.map(showResult));
}

byId("sample").addEventListener("click", async () => {
  try {
    await fetch("sample", { method: "POST" });
  } catch {
    // The status says that there is no answer.
  }
  refresh();
});
for (const id of ["group", "price"]) byId(id).addEventListener("change", refresh);
let pasting;
byId("request").addEventListener("input", () => {
  clearTimeout(pasting);
  pasting = setTimeout(inspect, 250);
});
let typing;
byId("json").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(compare, 250);
});
refresh();
compare();
