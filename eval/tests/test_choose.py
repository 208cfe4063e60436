"""The rule that says when enough was asked, with simulated readers, and the choice of a level at a mock endpoint."""
import json
import random
import re
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from stc_eval import choose, prepare, prompts, recording, run, stopping

from .test_client import Endpoint, run_it

TOTAL = 560
ONE = choose.ERROR / len(choose.LEVELS)


def reader(lost, gained, seed):
    """Returns the losses of a reader in a random order: so many questions are answered rightly in JSON alone, or in the level alone."""
    values = [1] * lost + [-1] * gained + [0] * (TOTAL - lost - gained)
    random.Random(seed).shuffle(values)
    return values


def simulated(lost, gained, seed, budget=None):
    """Returns the name of the level that is chosen for a reader who loses this in `stc2` and nothing in labelled rows, and the levels."""
    losses = {"json": [0] * TOTAL, "stc2": reader(lost, gained, seed), "stc2-labelled": [0] * TOTAL}
    levels, chosen = choose.choose(TOTAL, lambda name, first, last: [1 - loss for loss in losses[name][first:last]], lambda level: None, budget)
    return chosen and chosen.name, levels


class StoppingTest(unittest.TestCase):
    def test_a_reader_at_the_border_is_rarely_taken_for_a_better_one(self):
        """The mean is the margin or a little more, and one looks after every answer: still wrong less often than the error allows."""
        for lost, gained in ((12, 0), (42, 30), (150, 138)):
            self.assertGreaterEqual((lost - gained) / TOTAL, choose.MARGIN)
            wrong = sum(stopping.excluded(reader(lost, gained, seed), TOTAL, choose.MARGIN, 0.2) for seed in range(120))
            self.assertLess(wrong, 0.2 * 120, (lost, gained))
            wrong = sum(stopping.excluded(reader(lost, gained, seed), TOTAL, choose.MARGIN, ONE) for seed in range(120))
            self.assertLess(wrong, 0.05 * 120, (lost, gained))

    def test_a_reader_just_under_the_border_is_rarely_put_out(self):
        for lost, gained in ((11, 0), (41, 30)):
            wrong = sum(stopping.excluded_below(reader(lost, gained, seed)[:-1], TOTAL, choose.MARGIN, ONE) for seed in range(120))
            self.assertLess(wrong, 0.05 * 120, (lost, gained))

    def test_intervals_hold_the_mean_however_often_one_looks(self):
        missed = 0
        for seed in range(15):
            values = reader(40, 12, seed)
            bounds = [stopping.interval(values[:count], TOTAL, 0.05) for count in (30, 200, 400, TOTAL)]
            missed += not all(low <= 28 / TOTAL <= high for low, high in bounds)
            self.assertTrue(all(one[1] - one[0] >= other[1] - other[0] for one, other in zip(bounds, bounds[1:])), "they only shrink")
            self.assertLess(bounds[-1][1] - bounds[-1][0], 0.03)
        self.assertLess(missed, 3)
        self.assertEqual(stopping.interval([], TOTAL, 0.05), (-1.0, 1.0))

    def test_when_all_is_seen_all_is_known(self):
        for lost, under in ((11, True), (12, False)):
            self.assertEqual(stopping.excluded(reader(lost, 0, 1), TOTAL, choose.MARGIN, 1e-9), under)
        self.assertFalse(stopping.excluded([1, 1, 0, 0], 4, 0.5, 1e-9), "exactly the margin is no less than it")
        self.assertTrue(stopping.excluded([-1, -1, 0], 4, 0.5, 1e-9), "what is left cannot make up for it")


class ChooseTest(unittest.TestCase):
    def test_a_reader_that_loses_nothing(self):
        for seed in range(20):
            chosen, levels = simulated(0, 0, seed)
            self.assertEqual((chosen, len(levels[0].losses), levels[1].losses), ("stc2", 200, []))

    def test_a_reader_that_loses_ten_points(self):
        counts = []
        for seed in range(20):
            chosen, levels = simulated(70, 14, seed)
            self.assertEqual((chosen, levels[0].state), ("stc2-labelled", "out"))
            counts.append(len(levels[0].losses))
        self.assertLess(sum(counts) / len(counts), 250)

    def test_a_reader_at_the_border(self):
        """It loses two points and a little: hardly ever is the level chosen, and nearly all questions have to be asked."""
        found = [simulated(12, 0, seed) for seed in range(8)]
        self.assertLessEqual([chosen for chosen, _ in found].count("stc2"), 1)
        self.assertGreater(sum(len(levels[0].losses) for _, levels in found) / 8, 0.9 * TOTAL)

    def test_a_budget_ends_without_a_choice(self):
        chosen, levels = simulated(0, 0, 1, budget=120)
        self.assertEqual((chosen, levels[0].state, len(levels[0].losses), levels[1].losses), (None, "open", 120, []))
        text = choose.verdict("m", levels, chosen)
        self.assertIn('readers = [{ model = "m", format = "json" }]', text)
        self.assertNotIn("[[reader]]", text)

    def test_a_model_that_knows_too_little(self):
        """It loses nothing, because it has nothing to lose."""
        asked = []
        levels, chosen = choose.choose(TOTAL, lambda name, first, last: asked.append(name) or [0, 0, 1] * 33 + [0], lambda level: None)
        self.assertEqual((chosen, asked), (None, ["json"]))
        self.assertIn("m answers less than 40 % rightly in JSON", choose.verdict("m", levels, chosen))

    def test_every_level_out(self):
        levels = [choose.Level(name, 100, ONE) for name in choose.LEVELS]
        for level in levels:
            level.add([1] * 100)
        text = choose.verdict('odd "name"', levels, None)
        self.assertIn("loses 2 points or more in every level; send it JSON", text)
        self.assertEqual(tomllib.loads(text.split("under [context]:\n")[1].split("(")[0])["readers"], [{"model": 'odd "name"', "format": "json"}])
        self.assertIn("The gateway takes letters", text)


class EndpointTest(unittest.TestCase):
    """Two models at one mock endpoint: one reads everything, the other misreads each sixth answer in cells."""

    @classmethod
    def setUpClass(cls):
        options = run.parsed(["--endpoint", "x", "--model", "x", "--formats", "json,stc2,stc2-labelled", "--orders", "both"])
        cls.made = prepare.build(options, prepare.settings_of(options))
        cls.folder = tempfile.TemporaryDirectory()
        answers = {}
        for number, question in enumerate(cls.made.questions):
            for name in ("json", *choose.LEVELS):
                prompt = prompts.prompt(prompts.Setting(name, "both"), cls.made.texts[name][question.doc].text, question)
                wrong = name == "stc2" and number % 6 == 0
                answers[prompt] = question.answer
                if wrong:
                    answers["mock-small " + prompt] = "no idea"
        cls.endpoint = Endpoint(cls.folder.name, answers=answers)

    @classmethod
    def tearDownClass(cls):
        cls.endpoint.stop()
        cls.folder.cleanup()

    def chosen(self, model, *more):
        with tempfile.TemporaryDirectory() as cache:
            path = Path(cache) / "made.jsonl.gz"
            before = self.endpoint.requests()
            arguments = ["--endpoint", self.endpoint.url, "--model", model, "--choose", "--out", str(path), *more]
            code, out, err = run_it(cache, arguments, build=lambda options, settings: self.made)
            self.assertEqual(code, 0, err)
            return out, recording.read([path]), self.endpoint.requests() - before

    def lines(self, out):
        """Returns the printed lines for readers.toml and for the gateway, parsed."""
        first, second = re.search(r"readers\.toml:\n\n(.*)\n\nFor the gateway, under \[context\]:\n\n(readers = [^\n]*)\n", out, re.S).groups()
        return tomllib.loads(first)["reader"][0], tomllib.loads(second)["readers"]

    def test_a_large_reader(self):
        out, (asked, answers), requests = self.chosen("mock-1")
        line, readers = self.lines(out)
        self.assertEqual(readers, [{"model": "mock-1", "format": "stc2"}])
        self.assertEqual((line["model"], line["reader"], line["evidence"]), ("mock-1", "large", "measured"))
        self.assertIn("stc2 loses 0.0 points", line["because"])
        self.assertEqual(requests, 2 * len(asked["questions"]))
        self.assertEqual(len(asked["questions"]), 200)
        self.assertEqual(set(answers), {"json/both", "stc2/both"})
        self.assertRegex(out, rf"It took {len(asked['questions'])} questions, {requests} prompts of [\d,]+ tokens, and \d+ s\.")

    def test_a_small_reader(self):
        out, (asked, answers), requests = self.chosen("mock-small")
        line, readers = self.lines(out)
        self.assertEqual(readers, [{"model": "mock-small", "format": "stc2-labelled"}])
        self.assertEqual(line["reader"], "small")
        self.assertEqual(set(answers), {"json/both", "stc2/both", "stc2-labelled/both"})
        # A document whose text is the same in two formats is asked about once.
        self.assertIn(sum(map(len, answers.values())) - requests, range(10))

    def test_options_that_do_not_fit(self):
        for arguments in (["--local", "--choose"], ["--endpoint", "x", "--model", "m", "--choose", "--sample", "9"], ["--endpoint", "x", "--model", "m", "--budget", "9"]):
            with tempfile.TemporaryDirectory() as cache:
                code, _, err = run_it(cache, arguments)
            self.assertEqual(code, 2)
            self.assertRegex(err, "--choose needs --endpoint|--budget belongs to --choose")


if __name__ == "__main__":
    unittest.main()
