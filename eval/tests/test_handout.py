"""Folders for readers of files: what is in them and what is not, and what becomes of their answers."""
import contextlib
import gzip
import io
import json
import re
import shutil
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from stc_eval import formats, handin, handout, publish, recording, report, scoring

SETTINGS = handout.SETTINGS.split(",")
FILE = re.compile(r"\d\d(-part-\d+)?\.txt")
OPTIONS = ["--simple", "30", "--hard", "30"]


def call(program, *arguments):
    """Runs a program in this process; returns its exit status, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = program.main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


class HandedOut(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = Path(cls.folder.name) / "out"
        code, cls.said, err = call(handout, cls.out, *OPTIONS)
        assert code == 0, err
        with gzip.open(cls.out / handout.KEY, "rt", encoding="utf-8") as file:
            cls.key = json.load(file)
        cls.questions = {question["id"]: question for question in cls.key["prepared"]["questions"]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def documents(self, reader):
        """Yields number, document, setting and {number of question: question} of each document in a reader's folder."""
        for number, (setting, asked) in self.key["readers"][reader]["documents"].items():
            found = {short: self.questions[question] for short, question in asked.items()}
            yield number, next(iter(found.values()))["doc"], setting, found

    def text(self, reader, number):
        """Returns the whole text of a document's files, their heads left out."""
        return "".join(path.read_text(encoding="utf-8") for path in sorted((self.out / reader).glob(f"{number}*.txt")))


class HandOutTest(HandedOut):
    def test_each_question_is_asked_once_in_each_setting_and_no_reader_sees_a_document_twice(self):
        asked = {}
        for reader in self.key["readers"]:
            seen = [document for _, document, _, _ in self.documents(reader)]
            self.assertEqual(len(set(seen)), len(seen))
            for _, _, setting, found in self.documents(reader):
                for question in found.values():
                    asked.setdefault(question["id"], []).append(setting)
        self.assertEqual(set(asked), set(self.questions))
        self.assertEqual({tuple(sorted(settings)) for settings in asked.values()}, {tuple(sorted(f"{setting}/after" for setting in SETTINGS))})

    def test_settings_are_rotated_over_readers(self):
        self.assertGreaterEqual(len(self.key["readers"]), len(SETTINGS))
        counts = {reader: dict.fromkeys(SETTINGS, 0) for reader in self.key["readers"]}
        for reader, of_reader in counts.items():
            for _, _, setting, _ in self.documents(reader):
                of_reader[setting.removesuffix("/after")] += 1
        for setting in SETTINGS:
            given = [of_reader[setting] for of_reader in counts.values() if of_reader[setting]]
            self.assertLessEqual(max(given) - min(given), 2, (setting, counts))
        told = {reader for reader, of_reader in counts.items() if of_reader["stc2+legend"]}
        untold = {reader for reader, of_reader in counts.items() if of_reader["stc2"] or of_reader["stc2-labelled"]}
        self.assertEqual(told & untold, set(), "who has read a legend does not read without one")
        self.assertEqual({setting for setting in ("json", "toon") for reader in told if counts[reader][setting]}, {"json", "toon"})

    def test_every_number_of_readers(self):
        """As many readers as settings see every document, each in one setting."""
        for texts in (SETTINGS, ["json", "stc2"], ["json", "stc2+legend", "stc2"], ["stc2", "stc2+legend", "toon", "toon+legend"], ["stc2+legend"]):
            settings = [handout.prompts.setting(text) for text in texts]
            options = handout.parsed([str(self.out), "--simple", "12", "--hard", "0", "--settings", ",".join(texts)])
            made = handout.build(options, settings)
            self.assertLessEqual(max(map(len, handout.assigned(made, settings, most=1))), 1)
            for readers in range(len(settings), 12):
                given = handout.assigned(made, settings, readers)
                pairs = [(name, setting) for of_reader in given for name, setting in of_reader]
                self.assertEqual(sorted(map(str, pairs)), sorted(str((name, setting)) for name in made.documents for setting in settings))
                self.assertTrue(all(len({name for name, _ in of_reader}) == len(of_reader) for of_reader in given))

    def test_files_hold_the_data_and_then_the_questions(self):
        folder = formats.HERE.parent / "corpus" / "made"
        options = handout.parsed([str(self.out), *OPTIONS])
        made = handout.build(options, [handout.prompts.setting(setting) for setting in SETTINGS])
        self.assertTrue(folder.is_dir())
        for reader in self.key["readers"]:
            for number, document, setting, found in self.documents(reader):
                setting = handout.prompts.setting(setting)
                files = [path.read_text(encoding="utf-8") for path in sorted((self.out / reader).glob(f"{number}*.txt"))]
                data = files[0].split("\nData:\n", 1)[1] if len(files) == 1 else None
                whole = made.texts[setting.format][document].text.rstrip("\n")
                if data is not None:
                    self.assertTrue(data.startswith(whole + "\n\nQuestions, to be answered in answers/"), (reader, number))
                for line in whole.split("\n"):
                    if len(line) < 300:
                        self.assertIn(line, "".join(files))
                self.assertEqual(formats.legend(setting.format) in files[0], setting.legend == "legend" or setting.format == "json")
                for short, question in found.items():
                    self.assertIn(f"\n{short}: {question['text']}\n", files[-1])

    def test_files_are_short_enough_to_be_printed_whole(self):
        parts = 0
        for path in self.out.glob("*/*"):
            if path.is_file():
                self.assertLessEqual(len(path.read_text(encoding="utf-8")), handout.LONGEST_FILE + 1000, path)
                parts += "part" in path.name
        self.assertGreater(parts, 1)

    def test_nothing_tells_the_answers_or_what_a_document_is(self):
        """The questions and the data are all there is: no file names a document, whose name may tell how many rows it has."""
        for reader in self.key["readers"]:
            names = {path.relative_to(self.out / reader).as_posix() for path in (self.out / reader).rglob("*")}
            self.assertTrue(all(name in ("RULES.md", "answers") or FILE.fullmatch(name) for name in names), names)
            self.assertEqual(list((self.out / reader / "answers").iterdir()), [])
            for number, document, _, found in self.documents(reader):
                text = self.text(reader, number)
                head, tail = text.split("\nData:\n")[0], text.rsplit("\n\nQuestions, to be answered in ", 1)[1]
                self.assertNotIn(document, head + tail)
                lines = tail.split("\n\n", 1)[1].rstrip("\n").split("\n")
                self.assertEqual(lines, [f"{short}: {question['text']}" for short, question in found.items()])
        self.assertEqual([path.name for path in self.out.iterdir() if path.is_file()], [handout.KEY])

    def test_rules_say_how_much_there_is(self):
        for reader, told in self.key["readers"].items():
            rules = (self.out / reader / "RULES.md").read_text(encoding="utf-8")
            asked = sum(len(found) for _, found in told["documents"].values())
            self.assertIn(f"This folder has {len(told['documents'])} documents and {asked} questions", rules)
            self.assertIn(f"{self.out / reader}: {len(told['documents'])} documents, {asked} questions", self.said)

    def test_the_same_options_give_the_same_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(call(handout, folder, *OPTIONS)[0], 0)
            mine, theirs = (sorted(path for path in Path(one).rglob("*") if path.is_file()) for one in (folder, self.out))
            self.assertEqual([path.relative_to(folder) for path in mine], [path.relative_to(self.out) for path in theirs])
            self.assertTrue(all(one.read_bytes() == other.read_bytes() for one, other in zip(mine, theirs)))

    def test_options(self):
        with tempfile.TemporaryDirectory() as folder:
            for options, message in (
                (["--settings", "json,stc2,json"], "names one twice"),
                (["--settings", "json,stc9"], "no setting 'stc9'"),
                (["--readers", "4"], "--readers is to be 5"),
                (["--readers", "5", "--documents", "1"], "5 readers are not enough to keep each folder under 250 KB and 1 documents"),
                (["--settings", "json,csv"], "csv cannot carry"),
                (["--simple", "0", "--hard", "0"], "nothing to ask"),
                (["--dir", folder], "no .json file"),
            ):
                code, _, err = call(handout, Path(folder) / "new", *OPTIONS, *options)
                self.assertEqual(code, 2)
                self.assertIn(message, err)
            code, _, err = call(handout, self.out, *OPTIONS)
            self.assertEqual((code, "is not empty" in err), (2, True))
            code, said, err = call(handout, Path(folder) / "few", "--settings", "json,stc2", "--constructs", "constant,tuple", "--each", "12")
            self.assertEqual((code, said.count("reader-0")), (0, 2), err)
            with gzip.open(Path(folder) / "few" / handout.KEY, "rt") as file:
                found = [question["constructs"]["stc2"] for question in json.load(file)["prepared"]["questions"]]
            self.assertEqual({name: found.count(name) for name in found}, {"constant": 12, "tuple": 12})
            code, said, _ = call(handout, Path(folder) / "two", "--settings", "json,stc2", "--simple", "0", "--hard", "20", "--sizes", "8000-20000", "--readers", "3")
            self.assertEqual(code, 0)
            self.assertIn("each in 2 settings", said)
            self.assertEqual(said.count("reader-0"), 3)


class SplitTest(unittest.TestCase):
    def test_parts_are_the_text(self):
        for text in ("a,b\n" * 20_000, "x" * 60_000, "x" * 20_000 + "," + "y" * 40_000, "short", "line\n" * 5000 + "z" * 30_000):
            parts = handout.split(text)
            self.assertEqual("".join(parts), text)
            self.assertTrue(all(0 < len(part) <= handout.LONGEST_PART for part in parts))
        self.assertTrue(all(part.endswith("\n") for part in handout.split("a,b\n" * 20_000)))
        self.assertTrue(handout.split("x" * 20_000 + "," + "y" * 40_000)[0].endswith(","))


class HandInTest(HandedOut):
    def setUp(self):
        """Every reader answers rightly, but counts wrongly in `stc2` without a legend."""
        for reader in self.key["readers"]:
            folder = self.out / reader / "answers"
            shutil.rmtree(folder)
            folder.mkdir()
            for number, _, setting, found in self.documents(reader):
                lines = []
                for short, question in found.items():
                    answer = "17 or so" if question["kind"] == "count" and setting == "stc2/after" else question["answer"]
                    if question["kind"] in ("row", "object"):
                        answer = "```json\n" + json.dumps(json.loads(answer), indent=2, ensure_ascii=False) + "\n```"
                    lines.append(f"{short}: {answer}\n")
                (folder / f"{number}.txt").write_text("".join(lines), encoding="utf-8")

    def hand_in(self, *more):
        path = Path(self.folder.name) / "made.jsonl.gz"
        path.unlink(missing_ok=True)
        code, out, err = call(handin, self.out, "--model", "a reader", "--when", "2026-11-20", "--out", path, *more)
        self.assertEqual(path.exists(), code == 0)
        return code, out, err, path

    def place(self, kind="key"):
        """Returns the answers of a document with a question of a kind, and that question's number: reader, path, number."""
        for reader in self.key["readers"]:
            for number, _, _, found in self.documents(reader):
                for short, question in found.items():
                    if question["kind"] == kind:
                        return reader, self.out / reader / "answers" / f"{number}.txt", short
        raise AssertionError(kind)

    def test_a_recording_like_any_other(self):
        code, out, _, path = self.hand_in()
        self.assertEqual(code, 0)
        asked, answers = recording.read([path])
        self.assertEqual(set(answers), {f"{setting}/after" for setting in SETTINGS})
        for setting, found in answers.items():
            self.assertEqual(set(found), set(self.questions))
            for key, answer in found.items():
                wrong = setting == "stc2/after" and self.questions[key]["kind"] == "count"
                self.assertEqual(scoring.is_right(self.questions[key], answer["answer"]), not wrong, (setting, answer))
        self.assertEqual((asked["model"], asked["when"], asked["told"]), ("a reader", "2026-11-20", handin.TOLD))
        self.assertIn("Use no tool", asked["rules"])
        self.assertEqual({answer["reader"] for found in answers.values() for answer in found.values()}, set(self.key["readers"]))
        text = report.Report(asked, answers).text()
        self.assertIn(text, out)
        self.assertRegex(text, r"\| stc2-labelled \| \d+ \| 0\.\d\d \|  \| 100\.0 \| \+0\.0")
        self.assertRegex(text, r"\| stc2 \| \d+ \| 0\.\d\d \|  \| 9\d\.\d \| -")
        self.assertRegex(text, r"\| stc2, with legend \| \d+ \| 0\.\d\d \|  \| 100\.0 \| \+0\.0")
        first = path.read_bytes()
        self.assertEqual(self.hand_in()[3].read_bytes(), first)

    def test_tables_of_a_large_reader(self):
        path = self.hand_in()[3]
        large = report.Report(*recording.read([path]))
        small = report.Report(*recording.read([publish.ANSWERS / "report-qwen.jsonl.gz"]))
        lines = "\n".join(publish.readers(small, large))
        counted = sum(question["kind"] == "count" for question in self.questions.values())
        simple = sum(question["kind"] in publish.KINDS for question in self.questions.values())
        hard = len(self.questions) - simple
        self.assertIn("The large reader is a reader, 2026-11-20. It was told to use no tool", lines)
        lost = f"{100 * counted / (2 * simple):.1f}"
        self.assertRegex(lines, rf"\| large, lookups \| {simple} \| 100\.0 % \| \+0\.0 \[-\d+\.\d, \+\d+\.\d\] \| \+0\.0 \[.*\] \| -{re.escape(lost)} \[", "with and without legend together")
        self.assertRegex(lines, rf"\| large, hard questions \| {hard} \| 100\.0 % \|")
        self.assertRegex(lines, r"\| small, question after the data \| 966 \| 59\.7 % \|")
        lines = "\n".join(publish.by_setting(large))
        self.assertRegex(lines, rf"\| `stc2` \| 0\.\d\d \| {simple - counted} of {simple} \| -")
        self.assertRegex(lines, rf"\| `stc2` with legend \| 0\.\d\d \| {simple} of {simple} \| \+0\.0")
        self.assertIn(f"| count | {counted} | all | all | all | all | 0 |", self.columns(publish.by_kind(large)))
        self.assertIn("constructs-large.jsonl.gz`, a reader, 2026-11-20.", publish.more(large)[0])
        with unittest.mock.patch.object(report, "FEWEST", 5):
            found = self.columns(publish.by_construct(large))
        self.assertRegex(found, r"\| filled cell \| \d+ \| all \| all \| all \| all \| all \|")

    def columns(self, lines):
        """Returns a table with `stc2` without a legend as the last column."""
        rows = [line.strip("|").split("|") for line in lines]
        last = [cell.strip() for cell in rows[0]].index("`stc2`")
        return "\n".join("|" + "|".join(row[:last] + row[last + 1 :] + [row[last]]) + "|" for row in rows)

    def test_a_missing_file(self):
        reader, path, _ = self.place()
        path.unlink()
        code, _, err, _ = self.hand_in()
        self.assertEqual(code, 1)
        self.assertRegex(err, rf"{reader}: answers/{path.name} is missing: \d+ questions")
        code, _, _, made = self.hand_in("--unanswered", "wrong")
        self.assertEqual(code, 0)
        self.assertEqual({len(found) for found in recording.read([made])[1].values()}, {len(self.questions)}, "what is not answered counts as wrong")
        code, out, _, made = self.hand_in("--leave-out", reader)
        self.assertEqual(code, 0)
        self.assertIn(f"of {len(self.key['readers']) - 1} readers", out)
        self.assertNotIn(reader, recording.read([made])[0]["readers"])
        self.assertEqual(self.hand_in("--leave-out", "reader-99")[0], 2)

    def refused(self, path, text, *messages):
        before = path.read_text(encoding="utf-8")
        path.write_text(text(before), encoding="utf-8")
        code, _, err, _ = self.hand_in()
        path.write_text(before, encoding="utf-8")
        self.assertEqual(code, 1)
        for message in messages:
            self.assertIn(message, err)
        self.assertIn(f"eval/hand-in: {len(messages)} to put right, nothing is recorded:\n{path.parent.parent.name}: answers/{path.name} ", err)

    def test_malformed_answers(self):
        _, path, short = self.place()
        line = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(short + ": "))
        self.refused(path, lambda text: "Here are the answers:\n" + text, "line 1: 'Here are the answers:' begins with no number such as ")
        self.refused(path, lambda text: text.replace(line, line + "\nI am sure."), f"'I am sure.' after the answer to {short}, which is one line")
        self.refused(path, lambda text: text.replace(line, short + ":"), f"has nothing after {short}:")
        self.refused(path, lambda text: text.replace(line, line.replace(": ", " - ", 1)), f"has no answer to {short}", f"'{short} - ")
        path.write_bytes(b"\xff\xfe")
        self.assertIn("is not UTF-8", self.hand_in()[2])

    def test_an_answer_too_many_an_unknown_one_and_two_to_one(self):
        _, path, short = self.place()
        number = short.split(".")[0]
        self.refused(path, lambda text: text + f"{number}.99: x\n", f"there is no question {number}.99 in this document")
        self.refused(path, lambda text: text + "99.1: x\n", "there is no question 99.1 in this document")
        self.refused(path, lambda text: text + f"{short}: again\n", f"a second answer to {short}")
        self.refused(path, lambda text: text + f"{short}: again\n{number}.98: x\n", f"a second answer to {short}", f"there is no question {number}.98")
        (path.parent / "notes.md").write_text("x")
        (path.parent / "77.txt").write_text("x")
        code, _, err, _ = self.hand_in()
        self.assertEqual(code, 1)
        self.assertIn("answers/notes.md belongs to no document", err)
        self.assertIn("answers/77.txt belongs to no document", err)

    def test_json_over_several_lines(self):
        asked = {"01.1": False, "01.2": True, "01.3": False}
        given, problems = handin.read('\ufeff01.1: a: b \r\n01.2: {\r\n  "x": 1,\r\n\r\n  "y": 2\r\n}\r\n\r\n01.3: c\r\n\r\n', asked)
        self.assertEqual(problems, [])
        self.assertEqual(given, {"01.1": "a: b", "01.2": '{\n  "x": 1,\n\n  "y": 2\n}', "01.3": "c"})
        self.assertEqual(handin.read("01.2:\n[1]\n01.1: x\n01.3: y", asked), ({"01.2": "[1]", "01.1": "x", "01.3": "y"}, []))

    def test_a_folder_that_was_not_handed_out(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(call(handin, folder, "--model", "m")[0], 2)


if __name__ == "__main__":
    unittest.main()
