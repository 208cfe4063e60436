"""The candidate forms: nothing is lost, no form is larger than JSON, and each switch does what it says."""
import re
import unittest
from dataclasses import replace

from stc_eval import formats, lexemes, reader, writer
from stc_eval.forms import FORMS, Form
from stc_eval.lexemes import Object, minify, parse

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


def leaf_paths(value, path=()):
    if isinstance(value, Object):
        for key, member in value.members:
            yield from leaf_paths(member, path + (lexemes.body(key),))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from leaf_paths(element, path + (index,))
    else:
        yield path


class LosslessTest(unittest.TestCase):
    def check(self, value, form, name):
        """Reads the form's text back, whether or not it would be used, and compares the constructs of writer and reader."""
        used = writer.Writer(form)
        text = used.document(value)
        back, read = reader.read(text, form)
        self.assertEqual(minify(back), minify(value), f"{form.name} of {name}: {text[:300]}")
        written = writer.Written(text, used.where)
        for path in leaf_paths(value):
            self.assertEqual(written.construct(path), read.construct(path), f"{form.name} of {name}, {path}: {text[:300]}")

    def test_hard_documents(self):
        for form in FORMS.values():
            for text in (ROWS, *HARD):
                self.check(parse(text), form, text[:40])
                self.check(parse(text), replace(form, slack=1000), text[:40])

    def test_corpus(self):
        for form in FORMS.values():
            for document in load()[::7]:
                self.check(document.value, form, document.id)

    def test_no_form_is_larger_than_json(self):
        for form in FORMS.values():
            for document in load()[::11]:
                written = writer.write(document.value, form)
                text = minify(document.value)
                self.assertLessEqual(len(written.text.encode()), len(text.encode()), (form.name, document.id))
                self.assertLessEqual(lexemes.estimate(written.text), lexemes.estimate(text), (form.name, document.id))

    def test_a_form_that_does_not_pay_is_json(self):
        written = writer.write(parse('[{"a":1},{"b":2}]'), replace(FORMS["labelled-short"], slack=1000))
        self.assertEqual((written.text, written.fallback), ('[{"a":1},{"b":2}]', True))


class SwitchesTest(unittest.TestCase):
    def text(self, name):
        return self.written(FORMS[name], ROWS)

    def written(self, form, text):
        """Returns a document with every table the form can write, whether or not it pays on so few rows."""
        return writer.Writer(replace(form, slack=1000)).document(parse(text))

    def test_labelled(self):
        self.assertEqual(
            self.text("labelled-short"),
            '{total:3,items:[3]{id,state="open",by{login,bot=false}}:\n'
            '{id:1,by:{login:"ann"},tags:[{name:"bug",color:"f00"},{name:"ui",color:"0f0"}],n:0}\n'
            '{id:2,by:{login:"bob"},tags:[],due:null,n:0}\n'
            '{id:3,by:{login:"cy"},tags:[{name:"bug",color:"f00"}],due:"2025",n:7}\nnext:null}',
        )

    def test_json_rows(self):
        lines = self.text("json-rows").split("\n")
        self.assertEqual(lines[0], '{"total":3,"items":[3]{id,state:"open",by{login,bot:false}}:')
        self.assertEqual(lines[2], '{"id":2,"by":{"login":"bob"},"tags":[],"due":null,"n":0}')

    def test_quoted_and_indented(self):
        self.assertIn('"items":[3]{"id","state":"open","by"{"login","bot":false}}:\n{"id":1,', self.text("labelled-quoted"))
        self.assertIn('items[3]{id,state="open",by{login,bot=false}}:\n  {id:1,', self.text("labelled-indent"))

    def test_positional(self):
        self.assertEqual(
            self.text("positional"),
            '{total:3,items:[3]{id,state="open",by.{login,bot=false},tags{name?="bug",color?="f00"},due?,n?=0}:\n'
            '1,"ann",[(,),("ui","0f0")],,\n2,"bob",[],null,\n3,"cy",[(,)],"2025",7\nnext:null}',
        )

    def test_missing_cells(self):
        self.assertIn('\n1,"ann",[("bug","f00"),("ui","0f0")],0\n2,"bob",[],0,due:null\n', self.text("no-empty-trailing"))
        self.assertIn('\n1,"ann",[("bug","f00"),("ui","0f0")],-,0\n', self.text("no-empty-mark"))
        self.assertIn('\n{id:1,by:{login:"ann"},tags:[{name:"bug",color:"f00"},{name:"ui",color:"0f0"}],n:0}\n2,"bob",[],null,0\n', self.text("no-empty-labelled"))

    def test_no_empty_cells_anywhere(self):
        outside = re.compile(r'"(?:[^"\\]|\\.)*"')
        for name in ("no-empty-trailing", "no-empty-labelled", "no-empty-mark", "tuples", "inner-labelled", "narrow-8", "labelled-short"):
            for document in load()[::5]:
                text = outside.sub('""', writer.Writer(FORMS[name]).document(document.value))
                self.assertIsNone(re.search(r",,|\(,|,\)|,\n|\n,", text), (name, document.id))

    def test_nested(self):
        self.assertIn("by{login,bot=false},tags{name,color}", self.text("tuples"))
        self.assertIn('\n2,("bob"),[],null,0\n', self.text("tuples"))
        self.assertIn('\n2,{login:"bob"},[],null,0\n', self.text("inner-labelled"))
        self.assertIn('by.login:"ann"', self.text("labelled-dotted"))
        self.assertIn('tags:[("bug","f00"),("ui","0f0")]', self.text("labelled-tuples"))

    def test_narrow(self):
        text = '[{"a":1,"b":2,"k":"same"},{"a":3,"b":4,"k":"same"},{"a":5,"b":6,"k":"same"}]'
        narrow, wide = (self.written(replace(FORMS["narrow-4"], narrow=cells), text) for cells in (2, 1))
        self.assertEqual(narrow, '[3]{a,b,k="same"}:\n1,2\n3,4\n5,6\n')
        self.assertEqual(wide, '[3]{b,k="same"}:\n{a:1,b:2}\n{a:3,b:4}\n{a:5,b:6}\n')

    def test_keyed_and_shapes(self):
        text = '{"p":{"x":10,"s":"unit"},"q":{"x":20,"s":"unit"},"r":{"x":30,"s":"unit"}}'
        self.assertEqual(self.written(FORMS["labelled-short"], text), '{3}{x,s="unit"}:\np:{x:10}\nq:{x:20}\nr:{x:30}\n')
        self.assertEqual(self.written(FORMS["labelled-unkeyed"], text), '{p:{x:10,s:"unit"},q:{x:20,s:"unit"},r:{x:30,s:"unit"}}')
        text = '[1,{"xx":10,"ss":"u"},2,{"xx":20,"ss":"v"},{"xx":30,"ss":"w"}]'
        self.assertEqual(self.written(FORMS["labelled-shapes"], text), '[1,@a{xx:10,ss:"u"},2,@a(20,"v"),@a(30,"w")]')

    def test_hints(self):
        text = self.text("labelled-hints")
        self.assertEqual(text.count(" #"), 1)
        self.assertIn("}: #one object a line; key=value holds for all of them\n", text)

    def test_constructs(self):
        written = writer.write(parse(ROWS), FORMS["positional"])
        expected = {
            ("total",): "member",
            ("items", 0, "id"): "cell",
            ("items", 0, "state"): "constant",
            ("items", 1, "by", "login"): "spliced",
            ("items", 1, "by", "bot"): "constant",
            ("items", 0, "tags", 0, "name"): "default",
            ("items", 0, "tags", 1, "name"): "tuple",
            ("items", 0, "due"): "empty cell",
            ("items", 2, "due"): "optional cell",
            ("items", 0, "n"): "default",
            ("items", 2, "n"): "default cell",
            ("items", 0, "nothing"): "left out",
        }
        self.assertEqual({path: written.construct(path) for path in expected}, expected)

    def test_at_least_twelve_forms_differ(self):
        texts = {name: tuple(writer.write(document.value, form).text for document in load()[::4]) for name, form in FORMS.items()}
        self.assertGreaterEqual(len(set(texts.values())), 12)
        same = [(one, other) for one in texts for other in texts if one < other and texts[one] == texts[other]]
        self.assertEqual(same, [], "forms that write the same are one form")

    def test_defaults_of_a_form(self):
        self.assertEqual(Form().rows, "labelled")
        self.assertEqual([form.name for form in FORMS.values()], list(FORMS))


class CodecTest(unittest.TestCase):
    def test_the_codecs_texts_are_read_back(self):
        for name in formats.CODEC:
            for document in load()[::9]:
                formats.encode(document.value, name)  # raises where the reader gets other data back
            for text in (ROWS, *HARD):
                formats.encode(parse(text), name)

    def test_constructs_of_references(self):
        rows = ",".join('{"id":%d,"url":"https://example.com/repos/owner/name/%d","by":{"login":"ann","id":7,"kind":"person"},"n":%d}' % (n, n, n % 3) for n in range(40, 52))
        text = '{"a":{"login":"ann","id":7,"kind":"person"},"items":[%s]}' % rows
        written = formats.encode(parse(text), "stc2-refs")
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
