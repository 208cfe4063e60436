"""When perf/bindings/run fails: `python3 perf/bindings/test_run.py`."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("run", str(HERE / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
sys.dont_write_bytecode = True
loader.exec_module(run)

# A worker whose contender fails on files that have its name in them.
WORKER = "import sys; name, _, path = sys.argv[1:]; sys.exit(name in open(path).read())"


class Verdicts(unittest.TestCase):
    def test_a_miss_fails_the_run_unless_it_is_known(self):
        known = {("a", "b")}
        self.assertEqual(run.unexpected({("a", "b"): False, ("c", "b"): True}, known), [])
        self.assertEqual(run.unexpected({("c", "b"): False}, known), ["c over b is missed"])

    def test_words_of_the_table(self):
        known = next(iter(run.KNOWN_MISSES))
        self.assertEqual(run.verdict(False, known), "missed, as known")
        self.assertEqual(run.verdict(True, known), "met, a known miss")
        self.assertEqual(run.verdict(False, ("x", "y")), "**missed**")
        self.assertEqual((run.verdict(True, ("x", "y")), run.MEASURED[("x", "y")]), ("", True))

    def test_only_the_others_may_fail_on_a_file(self):
        worker = [sys.executable, "-c", WORKER]
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("one", "two")]
            for file, text in zip(files, ["", "toon"]):
                file.write_text(text)
            self.assertEqual(run.accepted(worker, ["stc.encode", "toon"], files), files[:1])
            files[0].write_text("stc.encode")
            with self.assertRaisesRegex(SystemExit, "stc.encode fails on one"):
                run.accepted(worker, ["stc.encode", "toon"], files)


if __name__ == "__main__":
    unittest.main()
