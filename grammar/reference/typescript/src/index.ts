/**
 * A decoder of STC 1, written to be read beside grammar/STC.md; the section numbers in the comments are its.
 *
 * It builds no model of the document: it walks the input once, from left to right, and copies every string, number and
 * literal to the output as it stood, so nothing can change on the way (2.1). What is open stands on an explicit stack,
 * so the depth of the input is never the depth of the call stack (10.1). Nothing is found by searching for a separator:
 * a count in a header says how many values follow (7.4).
 */

/** What an error is about. The last six are limits: the document may be fine under larger ones. */
export type Kind =
  | "Syntax" | "Truncated" | "Utf8" | "Control" | "Count" | "DuplicateColumn"
  | "Depth" | "Input" | "Output" | "Ratio" | "Columns" | "Header";

/** A refused document: what was wrong and at which byte (section 9). */
export class STCError extends Error {
  override readonly name = "STCError";

  constructor(readonly kind: Kind, readonly offset: number, message: string) {
    super(`${message} at byte ${offset}`);
  }
}

/** What a document may ask of the decoder (section 10). */
export interface Limits {
  /** Containers open at once, as the JSON has them: 512. */
  depth: number;
  /** Bytes of the document as it comes in: 256 MiB. */
  input: number;
  /** Bytes of the document as it goes out: 1 GiB. */
  output: number;
  /** Bytes out for each byte in so far: 100. It does not bind below `free`. */
  ratio: number;
  /** Bytes out that no `ratio` is asked of: 64 MiB. */
  free: number;
  /** Keys of a columnar header: 4,096. */
  columns: number;
  /** Bytes of a columnar header's keys as written: 256 KiB. */
  header: number;
}

/** Returns the minified JSON text that the STC text `stc` stands for, both in UTF-8. Throws {@link STCError}. */
export function decode(stc: Uint8Array, limits: Partial<Limits> = {}): Uint8Array {
  const {
    depth = 512,
    input = 256 * 2 ** 20,
    output = 2 ** 30,
    ratio = 100,
    free = 64 * 2 ** 20,
    columns = 4096,
    header = 256 * 2 ** 10,
  } = limits;
  return new Decoder(stc, { depth, input, output, ratio, free, columns, header }).document();
}

type Scalar = "string" | "number" | "boolean" | "null";

// What may stand as a value or a cell, and what as an element of a compact array (5.2).
const scalars: readonly Scalar[] = ["string", "number", "boolean", "null"];
const elements: readonly Scalar[] = ["string", "number", "boolean"];

class Decoder {
  private pos = 0; // all bytes before it have been read
  private out = new Uint8Array(1024);
  private size = 0; // how much of `out` is written
  private readonly closers: ("]" | "}")[] = []; // of every open container, as the JSON has them, innermost last

  constructor(private readonly data: Uint8Array, private readonly limits: Limits) {
    if (data.length > limits.input) throw new STCError("Input", limits.input, "longer than the input limit");
  }

  // ---- Values, objects, arrays

  /** 3.1: a value, with whitespace around it, and nothing else. At the top of the loop a value must begin. */
  document(): Uint8Array {
    this.skipWs();
    let more = true;
    while (more) {
      if (this.is("{")) {
        // 4.2, and 4.4 if it closes at once.
        this.enter("}");
        this.write("{");
        this.skipWs();
        if (!this.is("}") && this.member("a key or '}'")) continue;
      } else if (this.is("[")) {
        const ahead = this.columnarAhead();
        this.enter("]");
        this.write("[");
        if (ahead !== undefined) {
          this.pos = ahead.brace;
          this.columnar(ahead.rows);
        } else {
          // 3.5.
          this.skipWs();
          if (!this.is("]")) continue;
        }
      } else {
        this.write(this.scalar(scalars, "a value").lexeme);
      }
      more = this.valueEnded();
    }
    return this.out.slice(0, this.size);
  }

  /** Goes on after a whole value: true where the next one must begin, false at the end of the document. */
  private valueEnded(): boolean {
    for (let closer = this.closers.at(-1); closer !== undefined; closer = this.closers.at(-1)) {
      this.skipWs();
      if (this.take(closer)) {
        this.closers.pop();
        this.write(closer);
      } else {
        this.expect(",", `',' or '${closer}'`);
        this.write(",");
        this.skipWs();
        if (closer === "]" || this.member("a key")) return true;
      }
    }
    this.skipWs();
    if (this.pos < this.data.length) throw this.unexpected("the end of the document");
    return false;
  }

  /** 4.2: a key, then a colon (true: its value comes next) or a compact array (false: that was its value). */
  private member(expected: string): boolean {
    this.write('"');
    this.write(this.key(expected));
    this.write('":');
    this.skipWs();
    if (this.is("[")) {
      this.compact();
      return false;
    }
    this.expect(":", "':' or '[' after the key");
    this.skipWs();
    return true;
  }

  /** 4.1: a bare key or a string. Returns its body. */
  private key(expected: string): Uint8Array {
    const start = this.pos;
    if (this.is('"')) return this.string().subarray(1, -1);
    const letter = () => this.within("a", "z") || this.within("A", "Z") || this.is("_");
    while (letter() || (this.pos > start && this.within("0", "9"))) this.pos++;
    if (this.pos === start) throw this.unexpected(expected);
    return this.data.subarray(start, this.pos);
  }

  // ---- What STC adds

  /** 5: `[3]: 1,2,3` after a key. */
  private compact(): void {
    this.enter("]");
    this.skipWs();
    const count = this.count();
    if (count === 0) throw this.unexpected("a count (1 to 19 digits, no leading zero)");
    this.skipWs();
    this.expect("]", "']' after the count");
    this.skipWs();
    this.expect(":", "':' after the header");
    this.write("[");
    let kinds = elements;
    for (let index = 0; index < count; index++) {
      this.skipWs();
      if (index > 0) {
        this.expect(",", "',' (the count says that more elements follow)", "Count");
        this.write(",");
        this.skipWs();
      }
      const element = this.scalar(kinds, kinds.join(" or "));
      kinds = [element.kind]; // 5.2: the first one decides for all
      this.write(element.lexeme);
    }
    this.closers.pop();
    this.write("]");
  }

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

  /** 6: `{id,name}: 1,"a" / 2,"b"` after `[2]`. Only `hs` stands between the colon and the last cell (6.4). */
  private columnar(rows: number): void {
    const names = this.header();
    for (let row = 0; row < rows; row++) {
      this.skipHs();
      if (row > 0) {
        this.expect("/", "'/' (the count says that more rows follow)", "Count");
        this.write(",");
        this.skipHs();
      }
      for (const [column, name] of names.entries()) {
        if (column > 0) {
          this.skipHs();
          this.expect(",", "',' (the header has more keys)", "Count");
          this.skipHs();
        }
        const cell = this.scalar(scalars, "a string, number, boolean or null");
        this.write(column === 0 ? '{"' : ',"');
        this.write(name);
        this.write('":');
        this.write(cell.lexeme);
      }
      this.write("}");
    }
    this.closers.length -= 2;
    this.write("]");
  }

  /** 6.2: `{id,name}:`. Returns the bodies of the keys. */
  private header(): Uint8Array[] {
    this.enter("}");
    const names: Uint8Array[] = [];
    const seen = new Set<string>();
    let size = 0;
    let duplicate: number | undefined;
    while (names.length === 0 || !this.take("}")) {
      if (names.length > 0) this.expect(",", "',' or '}' in the header");
      this.skipWs();
      const start = this.pos;
      if (names.length === this.limits.columns) throw new STCError("Columns", start, "more columns than the limit");
      const name = this.key("a key");
      size += this.pos - start;
      if (size > this.limits.header) throw new STCError("Header", start, "a header longer than the limit");
      // The bytes are valid UTF-8, so the strings are equal if and only if the bytes are. A leading U+FEFF is kept.
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(name);
      if (seen.has(text)) duplicate ??= start;
      seen.add(text);
      names.push(name);
      this.skipWs();
    }
    // 9.5: only now, so that an error inside the header is reported instead.
    if (duplicate !== undefined) {
      throw new STCError("DuplicateColumn", duplicate, "a key stands twice in a columnar header");
    }
    this.skipWs();
    this.expect(":", "':' after the header");
    return names;
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
    while (!this.take('"')) {
      const byte = this.data[this.pos];
      if (byte === undefined) throw this.unexpected("the closing quote of the string");
      if (byte < 0x20) throw new STCError("Control", this.pos, "a control character in a string");
      if (byte >= 0x80) this.multibyte(byte);
      else if (this.take("\\")) this.escape();
      else this.pos++;
    }
    return this.data.subarray(start, this.pos);
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

  /** 10.1: reads the byte that opens a container. */
  private enter(closer: "]" | "}"): void {
    if (this.closers.length >= this.limits.depth) {
      throw new STCError("Depth", this.pos, "nested deeper than the depth limit");
    }
    this.pos++;
    this.closers.push(closer);
  }

  /** 10.2: the one place where output grows, so the one place where it is bounded. Strings given here are ASCII. */
  private write(piece: Uint8Array | string): void {
    const size = this.size + piece.length;
    const { output, ratio, free } = this.limits;
    if (size > output) throw new STCError("Output", this.pos, "the result passes the output limit");
    if (size > Math.max(free, ratio * this.pos)) {
      throw new STCError("Ratio", this.pos, "the result passes the output-to-input ratio limit");
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
