// Gives a module other functions for memory.copy and memory.fill: `node lower.mjs IN.wat OUT.wat`, in the text format.
//
// wasm-opt's --llvm-memory-copy-fill-lowering replaces the two instructions by calls of functions that move one byte at a time. A codec
// copies all that it writes: these move 16 bytes at a time. The ends of an area are loaded before anything is stored, so areas may
// overlap, and the bytes that are left over need no loop:
//
//     20 bytes    0123456789abcdef....    a chunk of 16
//                 ....456789abcdefghij    the last 16, some of them for the second time
import { readFileSync, writeFileSync } from "node:fs";

const plus = (name, more) => `(i32.add (local.get ${name}) ${more})`;
const least = (bytes) => `(i32.ge_u (local.get $size) (i32.const ${bytes}))`;
const rest = (bytes) => `(i32.sub (local.get $size) (i32.const ${bytes}))`;
// Up to twice `bytes`: the first and the last of them.
const ends = (type, bytes) => `
    (if ${least(bytes)} (then
      (local.set $first_${type} (${type}.load (local.get $from)))
      (local.set $last_${type} (${type}.load ${plus("$from", rest(bytes))}))
      (${type}.store (local.get $to) (local.get $first_${type}))
      (${type}.store ${plus("$to", rest(bytes))} (local.get $last_${type}))
      (return)))`;
const filled = (type, bytes, value) => `
    (if ${least(bytes)} (then
      (${type}.store (local.get $to) ${value})
      (${type}.store ${plus("$to", rest(bytes))} ${value})
      (return)))`;
const half = "(i32.shr_u (local.get $size) (i32.const 1))";

const functions = {
  __memory_copy: `(func $__memory_copy (param $to i32) (param $from i32) (param $size i32)
    (local $first v128) (local $last v128) (local $at i32)
    (local $first_i64 i64) (local $last_i64 i64) (local $first_i32 i32) (local $last_i32 i32) (local $middle i32)
    (if ${least(16)} (then
      (local.set $first (v128.load (local.get $from)))
      (local.set $last (v128.load ${plus("$from", rest(16))}))
      (if (i32.gt_u (local.get $to) (local.get $from))
        (then
          (local.set $at ${rest(16)})
          (block $end (loop $next
            (br_if $end (i32.le_s (local.get $at) (i32.const 0)))
            (v128.store ${plus("$to", "(local.get $at)")} (v128.load ${plus("$from", "(local.get $at)")}))
            (local.set $at (i32.sub (local.get $at) (i32.const 16)))
            (br $next)))
          (v128.store (local.get $to) (local.get $first)))
        (else
          (block $end (loop $next
            (br_if $end (i32.ge_u ${plus("$at", "(i32.const 16)")} (local.get $size)))
            (v128.store ${plus("$to", "(local.get $at)")} (v128.load ${plus("$from", "(local.get $at)")}))
            (local.set $at ${plus("$at", "(i32.const 16)")})
            (br $next)))
          (v128.store ${plus("$to", rest(16))} (local.get $last))))
      (return)))
    ${ends("i64", 8)} ${ends("i32", 4)}
    (if ${least(1)} (then
      (local.set $first_i32 (i32.load8_u (local.get $from)))
      (local.set $middle (i32.load8_u ${plus("$from", half)}))
      (local.set $last_i32 (i32.load8_u ${plus("$from", rest(1))}))
      (i32.store8 (local.get $to) (local.get $first_i32))
      (i32.store8 ${plus("$to", half)} (local.get $middle))
      (i32.store8 ${plus("$to", rest(1))} (local.get $last_i32)))))`,
  __memory_fill: `(func $__memory_fill (param $to i32) (param $value i32) (param $size i32)
    (local $all v128) (local $word i64) (local $at i32)
    (local.set $all (i8x16.splat (local.get $value)))
    (if ${least(16)} (then
      (block $end (loop $next
        (br_if $end (i32.ge_u ${plus("$at", "(i32.const 16)")} (local.get $size)))
        (v128.store ${plus("$to", "(local.get $at)")} (local.get $all))
        (local.set $at ${plus("$at", "(i32.const 16)")})
        (br $next)))
      (v128.store ${plus("$to", rest(16))} (local.get $all))
      (return)))
    (local.set $word (i64x2.extract_lane 0 (local.get $all)))
    ${filled("i64", 8, "(local.get $word)")} ${filled("i32", 4, "(i32.wrap_i64 (local.get $word))")}
    (if ${least(1)} (then
      (i32.store8 (local.get $to) (local.get $value))
      (i32.store8 ${plus("$to", half)} (local.get $value))
      (i32.store8 ${plus("$to", rest(1))} (local.get $value)))))`,
};

let text = readFileSync(process.argv[2], "utf8");
for (const [name, body] of Object.entries(functions)) {
  const begin = text.indexOf(`(func $${name} `);
  if (begin < 0) throw new Error(`${process.argv[2]} has no function ${name}`);
  text = text.slice(0, begin) + body + text.slice(endOf(text, begin));
}
writeFileSync(process.argv[3], text);

// Returns the place after the parenthesis that closes the one at `begin`. A function has no strings.
function endOf(text, begin) {
  for (let place = begin, depth = 0; ; place++) {
    if (text[place] === "(") depth++;
    else if (text[place] === ")" && --depth === 0) return place + 1;
  }
}
