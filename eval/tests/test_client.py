"""The client and eval/run against a mock endpoint: a full run, its cache, a resumed run, and errors that say what to do."""
import contextlib
import io
import json
import os
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path
from unittest import mock

from stc_eval import client, prepare, recording, report, run, scoring

HERE = Path(__file__).resolve().parent
OPTIONS = ["--formats", "json,stc2,stc2-labelled", "--orders", "after", "--half", "all", "--sample", "30"]


def run_it(cache, arguments, key="right-key", build=prepare.build):
    """Runs eval/run in this process; returns its exit code, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"} | ({"OPENAI_API_KEY": key} if key else {})
    with mock.patch.object(run, "CACHE", Path(cache)), mock.patch.object(prepare, "build", build):
        with mock.patch.dict(os.environ, environment, clear=True), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run.main(arguments)
    return code, out.getvalue(), err.getvalue()


class Endpoint:
    """A mock endpoint that gives these answers; without them it answers every question of a dataset rightly, one kind of them wrongly."""

    def __init__(self, folder, busy=0, answers=None):
        if answers is None:
            options = run.parsed(["--endpoint", "x", "--model", "x", *OPTIONS])
            self.made = prepare.build(options, prepare.settings_of(options))
            self.questions = self.made.questions
            answers = {question.text: "no idea" if question.kind == "count" else question.answer for question in self.questions}
        path = Path(folder) / "answers.json"
        path.write_text(json.dumps(answers))
        self.process = subprocess.Popen(["node", "mock.mjs", str(path), str(busy)], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip() + "/v1"

    def requests(self):
        """Returns how many chat requests the mock has answered, refusals included."""
        address = self.url.removesuffix("/v1") + "/__aimock/journal?path=/v1/chat/completions&limit=1"
        request = urllib.request.Request(address, headers={"Authorization": "Bearer right-key"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.headers["X-Total-Count"])

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.process.stdout.close()


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.endpoint = Endpoint(cls.folder.name, busy=5)

    @classmethod
    def tearDownClass(cls):
        cls.endpoint.stop()
        cls.folder.cleanup()

    def run_it(self, cache, *more, key="right-key", model="mock-1", url=None, build=None):
        """Runs eval/run in this process; returns its exit code, output and errors. The dataset is made once unless `build` is given."""
        arguments = ["--endpoint", url or self.endpoint.url, "--model", model, "--concurrency", "4", *OPTIONS, *more]
        return run_it(cache, arguments, key, build or (lambda options, settings: self.endpoint.made))

    def test_full_run_is_recorded_cached_and_reported(self):
        with tempfile.TemporaryDirectory() as cache:
            before = self.endpoint.requests()
            path = Path(cache) / "first.jsonl.gz"
            code, out, err = self.run_it(cache, "--out", str(path), build=prepare.build)
            self.assertEqual((code, err.count("refused")), (0, 0), err)
            asked = self.endpoint.requests() - before
            self.assertGreater(asked, 3 * len(self.endpoint.questions), "busy replies are asked again")
            record, answers = recording.read([path])
            self.assertEqual(set(answers), {"json/after", "stc2/after", "stc2-labelled/after"})
            kinds = {question["id"]: question for question in record["questions"]}
            for found in answers.values():
                self.assertEqual(set(found), set(kinds))
                for key, answer in found.items():
                    self.assertEqual(scoring.is_right(kinds[key], answer["answer"]), kinds[key]["kind"] != "count")
            again = Path(cache) / "again.jsonl.gz"
            self.assertEqual(self.run_it(cache, "--out", str(again))[0], 0)
            self.assertEqual(self.endpoint.requests() - before, asked, "a second run asks nothing")
            first, second = report.Report(*recording.read([path])).text(), report.Report(*recording.read([again])).text()
            self.assertEqual(first.replace("first", ""), second.replace("again", ""))
            self.assertNotIn(cache, path.name + first)

    def test_broken_off_run_is_resumed(self):
        with tempfile.TemporaryDirectory() as cache:
            self.assertEqual(self.run_it(cache)[0], 0)
            [kept] = Path(cache, "endpoint").glob("*.jsonl")
            lines = kept.read_text().splitlines(keepends=True)
            kept.write_text("".join(lines[:20]) + lines[20][:15])
            before = self.endpoint.requests()
            self.assertEqual(self.run_it(cache)[0], 0)
            asked = self.endpoint.requests() - before
            self.assertGreaterEqual(asked, len(lines) - 20)
            self.assertLess(asked, 2 * (len(lines) - 20), "answers that were kept are not asked again")

    def test_estimate_stops_before_asking(self):
        with tempfile.TemporaryDirectory() as cache:
            before = self.endpoint.requests()
            code, out, _ = self.run_it(cache, "--dry-run", "--price", "1,2")
            self.assertEqual(code, 0)
            self.assertRegex(out, r"\d+ of \d+ prompts are to be asked, about [\d,]+ tokens in and [\d,]+ out, about \$\d+\.\d\d; about")
            self.assertEqual(self.endpoint.requests(), before)

    def test_refused_key(self):
        with tempfile.TemporaryDirectory() as cache:
            code, _, err = self.run_it(cache, key="wrong-key")
            self.assertEqual(code, 1)
            self.assertIn("refused the key in OPENAI_API_KEY", err)
            self.assertNotIn("wrong-key", err)
            code, _, err = self.run_it(cache, key=None)
            self.assertEqual(code, 1)
            self.assertIn("refused a request without a key; set OPENAI_API_KEY", err)

    def test_unknown_model(self):
        with tempfile.TemporaryDirectory() as cache:
            code, _, err = self.run_it(cache, model="mock-2")
            self.assertEqual(code, 1)
            self.assertIn("does not know the model 'mock-2'", err)

    def test_unreachable_endpoint(self):
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            port = held.getsockname()[1]
        with tempfile.TemporaryDirectory() as cache, mock.patch.object(client, "pause_of", lambda *_: 0.0):
            code, _, err = self.run_it(cache, url=f"http://127.0.0.1:{port}/v1")
        self.assertEqual(code, 1)
        self.assertIn("cannot be reached", err)
        self.assertIn("--endpoint", err)

    def test_options_that_do_not_fit(self):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            self.assertEqual(run.main([]), 2)
            self.assertEqual(run.main(["--endpoint", "http://localhost"]), 2)
            self.assertEqual(run.main(["--endpoint", "http://localhost", "--model", "m", "--formats", "stc9"]), 2)
        self.assertIn("either --endpoint URL or --local", err.getvalue())
        self.assertIn("--endpoint needs --model", err.getvalue())
        self.assertIn("no setting 'stc9/after'", err.getvalue())


class PauseTest(unittest.TestCase):
    def test_retry_after_is_honoured(self):
        self.assertEqual(client.pause_of("7", 0), 7.0)
        self.assertEqual(client.pause_of("100000", 0), client.LONGEST_WAIT)
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 30))
        self.assertAlmostEqual(client.pause_of(date, 0), 30, delta=3)

    def test_pause_grows_and_is_bounded(self):
        for attempt in range(12):
            bound = min(client.LONGEST_WAIT, 2.0**attempt)
            self.assertLessEqual(client.pause_of(None, attempt), bound)
            self.assertGreaterEqual(client.pause_of(None, attempt), min(client.LONGEST_WAIT, bound / 2))


if __name__ == "__main__":
    unittest.main()
