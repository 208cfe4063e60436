"""The known formats, and the reader of the codec's texts: nothing is lost, and each value has its construct."""
import json
import unittest

from stc_eval import formats, reader
from stc_eval.lexemes import minify, parse

from .test_dataset import load

ROWS = (
    '{"total":3,"items":['
    '{"id":1,"state":"open","by":{"login":"ann","bot":false},"tags":[{"name":"bug","color":"f00"},{"name":"ui","color":"0f0"}],"n":0},'
    '{"id":2,"state":"open","by":{"login":"bob","bot":false},"tags":[],"due":null,"n":0},'
    '{"id":3,"state":"open","by":{"login":"cy","bot":false},"tags":[{"name":"bug","color":"f00"}],"due":"2025","n":7}],"next":null}'
)
HARD = (
    '[{"a":{"x":1,"k":2},"b":1},{"a":{"x":3,"k":2},"b":1},{"a":null,"b":1}]',
    '[{"k":1,"a":2},{"k":1},{"k":1,"a":3,"z":{}}]',
    '[{"a":1,"k":true},{"b":1,"k":true},{"a":1,"b":2,"k":true}]',
    '{"p":{"x":1,"s":"u"},"q":{"x":2,"s":"u"},"r":{"x":3,"s":"u"},"odd key":{"x":4,"s":"u"}}',
    '[{"a b":1,"c.d":"e","f":[{"g":1,"h":2},{"g":3,"h":2}]},{"a b":2,"c.d":"e","f":[{"g":5,"h":2},7]}]',
    '[{"a":{"b":{"c":1,"d":"same"}},"e":-1},{"a":{"b":{"c":2,"d":"same"}},"e":-2}]',
    '[{"a":[],"b":{},"c":"x"},{"a":[[1,2],[]],"b":{},"c":"x"}]',
    '[{"a":1,"b":2},{"b":2,"a":1}]',
    '[{"a":1,"a":2},{"a":1,"a":3}]',
    '[{"text":"a,b: {c} [d] (e) \\"f\\" # - ?","id":1,"t":"y"},{"text":"\\u0041\\n","id":2,"t":"y"}]',
    '[{"n":1.0,"m":1e2,"o":-0},{"n":1.00,"m":1e2,"o":-0}]',
    '[{"o":{"v":1,"w":"a long constant value here"}},{"o":{"w":"a long constant value here"}},{"o":{"v":2,"w":"a long constant value here"}}]',
    '{"list":[{"@":1},{"@":1}],"after":[{"x":1},{"x":2}],"s":{"x":3},"t":{"x":4}}',
    '[{"m":{"x":1,"y":2},"c":"v"},{"m":{"x":3,"y":4},"c":"v"},{"m":{"x":5,"y":6},"c":"v"}]',
)


class CodecTest(unittest.TestCase):
    def test_the_codecs_texts_are_read_back(self):
        for name in formats.CODEC:
            for value in [document.value for document in load()[::9]] + [parse(text) for text in (ROWS, *HARD)]:
                written = formats.encode(value, name)
                self.assertIsNotNone(written.where, f"reader.py does not read {written.text[:300]}")

    def test_the_encoders_vectors_are_read(self):
        vectors = json.loads((formats.HERE.parent / "grammar" / "vectors" / "v2-encode.json").read_text(encoding="utf-8"))
        for case in vectors["cases"]:
            with self.subTest(case["name"]):
                self.assertEqual(minify(reader.read(case["stc"])[0]), minify(parse(case["json"])))
        self.assertGreater(len(vectors["cases"]), 30)

    def test_a_text_that_the_reader_does_not_know_is_decoded_by_the_codec(self):
        value = parse('{"a":[1]}')
        self.assertEqual(formats.unread("{a:[1]}", value, "stc2").construct(("a", 0)), "not known")
        with self.assertRaisesRegex(RuntimeError, "does not decode to the document"):
            formats.unread("{a:[2]}", value, "stc2")

    def test_constructs_of_references(self):
        rows = ",".join('{"id":%d,"url":"https://example.com/repos/owner/name/%d","by":{"login":"ann","id":7,"kind":"person"},"n":%d}' % (n, n, n % 3) for n in range(40, 52))
        text = '{"a":{"login":"ann","id":7,"kind":"person"},"items":[%s]}' % rows
        written = formats.encode(parse(text), "stc2")
        self.assertEqual(written.construct(("items", 3, "url")), "template")
        self.assertIn(written.construct(("items", 3, "by", "login")), ("constant", "copy"))

    def test_worked_example_of_the_specification(self):
        text = '$a="x/"\n{t:[2]{id,k="v",u.{l},g{n,c?},m?,d?=1}:\n1,"ann",[("b",2)],,\n2,"bob",[],"v1",$a"z"\nkeys:{2}{x}:\na:1\nb:&q[1]\nnext:*q}'
        value, written = reader.read(text)
        self.assertEqual(
            minify(value),
            '{"t":[{"id":1,"k":"v","u":{"l":"ann"},"g":[{"n":"b","c":2}],"d":1},{"id":2,"k":"v","u":{"l":"bob"},"g":[],"m":"v1","d":"x/z"}],'
            '"keys":{"a":{"x":1},"b":{"x":[1]}},"next":[1]}',
        )
        self.assertEqual(written.construct(("t", 1, "d")), "dictionary")
        self.assertEqual(written.construct(("next", 0)), "copy")
        self.assertEqual(written.construct(("t", 0, "m")), "empty cell")

    def test_bare_strings_are_read(self):
        text = (
            '{kind:nulls,none:null,t[2]{*,state=open,url=https://x/?q=1,by{*,type=User,ok=true}}:\n'
            ' {id:1,title:True,by:{login:ann-b}}\n {title:"true",by:nul,l:[{m:t}]}\nnext:x:y}'
        )
        value, written = reader.read(text)
        self.assertEqual(
            minify(value),
            '{"kind":"nulls","none":null,"t":[{"id":1,"title":"True","state":"open","url":"https://x/?q=1","by":{"login":"ann-b","type":"User","ok":true}},'
            '{"title":"true","state":"open","url":"https://x/?q=1","by":"nul","l":[{"m":"t"}]}],"next":"x:y"}',
        )
        self.assertEqual(written.construct(("t", 0, "state")), "constant")
        self.assertEqual(written.construct(("t", 0, "title")), "labelled cell")
        for text in ("[open]", "{a:[b]}", "{a[1]: b}", "[1]{a}:\n[b]\n", "[2]{a}: x / y", "[1]{a}:\nb c\n", "[1]{*,a{b}}:\n{a:([c])}\n"):
            with self.subTest(text), self.assertRaises(ValueError):
                reader.read(text)

    def test_bare_strings_are_read_as_cells(self):
        text = (
            '{t[2]{id,s?,u~"/${id}",by{n,ok?=no},at.{x}}:\ni-1,,(ann,),nul\n"true", open , [(b,true)] , null\n'
            "k{1}{a,b}:\nx:y:z,null.\nl[1]{*,by{n,m}}:\n{id:1,by:(c,nulls)}\no:[@s{a:1,b:2},@s(p,false)]}"
        )
        value, written = reader.read(text)
        self.assertEqual(
            minify(value),
            '{"t":[{"id":"i-1","u":"/i-1","by":{"n":"ann","ok":"no"},"at":{"x":"nul"}},'
            '{"id":"true","s":"open","u":"/true","by":[{"n":"b","ok":true}],"at":{"x":null}}],'
            '"k":{"x":{"a":"y:z","b":"null."}},"l":[{"id":1,"by":{"n":"c","m":"nulls"}}],"o":[{"a":1,"b":2},{"a":"p","b":false}]}',
        )
        self.assertEqual(written.construct(("t", 0, "id")), "cell")
        self.assertEqual(written.construct(("t", 1, "s")), "optional cell")
        self.assertEqual(written.construct(("l", 0, "by", "m")), "tuple")
        self.assertEqual(written.construct(("o", 1, "a")), "shape")

    def test_filled_columns_are_read(self):
        value, written = reader.read(
            '{a[3]{at~"2026-05-${}Z",by?~"https://x/u/${}"=null}:\n12T08:00:00,7\n13T09:30:00,\nnull,"n/a"\nb[2]{n,u~"/r/${n}/c#${}",v?~"a${}"}:\n2,k9,\n3,-1.5,true\n}'
        )
        self.assertEqual(
            minify(value),
            '{"a":[{"at":"2026-05-12T08:00:00Z","by":"https://x/u/7"},{"at":"2026-05-13T09:30:00Z","by":null},{"at":null,"by":"n/a"}],'
            '"b":[{"n":2,"u":"/r/2/c#k9"},{"n":3,"u":"/r/3/c#-1.5","v":true}]}',
        )
        constructs = [written.construct(path) for path in (("a", 0, "at"), ("a", 0, "by"), ("a", 1, "by"), ("a", 2, "at"), ("b", 0, "u"), ("b", 0, "v"))]
        self.assertEqual(constructs, ["filled cell", "filled cell", "default", "cell", "filled cell", "empty cell"])

    def test_rows_that_are_a_value_are_read(self):
        value, written = reader.read('{t[3]{id,s="o"}:\n1\n!{s:"o",id:2}\n!null\nk{2}{a,b}:\nx:1,2\ny:![3]\n}')
        self.assertEqual(minify(value), '{"t":[{"id":1,"s":"o"},{"s":"o","id":2},null],"k":{"x":{"a":1,"b":2},"y":[3]}}')
        paths = (("t", 0, "s"), ("t", 1, "s"), ("t", 1, "nothing"), ("t", 2), ("k", "y", 0))
        self.assertEqual([written.construct(path) for path in paths], ["constant", "whole row", "left out", "whole row", "whole row"])

    def test_known_formats(self):
        document = load()[0]
        document = type(document)("flat", "flat", "choose", parse('[{"a":1,"b":"x, y"},{"a":2.50,"b":"z"}]'), ())
        texts = {name: written["flat"].text for name, written in formats.write_all([document], formats.KNOWN).items()}
        self.assertEqual(texts["csv"], 'a,b\n1,"x, y"\n2.50,z\n')
        self.assertEqual(texts["markdown"], "| a | b |\n| --- | --- |\n| 1 | x, y |\n| 2.50 | z |\n")
        self.assertEqual(texts["toon"], '[2]{a,b}:\n  1,"x, y"\n  2.5,z')
        self.assertEqual(texts["json-pretty"], '[\n  {\n    "a": 1,\n    "b": "x, y"\n  },\n  {\n    "a": 2.50,\n    "b": "z"\n  }\n]')
        self.assertIn("- a: 1\n  b: x, y\n", texts["yaml"])
        nested = type(document)("nested", "nested", "choose", parse(ROWS), ())
        self.assertEqual(formats.write_all([nested], ["csv"])["csv"], {})


if __name__ == "__main__":
    unittest.main()
