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
    b'{i:[2]{id,s="o",u{n,v~"/${n}"},l?}:\n1,("a"),\n2, [(1)] , "x"\nk:{2}{a?, b{c?}}:\nx:,()\n"y":1,(2)\n}',
    b'[2]{a?="x",b?{c,d~"${c}",e?=[ ]} = [(1,), ( "y" ,{})],f}:\n,,1\n2,(3,4),5\n',
    b'{i[2]{ * ,s="o",u{*,"t"=1,n},l{m,v~"/${m}"}}:\n {u:&a{x:1},l:[(1)]} \n{"sx":*a , "u":[{n[1]: 2}]}\n}',
    b'{a:1,k {2}{*,b=[1],c}:\nx:{}\n"y" : { c : 1 }\nm[1]{*}:\n{}\n n[1]: 2}',
    b'{a:true_,b : nul ,t:true,u:x:y/z?q=1&r#s,c:{d: E-5}, "e" :@k{f:falsey},g[1]: 1 , h:NULL}',
    b'{i[2]{*,s=x=y, t = tru ,u{*,k=v},l{m}}:\n {u:ann,l:nulls}\n{ u : {n:b-c} ,l:[(1)]}\nj:k}',
    b'[2]{a?=open,b?{c?=x,d}=none,e={f:g.h} ,"k" =null.}:\n,\n{l:m},(,{n:o})\n',
    b'{i[3]{id,s?,u?=nul,l{m,n?}}:\ntrue_, ,x/y,(t,)\nnull,null,, [(f.,-1),( v , )] \n a ,b\t,"c",nulls\nk:l}',
    b'[{2}{a,u~"/${a}",b.{c,d?}}:\nx:falsey,y:z,\n"w" : n , tru , true \n@s{a:1,b:2},@s( t ,null),&x@s(x-y,fals)]',
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
        for case in cases("encode") + cases("v2-encode"):
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
        for case in cases("encode") + cases("v2-encode"):
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
                if error.kind not in ("Truncated", "Utf8", "DuplicateColumn", "Name", "Template"):
                    # Section 20.1: that a cell is a literal, where a template names its column, shows the byte after it.
                    named = "a template names this column" in error.message
                    literal = re.match(rb"true|false|null", stc[error.offset :]) if named else None
                    shown = error.offset + (len(literal[0]) if literal else 0)
                    self.assertEqual(refusal(stc[: shown + 1]).offset, error.offset)
                    for end in range(error.offset + 1, shown + 1):
                        self.assertEqual(refusal(stc[:end]).offset, end)


class Laws(unittest.TestCase):
    def test_a_cut_is_noticed_at_the_cut(self):
        for stc in VALID:
            decode(stc)
            for end in range(len(stc)):
                error = refusal(stc[:end])
                if error is not None:
                    self.assertEqual((error.kind, error.offset), ("Truncated", end), stc[:end])

    def test_cuts_and_wrong_counts_that_go_unnoticed(self):
        """Section 10.4: each of these is a valid text of another meaning."""
        for stc, json_text in [
            (b"[2]{a}:"[:3], b"[2]"),
            (b"[2]{a}: 1 / 20"[:-1], b'[{"a":1},{"a":2}]'),
            (b'$a="x"\n$a"y"'[:-3], b'"x"'),
            (b"[[1]{a}:\n1\n2\n]", b'[[{"a":1}],2]'),
            (b"[[1]{*,s=open}:\n{id:1}\n{id:2}\n]", b'[[{"id":1,"s":"open"}],{"id":2}]'),
            (b"{k{1}{a}:\nx:1\ny:2\n}", b'{"k":{"x":{"a":1}},"y":2}'),
            (b"[[3]{a}:\n1\n2\n5\n]", b'[[{"a":1},{"a":2},{"a":5}]]'),
        ]:
            with self.subTest(stc):
                self.assertEqual(decode(stc), json_text)

    def test_a_label_in_a_header_is_an_error_whether_its_name_is_taken_or_not(self):
        """Sections 14.2 and 17.3."""
        for stc in [b"[1]{k=@a{", b"[@a{x:1},[1]{k=@a{", b"[@a{x:1},[1]{k?=[@a{", b"[@a{x:1},[1]{k?{y}=(@a{"]:
            with self.subTest(stc):
                error = refusal(stc)
                self.assertEqual((error.kind, error.offset), ("Syntax", len(stc) - 1))

    def test_a_copy_that_was_cut_is_not_too_deep(self):
        """Section 14.2: `*a` at the end of the input may be the beginning of another name."""
        for stc, kind, offset in [(b"[&a[[1]],[*a", "Truncated", 12), (b"[&a[[1]],[*a]]", "Depth", 10)]:
            error = refusal(stc, max_depth=3)
            self.assertEqual((error.kind, error.offset), (kind, offset))

    def test_a_bare_string_of_any_length(self):
        """Section 14.5."""
        word = b"a-b.c/d:e" * 100_000
        self.assertEqual(decode(b"{k:%b,l:%b}" % (word, word)), b'{"k":"%b","l":"%b"}' % (word, word))
        error = refusal(b"{k:%b!}" % word)
        self.assertEqual((error.kind, error.offset), ("Syntax", 3 + len(word)))
        self.assertEqual(decode(b"[1]{k,l{m}}:\n%b,(%b)\n" % (word, word)), b'[{"k":"%b","l":{"m":"%b"}}]' % (word, word))

    def test_errors_after_bare_strings_are_those_after_any_value(self):
        """Section 14.5: the same kind and offset as with a number in place of the bare string."""
        for stc, offset in [
            (b'{a:b"c"}', 4),
            (b"{a:b c}", 5),
            (b"{a:b[1]}", 4),
            (b"[1]{a=b c}:\n\n", 8),
            (b"[1]{a?{c}=b(1)}:\n\n", 11),
            (b"[1]{a}:\n{c:b\n}\n", 12),
            (b"[1]{*}:\n{c:b(}\n", 12),
            (b"{a:b", 4),
            (b"[1]{a=b", 7),
            (b"[1]{a,c}:\nb", 11),
            (b"[1]{a{c}}:\n(b", 13),
            (b"[@s{a:1},@s(b", 13),
        ]:
            self.assert_as_a_number(stc, offset, "Truncated" if offset == len(stc) else "Syntax")
        # After a cell it is the count that says what follows.
        for stc, offset in [
            (b"[1]{a}:\nb c\n", 10),
            (b'[1]{a,c}:\nb"c"\n', 11),
            (b"[1]{a}:\nb,1\n", 9),
            (b"{1}{a,c}:\nx:b\n", 13),
            (b"[1]{a{c}}:\n(b[1])\n", 13),
            (b'[1]{a,u~"${a}"}:\nb{}\n', 18),
            (b"[@s{a:1},@s(b c)]", 14),
        ]:
            self.assert_as_a_number(stc, offset, "Count")

    def assert_as_a_number(self, stc, offset, kind):
        """Asserts how `stc` is refused, with its bare string `b` and with a number in its place."""
        for text in stc, re.sub(rb"(?<=[:=\n(])b", b"1", stc, count=1):
            with self.subTest(text):
                error = refusal(text)
                self.assertEqual((error.kind, error.offset), (kind, offset))

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

    def test_depth_of_version_2_is_counted_as_the_json_has_it(self):
        """Section 20.2."""
        for stc, levels, offset in [
            (b"[1]{a}:\n1\n", 2, 3),
            (b"{1}{a}:\nx:1\n", 2, 3),
            (b"[1]{a{b}}:\n(1)\n", 3, 11),
            (b"[1]{a{b}}:\n[(1)]\n", 4, 12),
            (b"[1]{b,a=[[1]]}:\n 1\n", 4, 16),
            (b"{1}{a={}}:\nx:\n", 3, 11),
            (b"[1]{c,a{b=[[]]}}:\n1,()\n", 5, 20),
            (b"[1]{b,a?=[[1]]}:\n 1,\n", 4, 17),
            (b"[1]{a?=[[1]]}:\n1\n", 4, 15),
            (b"[1]{c,a{b?=[[]]}}:\n1,()\n", 5, 21),
            (b"[1]{a?{b}=[(1)]}:\n\n", 4, 18),
            (b"[1]{a?{b?=[]}=()}:\n\n", 4, 19),
            (b"[@a{b:1},@a([])]", 3, 12),
            (b"[@a{b:1},@a(1)]", 2, 3),
            (b"[&a[1],[*a]]", 3, 8),
            (b"[&a[&b{c[1]: 1}],*b,[[*b]]]", 5, 22),
            (b"[1]{a}:\n{b[1]: 1}\n", 4, 10),
            (b"[1]{*,a}:\n{a:1}\n", 2, 3),
            (b"[1]{*,a=[[1]]}:\n {}\n", 4, 16),
            (b"{1}{*,a={}}:\n x:{}\n", 3, 13),
            (b"[1]{*,a}:\n{a:[]}\n", 3, 13),
            (b"[1]{*,a{*}}:\n{a:{}}\n", 3, 16),
            (b"[1]{*,a{*,b=[[]]}}:\n{a:{}}\n", 5, 23),
            (b"[1]{*,a{*,b=[[]]}}:\n{a:[{}]}\n", 6, 24),
            (b"[1]{*,a{b=[[]]}}:\n{a:()}\n", 5, 21),
            (b"[1]{c,a{*,b=[[]]}}:\n1,{}\n", 5, 22),
            (b"[1]{*,a{*,b=[[]]}}:\n{a:&x{},c:[[*x]]}\n", 7, 32),
            (b"{a[1]{b}:\n1\n}", 3, 5),
            (b"{a{1}{b}:\nx:1\n}", 3, 5),
            (b"[{a{1}{b}:\nx:1\n}]", 4, 6),
        ]:
            with self.subTest(stc):
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

    def test_bombs_of_version_2(self):
        long = b"k" * 60_000
        rows = b"\n" * 200_000
        self.assertEqual(refusal(b'[200000]{a="%b"}:\n%b' % (long, rows)).kind, "Ratio")
        self.assertEqual(refusal(b'[200000]{i=1,a="%b"}:\n%b' % (long, rows), max_output=1 << 20).kind, "Output")
        self.assertEqual(refusal(b'$a="%b"\n[%b]' % (long, b",".join([b"$a"] * 30_000))).kind, "Ratio")
        # Each anchor holds two copies of the one before it.
        names = "abcdefghijklmnopqrstuvwxyz"
        copies = "".join(f",&{name}[*{last},*{last}]" for last, name in zip(names, names[1:]))
        doubling = f"[&a[1,1]{copies}]".encode()
        self.assertEqual(refusal(doubling).kind, "Anchors")
        self.assertEqual(refusal(doubling, max_anchors=1 << 40, max_output=1 << 20).kind, "Output")
        # A template's text is bounded too, before it is built: this one would be 3.6 GB.
        stc = b'[1]{a,b~"%b"}:\n"%b"\n' % (b"${a}" * 60_000, long)
        self.assertEqual(refusal(stc).kind, "Row")
        stc = b"[9999999999999999999]{a=1}:\n\n"
        self.assertEqual((refusal(stc).kind, refusal(stc).offset), ("Truncated", len(stc)))
        # Every object of an open list has the constants.
        self.assertEqual(refusal(b'[200000]{*,a="%b"}:\n%b' % (long, b"{}\n" * 200_000)).kind, "Ratio")
        objects = b",".join([b"{}"] * 200_000)
        self.assertEqual(refusal(b'[1]{*,b{*,a="%b"}}:\n{b:[%b]}\n' % (long, objects)).kind, "Ratio")

    def test_limits_of_version_2_are_exact(self):
        """Sections 20.3 and 20.4."""
        header = b'[1]{a,"b"{c},d=[ 1 ],e~"${a}"}:\n1,2\n'
        for stc, limit, value, kind in [
            (header, "max_columns", 5, "Columns"),
            (header, "max_header", 16, "Header"),
            (b'[1]{a,e~"-${a}-${a}"}:\n"\\n"\n', "max_row", len(b'{"a":"\\n","e":"-\\n-\\n"}'), "Row"),
            (b'{1}{e~"${a}",a}:\nkey:12\n', "max_row", len(b'{"e":"12","a":12}'), "Row"),
            (b'[@a{b:1,"c":2},@b{d:1}]', "max_columns", 2, "Columns"),
            (b'[@a{b:1,"c":2},@b{d:1}]', "max_header", 5, "Header"),
            (b'$a="xy"\n$b="z"\n1', "max_header", len(b'"xy""z"'), "Header"),
            (b'$a=""\n$b=""\n1', "max_columns", 2, "Columns"),
            (b"[&a{},&b[],&c{}]", "max_columns", 3, "Columns"),
            (b"[1]{a?=[ 1 ],b?{c}=(1)}:\n,\n", "max_columns", 3, "Columns"),
            (b"[1]{a?=[ 1 ],b?{c}=(1)}:\n,\n", "max_header", len(b'abc[1]{"c":1}'), "Header"),
            (b'[1]{b?{c,d~"${c}"}=(1)}:\n\n', "max_header", len(b'bcd"${c}"{"c":1,"d":"1"}'), "Header"),
            (b"[1]{*,a,b=[ 1 ],c{*,d}}:\n{}\n", "max_columns", 4, "Columns"),
            (b"[1]{*,a,b=[ 1 ],c{*,d}}:\n{}\n", "max_header", len(b"ab[1]cd"), "Header"),
            (b'[1]{*,k=1,a{b,c~"${b}"}}:\n{a:(2)}\n', "max_row", len(b'{"k":1,"a":{"b":2,"c":"2"}}'), "Row"),
            (b'{1}{*,a{b,c~"${b}"},k=1}:\nkey:{}\n', "max_row", len(b'{"k":1}'), "Row"),
            (b"[1]{*,a{*,b=1}}:\n{a:&x{},c:*x}\n", "max_anchors", len(b'{"b":1}'), "Anchors"),
            (b"[1]{a=xy,b?=null,c?=nul}:\n,\n", "max_header", len(b'abc"xy"null"nul"'), "Header"),
            (b'[1]{id,x,u~"${id}"}:\n1,{a:b}\n', "max_row", len(b'{"id":1,"x":{"a":"b"},"u":"1"}'), "Row"),
            (b'[1]{a,u~"<${a}>",b}:\nx,nul\n', "max_row", len(b'{"a":"x","u":"<x>","b":"nul"}'), "Row"),
            (b"[1]{a?{b,c}=(x,null)}:\n\n", "max_header", len(b'abc{"b":"x","c":null}'), "Header"),
            (b"[1]{a{b}}:\n[&x(y),*x]\n", "max_anchors", len(b'{"b":"y"}'), "Anchors"),
            (b"[1]{a,b}:\nx,nul\n", "max_output", len(b'[{"a":"x","b":"nul"}]'), "Output"),
            (b"[&x{a:b,c:nul},*x]", "max_anchors", len(b'{"a":"b","c":"nul"}'), "Anchors"),
            (b"{a:b,c:null}", "max_output", len(b'{"a":"b","c":null}'), "Output"),
            (b"[&a[1,&b{}],*b,&c[*b]]", "max_anchors", len(b"[1,{}]{}[{}]"), "Anchors"),
            (b'[1]{a,b{c,d~"${c}"}}:\n1,&x[&y(2),*y]\n', "max_anchors", 3 * len(b'{"c":2,"d":"2"}') + 3, "Anchors"),
        ]:
            with self.subTest(stc, limit=limit):
                decode(stc, **{limit: value})
                self.assertEqual(refusal(stc, **{limit: value - 1}).kind, kind)

    def test_limits_are_exact(self):
        stc, json_text = b'[2]{a,"b"}: 1,2 / 3,4', b'[{"a":1,"b":2},{"a":3,"b":4}]'
        fits = {"max_input": len(stc), "max_output": len(json_text), "max_columns": 2, "max_header": 4}
        self.assertEqual(decode(stc, **fits), json_text)
        for limit, kind in zip(fits, ["Input", "Output", "Columns", "Header"]):
            self.assertEqual(refusal(stc, **{**fits, limit: fits[limit] - 1}).kind, kind)
        self.assertEqual(decode(stc, ratio_after=0, ratio=2), json_text)
        self.assertEqual(refusal(stc, ratio_after=0, ratio=1).kind, "Ratio")

    def test_command(self):
        def run(stc):
            return subprocess.run([sys.executable, "-m", "stc_reference"], cwd=HERE, input=stc, capture_output=True)

        self.assertEqual(run(b"{a: 1}").stdout, b'{"a":1}')
        refused = run(b"[2]{a}: 1 / 2 / 3")
        self.assertEqual((refused.returncode, refused.stdout), (1, b""))
        self.assertIn(b"at byte 14", refused.stderr)


if __name__ == "__main__":
    unittest.main()
