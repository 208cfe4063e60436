/** Runs the decoder against grammar/vectors, and against a few laws that the vectors cannot hold. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { decode, STCError, type Limits } from "../src/index.js";

interface Case {
  name: string;
  json?: string;
  stc?: string;
  stc_hex?: string;
  offset?: number;
}

// Seen from dist/test.
const vectors = new URL("../../../../vectors/", import.meta.url);

function cases(name: string): Case[] {
  const file = JSON.parse(readFileSync(new URL(`${name}.json`, vectors), "utf8")) as { format: number; cases: Case[] };
  assert.equal(file.format, 1);
  assert.notEqual(file.cases.length, 0);
  return file.cases;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

function stcOf({ name, stc, stc_hex }: Case): Uint8Array {
  if (stc_hex !== undefined) return Uint8Array.from(Buffer.from(stc_hex, "hex"));
  assert.ok(stc !== undefined, name);
  return utf8(stc);
}

/** Strings stay, whitespace goes. */
function minify(json = ""): string {
  return json.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+/g, (_, string?: string) => string ?? "");
}

/** The STCError for `stc`, or undefined where it decodes. */
function refusal(stc: Uint8Array, limits?: Partial<Limits>): STCError | undefined {
  try {
    decode(stc, limits);
  } catch (error) {
    assert.ok(error instanceof STCError, String(error));
    return error;
  }
  return undefined;
}

function refuses(stc: string, kind: string, offset?: number, limits?: Partial<Limits>): void {
  const error = refusal(utf8(stc), limits);
  assert.equal(error?.kind, kind);
  if (offset !== undefined) assert.equal(error?.offset, offset);
}

// reject-json.json is for encoders: its inputs are not JSON, but some of them are STC.
test("every vector", () => {
  let passed = 0;
  const failed: string[] = [];
  const each = (file: string, check: (vector: Case) => void) => {
    for (const vector of cases(file)) {
      try {
        check(vector);
        passed++;
      } catch (error) {
        failed.push(`${file}, ${vector.name}: ${error}`);
      }
    }
  };
  for (const file of ["encode", "v2-encode"]) {
    each(file, (vector) => assert.equal(text(decode(stcOf(vector))), minify(vector.json)));
  }
  for (const file of ["decode", "v2-decode"]) {
    each(file, (vector) => assert.equal(text(decode(stcOf(vector))), vector.json));
  }
  for (const file of ["reject", "v2-reject"]) {
    each(file, (vector) => {
      const error = refusal(stcOf(vector));
      assert.ok(error !== undefined, "was accepted");
      assert.equal(error.offset, vector.offset);
    });
  }
  console.log(`typescript: ${passed} vectors passed`);
  assert.deepEqual(failed, []);
});

test("JSON decodes to itself", () => {
  for (const { name, json = "" } of [...cases("encode"), ...cases("v2-encode")]) {
    assert.equal(text(decode(utf8(json))), minify(json), name);
  }
});

test("what stands before the offset could still become a document, with the next byte it cannot (9.2)", () => {
  const early = ["Truncated", "Utf8", "DuplicateColumn", "Name", "Template"];
  for (const vector of [...cases("reject"), ...cases("v2-reject")]) {
    const stc = stcOf(vector);
    const error = refusal(stc);
    assert.ok(error !== undefined, vector.name);
    const before = refusal(stc.subarray(0, error.offset));
    if (before !== undefined) assert.deepEqual([before.kind, before.offset], ["Truncated", error.offset], vector.name);
    if (!early.includes(error.kind)) {
      // 20.1: that a cell is a literal, where a template names its column, shows the byte after it.
      const named = error.message.includes("a template names this column");
      const literal = named ? /^(true|false|null)/.exec(text(stc.subarray(error.offset))) : null;
      const shown = error.offset + (literal?.[0].length ?? 0);
      assert.equal(refusal(stc.subarray(0, shown + 1))?.offset, error.offset, vector.name);
      for (let end = error.offset + 1; end <= shown; end++) {
        assert.equal(refusal(stc.subarray(0, end))?.offset, end, vector.name);
      }
    }
  }
});

test("a cut is noticed at the cut", () => {
  for (const valid of [
    ' {"a" : [ 1 , 2 ] , b : { } , "c":[ ],d:-0.5e+10 } ',
    '{tags[3]: "api","gateway","mcp", scores [ 3 ] : 95 , 87,91, "on off"[2]: true,false}',
    '{items: [2]{id,"first name"}: 1,"a / b" / 2,null, next: null, pages[1]: 1}',
    '[[2]{a}: 1 / 2,3,[12],[ 12 ] , [ 1 ]{ a , b } :\ttrue ,\t"\\u00e9\\\\" ]',
    '"\u00e9\u20ac\u{1f600}"',
    "[2]{a,b}: 1,10 / 2,20",
    '$ab="x"\n$a=""\n [@ab{k:$ab"\\n",l:&a[ 1 ,2]},@ab($a,*a),&b@ab(1, &c{}),*b,*c]',
    '{i:[2]{id,s="o",u{n,v~"/${n}"},l?}:\n1,("a"),\n2, [(1)] , "x"\nk:{2}{a?, b{c?}}:\nx:,()\n"y":1,(2)\n}',
    '[2]{a?="x",b?{c,d~"${c}",e?=[ ]} = [(1,), ( "y" ,{})],f}:\n,,1\n2,(3,4),5\n',
    '{i[2]{ * ,s="o",u{*,"t"=1,n},l{m,v~"/${m}"}}:\n {u:&a{x:1},l:[(1)]} \n{"sx":*a , "u":[{n[1]: 2}]}\n}',
    '{a:1,k {2}{*,b=[1],c}:\nx:{}\n"y" : { c : 1 }\nm[1]{*}:\n{}\n n[1]: 2}',
    '{a:true_,b : nul ,t:true,u:x:y/z?q=1&r#s,c:{d: E-5}, "e" :@k{f:falsey},g[1]: 1 , h:NULL}',
    "{i[2]{*,s=x=y, t = tru ,u{*,k=v},l{m}}:\n {u:ann,l:nulls}\n{ u : {n:b-c} ,l:[(1)]}\nj:k}",
    '[2]{a?=open,b?{c?=x,d}=none,e={f:g.h} ,"k" =null.}:\n,\n{l:m},(,{n:o})\n',
    '{i[3]{id,s?,u?=nul,l{m,n?}}:\ntrue_, ,x/y,(t,)\nnull,null,, [(f.,-1),( v , )] \n a ,b\t,"c",nulls\nk:l}',
    '[{2}{a,u~"/${a}",b.{c,d?}}:\nx:falsey,y:z,\n"w" : n , tru , true \n@s{a:1,b:2},@s( t ,null),&x@s(x-y,fals)]',
  ]) {
    const stc = utf8(valid);
    decode(stc);
    for (let end = 0; end < stc.length; end++) {
      const error = refusal(stc.subarray(0, end));
      if (error !== undefined) assert.deepEqual([error.kind, error.offset], ["Truncated", end], valid);
    }
  }
});

test("cuts and wrong counts that go unnoticed are valid texts of another meaning (10.4)", () => {
  for (const [stc, json] of [
    ["[2]{a}:".slice(0, 3), "[2]"],
    ["[2]{a}: 1 / 20".slice(0, -1), '[{"a":1},{"a":2}]'],
    ['$a="x"\n$a"y"'.slice(0, -3), '"x"'],
    ["[[1]{a}:\n1\n2\n]", '[[{"a":1}],2]'],
    ["[[1]{*,s=open}:\n{id:1}\n{id:2}\n]", '[[{"id":1,"s":"open"}],{"id":2}]'],
    ["{k{1}{a}:\nx:1\ny:2\n}", '{"k":{"x":{"a":1}},"y":2}'],
    ["[[3]{a}:\n1\n2\n5\n]", '[[{"a":1},{"a":2},{"a":5}]]'],
  ] as const) {
    assert.equal(text(decode(utf8(stc))), json);
  }
});

test("a label in a header is an error whether its name is taken or not (14.2, 17.3)", () => {
  for (const stc of ["[1]{k=@a{", "[@a{x:1},[1]{k=@a{", "[@a{x:1},[1]{k?=[@a{", "[@a{x:1},[1]{k?{y}=(@a{"]) {
    refuses(stc, "Syntax", stc.length - 1);
  }
});

test("a copy that was cut is not too deep: its name may go on (14.2)", () => {
  refuses("[&a[[1]],[*a", "Truncated", 12, { depth: 3 });
  refuses("[&a[[1]],[*a]]", "Depth", 10, { depth: 3 });
});

test("a bare string of any length (14.5)", () => {
  const word = "a-b.c/d:e".repeat(100_000);
  assert.equal(text(decode(utf8(`{k:${word},l:${word}}`))), `{"k":"${word}","l":"${word}"}`);
  refuses(`{k:${word}!}`, "Syntax", 3 + word.length);
  assert.equal(text(decode(utf8(`[1]{k,l{m}}:\n${word},(${word})\n`))), `[{"k":"${word}","l":{"m":"${word}"}}]`);
});

test("errors after bare strings are those after any value (14.5)", () => {
  for (const [stc, offset] of [
    ['{a:b"c"}', 4],
    ["{a:b c}", 5],
    ["{a:b[1]}", 4],
    ["[1]{a=b c}:\n\n", 8],
    ["[1]{a?{c}=b(1)}:\n\n", 11],
    ["[1]{a}:\n{c:b\n}\n", 12],
    ["[1]{*}:\n{c:b(}\n", 12],
    ["{a:b", 4],
    ["[1]{a=b", 7],
    ["[1]{a,c}:\nb", 11],
    ["[1]{a{c}}:\n(b", 13],
    ["[@s{a:1},@s(b", 13],
  ] as const) {
    const kind = offset === stc.length ? "Truncated" : "Syntax";
    refuses(stc, kind, offset);
    refuses(stc.replace(/(?<=[:=\n(])b/, "1"), kind, offset); // a number in its place
  }
  // After a cell it is the count that says what follows.
  for (const [stc, offset] of [
    ["[1]{a}:\nb c\n", 10],
    ['[1]{a,c}:\nb"c"\n', 11],
    ["[1]{a}:\nb,1\n", 9],
    ["{1}{a,c}:\nx:b\n", 13],
    ["[1]{a{c}}:\n(b[1])\n", 13],
    ['[1]{a,u~"${a}"}:\nb{}\n', 18],
    ["[@s{a:1},@s(b c)]", 14],
  ] as const) {
    refuses(stc, "Count", offset);
    refuses(stc.replace(/(?<=[:=\n(])b/, "1"), "Count", offset);
  }
});

test("depth", () => {
  const brackets = "[".repeat(100_000) + "]".repeat(100_000);
  assert.equal(text(decode(utf8(brackets), { depth: 100_000 })), brackets);
  refuses(brackets, "Depth", 512);
  const mixed = "[{a: ".repeat(50_000) + "1" + "}]".repeat(50_000);
  assert.equal(text(decode(utf8(mixed), { depth: 100_000 })), mixed.replaceAll("a: ", '"a":'));
  refuses(mixed, "Depth", 256 * "[{a: ".length);
});

test("depth is counted as the JSON has it", () => {
  for (const [stc, levels, offset] of [["{a[1]: 1}", 2, 2], ["[1]{a}: 1", 2, 3], ["[[1]{a}: 1]", 3, 4]] as const) {
    decode(utf8(stc), { depth: levels });
    refuses(stc, "Depth", offset, { depth: levels - 1 });
  }
});

test("depth of version 2 is counted as the JSON has it (20.2)", () => {
  for (const [stc, levels, offset] of [
    ["[1]{a}:\n1\n", 2, 3],
    ["{1}{a}:\nx:1\n", 2, 3],
    ["[1]{a{b}}:\n(1)\n", 3, 11],
    ["[1]{a{b}}:\n[(1)]\n", 4, 12],
    ["[1]{b,a=[[1]]}:\n 1\n", 4, 16],
    ["{1}{a={}}:\nx:\n", 3, 11],
    ["[1]{c,a{b=[[]]}}:\n1,()\n", 5, 20],
    ["[1]{b,a?=[[1]]}:\n 1,\n", 4, 17],
    ["[1]{a?=[[1]]}:\n1\n", 4, 15],
    ["[1]{c,a{b?=[[]]}}:\n1,()\n", 5, 21],
    ["[1]{a?{b}=[(1)]}:\n\n", 4, 18],
    ["[1]{a?{b?=[]}=()}:\n\n", 4, 19],
    ["[@a{b:1},@a([])]", 3, 12],
    ["[@a{b:1},@a(1)]", 2, 3],
    ["[&a[1],[*a]]", 3, 8],
    ["[&a[&b{c[1]: 1}],*b,[[*b]]]", 5, 22],
    ["[1]{a}:\n{b[1]: 1}\n", 4, 10],
    ["[1]{*,a}:\n{a:1}\n", 2, 3],
    ["[1]{*,a=[[1]]}:\n {}\n", 4, 16],
    ["{1}{*,a={}}:\n x:{}\n", 3, 13],
    ["[1]{*,a}:\n{a:[]}\n", 3, 13],
    ["[1]{*,a{*}}:\n{a:{}}\n", 3, 16],
    ["[1]{*,a{*,b=[[]]}}:\n{a:{}}\n", 5, 23],
    ["[1]{*,a{*,b=[[]]}}:\n{a:[{}]}\n", 6, 24],
    ["[1]{*,a{b=[[]]}}:\n{a:()}\n", 5, 21],
    ["[1]{c,a{*,b=[[]]}}:\n1,{}\n", 5, 22],
    ["[1]{*,a{*,b=[[]]}}:\n{a:&x{},c:[[*x]]}\n", 7, 32],
    ["{a[1]{b}:\n1\n}", 3, 5],
    ["{a{1}{b}:\nx:1\n}", 3, 5],
    ["[{a{1}{b}:\nx:1\n}]", 4, 6],
  ] as const) {
    decode(utf8(stc), { depth: levels });
    refuses(stc, "Depth", offset, { depth: levels - 1 });
  }
});

test("bombs", () => {
  const bomb = `[60000]{${"k".repeat(60_000)}}: ${Array(60_000).fill("1").join(" / ")}`;
  refuses(bomb, "Ratio");
  refuses(bomb, "Output", undefined, { output: 2 ** 20 });
  // A count takes no memory: what it announces has to be there.
  const claim = "[9999999999999999999]{a}: 1";
  refuses(claim, "Truncated", claim.length);
});

test("bombs of version 2", () => {
  const rows = "\n".repeat(200_000);
  refuses(`[200000]{a="${"k".repeat(60_000)}"}:\n${rows}`, "Ratio");
  refuses(`[200000]{i=1,a="${"k".repeat(60_000)}"}:\n${rows}`, "Output", undefined, { output: 2 ** 20 });
  refuses(`$a="${"k".repeat(60_000)}"\n[${Array(30_000).fill("$a").join(",")}]`, "Ratio");
  // Each anchor holds two copies of the one before it.
  let doubling = "[&a[1,1]";
  for (let index = 1; index < 26; index++) {
    const [last, next] = [String.fromCharCode(96 + index), String.fromCharCode(97 + index)];
    doubling += `,&${next}[*${last},*${last}]`;
  }
  refuses(`${doubling}]`, "Anchors");
  refuses(`${doubling}]`, "Output", undefined, { output: 2 ** 20, anchors: 2 ** 40 });
  // A template's text is bounded too, before it is written.
  refuses(`[1]{a,b~"${"${a}".repeat(60_000)}"}:\n"${"k".repeat(60_000)}"\n`, "Row");
  refuses("[9999999999999999999]{a=1}:\n\n", "Truncated", 29);
  // Every object of an open list has the constants.
  refuses(`[200000]{*,a="${"k".repeat(60_000)}"}:\n${"{}\n".repeat(200_000)}`, "Ratio");
  refuses(`[1]{*,b{*,a="${"k".repeat(60_000)}"}}:\n{b:[${Array(200_000).fill("{}").join(",")}]}\n`, "Ratio");
});

test("limits of version 2 are exact (20.3, 20.4)", () => {
  for (const [stc, limit, value, kind] of [
    ['[1]{a,"b"{c},d=[ 1 ],e~"${a}"}:\n1,2\n', "columns", 5, "Columns"],
    ['[1]{a,"b"{c},d=[ 1 ],e~"${a}"}:\n1,2\n', "header", 16, "Header"],
    ['[1]{a,e~"-${a}-${a}"}:\n"\\n"\n', "row", '{"a":"\\n","e":"-\\n-\\n"}'.length, "Row"],
    ['{1}{e~"${a}",a}:\nkey:12\n', "row", '{"e":"12","a":12}'.length, "Row"],
    ['[@a{b:1,"c":2},@b{d:1}]', "columns", 2, "Columns"],
    ['[@a{b:1,"c":2},@b{d:1}]', "header", 5, "Header"],
    ['$a="xy"\n$b="z"\n1', "header", '"xy""z"'.length, "Header"],
    ['$a=""\n$b=""\n1', "columns", 2, "Columns"],
    ["[&a{},&b[],&c{}]", "columns", 3, "Columns"],
    ["[1]{a?=[ 1 ],b?{c}=(1)}:\n,\n", "columns", 3, "Columns"],
    ["[1]{a?=[ 1 ],b?{c}=(1)}:\n,\n", "header", 'abc[1]{"c":1}'.length, "Header"],
    ['[1]{b?{c,d~"${c}"}=(1)}:\n\n', "header", 'bcd"${c}"{"c":1,"d":"1"}'.length, "Header"],
    ["[1]{*,a,b=[ 1 ],c{*,d}}:\n{}\n", "columns", 4, "Columns"],
    ["[1]{*,a,b=[ 1 ],c{*,d}}:\n{}\n", "header", "ab[1]cd".length, "Header"],
    ['[1]{*,k=1,a{b,c~"${b}"}}:\n{a:(2)}\n', "row", '{"k":1,"a":{"b":2,"c":"2"}}'.length, "Row"],
    ['{1}{*,a{b,c~"${b}"},k=1}:\nkey:{}\n', "row", '{"k":1}'.length, "Row"],
    ["[1]{*,a{*,b=1}}:\n{a:&x{},c:*x}\n", "anchors", '{"b":1}'.length, "Anchors"],
    ["[1]{a=xy,b?=null,c?=nul}:\n,\n", "header", 'abc"xy"null"nul"'.length, "Header"],
    ['[1]{id,x,u~"${id}"}:\n1,{a:b}\n', "row", '{"id":1,"x":{"a":"b"},"u":"1"}'.length, "Row"],
    ['[1]{a,u~"<${a}>",b}:\nx,nul\n', "row", '{"a":"x","u":"<x>","b":"nul"}'.length, "Row"],
    ["[1]{a?{b,c}=(x,null)}:\n\n", "header", 'abc{"b":"x","c":null}'.length, "Header"],
    ["[1]{a{b}}:\n[&x(y),*x]\n", "anchors", '{"b":"y"}'.length, "Anchors"],
    ["[1]{a,b}:\nx,nul\n", "output", '[{"a":"x","b":"nul"}]'.length, "Output"],
    ["[&x{a:b,c:nul},*x]", "anchors", '{"a":"b","c":"nul"}'.length, "Anchors"],
    ["{a:b,c:null}", "output", '{"a":"b","c":null}'.length, "Output"],
    ["[&a[1,&b{}],*b,&c[*b]]", "anchors", "[1,{}]{}[{}]".length, "Anchors"],
    ['[1]{a,b{c,d~"${c}"}}:\n1,&x[&y(2),*y]\n', "anchors", 3 * '{"c":2,"d":"2"}'.length + 3, "Anchors"],
  ] as const) {
    decode(utf8(stc), { [limit]: value });
    refuses(stc, kind, undefined, { [limit]: value - 1 });
  }
});

test("limits are exact", () => {
  const stc = '[2]{a,"b"}: 1,2 / 3,4';
  const json = '[{"a":1,"b":2},{"a":3,"b":4}]';
  const fits = { input: stc.length, output: json.length, columns: 2, header: 4 };
  assert.equal(text(decode(utf8(stc), fits)), json);
  refuses(stc, "Input", undefined, { ...fits, input: fits.input - 1 });
  refuses(stc, "Output", undefined, { ...fits, output: fits.output - 1 });
  refuses(stc, "Columns", undefined, { ...fits, columns: fits.columns - 1 });
  refuses(stc, "Header", undefined, { ...fits, header: fits.header - 1 });
  assert.equal(text(decode(utf8(stc), { ratioAfter: 0, ratio: 2 })), json);
  refuses(stc, "Ratio", undefined, { ratioAfter: 0, ratio: 1 });
});
