"""Documents, the split into halves, and questions: deterministic, and with answers that the JSON bears out."""
import json
import tempfile
import unittest
from pathlib import Path

from stc_eval import dataset, documents, formats, lexemes, prompts, questions

CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus" / "made"


def load():
    if not hasattr(load, "kept"):
        load.kept = documents.load([CORPUS])
    return load.kept


class LexemesTest(unittest.TestCase):
    def test_lexemes_are_kept(self):
        text = '{"a":[1.0,1e2,-0,"\\u0041\\/"],"a":{"":[]},"b":{}}'
        self.assertEqual(lexemes.minify(lexemes.parse(text)), text)
        self.assertEqual(lexemes.minify(lexemes.parse(' { "a" : [ 1 , true ] } ')), '{"a":[1,true]}')
        self.assertTrue(lexemes.has_repeated_keys(lexemes.parse(text)))

    def test_texts_that_are_no_json_are_refused(self):
        for text in ("", "{", "[1,]", '{"a" 1}', "01", '"a', "[1] 2", "{a:1}"):
            with self.assertRaises(ValueError, msg=text):
                lexemes.parse(text)

    def test_estimate_grows_with_the_text(self):
        self.assertEqual(lexemes.estimate(""), 0)
        self.assertEqual(lexemes.estimate('{"id":1234}'), 6)
        self.assertLess(lexemes.estimate("{id:1}"), lexemes.estimate('{"identifier_of_it":1}'))


class DocumentsTest(unittest.TestCase):
    def test_the_split_is_fixed(self):
        """These halves are published with figures; a change of the rule would mix what was chosen with what is reported."""
        named = {name: documents.half(name) for name in ("issues", "pods", "logs", "keyed", "users", "commits")}
        self.assertEqual(named, {"issues": "choose", "pods": "choose", "logs": "choose", "keyed": "choose", "users": "report", "commits": "choose"})

    def test_styles_of_one_kind_share_a_half(self):
        for name in ("issues", "pods", "sql-rows"):
            self.assertEqual({documents.half(name + style) for style in ("", "-pretty", "-small", "-minified")}, {documents.half(name)})

    def test_both_halves_are_of_use(self):
        halves = [document.half for document in load()]
        self.assertGreater(min(halves.count("choose"), halves.count("report")), 30)
        self.assertEqual([document.id for document in documents.load([CORPUS], ("report",))], [document.id for document in load() if document.half == "report"])

    def test_sizes_and_rows(self):
        for document in load():
            size = lexemes.estimate(lexemes.minify(document.value))
            self.assertTrue(documents.SMALLEST <= size <= documents.LARGEST, document.id)
            if document.main is not None:
                self.assertIsNotNone(documents.rows_of(documents.at(document.value, document.main)), document.id)

    def test_a_file_more_changes_no_other_document(self):
        rows = [{"id": number, "name": f"name {number}", "note": "x" * 90} for number in range(200)]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "b.json").write_text(json.dumps(rows))
            alone = [(document.id, lexemes.minify(document.value)) for document in documents.load([folder])]
            Path(folder, "a.json").write_text(json.dumps(rows[:120]))
            self.assertEqual([found for found in ((document.id, lexemes.minify(document.value)) for document in documents.load([folder])) if found[0].startswith("b")], alone)
        self.assertEqual(len(alone), 2)

    def test_an_empty_folder_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ValueError, "no .json file"):
            documents.load([folder])


class QuestionsTest(unittest.TestCase):
    def test_the_same_seed_gives_the_same_questions(self):
        document = load()[0]
        self.assertEqual(questions.make(document, 1), questions.make(document, 1))
        every = [[question.text for question in questions.make(found, seed)] for seed in (1, 2) for found in load()[:10]]
        self.assertNotEqual(every[:10], every[10:])

    def test_answers_are_what_the_json_says(self):
        """Every answer is computed again from the JSON by another way than the generator's."""
        kinds = set()
        for document in load():
            value = lexemes.plain(document.value)
            made = questions.make(document, 3)
            self.assertLessEqual(len(made), questions.MOST)
            self.assertEqual(len({question.text for question in made}), len(made))
            for question in made:
                kinds.add(question.kind)
                self.assertEqual(question.answer, self.expected(value, question), question)
        self.assertEqual(kinds, set(questions.KINDS))

    def expected(self, value, question):
        *steps, last = question.path or [None]
        if question.kind == "count":
            for step in question.path:
                value = value[step]
            return str(len(value))
        if question.kind in ("filter", "list"):
            main = question.path
            rows, depth = value, 0
            while not isinstance(rows, list) and isinstance(main[depth], str) and not self.is_row_name(question, depth):
                rows, depth = rows[main[depth]], depth + 1
            rows = list(rows.values()) if isinstance(rows, dict) else rows
            column = [self.field(row, main[depth + 1 :]) for row in rows]
            if question.kind == "list":
                return ", ".join(column[:3])
            wanted = json.loads(question.text.split(" equal to ", 1)[1].rstrip("?"))
            wanted = self.field(wanted, [])
            return str(column.count(wanted))
        for step in steps:
            value = value[step]
        if question.kind == "missing":
            self.assertNotIn(last, value)
            return "missing"
        return self.field(value, [last], question.answer)

    @staticmethod
    def is_row_name(question, depth):
        return f"the object `{questions.dotted(question.path[:depth])}`" in question.text or depth == 0 and "top-level object" in question.text

    @staticmethod
    def field(value, path, spelled=None):
        for step in path:
            value = value[step]
        if isinstance(value, str):
            return value
        if isinstance(value, float) and spelled is not None:
            return spelled if float(spelled) == value else repr(value)
        return json.dumps(value)


class PromptsTest(unittest.TestCase):
    def test_settings_are_named_and_read_back(self):
        for text in ("stc2/after", "stc2-labelled+legend/both", "json/before"):
            self.assertEqual(str(prompts.setting(text)), text)
        self.assertEqual(str(prompts.setting("stc2")), "stc2/after")
        for text in ("stc3/after", "stc2/under", "stc2+short/after"):
            with self.assertRaises(ValueError):
                prompts.setting(text)

    def test_orders(self):
        question = questions.Question("d/0", "d", "key", "What?", "1", ["a"])
        after, both, before = (prompts.prompt(prompts.Setting("json", order), "DATA", question) for order in prompts.ORDERS)
        self.assertTrue(after.endswith("DATA\n\nQuestion: What?") and after.count("What?") == 1)
        self.assertTrue(both.startswith("Question: What?") and both.endswith("DATA\n\nQuestion: What?"))
        self.assertTrue(before.startswith("Question: What?") and before.count("What?") == 1 and before.index("What?") < before.index("DATA"))

    def test_legends_are_shown_where_a_format_has_one(self):
        question = questions.Question("d/0", "d", "key", "What?", "1", ["a"])
        for name in ("stc1", "stc2", "stc2-labelled", "toon", "json"):
            none, legend = (len(prompts.prompt(prompts.Setting(name, "after", length), "", question)) for length in formats.LEGENDS)
            self.assertEqual(none < legend, name != "json", name)

    def test_questions_about_a_document_share_its_text(self):
        made = dataset.build([CORPUS], ("report",), ["json", "stc1"], 1, sample=40)
        groups = list(dataset.groups(made, [prompts.Setting("stc1"), prompts.Setting("json", "both")]))
        self.assertEqual(len(groups), 2 * len(made.documents))
        for group in groups:
            self.assertEqual(len({part["before"] for part in group["asks"]}) == 1, group["setting"].endswith("after"))
        self.assertGreaterEqual(len(made.questions), 40)
        self.assertLess(len(made.questions), 40 + questions.MOST)

    def test_questions_about_constructs_are_others_and_bounded(self):
        usual = dataset.build([CORPUS], ("report",), ["json"], 1)
        made = dataset.build_for_constructs([CORPUS], ("report",), ["json", "stc2-labelled"], 1, 3, ["constant", "left out"])
        self.assertEqual({made.construct("stc2-labelled", question) for question in made.questions}, {"constant", "left out"})
        known = {(question.doc, question.text) for question in usual.questions}
        texts = [(question.doc, question.text) for question in made.questions]
        self.assertEqual(len(set(texts)), len(texts))
        self.assertFalse(known & set(texts))
        ids = [question.id for question in made.questions]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertTrue(all(int(one.rsplit(" ", 1)[1]) <= 3 for one in ids))
        self.assertEqual(set(made.documents), {question.doc for question in made.questions})


if __name__ == "__main__":
    unittest.main()
