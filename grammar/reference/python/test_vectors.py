"""Runs the decoder against grammar/vectors, and against a few laws that the vectors cannot hold."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

from stc_reference import STCError, decode

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent.parent / "vectors"

VALID = [
    b' {"a" : [ 1 , 2 ] , b : { } , "c":[ ],d:-0.5e+10 } ',
    b'{tags[3]: "api","gateway","mcp", scores [ 3 ] : 95 , 87,91, "on off"[2]: true,false}',
    b'{items: [2]{id,"first name"}: 1,"a / b" / 2,null, next: null, pages[1]: 1}',
    b'[[2]{a}: 1 / 2,3,[12],[ 12 ] , [ 1 ]{ a , b } :\ttrue ,\t"\\u00e9\\\\" ]',
    '"\u00e9\u20ac\U0001f600"'.encode(),
    b"[2]{a,b}: 1,10 / 2,20",
    b'$ab="x"\n$a=""\n [@ab{k:$ab"\\n",l:&a[ 1 ,2]},@ab($a,*a),&b@ab(1, &c{}),*b,*c]',
    b'{i:[2]{id,s="o",u{n,v~"${id}/${n}"},l?}:\n1,("a"),\n2, [(1)] , "x"\nk:{2}{a?, b{c?}}:\nx:,()\n"y":1,(2)\n}',
]


def cases(name):
    with open(VECTORS / f"{name}.json", encoding="utf-8") as file:
        vectors = json.load(file)
    assert vectors["format"] == 1, vectors["format"]
    assert vectors["cases"], name
    return vectors["cases"]


def text(case, field):
    return bytes.fromhex(case[f"{field}_hex"]) if f"{field}_hex" in case else case[field].encode()


def minify(json_text):
    """Strings stay, whitespace goes."""
    return re.sub(rb'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\n\r]+', lambda match: match[1] or b"", json_text)


def refusal(stc, **limits):
    """The STCError for `stc`, or None where it decodes."""
    try:
        decode(stc, **limits)
    except STCError as error:
        return error
    return None


class Vectors(unittest.TestCase):
    # reject-json.json is for encoders: its inputs are not JSON, but some of them are STC.

    def test_all(self):
        passed = 0
        for case in cases("encode"):
            with self.subTest(case["name"]):
                self.assertEqual(decode(text(case, "stc")), minify(text(case, "json")))
                passed += 1
        for case in cases("decode") + cases("v2-decode"):
            with self.subTest(case["name"]):
                self.assertEqual(decode(text(case, "stc")), text(case, "json"))
                passed += 1
        for case in cases("reject") + cases("v2-reject"):
            with self.subTest(case["name"]):
                error = refusal(text(case, "stc"))
                self.assertIsNotNone(error, "was accepted")
                self.assertEqual(error.offset, case["offset"], error)
                passed += 1
        print(f"python: {passed} vectors passed")

    def test_json_decodes_to_itself(self):
        for case in cases("encode"):
            with self.subTest(case["name"]):
                self.assertEqual(decode(text(case, "json")), minify(text(case, "json")))

    def test_offsets_are_the_first_wrong_byte(self):
        """Section 9.2: what stands before the offset could still become a document; with the next byte it cannot."""
        for case in cases("reject") + cases("v2-reject"):
            with self.subTest(case["name"]):
                stc = text(case, "stc")
                error = refusal(stc)
                before = refusal(stc[: error.offset])
                if before is not None:
                    self.assertEqual((before.kind, before.offset), ("Truncated", error.offset))
                if error.kind not in ("Truncated", "Utf8", "DuplicateColumn", "Name", "Template", "Anchor"):
                    self.assertEqual(refusal(stc[: error.offset + 1]).offset, error.offset)


class Laws(unittest.TestCase):
    def test_a_cut_is_noticed_at_the_cut(self):
        for stc in VALID:
            decode(stc)
            for end in range(len(stc)):
                error = refusal(stc[:end])
                if error is not None:
                    self.assertEqual((error.kind, error.offset), ("Truncated", end), stc[:end])

    def test_depth(self):
        brackets = b"[" * 100_000 + b"]" * 100_000
        self.assertEqual(decode(brackets, max_depth=100_000), brackets)
        self.assertEqual((refusal(brackets).kind, refusal(brackets).offset), ("Depth", 512))
        mixed = b"[{a: " * 50_000 + b"1" + b"}]" * 50_000
        self.assertEqual(decode(mixed, max_depth=100_000), b'[{"a":' * 50_000 + b"1" + b"}]" * 50_000)
        self.assertEqual((refusal(mixed).kind, refusal(mixed).offset), ("Depth", 256 * len(b"[{a: ")))

    def test_depth_is_counted_as_the_json_has_it(self):
        for stc, levels, offset in [(b"{a[1]: 1}", 2, 2), (b"[1]{a}: 1", 2, 3), (b"[[1]{a}: 1]", 3, 4)]:
            decode(stc, max_depth=levels)
            error = refusal(stc, max_depth=levels - 1)
            self.assertEqual((error.kind, error.offset), ("Depth", offset))

    def test_bombs(self):
        stc = b"[60000]{" + b"k" * 60_000 + b"}: " + b" / ".join([b"1"] * 60_000)
        self.assertEqual(refusal(stc).kind, "Ratio")
        self.assertEqual(refusal(stc, max_output=1 << 20).kind, "Output")
        # A count takes no memory: what it announces has to be there.
        stc = b"[9999999999999999999]{a}: 1"
        self.assertEqual((refusal(stc).kind, refusal(stc).offset), ("Truncated", len(stc)))

    def test_limits_are_exact(self):
        stc, json_text = b'[2]{a,"b"}: 1,2 / 3,4', b'[{"a":1,"b":2},{"a":3,"b":4}]'
        fits = {"max_input": len(stc), "max_output": len(json_text), "max_columns": 2, "max_header": 4}
        self.assertEqual(decode(stc, **fits), json_text)
        for limit, kind in zip(fits, ["Input", "Output", "Columns", "Header"]):
            self.assertEqual(refusal(stc, **{**fits, limit: fits[limit] - 1}).kind, kind)
        self.assertEqual(decode(stc, free=0, ratio=2), json_text)
        self.assertEqual(refusal(stc, free=0, ratio=1).kind, "Ratio")

    def test_command(self):
        def run(stc):
            return subprocess.run([sys.executable, "-m", "stc_reference"], cwd=HERE, input=stc, capture_output=True)

        self.assertEqual(run(b"{a: 1}").stdout, b'{"a":1}')
        refused = run(b"[2]{a}: 1 / 2 / 3")
        self.assertEqual((refused.returncode, refused.stdout), (1, b""))
        self.assertIn(b"at byte 14", refused.stderr)


if __name__ == "__main__":
    unittest.main()
