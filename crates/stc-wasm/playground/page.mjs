// The playground: all formats of a document side by side. `load` and `STCError` come from the package, before this file.
const EXAMPLE = /*EXAMPLE*/ "";
const WASM = /*WASM*/ "";
/** The longest document that is put into a link. */
const LONGEST_LINK = 64 * 1024;

const element = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en");

/** Returns an element with text, which is never read as HTML. */
function made(name, text, className) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

const bytesOf = (text) => new TextEncoder().encode(text).length;
const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Sends bytes through a stream and returns what comes out. */
async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function toFragment(text) {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  return base64(packed).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function fromFragment(fragment) {
  const packed = fromBase64(fragment.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw")));
}

/** Returns the JSON of what was pasted, and a sentence about it. */
function read(stc, text) {
  try {
    stc.encode(text, "json");
    return { json: text, note: "" };
  } catch (rejected) {
    if (!(rejected instanceof STCError)) throw rejected;
    try {
      return { json: stc.decode(text), note: "This is STC. Below is the JSON that it decodes to, in every format." };
    } catch (error) {
      if (!(error instanceof STCError)) throw error;
      // The error that is farther into the text says more about it.
      const shown = error.offset > rejected.offset ? error : rejected;
      return { note: `Line ${shown.line}, column ${shown.column}: ${shown.message}` };
    }
  }
}

function showFormats(stc, json) {
  const texts = stc.formats.map((format) => ({ format, text: stc.encode(json, format) }));
  const most = Math.max(...texts.map(({ text }) => stc.estimateTokens(text)), 1);
  const base = stc.estimateTokens(texts[0].text);
  const cards = texts.map(({ format, text }) => {
    const tokens = stc.estimateTokens(text);
    const card = made("section", undefined, "format");
    card.dataset.format = format;
    const head = made("header");
    head.append(made("h3", format === "json" ? "json, minified" : format));
    const figures = made("span", `${grouped(bytesOf(text))} bytes, about ${grouped(tokens)} tokens `, "figures");
    if (format !== "json" && base > 0) {
      const percent = Math.round(100 * (tokens / base - 1));
      figures.append(made("b", `${percent > 0 ? "+" : percent < 0 ? "\u2212" : ""}${Math.abs(percent)} %`, percent > 0 ? "more" : ""));
    }
    head.append(figures);
    const bar = made("div", undefined, "bar");
    const length = made("i");
    length.style.width = `${(100 * tokens) / most}%`;
    bar.append(length);
    const shown = made("pre", text);
    shown.tabIndex = 0;
    card.append(head, bar, shown);
    return card;
  });
  element("formats").replaceChildren(...cards);
}

/** Returns a table; columns are [title, cell, whether it is a number]. Headers and texts get a wide column. */
function table(columns, rows) {
  const body = made("table");
  const head = made("tr");
  for (const [title, , isNumber] of columns) head.append(made("th", title, isNumber ? "number" : ""));
  body.append(head);
  for (const row of rows) {
    const line = made("tr");
    for (const [title, cell, isNumber] of columns) {
      const className = isNumber ? "number" : title === "header" || title === "text" ? "long" : "";
      const place = made("td", isNumber ? cell(row) : undefined, className);
      place.dataset.title = title;
      if (!isNumber) place.append(made("code", cell(row)));
      line.append(place);
    }
    body.append(line);
  }
  const frame = made("div", undefined, "wide");
  frame.append(body);
  return frame;
}

function showExplanation(stc, json) {
  const level = element("level").value;
  const found = stc.explain(json, level);
  const nodes = [];
  const sentence = `${grouped(found.json.bytes)} bytes and about ${grouped(found.json.tokens)} tokens of JSON became ${grouped(found.stc.bytes)} and ${grouped(found.stc.tokens)}.`;
  nodes.push(made("p", found.plain ? "Nothing saved anything, so the text is minified JSON." : sentence));
  if (found.arrays.length > 0)
    nodes.push(
      table(
        [
          ["array", (row) => row.path || "."],
          ["became", (row) => ({ table: "a table", keyed: "a keyed table", plain: "plain" })[row.form]],
          ["header", (row) => row.header || "\u2013"],
          ["rows", (row) => grouped(row.rows), true],
          ["tokens, JSON", (row) => grouped(row.json.tokens), true],
          ["tokens, STC", (row) => grouped(row.stc.tokens), true],
        ],
        found.arrays,
      ),
    );
  for (const [name, title] of [["shapes", "Shapes"], ["dictionary", "Dictionary"], ["templates", "Templates"], ["anchors", "Anchors"]])
    if (found[name].length > 0) {
      nodes.push(made("h2", title));
      nodes.push(
        table(
          [
            ["name", (row) => row.name],
            ["text", (row) => row.text],
            ["uses", (row) => grouped(row.uses), true],
            ["tokens saved", (row) => grouped(row.saved.tokens), true],
          ],
          found[name],
        ),
      );
    }
  element("explanation").replaceChildren(...nodes);
  element("legend").textContent = stc.legend(level);
}

const stc = await load(fromBase64(WASM));
element("version").textContent = `version ${stc.version}`;

function show() {
  const text = element("input").value;
  const status = element("status");
  const { json, note } = text.trim() === "" ? { note: "" } : read(stc, text);
  status.textContent = note;
  status.className = json === undefined && note !== "" ? "bad" : "";
  element("formats").hidden = json === undefined;
  if (json === undefined) return element("explanation").replaceChildren();
  showFormats(stc, json);
  showExplanation(stc, json);
}

/** Shows what the address names, or the example. */
async function start() {
  const fragment = location.hash.replace(/^#json=/, "");
  let text = EXAMPLE;
  let note = "";
  if (fragment && fragment !== location.hash)
    try {
      text = await fromFragment(fragment);
    } catch {
      note = "The link is damaged; this is the example.";
    }
  element("input").value = text;
  show();
  if (note) element("status").textContent = note;
  document.body.dataset.ready = "true";
}

element("input").addEventListener("input", show);
element("level").addEventListener("change", show);
element("example").addEventListener("click", () => {
  element("input").value = EXAMPLE;
  show();
});
element("share").addEventListener("click", async () => {
  const text = element("input").value;
  if (text.length > LONGEST_LINK) return (element("status").textContent = "The document is too long for a link.");
  history.replaceState(null, "", `#json=${await toFragment(text)}`);
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  element("status").textContent = copied ? "The link is copied. It contains the document." : "The address of this page contains the document now.";
});
addEventListener("hashchange", start);
await start();
