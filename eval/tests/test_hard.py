"""Questions for strong readers: their answers are computed again from the JSON in another way, and each has only one."""
import json
import re
import unittest
from decimal import Decimal

from stc_eval import bodies, dataset, documents, formats, hard, lexemes, scoring, tables
from stc_eval.lexemes import minify, parse


def load():
    if not hasattr(load, "kept"):
        load.kept = bodies.load()
    return load.kept


def steps(dotted):
    """Returns the path that a question names as `a.b[0].c`."""
    return [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", dotted)]


def field(row, path):
    """Returns the value at a path as an answer shows it; `missing` where there is none. A whole value is JSON."""
    for step in path:
        if isinstance(row, dict) and step in row or isinstance(row, list) and isinstance(step, int) and step < len(row):
            row = row[step]
        else:
            return "missing"
    return row if isinstance(row, str) else written(row)


def numbers(text):
    """Returns the document with every number as it is spelled."""
    return json.loads(text, parse_float=Spelled, parse_int=Spelled)


class Spelled:
    """A number as it is spelled."""

    def __init__(self, text):
        self.text = text


def written(value):
    """Returns minified JSON with every number as it was spelled."""
    if isinstance(value, Spelled):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(key)}:{written(member)}" for key, member in value.items()) + "}"
    return "[" + ",".join(map(written, value)) + "]" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)


class BodiesTest(unittest.TestCase):
    def test_sizes_and_shapes(self):
        sizes = {document.id: len(minify(document.value).encode()) for document in load()}
        self.assertTrue(all(bodies.SMALLEST <= size <= bodies.LARGEST for size in sizes.values()), sizes)
        self.assertGreater(max(sizes.values()), 55_000)
        self.assertEqual({document.half for document in load()}, {"report"})
        for kind in bodies.BODIES:
            self.assertEqual(documents.half(kind), "report", kind)
        for name, (width, height, ragged) in tables.TABLES.items():
            rows = lexemes.plain(tables.make(name))
            self.assertEqual(minify(tables.make(name)), minify(tables.make(name)))
            self.assertEqual((len(rows), len(set().union(*rows))), (height, width), name)
            self.assertEqual(len({row["id"] for row in rows}), height)
            self.assertTrue(hard.plain_numbers(tables.make(name)))
            gaps = sum(width - len(row) + list(row.values()).count(None) for row in rows) / (width - 1) / height
            self.assertTrue(0.2 < gaps < 0.3 if ragged else gaps == 0, (name, gaps))
        self.assertEqual((max(size[0] for size in tables.TABLES.values()), max(size[1] for size in tables.TABLES.values())), (60, 1000))

    def test_files_of_a_folder_are_used_whole(self):
        folder = formats.HERE.parent / "corpus" / "made"
        found = {document.id: minify(document.value) for document in bodies.load([folder])}
        self.assertEqual(found["tickets-whole"], minify(parse((folder / "tickets.json").read_text())))
        self.assertEqual(set(found) - {document.id for document in load()}, {key for key in found if key.endswith("-whole")})

    def test_documents_that_leave_two_answers_are_left_out(self):
        self.assertIsNone(bodies.document("a", parse('[{"a":1,"a":2}]')))
        self.assertIsNone(bodies.document("a", parse('["\\ud800"]')))


class HardTest(unittest.TestCase):
    def test_the_same_seed_gives_the_same_questions(self):
        document = load()[0]
        self.assertEqual(hard.make(document, 1), hard.make(document, 1))
        self.assertNotEqual([made.text for made in hard.make(document, 1)], [made.text for made in hard.make(document, 2)])

    def test_answers_are_what_the_json_says(self):
        kinds = set()
        for document in load():
            value = numbers(minify(document.value))
            for seed in (1, 2, 3):
                made = hard.make(document, seed)
                self.assertLessEqual(len(made), hard.MOST)
                self.assertEqual(len({question.text for question in made}), len(made))
                for question in made:
                    kinds.add(question.kind)
                    self.assertEqual(question.answer, self.expected(value, question.text), (document.id, question))
        self.assertEqual(kinds, set(hard.HARD))

    def test_members_of_a_document_without_rows(self):
        document = bodies.document("body", parse('{"a":{"b":{"name":"something long","size":1.0,"kind":"x"},"c":{"name":"something long","size":7}},"d":[10000,20000,30000,40000,50000]}'))
        self.assertIsNone(document.main)
        made = {question.text: question.answer for question in hard.make(document, 1)}
        self.assertEqual(made["Write `a.c` as JSON: all of it, in its order."], '{"name":"something long","size":7}')
        self.assertNotIn("`a.b`", "".join(made), "1.0 is another spelling of 1, which not every format keeps")

    def expected(self, value, text):
        """Computes the answer from the question's text alone; fails where it has more than one."""
        where = re.search(r"the array `([^`]+)`", text)
        for step in steps(where.group(1)) if where else []:
            value = value[step]
        rows = value
        text = text.replace(f"the array `{where.group(1)}`" if where else "the top-level array", "ROWS")
        if found := re.fullmatch(r"What is `([^`]+)` of the item of ROWS with the (\w+) `([^`]+)`\?", text):
            return field(self.extreme(rows, steps(found.group(3)), found.group(2)), steps(found.group(1)))
        if found := re.fullmatch(r"What is the (largest|smallest|latest|earliest) `([^`]+)` among the items of ROWS\?", text):
            return field(self.extreme(rows, steps(found.group(2)), found.group(1)), steps(found.group(2)))
        if found := re.fullmatch(r"List `([^`]+)` of all items of ROWS whose `([^`]+)` is (.+), in the order of the data, separated by commas\.", text):
            holding = [row for row in rows if field(row, steps(found.group(2))) == field(numbers(found.group(3)), [])]
            return ", ".join(field(row, steps(found.group(1))) for row in holding)
        if found := re.fullmatch(r"What is the sum of `([^`]+)` over the items number (\d+) to (\d+) of ROWS \(the first is number 1\)\?", text):
            return str(sum(int(field(row, steps(found.group(1)))) for row in rows[int(found.group(2)) - 1 : int(found.group(3))]))
        if found := re.fullmatch(r"What is `([^`]+)` of the last item of ROWS\?", text):
            held = [path for path, _ in self.scalars(rows[-1])]
            self.assertIn(steps(found.group(1)), held)
            return field(rows[-1], steps(found.group(1)))
        found = re.fullmatch(r"(?:What is|Write) (?:`([^`]+)` of )?(.+?)(?:\? If the field is null .*| as JSON: all of it, .*|\?)", text)
        return field(self.row(rows, found.group(2)), steps(found.group(1)) if found.group(1) else [])

    def row(self, rows, named):
        if found := re.fullmatch(r"item number (\d+) of ROWS \(the first is number 1\)", named):
            return rows[int(found.group(1)) - 1]
        found = re.fullmatch(r"the item of ROWS whose `([^`]+)` is (.+)", named)
        [row] = [row for row in rows if field(row, steps(found.group(1))) == field(numbers(found.group(2)), [])]
        return row

    def extreme(self, rows, path, word):
        given = [(field(row, path), row) for row in rows if field(row, path) not in ("missing", "null")]
        if word in ("largest", "smallest"):
            given = [(Decimal(value), row) for value, row in given]
        best = (max if word in ("largest", "latest") else min)(value for value, _ in given)
        [row] = [row for value, row in given if value == best]
        return row

    def scalars(self, value, path=()):
        if isinstance(value, dict):
            for key, member in value.items():
                yield from self.scalars(member, path + (key,))
        elif isinstance(value, list):
            for index, element in enumerate(value):
                yield from self.scalars(element, path + (index,))
        else:
            yield list(path), value

    def test_constructs_are_of_the_kind_where_many_values_answer(self):
        [document] = [document for document in load() if document.id == "ragged-40x30"]
        made = dataset.Dataset({}, {document.id: document}, hard.make(document, 1), formats.write_all([document], ["stc2"]))
        for question in made.questions:
            construct = made.construct("stc2", question)
            if question.kind in ("cell", "gap", "end"):
                self.assertNotIn(construct, (question.kind, "not known"))
            else:
                self.assertEqual(construct, question.kind)


class ScoringTest(unittest.TestCase):
    RIGHT = '{"id":7,"name":"a\\/\\u00e9","n":[1.50,null],"o":{"x":1e2,"y":true}}'

    def right(self, given):
        return scoring.is_right({"kind": "row", "answer": self.RIGHT, "path": ["items", 0]}, given)

    def test_json_however_it_is_laid_out(self):
        for given in (
            self.RIGHT,
            '{ "id": 7, "name": "a/é",\n  "n": [1.50, null], "o": {"x": 1e2, "y": true} }',
            f"```json\n{self.RIGHT}\n```",
        ):
            self.assertTrue(self.right(given), given)

    def test_json_with_another_order_spelling_or_member(self):
        for given in (
            self.RIGHT.replace("1.50", "1.5"),
            self.RIGHT.replace("1e2", "100"),
            self.RIGHT.replace('"id":7,', "").replace('"o":', '"id":7,"o":'),
            self.RIGHT.replace(",null", ""),
            self.RIGHT.replace("true", '"true"'),
            self.RIGHT.replace("7", '"7"'),
            self.RIGHT[:-1],
            self.RIGHT.replace('"id"', "id"),
            "",
            "7",
        ):
            self.assertFalse(self.right(given), given)

    def test_lists_of_all_rows_with_a_value(self):
        for given, wanted in (("a, b", True), ("a,b", True), ("b, a", False), ("a", False), ("a, b, c", False)):
            self.assertEqual(scoring.is_right({"kind": "having", "answer": "a, b", "path": ["id"]}, given), wanted)


if __name__ == "__main__":
    unittest.main()
