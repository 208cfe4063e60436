"""The local model, with answers made here in its place: what is recorded when the time is over."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stc_eval import local, recording, run

# Every question about a document is asked in both formats before the next document's.
ARGUMENTS = ["--local", "--formats", "json,stc1", "--sample", "30", "--minutes", "5"]


def answering(most):
    """Returns a stand-in for the model that answers so many prompts and then is out of time; what it answered, it keeps."""

    def answered(_weights, missing, _threads, cache, digest, minutes=None):
        assert minutes == 5
        found = {}
        for group, part in missing[:most]:
            key = local.client.Cache.key(digest, local.text_of(group, part))
            found[group["setting"], part["q"]] = cache.put(key, part["answer"], 7)
        return found

    return answered


class LocalTest(unittest.TestCase):
    def run_it(self, folder, most):
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.object(run, "CACHE", Path(folder)),
            mock.patch.object(local, "install", lambda *_: Path("weights")),
            mock.patch.object(local, "run", answering(most)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run.main(ARGUMENTS)
        return code, out.getvalue(), err.getvalue()

    def test_complete_documents_are_recorded_and_the_rest_comes_later(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out, _ = self.run_it(folder, 35)
            self.assertEqual(code, 0)
            self.assertRegex(out, r"5 minutes are over: (\d+) of (\d+) documents are complete")
            self.assertIn("; stops after 5 min", out)
            asked, answers = recording.read(list(Path(folder).glob("answers-*.jsonl.gz")))
            some = {question["id"] for question in asked["questions"]}
            self.assertTrue(0 < len(some) < 30)
            self.assertEqual({setting: set(of) for setting, of in answers.items()}, {"json/after": some, "stc1/after": some})
            self.assertIn("| stc1 |", out)

            code, out, _ = self.run_it(folder, 1000)
            self.assertEqual(code, 0)
            self.assertNotIn("minutes are over", out)
            asked, answers = recording.read(list(Path(folder).glob("answers-*.jsonl.gz")))
            all_of_them = {question["id"] for question in asked["questions"]}
            self.assertTrue(some < all_of_them and len(all_of_them) >= 30)
            self.assertEqual({setting: set(of) for setting, of in answers.items()}, {"json/after": all_of_them, "stc1/after": all_of_them})

    def test_the_model_is_asked_no_more_when_the_time_is_over(self):
        group = {"setting": "json/after", "data": "{}"}
        missing = [(group, {"q": str(number), "before": "", "after": "?"}) for number in range(5)]
        model = mock.Mock()
        model.stdout.readline.return_value = '{"answer": "1", "tokens": 7}'
        # The start of the run, and a look at the clock before each question; 60 s are over before the third.
        with mock.patch("subprocess.Popen", return_value=model), mock.patch("time.monotonic", side_effect=[0, 1, 59, 61]):
            found = local.run(Path("weights"), missing, 1, mock.Mock(), "digest", minutes=1)
        self.assertEqual(set(found), {("json/after", "0"), ("json/after", "1")})

    def test_the_sample_has_a_limit_of_its_own(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(run.main(["--local", "--formats", "json", "--dry-run"]), 0)
        self.assertIn(f"; stops after {local.MINUTES} min", out.getvalue())
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(run.main(["--local", "--formats", "json", "--dry-run", "--sample", "10"]), 0)
        self.assertNotIn("stops after", out.getvalue())
        with contextlib.redirect_stderr(out):
            self.assertEqual(run.main(["--local", "--minutes", "0"]), 2)

    def test_no_complete_document_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = self.run_it(folder, 1)
            self.assertEqual(code, 2)
            self.assertIn("no document is complete after 5 minutes; --minutes gives it more", err)


if __name__ == "__main__":
    unittest.main()
