/**
 * A decoder of STC 1 and 2, written to be read beside grammar/STC.md; the section numbers in the comments are its.
 *
 * It builds no model of the document: it walks the input once, from left to right, and copies every string, number and
 * literal to the output as it stood, so nothing can change on the way (2.1). What is open stands on an explicit stack,
 * so the depth of the input is never the depth of the call stack (10.1). Nothing is found by searching for a separator:
 * a count in a header says how many values follow (7.4). Where a template stands, the output has a hole until the
 * object around it is complete (17.6). What may come again is kept under its name (14.2).
 */

/** What an error is about. The last eight are limits: the document may be fine under larger ones. */
export type Kind =
  | "Syntax" | "Truncated" | "Utf8" | "Control" | "Count" | "DuplicateColumn" | "Name" | "Template"
  | "Depth" | "Input" | "Output" | "Ratio" | "Columns" | "Header" | "Row" | "Anchors";

/** A refused document: what was wrong and at which byte (section 9). */
export class STCError extends Error {
  override readonly name = "STCError";

  constructor(readonly kind: Kind, readonly offset: number, message: string) {
    super(`${message} at byte ${offset}`);
  }
}

/** What a document may ask of the decoder (sections 10 and 20). */
export interface Limits {
  /** Containers open at once, as the JSON has them: 512. */
  depth: number;
  /** Bytes of the document as it comes in: 256 MiB. */
  input: number;
  /** Bytes of the document as it goes out: 1 GiB. */
  output: number;
  /** Bytes out for each byte in so far: 100. It does not bind below `ratioAfter`. */
  ratio: number;
  /** Bytes out that no `ratio` is asked of: 64 MiB. */
  ratioAfter: number;
  /** Keys of a header or of a shape, and names of a kind: 4,096. */
  columns: number;
  /** Bytes of a header's keys, values and templates, of all shapes' keys, of the dictionary: 256 KiB each. */
  header: number;
  /** Bytes of a row, as it goes out, if its header has templates: 1 MiB. */
  row: number;
  /** Bytes of all anchored values as they go out, also of those inside others: 1 MiB. */
  anchors: number;
}

/** Returns the minified JSON text that the STC text `stc` stands for, both in UTF-8. Throws {@link STCError}. */
export function decode(stc: Uint8Array, limits: Partial<Limits> = {}): Uint8Array {
  const {
    depth = 512,
    input = 256 * 2 ** 20,
    output = 2 ** 30,
    ratio = 100,
    ratioAfter = 64 * 2 ** 20,
    columns = 4096,
    header = 256 * 2 ** 10,
    row = 2 ** 20,
    anchors = 2 ** 20,
  } = limits;
  return new Decoder(stc, { depth, input, output, ratio, ratioAfter, columns, header, row, anchors }).document();
}

type Scalar = "string" | "number" | "boolean" | "null";

// What may stand as a value or a cell, and what as an element of a compact array (5.2).
const scalars: readonly Scalar[] = ["string", "number", "boolean", "null"];
const elements: readonly Scalar[] = ["string", "number", "boolean"];

/** 17.1: a list of columns, that of a header or one nested in it or spliced into it. */
interface Columns {
  readonly columns: Column[];
  /** Whether it is spliced into the one around it; else its columns in the order of a row, with what is spliced in. */
  readonly spliced: boolean;
  row: Column[];
  /** 17.10: whether its objects are written out with their own keys. */
  open: boolean;
  /** 17.8: whether it is open, or a list inside it is. */
  holdsOpen: boolean;
  /** Where its constants stand in it. */
  readonly constants: number[];
  /** Where each key stands in it, and the offset of the first key that repeats. */
  readonly places: Map<string, number>;
  duplicate?: number;
  /** 17.6: the plain columns, by key. */
  readonly plain: Map<string, Column>;
  /** How deep the deepest of its constants, defaults and spliced objects nests. */
  height: number;
}

/** 17.1: a key and what follows it. With no constant, template or brace it has a cell, and so has a filled one. */
interface Column {
  readonly key: Uint8Array;
  /** 17.9: what an object that is spliced in begins with, or ends with; it has no key then. */
  brace?: "{" | "}";
  inner?: Columns;
  /** Whether it has a `?`. */
  optional: boolean;
  /** 17.4: the columns of its tuples. */
  shape?: Columns;
  constant?: Uint8Array;
  /** 17.8: what an empty cell stands for. */
  default?: Uint8Array;
  template?: Template;
  /** 17.11: whether the template holds `${}`, so that words in the cell are filled in. */
  filled: boolean;
  /** 17.6: whether a template names it, so that its cells are strings or numbers. */
  named: boolean;
}

/** What is known of a header: its columns, whether version 1 has such a header, whether it has templates, its keys. */
interface Header {
  readonly columns: Columns;
  plain: boolean;
  templates: boolean;
  width: number;
}

/** 17.5: text and, between text, placeholders; `source`, a column, once they are resolved (17.6). */
type Template = (Uint8Array | Placeholder)[];

/** Without a key it is the column's own, whose source is the column itself (17.11). */
interface Placeholder {
  readonly offset: number;
  readonly key?: string;
  source?: Column;
}

/** The object of a row or a tuple, while its cells are read. */
interface Row {
  readonly columns: Columns;
  /** The next column. */
  index: number;
  cells: number;
  members: number;
  /** 17.9: objects that are open in it. */
  spliced: number;
  /** 17.6: by column, what templates are filled with, and where in the output they are to be filled. */
  readonly fields: Map<Column, Uint8Array>;
  readonly holes: { at: number; template: Template }[];
}

/** 17.10: an object of an open list, while its members are read. */
interface Listed {
  readonly columns: Columns;
  /** The first column that the next key may be, and how many constants are written. */
  index: number;
  constants: number;
}

/** 19.1: a name, and where its text begins in the output. */
interface Anchor {
  readonly name: string;
  readonly begin: number;
}

/** A container that is open. */
interface Frame {
  /** Reads on in it: true where a value must begin, false where it is complete. */
  readonly step: () => boolean;
  /** 14.4: only `hs` is whitespace in it, and no table stands in it. */
  readonly inline: boolean;
  /** How many levels the JSON has for it, and how many its values nest. */
  readonly levels: number;
  inside: number;
  /** 14.5: whether its values may be bare strings: those of members, and cells. */
  readonly bare?: boolean;
  /** Of an object, whether a member was read, and how many are written: constants of an open list are written too. */
  started?: boolean;
  members?: number;
  listed?: Listed;
  /** 16.4: whether its line feed is the comma too. */
  readonly table?: boolean;
  /** 16.7: of a table, whether the row that is read is a value of its own. */
  whole?: boolean;
  /** Of a table or a tuple: what is open of it, and the column that the next value belongs to. */
  row?: Row;
  column?: Column;
  /** 17.4, 17.10: of an array that is a cell, the columns of the tuples or objects in it; of a table, its open list. */
  shape?: Columns;
  anchor?: Anchor;
  /** 18.1: called when a labelled object is complete. */
  complete?: () => void;
}

/** 14.2: what a name stands for; nothing until that is complete. */
type Names<T> = Map<string, T | undefined>;

class Decoder {
  private pos = 0; // all bytes before it have been read
  private out = new Uint8Array(1024);
  private size = 0; // how much of `out` is written
  private depth = 0;
  private stack: Frame[] = []; // innermost last
  private height = 0; // how many levels the last value nests
  private afterTable = false; // whether the last value was a table, whose line feed was the comma too (16.4)
  private afterKey = false; // whether the next value is a table directly after its key (16.6)

  private readonly dictionary: Names<Uint8Array> = new Map();
  private readonly shapes: Names<Uint8Array[]> = new Map();
  private readonly anchors: Names<{ text: Uint8Array; height: number }> = new Map();
  private dictionarySize = 0;
  private shapesSize = 0;
  private anchorsSize = 0;
  private anchored: number | undefined; // where the outermost open anchor began in `out`

  private headerSize = 0; // of the header being read
  private aside: number | undefined; // while a value of a header is read: where it began in `out`
  private held: number | undefined; // where the row began in `out`, if its header has templates

  constructor(private readonly data: Uint8Array, private readonly limits: Limits) {
    if (data.length > limits.input) throw new STCError("Input", limits.input, "longer than the input limit");
  }

  // ---- Values

  /** 3.1, 14.3: definitions and a value, with whitespace around them, and nothing else. */
  document(): Uint8Array {
    this.skipWs();
    while (this.definition()) this.skipWs();
    this.value();
    this.skipWs();
    if (this.pos < this.data.length) throw this.unexpected("the end of the document");
    return this.out.slice(0, this.size);
  }

  /** 15.1: `$a="text"` and a line feed. Without the `=` it is the document's value. */
  private definition(): boolean {
    const start = this.pos;
    if (!this.is("$")) return false;
    const name = this.name();
    if (!this.is("=")) {
      this.pos = start;
      return false;
    }
    this.define(this.dictionary, name, start);
    this.pos++;
    if (!this.is('"')) throw this.unexpected("a string");
    const string = this.string();
    this.dictionarySize += string.length; // 20.3: quotes included
    if (this.dictionarySize > this.limits.header) {
      throw new STCError("Header", start, "a dictionary longer than the limit");
    }
    this.dictionary.set(name, string.subarray(1, -1));
    this.expect("\n", "a line feed after the definition");
    return true;
  }

  /** Reads one whole value, however deep: a value begins, then the innermost open container says what is next. */
  private value(): void {
    const base = this.stack.length;
    this.begin();
    for (let frame = this.stack.at(-1); frame !== undefined && this.stack.length > base; frame = this.stack.at(-1)) {
      if (frame.step()) this.begin();
      else this.end();
    }
  }

  /** A value must begin here. Reads it if it is no container; otherwise opens it. */
  private begin(): void {
    const parent = this.stack.at(-1);
    const inline = this.aside !== undefined || (parent?.inline ?? false);
    const shape = parent?.column?.shape ?? parent?.shape;
    const tuples = shape !== undefined && !shape.open;
    this.afterTable = false;
    this.height = 0;
    if (this.afterKey) {
      this.afterKey = false;
      this.stack.push(this.tableAfterKey());
      return;
    }
    if (parent?.column?.filled && parent.row !== undefined && this.wordBegins()) {
      return this.fillIn(parent.row, parent.column);
    }
    if (parent?.column?.named && parent.row !== undefined) return this.source(parent.row, parent.column);

    let anchor: Anchor | undefined;
    if (this.is("&") && this.aside === undefined) {
      anchor = this.anchor();
      const container = this.is("{") || this.is("[") || this.is("@") || (this.is("(") && tuples);
      if (!container) throw this.unexpected("a container directly after the anchor");
    }
    let frame: Frame;
    if (this.is("{") && shape?.open) frame = this.listed(shape, parent?.table === true && parent.shape === shape);
    else if (this.is("{")) frame = this.braces(inline, anchor === undefined);
    else if (this.is("[")) frame = this.brackets(inline, anchor === undefined, parent?.column?.shape);
    else if (this.is("@")) frame = this.shape(inline);
    else if (this.is("(") && tuples) frame = this.tuple(shape);
    else {
      if (this.is("$")) this.write(this.reference());
      else if (this.is("*")) this.copy();
      else if (parent?.bare && !parent.whole && this.letter()) this.write(this.word());
      else this.write(this.scalar(scalars, "a value").lexeme);
      this.ended(parent);
      return;
    }
    if (anchor !== undefined) frame.anchor = anchor;
    this.stack.push(frame);
  }

  /** The innermost container is complete. */
  private end(): void {
    const frame = this.stack.pop();
    if (frame === undefined) return;
    this.depth -= frame.levels;
    this.height = frame.inside + frame.levels;
    this.afterTable = frame.table ?? false;
    frame.complete?.();
    if (frame.anchor !== undefined) this.keep(frame.anchor);
    this.ended(this.stack.at(-1));
  }

  private ended(parent: Frame | undefined): void {
    if (parent === undefined) return;
    const levels = parent.whole ? -1 : (parent.row?.spliced ?? 0);
    parent.inside = Math.max(parent.inside, levels + this.height);
  }

  // ---- Objects and arrays

  /** 4.2: an object; 16.5: `{12}{`, if a table may stand here. */
  private braces(inline: boolean, tables: boolean, keys?: Uint8Array[]): Frame {
    this.enter();
    this.write("{");
    this.skip(inline);
    if (!inline && tables && keys === undefined && this.within("1", "9")) return this.table(this.rows("}"), true);
    const step = () => this.member(frame, keys);
    const frame: Frame = { step, inline, levels: 1, inside: 0, bare: true, started: false };
    return frame;
  }

  /** 4.2, 4.4: the next member's key, or the closing brace. `keys` collects them if the object is labelled. */
  private member(frame: Frame, keys?: Uint8Array[]): boolean {
    for (;;) {
      this.skip(frame.inline);
      // 18.1: a shape has at least one key.
      if ((frame.started || keys === undefined) && this.take("}")) {
        if (frame.listed !== undefined) this.constants(frame, frame.listed, frame.listed.columns.columns.length);
        this.write("}");
        return false;
      }
      if (frame.started && !this.afterTable) {
        this.expect(",", "',' or '}'");
        this.skip(frame.inline);
      }
      this.afterTable = false;
      const from = this.pos;
      const key = this.key(frame.started ? "a key" : "a key or '}'");
      if (keys !== undefined) {
        keys.push(key);
        this.shapesSize += this.pos - from;
        if (keys.length > this.limits.columns) throw new STCError("Columns", from, "a shape of too many keys");
        if (this.shapesSize > this.limits.header) throw new STCError("Header", from, "the shapes' keys are too long");
      }
      if (frame.listed !== undefined) this.meet(frame, frame.listed, key, from);
      frame.started = true;
      this.writeMember(frame, key);
      this.skip(frame.inline);
      if (this.take(":")) {
        this.skip(frame.inline);
        return true;
      }
      if (!frame.inline && (this.is("{") || (this.is("[") && this.columnarAhead() !== undefined))) {
        this.afterKey = true;
        return true;
      }
      if (!this.is("[")) throw this.unexpected("':' or '[' after the key");
      this.compact(frame.inline);
      frame.inside = Math.max(frame.inside, 1);
    }
  }

  /** 4.1: a bare key or a string. Returns its body. */
  private key(expected: string): Uint8Array {
    if (this.is('"')) return this.string().subarray(1, -1);
    return this.bareKey(expected);
  }

  private bareKey(expected: string): Uint8Array {
    const start = this.pos;
    while (this.letter() || this.is("_") || (this.pos > start && this.within("0", "9"))) this.pos++;
    if (this.pos === start) throw this.unexpected(expected);
    return this.data.subarray(start, this.pos);
  }

  /** 3.5: an array; 6, 16: `[12]{`, if one of those may stand here. `shape` is for the tuples in a cell (17.4). */
  private brackets(inline: boolean, tables: boolean, shape?: Columns): Frame {
    const ahead = inline || !tables ? undefined : this.columnarAhead();
    this.enter();
    this.write("[");
    if (ahead !== undefined) {
      this.pos = ahead.brace;
      return this.table(ahead.rows, false);
    }
    let started = false;
    const step = () => {
      this.skip(inline);
      if (this.take("]")) {
        this.write("]");
        return false;
      }
      if (started) {
        if (!this.afterTable) {
          this.expect(",", "',' or ']'");
          this.skip(inline);
        }
        this.write(",");
      }
      started = true;
      return true;
    };
    return { step, inline, levels: 1, inside: 0, ...(shape && { shape }) };
  }

  /** 5: `[3]: 1,2,3` after a key. */
  private compact(inline: boolean): void {
    this.enter();
    this.skip(inline);
    const count = this.count();
    if (count === 0) throw this.unexpected("a count (1 to 19 digits, no leading zero)");
    this.skip(inline);
    this.expect("]", "']' after the count");
    this.skip(inline);
    this.expect(":", "':' after the count");
    this.write("[");
    let kinds = elements;
    for (let index = 0; index < count; index++) {
      this.skip(inline);
      if (index > 0) {
        this.expect(",", "',' (the count says that more elements follow)", "Count");
        this.write(",");
        this.skip(inline);
      }
      const element = this.scalar(kinds, kinds.join(" or "));
      kinds = [element.kind]; // 5.2: the first one decides for all
      this.write(element.lexeme);
    }
    this.depth--;
    this.write("]");
  }

  // ---- Columnar values and tables

  /**
   * 7.3: `[12]` is an array unless the very next byte is `{`. If it is, returns the count and where that byte stands.
   * Reads ahead and comes back; what lies between is at most one number and whitespace, so no byte is read three times.
   */
  private columnarAhead(): { rows: number; brace: number } | undefined {
    const start = this.pos;
    this.pos++;
    this.skipWs();
    const rows = this.count();
    this.skipWs();
    const found = rows > 0 && this.take("]") && this.is("{");
    const brace = this.pos;
    this.pos = start;
    return found ? { rows, brace } : undefined;
  }

  /** 7.1: a count, or 0 if none stands here. Past 2^53 it is rounded, but no input is long enough to meet it there. */
  private count(): number {
    const start = this.pos;
    if (this.is("0")) return 0;
    while (this.within("0", "9") && this.pos - start < 19) this.pos++;
    let count = 0;
    for (const digit of this.data.subarray(start, this.pos)) count = count * 10 + digit - 0x30;
    return count;
  }

  /** 16.1, 16.5: the count of a table, its bracket and, directly after it, the brace of the header. */
  private rows(closer: "]" | "}"): number {
    const rows = this.count();
    if (rows === 0) throw this.unexpected("a count (1 to 19 digits, no leading zero)");
    this.skipWs();
    this.expect(closer, `'${closer}' after the count`);
    if (!this.is("{")) throw this.unexpected("'{' directly after the count");
    return rows;
  }

  /** 16.6: `[2]{` or `{2}{` directly after a key. Only a table may stand there. */
  private tableAfterKey(): Frame {
    const keyed = this.is("{");
    this.enter();
    this.write(keyed ? "{" : "[");
    this.skipWs();
    return this.table(this.rows(keyed ? "}" : "]"), keyed, false);
  }

  /** After `[2]` or `{2}`: a value of section 6 if it may stand here and has version 1's form, otherwise of 16. */
  private table(rows: number, keyed: boolean, columnar = true): Frame {
    this.enter();
    const { columns, plain, templates } = this.header();
    if (!this.take("\n")) {
      if (keyed || !plain || !columnar) throw this.unexpected("a line feed directly after the header's colon");
      this.columnar(rows, columns);
      return { step: () => false, inline: true, levels: 2, inside: 0 };
    }
    let inRow = false; // 17.10: whether the object of a row of an open list was begun
    const step = () => {
      for (;;) {
        if (columns.open) {
          if (!inRow) return (inRow = this.openRow(columns, keyed, templates));
          inRow = false;
          this.skipHs();
          this.expect("\n", "a line feed after the row's object");
        } else if (frame.whole) {
          this.skipHs();
          this.expect("\n", "a line feed after the row's value");
          frame.whole = false;
          this.depth++;
        } else {
          if (frame.row === undefined) {
            this.beginRow(columns, keyed, templates);
            if (this.take("!")) return this.wholeRow(frame);
            this.write("{");
            frame.row = begun(columns);
          }
          if (this.cells(frame, frame.row, "\n", "a line feed (the row has all its cells)")) return true;
          delete frame.row;
        }
        this.held = undefined;
        rows--;
        if (rows === 0) break;
        this.write(",");
      }
      this.write(keyed ? "}" : "]");
      return false;
    };
    const frame: Frame = { step, inline: true, levels: 2, inside: columns.height, bare: true, table: true };
    if (columns.open) frame.shape = columns;
    return frame;
  }

  /** 6: `: 1,"a" / 2,"b"` after the header. Only `hs` stands between the colon and the last cell (6.4). */
  private columnar(rows: number, { columns }: Columns): void {
    for (let row = 0; row < rows; row++) {
      this.skipHs();
      if (row > 0) {
        this.expect("/", "'/' (the count says that more rows follow)", "Count");
        this.write(",");
        this.skipHs();
      }
      for (const [index, column] of columns.entries()) {
        if (index > 0) {
          this.skipHs();
          this.expect(",", "',' (the header has more keys)", "Count");
          this.skipHs();
        }
        const cell = this.scalar(scalars, "a string, number, boolean or null");
        this.write(index === 0 ? "{" : ",");
        this.writeKey(column.key);
        this.write(cell.lexeme);
      }
      this.write("}");
    }
    this.write("]");
  }

  /** 16.2, 16.5: a row begins. */
  private beginRow(columns: Columns, keyed: boolean, templates: boolean): void {
    this.deepen(columns.height, this.pos); // 20.2
    if (keyed) {
      this.skipHs();
      this.writeKey(this.key("a key (the count says that more rows follow)"));
      this.skipHs();
      this.expect(":", "':' after the row's key");
    }
    if (templates) this.held = this.size;
  }

  /** 16.7: the row is a value of its own, at the level that other rows have. */
  private wholeRow(frame: Frame): true {
    this.skipHs();
    frame.whole = true;
    delete frame.column;
    this.depth--;
    return true;
  }

  /** 17.10: a row of an open list begins: an object. */
  private openRow(columns: Columns, keyed: boolean, templates: boolean): boolean {
    this.beginRow(columns, keyed, templates);
    this.skipHs();
    if (!this.is("{")) throw this.unexpected("'{' (the row of an open list is an object)");
    return true;
  }

  /** 17.10: an object of an open list. The level of a row is open already, and its constants are counted (20.2). */
  private listed(columns: Columns, isRow: boolean): Frame {
    if (isRow) {
      this.pos++;
    } else {
      this.deepen(1 + columns.height, this.pos);
      this.enter();
    }
    this.write("{");
    const frame: Frame = {
      step: () => this.member(frame),
      inline: true,
      levels: isRow ? 0 : 1,
      inside: columns.height,
      bare: true,
      started: false,
      listed: { columns, index: 0, constants: 0 },
    };
    return frame;
  }

  /** 17.10: a key in an object of an open list. If it is a column, the constants before it come first. */
  private meet(frame: Frame, listed: Listed, key: Uint8Array, start: number): void {
    delete frame.column;
    const place = listed.columns.places.get(text(key));
    const column = place === undefined ? undefined : listed.columns.columns[place];
    if (place === undefined || column === undefined) return;
    if (place < listed.index || column.constant !== undefined) {
      // A bare key may have been cut.
      const bare = this.data[start] !== 0x22;
      if (bare && this.pos === this.data.length) throw this.unexpected("the rest of a key");
      throw new STCError("DuplicateColumn", start, "a key that is a constant of its list, or stands out of its order");
    }
    this.constants(frame, listed, place);
    listed.index = place + 1;
    frame.column = column;
  }

  /** 17.10: writes the constants that stand before the column `end` and are not written yet. */
  private constants(frame: Frame, listed: Listed, end: number): void {
    const { columns, constants } = listed.columns;
    for (; listed.constants < constants.length; listed.constants++) {
      const place = constants[listed.constants] ?? end;
      const column = columns[place];
      if (place >= end || column?.constant === undefined) break;
      this.writeMember(frame, column.key);
      this.write(column.constant);
    }
  }

  /** 17.4: `(`, where its column says what it stands for. */
  private tuple(shape: Columns): Frame {
    const start = this.pos;
    this.enter();
    this.deepen(shape.height, start); // 20.2
    this.write("{");
    const row = begun(shape);
    const step = () => this.cells(frame, row, ")", "')' (the tuple has all its cells)");
    const frame: Frame = { step, inline: true, levels: 1, inside: shape.height, bare: true, row };
    return frame;
  }

  /** 17: goes on to the next cell that holds a value (true) or, if there is none, to the end of the row (false). */
  private cells(frame: Frame, row: Row, closer: string, expected: string): boolean {
    delete frame.column;
    for (const { row: columns } = row.columns; row.index < columns.length; ) {
      const column = columns[row.index++];
      if (column === undefined) break;
      if (column.brace === "{") {
        this.writeMember(row, column.key);
        this.write("{");
        row.members = 0;
        row.spliced++;
        this.depth++;
      } else if (column.brace === "}") {
        this.write("}");
        row.members = 1;
        row.spliced--;
        this.depth--;
      } else if (column.constant !== undefined) {
        this.writeMember(row, column.key);
        this.write(column.constant);
      } else if (column.template !== undefined && !column.filled) {
        this.writeMember(row, column.key);
        row.holes.push({ at: this.size, template: column.template });
      } else {
        this.skipHs();
        if (row.cells++ > 0) {
          this.expect(",", "',' (the header has more columns)", "Count");
          this.skipHs();
        }
        const empty = column.optional && (this.is(",") || this.is(closer));
        if (empty && column.default === undefined) continue; // 17.2
        this.writeMember(row, column.key);
        if (!empty || column.default === undefined) {
          frame.column = column;
          return true;
        }
        this.write(column.default); // 17.8
      }
    }
    this.skipHs();
    this.expect(closer, expected, "Count");
    this.write("}");
    this.fill(row);
    return false;
  }

  private writeMember(object: { members?: number }, key: Uint8Array): void {
    const members = object.members ?? 0;
    if (members > 0) this.write(",");
    object.members = members + 1;
    this.writeKey(key);
  }

  /** 17.6: a cell that a template is filled from: a string or a number. */
  private source(row: Row, column: Column): void {
    const expected = "a string or a number, since a template names this column";
    const start = this.pos;
    let text: Uint8Array;
    if (this.is("$")) {
      text = this.reference();
    } else if (this.letter()) {
      text = this.word();
      if (text[0] !== 0x22) {
        if (this.pos === this.data.length) throw this.unexpected("the rest of a bare string");
        this.pos = start; // a literal is reported at its first byte (20.1)
        throw this.unexpected(expected);
      }
    } else if (this.is('"') || this.is("-") || this.within("0", "9")) {
      text = this.scalar(scalars, "a string or a number").lexeme;
    } else {
      throw this.unexpected(expected);
    }
    row.fields.set(column, text[0] === 0x22 ? text.subarray(1, -1) : text);
    this.write(text);
  }

  /** 17.11: a word in the cell of a filled column. Only a template that names other columns has to wait for them. */
  private fillIn(row: Row, column: Column): void {
    const word = this.word();
    const template = column.template ?? [];
    if (word[0] !== 0x22) {
      this.write(word); // a literal stands for itself
      return;
    }
    row.fields.set(column, word.subarray(1, -1));
    if (namesColumns(template, column)) row.holes.push({ at: this.size, template });
    else this.writeFilled(template, row.fields);
  }

  private writeFilled(template: Template, fields: Row["fields"]): void {
    this.write('"');
    for (const part of template) this.write(part instanceof Uint8Array ? part : field(part, fields));
    this.write('"');
  }

  /** 17.6: a row or a tuple is complete, so its templates are filled: all from the first one on is written again. */
  private fill({ fields, holes }: Row): void {
    const first = holes[0];
    if (first === undefined) return;
    const rest = this.out.slice(first.at, this.size);
    this.size = first.at;
    let from = 0;
    for (const { at, template } of holes) {
      this.write(rest.subarray(from, at - first.at));
      this.writeFilled(template, fields);
      from = at - first.at;
    }
    this.write(rest.subarray(from));
  }

  // ---- Headers

  /** 6.2, 17.1: `{id,name}:`, its brace read. `plain` says that version 1 has such a header. */
  private header(): Header {
    const header: Header = { columns: list(false), plain: true, templates: false, width: 0 };
    const outer: Columns[] = []; // the open lists around `columns`
    let { columns } = header;
    this.headerSize = 0;
    for (;;) {
      this.skipWs();
      const begins = columns.columns.length === 0 && !columns.open;
      if (begins && !columns.spliced && this.take("*")) {
        header.plain = false;
        columns.open = columns.holdsOpen = true;
      } else {
        const inner = this.column(header, columns);
        if (inner !== undefined) {
          outer.push(columns);
          columns = inner;
          continue;
        }
      }
      this.skipWs();
      while (this.take("}")) {
        const around = outer.pop();
        close(columns, around);
        this.skipWs();
        if (around === undefined) {
          this.expect(":", "':' after the header");
          return header;
        }
        columns = around;
        const nested = columns.columns.at(-1);
        if (nested?.optional && !nested.shape?.holdsOpen && this.take("=")) {
          this.headerValue(columns, nested);
          this.skipWs();
        }
      }
      this.expect(",", "',' or '}' in the header");
    }
  }

  /** 17.1: a column. Returns its list, if one begins. In an open list it has no `.`, `?` or `~` (17.10). */
  private column(header: Header, columns: Columns): Columns | undefined {
    const start = this.pos;
    if (++header.width > this.limits.columns) throw new STCError("Columns", start, "more columns than the limit");
    const body = this.key("a key");
    const key = text(body);
    this.growHeader(this.pos - start);
    const column: Column = { key: body, optional: false, filled: false, named: false };
    if (columns.places.has(key)) columns.duplicate ??= start;
    columns.places.set(key, columns.columns.length);
    columns.columns.push(column);
    this.skipWs();
    const version1 = header.plain;
    header.plain = false;
    if (!columns.open && this.take(".")) {
      this.expect("{", "'{' after the dot");
      column.brace = "{";
      return (column.inner = list(true));
    }
    if (!columns.open && this.take("?")) {
      column.optional = true;
      this.skipWs();
    }
    if (this.take("{")) return (column.shape = list(false));
    if (this.take("=")) {
      if (!column.optional) columns.constants.push(columns.columns.length - 1);
      this.headerValue(columns, column);
    } else if (!columns.open && this.take("~")) {
      this.skipHs();
      const from = this.pos;
      column.template = this.template(column);
      this.growHeader(this.pos - from);
      if (namesColumns(column.template, column)) header.templates = true;
      this.skipWs();
      if (column.optional && this.take("=")) this.headerValue(columns, column); // 17.11
    } else if (!column.optional) {
      header.plain = version1;
      if (!columns.plain.has(key)) columns.plain.set(key, column);
    }
    return undefined;
  }

  private growHeader(size: number): void {
    this.headerSize += size;
    if (this.headerSize > this.limits.header) {
      throw new STCError("Header", this.pos, "a header longer than the limit");
    }
  }

  /**
   * 17.3, 17.8: a constant or a default: an inline value, in which nothing is named. Its own levels are counted, the
   * table's are not (20.2). A default is read as a cell of its column is, so tuples may stand in it. Both may be bare
   * strings, but for the default of a filled column (17.11).
   */
  private headerValue(columns: Columns, column: Column): void {
    this.skipHs();
    const { depth, stack, size } = this;
    this.depth = 0;
    this.stack = [{ step: () => false, inline: true, levels: 0, inside: 0, bare: !column.filled, column }];
    this.aside = size;
    this.value();
    const value = this.out.slice(size, this.size);
    this.aside = undefined;
    this.depth = depth;
    this.stack = stack;
    this.size = size;
    this.growHeader(value.length);
    if (column.optional) column.default = value;
    else column.constant = value;
    columns.height = Math.max(columns.height, this.height);
  }

  /** 17.5: a string that holds `${key}`, or `${}` once (17.11). */
  private template(column: Column): Template {
    if (!this.is('"')) throw this.unexpected("a template's string");
    const parts: Template = [];
    let start = ++this.pos;
    while (!this.is('"')) {
      const offset = this.pos;
      if (!this.take("$")) {
        this.character();
      } else if (this.take("{")) {
        parts.push(this.data.subarray(start, offset));
        if (!column.filled && this.take("}")) {
          column.filled = true;
          parts.push({ offset, source: column });
        } else {
          parts.push({ offset, key: text(this.bareKey("a bare key in the placeholder")) });
          this.expect("}", "'}' after the placeholder's key");
        }
        start = this.pos;
      }
    }
    const complete = column.optional ? column.filled : parts.length > 0;
    if (!complete) throw this.unexpected("a placeholder in the template");
    parts.push(this.data.subarray(start, this.pos));
    this.pos++;
    return parts;
  }

  // ---- Names

  /** 14.2: reads a sigil and the name after it. */
  private name(): string {
    const start = ++this.pos;
    if (!this.letter()) throw this.unexpected("a name, which begins with a letter");
    const inName = () => this.letter() || this.within("0", "9") || this.is("_") || this.is("-");
    while (inName() && this.pos - start < 24) this.pos++;
    if (inName()) throw this.unexpected("the end of a name of at most 24 bytes");
    return text(this.data.subarray(start, this.pos));
  }

  private define<T>(names: Names<T>, name: string, offset: number): void {
    if (names.has(name)) throw new STCError("Name", offset, "a name is defined twice");
    if (names.size >= this.limits.columns) throw new STCError("Columns", offset, "more names than the limit");
    names.set(name, undefined);
  }

  /** What a name stands for. At the end of the input it may be the beginning of another name. */
  private named<T>(names: Names<T>, name: string, offset: number): T {
    const found = names.get(name);
    if (found !== undefined) return found;
    if (this.pos === this.data.length) throw this.unexpected("the rest of a name");
    throw new STCError("Name", offset, "a name that is not defined here");
  }

  /** 15.2: `$a`, or `$a"rest"`: the two bodies joined. Returns a string. */
  private reference(): Uint8Array {
    const start = this.pos;
    const body = this.named(this.dictionary, this.name(), start);
    const rest = this.is('"') ? this.string().subarray(1) : new Uint8Array([0x22]);
    const joined = new Uint8Array(1 + body.length + rest.length);
    joined[0] = 0x22;
    joined.set(body, 1);
    joined.set(rest, 1 + body.length);
    return joined;
  }

  /** 18: `@a{` defines a shape, `@a(` is an object of that shape. */
  private shape(inline: boolean): Frame {
    const start = this.pos;
    const name = this.name();
    if (this.is("{") && this.aside === undefined) {
      this.define(this.shapes, name, start);
      const keys: Uint8Array[] = [];
      const frame = this.braces(inline, false, keys);
      frame.complete = () => this.shapes.set(name, keys);
      return frame;
    }
    if (!this.is("(")) throw this.unexpected(this.aside !== undefined ? "'('" : "'{' or '(' directly after the name");
    const keys = this.named(this.shapes, name, start);
    this.enter();
    let index = 0;
    const step = () => {
      this.skipHs();
      const key = keys[index];
      if (key === undefined) {
        this.expect(")", "')' (the shape has no more keys)", "Count");
        this.write("}");
        return false;
      }
      if (index > 0) {
        this.expect(",", "',' (the shape has more keys)", "Count");
        this.skipHs();
      }
      this.write(index++ === 0 ? "{" : ",");
      this.writeKey(key);
      return true;
    };
    return { step, inline: true, levels: 1, inside: 0, bare: true };
  }

  /** 19.1: `&a`. */
  private anchor(): Anchor {
    const offset = this.pos;
    const name = this.name();
    if (this.pos < this.data.length) this.define(this.anchors, name, offset);
    this.anchored ??= this.size;
    return { name, begin: this.size };
  }

  /** 19.1: an anchored value is complete. */
  private keep({ name, begin }: Anchor): void {
    this.anchorsSize += this.size - begin;
    if (!this.stack.some((frame) => frame.anchor !== undefined)) this.anchored = undefined;
    this.boundAnchors(this.size);
    this.anchors.set(name, { text: this.out.slice(begin, this.size), height: this.height });
  }

  /** 20.4: every anchored value counts, also one inside another, and what an open one has so far. */
  private boundAnchors(size: number): void {
    const open = this.anchored === undefined ? 0 : size - this.anchored;
    if (this.anchorsSize + open > this.limits.anchors) {
      throw new STCError("Anchors", this.pos, "the anchored values are longer than the limit");
    }
  }

  /** 19.2: `*a`. */
  private copy(): void {
    const start = this.pos;
    const { text, height } = this.named(this.anchors, this.name(), start);
    // 14.2: the name may have been cut, and no copy is the whole document.
    if (this.pos === this.data.length) throw this.unexpected("the rest of a name");
    this.deepen(height, start);
    this.height = height;
    this.write(text);
  }

  // ---- Scalars: 2.4 to 2.6, checked against RFC 8259 and copied

  /** A scalar of one of `kinds`; its first byte tells which. */
  private scalar(kinds: readonly Scalar[], expected: string): { kind: Scalar; lexeme: Uint8Array } {
    const start = this.pos;
    const literal = this.is("t") ? "true" : this.is("f") ? "false" : this.is("n") ? "null" : undefined;
    let kind: Scalar | undefined;
    if (literal !== undefined) kind = literal === "null" ? "null" : "boolean";
    else if (this.is('"')) kind = "string";
    else if (this.is("-") || this.within("0", "9")) kind = "number";
    if (kind === undefined || !kinds.includes(kind)) throw this.unexpected(expected);

    if (kind === "string") this.string();
    else if (kind === "number") this.number();
    else for (const letter of literal ?? "") this.expect(letter, `the rest of ${literal}`);
    return { kind, lexeme: this.data.subarray(start, this.pos) };
  }

  /** 17.11: whether a word may begin here. */
  private wordBegins(): boolean {
    return this.letter() || this.within("0", "9") || [..."_./:+#%=?~-"].some((mark) => this.is(mark));
  }

  /** 14.5: a bare string, as long as it can be, or one of the literals if it is all of the word. Returns its JSON. */
  private word(): Uint8Array {
    const start = this.pos;
    const marks = [..."_./:@+#%&=?~-"];
    while (this.letter() || this.within("0", "9") || marks.some((mark) => this.is(mark))) this.pos++;
    const word = this.data.subarray(start, this.pos);
    if (["true", "false", "null"].includes(text(word))) return word;
    const quoted = new Uint8Array(word.length + 2).fill(0x22);
    quoted.set(word, 1);
    return quoted;
  }

  private number(): void {
    this.take("-");
    if (!this.take("0")) this.digits();
    if (this.take(".")) this.digits();
    if (this.take("e") || this.take("E")) {
      if (!this.take("+")) this.take("-");
      this.digits();
    }
  }

  private digits(): void {
    if (!this.within("0", "9")) throw this.unexpected("a digit");
    while (this.within("0", "9")) this.pos++;
  }

  private string(): Uint8Array {
    const start = this.pos;
    this.pos++;
    while (!this.take('"')) this.character();
    return this.data.subarray(start, this.pos);
  }

  private character(): void {
    const byte = this.data[this.pos];
    if (byte === undefined) throw this.unexpected("the closing quote of the string");
    if (byte < 0x20) throw new STCError("Control", this.pos, "a control character in a string");
    if (byte >= 0x80) this.multibyte(byte);
    else if (this.take("\\")) this.escape();
    else this.pos++;
  }

  private escape(): void {
    if (this.take("u")) {
      for (let digit = 0; digit < 4; digit++) {
        if (!this.within("0", "9") && !this.within("a", "f") && !this.within("A", "F")) {
          throw this.unexpected("a hexadecimal digit");
        }
        this.pos++;
      }
    } else if (![...'"\\/bfnrt'].some((letter) => this.take(letter))) {
      throw this.unexpected('one of "\\/bfnrtu after the backslash');
    }
  }

  /** 3.4: a character of two to four bytes (RFC 3629, section 4). What is none is reported at its start (9.3). */
  private multibyte(lead: number): void {
    const invalid = () => new STCError("Utf8", this.pos, "invalid UTF-8");
    if (lead < 0xc2 || lead > 0xf4) throw invalid();
    const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    // The second byte has a narrower range after four of the leads.
    let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80; // no overlong forms
    let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf; // no surrogates, nothing above U+10FFFF
    for (let at = this.pos + 1; at < this.pos + length; at++) {
      const byte = this.data[at];
      if (byte === undefined) throw new STCError("Truncated", at, "the input ends inside a character");
      if (byte < low || byte > high) throw invalid();
      low = 0x80;
      high = 0xbf;
    }
    this.pos += length;
  }

  // ---- Reading and writing bytes

  private is(char: string): boolean {
    return this.data[this.pos] === char.charCodeAt(0);
  }

  private within(first: string, last: string): boolean {
    const byte = this.data[this.pos];
    return byte !== undefined && byte >= first.charCodeAt(0) && byte <= last.charCodeAt(0);
  }

  private letter(): boolean {
    return this.within("a", "z") || this.within("A", "Z");
  }

  private take(char: string): boolean {
    if (!this.is(char)) return false;
    this.pos++;
    return true;
  }

  private expect(char: string, expected: string, kind: Kind = "Syntax"): void {
    if (!this.take(char)) throw this.unexpected(expected, kind);
  }

  /** 9.2: the next byte cannot continue any valid document, or there is none. */
  private unexpected(expected: string, kind: Kind = "Syntax"): STCError {
    return this.pos === this.data.length
      ? new STCError("Truncated", this.pos, `the input ends where ${expected} was expected`)
      : new STCError(kind, this.pos, `expected ${expected}`);
  }

  /** 1.4: `hs`. */
  private skipHs(): void {
    while (this.is(" ") || this.is("\t")) this.pos++;
  }

  /** 1.4: `ws`. */
  private skipWs(): void {
    while (this.is(" ") || this.is("\t") || this.is("\n") || this.is("\r")) this.pos++;
  }

  /** `hs` in an inline value, otherwise `ws` (14.4). */
  private skip(inline: boolean): void {
    if (inline) this.skipHs();
    else this.skipWs();
  }

  /** 10.1: reads the byte that opens a container. */
  private enter(): void {
    this.deepen(1, this.pos);
    this.pos++;
    this.depth++;
  }

  /** 10.1, 20.2: whether that many levels more may be open. */
  private deepen(levels: number, offset: number): void {
    if (this.depth + levels > this.limits.depth) {
      throw new STCError("Depth", offset, "nested deeper than the depth limit");
    }
  }

  private writeKey(body: Uint8Array): void {
    this.write('"');
    this.write(body);
    this.write('":');
  }

  /** 10.2: the one place where output grows, so the one place where it is bounded. Strings given here are ASCII. */
  private write(piece: Uint8Array | string): void {
    const size = this.size + piece.length;
    const { output, ratio, ratioAfter, header, row } = this.limits;
    if (this.aside !== undefined) {
      // A header's value is written out later, once an object.
      if (this.headerSize + size - this.aside > header) {
        throw new STCError("Header", this.pos, "a header longer than the limit");
      }
    } else {
      if (size > output) throw new STCError("Output", this.pos, "the result passes the output limit");
      if (size > Math.max(ratioAfter, ratio * this.pos)) {
        throw new STCError("Ratio", this.pos, "the result passes the output-to-input ratio limit");
      }
      if (this.held !== undefined && size - this.held > row) {
        throw new STCError("Row", this.pos, "a row with templates longer than the limit");
      }
      this.boundAnchors(size);
    }
    if (size > this.out.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.out.length));
      larger.set(this.out);
      this.out = larger;
    }
    if (typeof piece === "string") {
      for (let index = 0; index < piece.length; index++) this.out[this.size + index] = piece.charCodeAt(index);
    } else {
      this.out.set(piece, this.size);
    }
    this.size = size;
  }
}

/** 17.1: a list of columns begins. */
function list(spliced: boolean): Columns {
  return {
    columns: [],
    spliced,
    row: [],
    open: false,
    holdsOpen: false,
    constants: [],
    places: new Map(),
    plain: new Map(),
    height: 0,
  };
}

/** 17.6, 17.7, 17.9, 17.10: what is known at the `}` of a list; `around` is the list that it stands in. */
function close(columns: Columns, around: Columns | undefined): void {
  // 9.5, 17.7: only now, so that an error inside the list is reported instead.
  if (columns.duplicate !== undefined) {
    throw new STCError("DuplicateColumn", columns.duplicate, "a key stands twice in a list of columns");
  }
  resolve(columns);
  if (!columns.spliced) columns.row = flattened(columns);
  if (around === undefined) return;
  if (columns.spliced) around.height = Math.max(around.height, 1 + columns.height);
  if (columns.holdsOpen) around.holdsOpen = true;
}

function begun(columns: Columns): Row {
  return { columns, index: 0, cells: 0, members: 0, spliced: 0, fields: new Map(), holes: [] };
}

/** 17.9: the columns of a row or tuple, with those spliced in where they stand and a brace on either side. */
function flattened({ columns }: Columns): Column[] {
  const end: Column = { key: new Uint8Array(), brace: "}", optional: false, filled: false, named: false };
  const row: Column[] = [];
  const open = [columns.values()];
  for (let list = open.at(-1); list !== undefined; list = open.at(-1)) {
    const { done, value: column } = list.next();
    if (done) {
      open.pop();
      if (open.length > 0) row.push(end);
      continue;
    }
    row.push(column);
    if (column.inner !== undefined) open.push(column.inner.columns.values());
  }
  return row;
}

/** 17.6: each placeholder names a plain column of its own list. */
function resolve({ columns, plain }: Columns): void {
  for (const { template = [] } of columns) {
    for (const part of template) {
      if (part instanceof Uint8Array || part.key === undefined) continue;
      const source = plain.get(part.key);
      if (source === undefined) {
        throw new STCError("Template", part.offset, "a template names no plain column of its list");
      }
      part.source = source;
      source.named = true;
    }
  }
}

/** 17.5: whether a template names columns besides its own. */
function namesColumns(template: Template, own: Column): boolean {
  return template.some((part) => !(part instanceof Uint8Array) && part.source !== own);
}

/** 17.6: what a placeholder stands for. */
function field({ source }: Placeholder, fields: Row["fields"]): Uint8Array {
  const found = source === undefined ? undefined : fields.get(source);
  if (found === undefined) throw new Error("a placeholder without its cell"); // the header and the row saw to it
  return found;
}

/** Valid UTF-8 as a string: strings are equal if and only if the bytes are. A leading U+FEFF is kept. */
function text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
