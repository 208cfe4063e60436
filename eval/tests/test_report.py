"""Scoring, intervals, recordings and the report."""
import contextlib
import gzip
import io
import json
import random
import tempfile
import unittest
from pathlib import Path

from stc_eval import bodies, dataset, documents, formats, plot, publish, recording, report, scoring, statistics


def question(answer, kind="key", path=("items", 0, "name")):
    return {"answer": answer, "kind": kind, "path": list(path)}


class ScoringTest(unittest.TestCase):
    def test_right(self):
        for answer, given in (
            ("ann", "ann"),
            ("ann", ' "ann". '),
            ("ann", "`ann`"),
            ("ann", "```\nann\n```"),
            ("ann", "```json\n\"ann\"\n```"),
            ("ann", "name: ann"),
            ("ann", '"name": "ann"'),
            ("ann", "items[0].name = ann"),
            ("ann", "The name is ann".removeprefix("The ")),
            ("true", "True"),
            ("null", "NULL"),
            ("missing", "Missing."),
            ("1200", "1,200"),
            ("1.50", "1.5"),
            ("1e2", "100"),
            ("a  b", "a b"),
            ("https://example.com/a.", "https://example.com/a"),
            ("Jun Yılmaz", "Jun Y\\u0131lmaz"),
            ("a\\u00zz", "a\\u00zz"),
        ):
            self.assertTrue(scoring.is_right(question(answer), given), (answer, given))

    def test_wrong(self):
        for answer, given in (
            ("ann", "Ann"),
            ("ann", "ann or bob"),
            ("Jun Yılmaz", "Jun Y\\u0132lmaz"),
            ("ann", "bob"),
            ("ann", ""),
            ("null", "missing"),
            ("missing", "null"),
            ("true", "false"),
            ("12", "12.5"),
            ("12", "120"),
            ("0123", "123a"),
            ("2025-01-01", "2025"),
        ):
            self.assertFalse(scoring.is_right(question(answer), given), (answer, given))

    def test_lists(self):
        for given in ("a, b, c", "a,b,c", '["a", "b", "c"]', "a\nb\nc", "`a`, `b`, `c`"):
            self.assertTrue(scoring.is_right(question("a, b, c", "list"), given), given)
        for given in ("a, c, b", "a, b", "a, b, c, d", ""):
            self.assertFalse(scoring.is_right(question("a, b, c", "list"), given), given)


class StatisticsTest(unittest.TestCase):
    def test_interval_holds_the_mean_and_is_seeded(self):
        rng = random.Random(4)
        values = {f"d{number}": [rng.random() for _ in range(10)] for number in range(40)}
        centre, low, high = statistics.interval(values, 1)
        self.assertAlmostEqual(centre, statistics.mean(value for found in values.values() for value in found))
        self.assertTrue(low < centre < high and 0.01 < high - low < 0.3, (low, centre, high))
        self.assertEqual(statistics.interval(values, 1), (centre, low, high))
        self.assertNotEqual(statistics.interval(values, 2)[1:], (low, high))

    def test_documents_are_what_is_resampled(self):
        """Ten equal answers about a document are no more evidence than one."""
        one = {f"d{number}": [float(number % 2)] for number in range(30)}
        ten = {f"d{number}": [float(number % 2)] * 10 for number in range(30)}
        self.assertEqual(statistics.interval(one, 1), statistics.interval(ten, 1))

    def test_paired_difference(self):
        document_of = {f"q{number}": f"d{number // 5}" for number in range(100)}
        base = {key: float(int(key[1:]) % 3 > 0) for key in document_of}
        self.assertEqual(statistics.paired(base, base, document_of, 1), (0.0, 0.0, 0.0))
        worse = {key: 0.0 if int(key[1:]) % 10 == 1 else value for key, value in base.items()}
        centre, low, high = statistics.paired(worse, base, document_of, 1)
        self.assertLess(high, 0.0)
        self.assertTrue(low < centre < high)
        some = {key: value for key, value in worse.items() if int(key[1:]) < 50}
        self.assertEqual(statistics.paired(some, base, document_of, 1)[0], statistics.mean(some[key] - base[key] for key in some))

    def test_bounds_of_few_errors(self):
        """The values of Clopper and Pearson: 1 - 0.025^(1/100) for none of a hundred, and others from tables."""
        for count, total, bound in ((0, 100, 0.0362), (3, 100, 0.0852), (99, 100, 0.9997), (0, 1000, 0.0037), (500, 1000, 0.5315)):
            self.assertAlmostEqual(statistics.bound(count, total, 0.025), bound, places=4)
        self.assertEqual(statistics.bound(7, 7, 0.025), 1.0)

    def test_exact_difference(self):
        right = {f"q{number}": 1.0 for number in range(300)}
        some = {key: float(key not in ("q3", "q5")) for key in right}
        centre, low, high = statistics.exact(right, right)
        self.assertEqual(centre, 0.0)
        self.assertTrue(-0.015 < low < -0.014 and 0.014 < high < 0.015, "no error was seen, and some may be possible all the same")
        lost = statistics.exact(some, right)
        self.assertAlmostEqual(lost[0], -2 / 300)
        self.assertTrue(lost[1] < -0.02 < lost[0] < 0.0 < lost[2] < 0.015, lost)
        gained = statistics.exact(right, some)
        for one, other in zip(lost, (gained[0], gained[2], gained[1])):
            self.assertAlmostEqual(one, -other)
        self.assertEqual(statistics.exact({}, right), (0.0, 0.0, 0.0))

    def test_nothing(self):
        self.assertEqual(statistics.interval({}, 1), (0.0, 0.0, 0.0))
        self.assertEqual(statistics.mean([]), 0.0)


def prepared():
    """Returns what sixty questions were asked about twelve documents in two halves."""
    listed = []
    for number in range(60):
        listed.append(
            {
                "id": f"d{number // 5}/{number % 5}",
                "doc": f"d{number // 5}",
                "source": f"d{number // 5}",
                "half": "choose" if number < 30 else "report",
                "kind": ("key", "constant", "count", "key", "missing")[number % 5],
                "text": f"What is {number}?",
                "answer": str(number),
                "path": ["rows", number, "n"],
                "constructs": {"json": "member", "stc2": ("cell", "constant", "count", "cell", "empty cell")[number % 5]},
            }
        )
    sizes = {"json": {f"d{number}": [100, 50] for number in range(12)}, "stc2": {f"d{number}": [60, 40] for number in range(12)}}
    return {"about": {"seed": 1}, "questions": listed, "sizes": sizes, "names": recording.NAMES}


def answers():
    for entry in prepared()["questions"]:
        number = int(entry["answer"])
        yield {"setting": "json/after", "q": entry["id"], "answer": entry["answer"], "tokens": 500}
        yield {"setting": "stc2/after", "q": entry["id"], "answer": "0" if number % 5 in (0, 4) else entry["answer"], "tokens": 400}


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "a.jsonl.gz"
        recording.write(self.path, {"model": "m", "digest": "d", "command": "eval/run"}, prepared(), answers())

    def tearDown(self):
        self.folder.cleanup()

    def test_the_same_answers_give_the_same_bytes(self):
        other = Path(self.folder.name) / "b.jsonl.gz"
        shuffled = list(answers())
        random.Random(1).shuffle(shuffled)
        recording.write(other, {"model": "m", "digest": "d", "command": "eval/run"}, prepared(), shuffled)
        self.assertEqual(self.path.read_bytes(), other.read_bytes())
        for name in ("one", "two"):
            self.assertEqual(report.main([str(self.path), "--out", str(Path(self.folder.name) / name)]), 0)
        for name in ("report.md", "frontier-after.svg"):
            one, two = ((Path(self.folder.name) / folder / name).read_bytes() for folder in ("one", "two"))
            self.assertEqual(one, two)
            self.assertGreater(len(one), 500)

    def test_tables(self):
        text = report.Report(*recording.read([self.path])).text()
        self.assertIn("Model: m, digest d.", text)
        self.assertIn("Half of the corpus: choose and report. 60 questions about 12 documents, seed 1.", text)
        self.assertIn("| json | 60 | 1.00 | 500 | 100.0 |  | 2.000 |  |", text)
        self.assertRegex(text, r"\| stc2 \| 60 \| 0\.80 \| 400 \| 61\.7 \| -38\.3 \[-4\d\.\d, -3\d\.\d\] \| 1\.542 \|")
        self.assertIn("| text | key (24) | constant (12) | missing (12) | count (12) |", text)
        self.assertRegex(text, r"\| stc2 \| cell \| 24 \| 54\.2 \| 100\.0 \| -45\.8 ")
        self.assertIn("| stc2 | constant | 12 | 100.0 | 100.0 | +0.0 [+0.0, +0.0] |", text)

    def test_one_half(self):
        text = report.Report(*recording.read([self.path]), half="choose").text()
        self.assertIn("Half of the corpus: choose. 30 questions about 6 documents", text)

    def test_raw_answers_need_their_questions(self):
        raw = Path(self.folder.name) / "raw.jsonl.gz"
        with gzip.open(raw, "wt") as file:
            file.writelines(json.dumps(answer) + "\n" for answer in answers())
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            self.assertEqual(report.main([str(raw)]), 2)
        self.assertIn("give --questions", err.getvalue())
        asked = Path(self.folder.name) / "questions.json"
        asked.write_text(json.dumps(prepared()))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(report.main([str(raw), "--questions", str(asked)]), 0)
        self.assertIn("| stc2 | 60 |", out.getvalue())

    def test_recordings_of_before_the_names_by_reader_have_todays_names(self):
        """`stc2-refs` is today's `stc2`, and what was `stc2` is `stc2-labelled`; a form keeps its name, and so does a legend."""
        old = prepared()
        del old["names"]
        old["sizes"]["stc2-refs"] = {"d0": [50, 30]}
        old["sizes"]["stc2-copies"] = {"d0": [55, 35]}
        for listed in old["questions"]:
            listed["constructs"]["stc2-refs"] = "copy"
        path = Path(self.folder.name) / "old.jsonl.gz"
        settings = ("json/after", "stc2/after", "stc2-refs/after", "stc2-refs+short/both", "stc2-copies/after")
        with gzip.open(path, "wt") as file:
            file.write(json.dumps({"model": "m", **old}) + "\n")
            file.writelines(json.dumps({"setting": setting, "q": "d0/0", "answer": setting}) + "\n" for setting in settings)
        asked, found = recording.read([path])
        read = {setting: answer["d0/0"]["answer"] for setting, answer in found.items()}
        self.assertEqual(read, dict(zip(("json/after", "stc2-labelled/after", "stc2/after", "stc2+short/both", "stc2-copies/after"), settings)))
        self.assertEqual(asked["sizes"]["stc2"], {"d0": [50, 30]})
        self.assertEqual(set(asked["sizes"]), {"json", "stc2", "stc2-labelled", "stc2-copies"})
        self.assertEqual(asked["questions"][0]["constructs"], {"json": "member", "stc2-labelled": "cell", "stc2": "copy"})
        again, answered = recording.read([self.path])
        self.assertEqual((set(again["sizes"]), set(answered)), ({"json", "stc2"}, {"json/after", "stc2/after"}), "new recordings stay as they are")

    def test_recordings_of_other_questions_are_refused(self):
        other = Path(self.folder.name) / "c.jsonl.gz"
        changed = prepared()
        changed["questions"][0]["answer"] = "other"
        recording.write(other, {"model": "m"}, changed, answers())
        with self.assertRaisesRegex(ValueError, "asked other questions"):
            recording.read([self.path, other])

    def test_frontier(self):
        points = [("a", 0.5, 50.0), ("b", 0.7, 45.0), ("c", 0.8, 60.0), ("d", 1.0, 60.0), ("e", 0.8, 55.0)]
        self.assertEqual([name for name, _, _ in plot.frontier(points)], ["a", "c"])
        drawn = plot.svg("A <title>", points, {"a": (48.0, 52.0)})
        self.assertIn("A &lt;title&gt;", drawn)
        self.assertEqual(drawn.count("<circle"), 5)


class PublishedTest(unittest.TestCase):
    def test_the_recorded_texts_are_what_the_codec_writes(self):
        """A figure is about the encoder that made the texts: one that differs today is asked about again, or is named in CHANGED and dated."""
        count, compared = dataset.o200k(), 0
        found = documents.load([formats.HERE.parent / "corpus" / "made"]) + bodies.load()
        for name, changed in publish.CHANGED.items():
            path = publish.ANSWERS / f"{name}.jsonl.gz"
            sizes = recording.read([path])[0]["sizes"] if path.exists() else {}
            for format_name in set(sizes) & set(formats.CODEC) - set(changed):
                for document in found:
                    if recorded := sizes[format_name].get(document.id):
                        text = formats.encode(document.value, format_name).text
                        self.assertEqual(recorded, [len(text.encode()), count(text)], (name, format_name, document.id))
                        compared += 1
        self.assertGreater(compared, 100)


if __name__ == "__main__":
    unittest.main()
