"""The installed package: names, errors, buffers, threads, values."""

import decimal
import importlib.metadata
import json
import mmap
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

import stc
import stc.context

ROWS = [{"id": number, "state": "open", "title": f"row {number}"} for number in range(50)]
JSON = json.dumps(ROWS)


class Values(unittest.TestCase):
    def test_values_come_back(self):
        for value in [ROWS, {}, [], None, True, 1.5, 10**40, "é\u2028\x00", {"a": {"b": [1, [2, {"c": "\ud800"}]]}}, ""]:
            for format in stc.FORMATS:
                with self.subTest(format=format, value=str(value)[:30].encode("utf-8", "replace")):
                    self.assertEqual(stc.loads(stc.dumps(value, format)), value)

    def test_values_are_those_of_json(self):
        self.assertEqual(stc.loads(stc.dumps({1: (2, 3)})), {"1": [2, 3]})
        self.assertEqual(stc.loads(stc.dumps({"b": 1, "a": 2}, sort_keys=True), object_pairs_hook=list), [("a", 2), ("b", 1)])
        self.assertEqual(stc.loads(stc.dumps({"at": decimal.Decimal("1.10")}, default=str)), {"at": "1.10"})
        self.assertEqual(stc.loads(stc.dumps(["\ud800", decimal.Decimal(1)], default=str)), ["\ud800", "1"])
        # The value is read once, whatever it holds: an iterator has nothing the second time.
        self.assertEqual(stc.loads(stc.dumps(["\ud800", iter([1, 2])], default=list)), ["\ud800", [1, 2]])
        self.assertEqual(stc.dumps({"\udfff": ["\u00e9\\\ud800\"\udc00"]}, "json"), '{"\\udfff":["\u00e9\\\\\\ud800\\"\\udc00"]}')
        self.assertEqual(stc.loads("[1.10]", parse_float=decimal.Decimal), [decimal.Decimal("1.10")])
        for value in [float("nan"), float("inf")]:
            with self.assertRaises(ValueError):
                stc.dumps(value)
        with self.assertRaises(TypeError):
            stc.dumps(object())

    def test_texts_keep_their_spelling(self):
        text = '{"price":1.0,"rate":1e2,"zero":-0,"a":1,"a":2,"s":"\\u0041"}'
        for format in stc.FORMATS:
            self.assertEqual(stc.decode(stc.encode(text, format)), text)

    def test_the_default_is_stc2(self):
        self.assertEqual(stc.encode(JSON), stc.encode(JSON, "stc2"))
        self.assertEqual(stc.encode(JSON), stc.encode(json=JSON, format="stc2"))
        self.assertLess(len(stc.encode(JSON)), len(JSON))


class Errors(unittest.TestCase):
    def test_an_error_has_its_place(self):
        with self.assertRaises(stc.STCError) as raised:
            stc.encode('{\n  "a": [1, 2,]\n}')
        error = raised.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual((error.kind, error.offset, error.line, error.column), ("Syntax", 15, 2, 14))
        self.assertEqual(str(error), "expected a value at byte 15")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.kind, again.offset, again.line), (str(error), "Syntax", 15, 2))

    def test_kinds(self):
        for text, kind in [
            ("[1", "Truncated"),
            (b'["\xff"]', "Utf8"),
            ("{a[3]: 1,2}", "Count"),
            ("[" * 1000, "Depth"),
            ("[$a]", "Name"),
        ]:
            with self.assertRaises(stc.STCError) as raised:
                stc.decode(text)
            self.assertEqual(raised.exception.kind, kind)

    def test_a_stream_is_usable_after_an_error(self):
        encoder = stc.Encoder("stc1")
        encoder.push('{"a": ')
        with self.assertRaises(stc.STCError) as raised:
            encoder.push("}" * 200)
        self.assertEqual((raised.exception.offset, raised.exception.line), (6, None))
        self.assertEqual(encoder.encode("[1, 2]"), stc.encode("[1,2]", "stc1"))
        encoder.push("[1")
        encoder.clear()
        self.assertEqual(encoder.push("7") + encoder.finish(), b"7")

    def test_arguments(self):
        for work in [
            lambda: stc.encode(1),
            lambda: stc.encode(None),
            lambda: stc.decode(["x"]),
            lambda: stc.Encoder(nonsense=1),
            lambda: stc.Encoder(depth="x"),
        ]:
            with self.assertRaises(TypeError):
                work()
        for work in [lambda: stc.encode("1", "stc3"), lambda: stc.Encoder("x"), lambda: stc.legend("")]:
            with self.assertRaisesRegex(ValueError, "json, stc1, stc2, stc2-labelled"):
                work()
        for name, hint in [("stc2-refs", "^stc2-refs is now stc2$"), ("stc2-dense", "^stc2-dense is part of stc2$")]:
            for work in [lambda: stc.encode("1", name), lambda: stc.Encoder(name), lambda: stc.legend(name)]:
                with self.assertRaisesRegex(ValueError, hint):
                    work()
        with self.assertRaises(OverflowError):
            stc.Encoder(depth=-1)

    def test_a_lone_surrogate_is_rejected_where_it_is(self):
        for convert in [stc.encode, stc.decode, stc.Encoder("stc1").encode, stc.Decoder().decode, stc.loads]:
            with self.assertRaises(stc.STCError) as raised:
                convert('["\u00e9\ud800"]')
            error = raised.exception
            self.assertEqual((error.kind, error.offset, error.line, error.column), ("Utf8", 4, 1, 4))
        # In a stream, the offset counts from the start of the document, and what was begun is discarded.
        for codec in [stc.Encoder("stc1"), stc.Decoder()]:
            codec.push('["\u00e9", ')
            with self.assertRaises(stc.STCError) as raised:
                codec.push('"\udc00"]')
                codec.finish()
            error = raised.exception
            self.assertEqual((error.kind, error.offset, error.line), ("Utf8", 8, None))
            self.assertEqual(codec.push("[7]") + codec.finish(), b"[7]")
        for call in [stc.context.prepare, stc.context.restore]:
            with self.assertRaises(stc.STCError):
                call('{"messages": ["\ud800"]}')
        # Where the text need not be JSON, too.
        for call in [stc.context.prepare, stc.context.restore, stc.estimate_tokens]:
            for text, place in [("no JSON\n\u00e9\ud800", (10, 2, 2)), ("\udc00", (0, 1, 1))]:
                with self.assertRaises(stc.STCError) as raised:
                    call(text)
                error = raised.exception
                self.assertEqual((error.kind, error.offset, error.line, error.column), ("Utf8", *place))

    def test_limits(self):
        for limits, text, kind in [({"depth": 3}, "[[[[1]]]]", "Depth"), ({"input": 3}, "[1,2]", "Input")]:
            with self.assertRaises(stc.STCError) as raised:
                stc.Decoder(**limits).decode(text)
            self.assertEqual(raised.exception.kind, kind)
        self.assertEqual(stc.Encoder("stc1", window=1, output=100).encode("[1,2]"), "[1,2]")

    def test_hostile_input(self):
        for hostile in ["[" * 1_000_000, '{"a":' * 100_000, '"' + "\\" * 99_999, b"\xff" * 50_000, b"\x00", "", " " * 100_000]:
            for convert in [stc.encode, stc.decode, stc.Encoder("stc1").encode, stc.Decoder().decode, stc.loads]:
                with self.assertRaises(stc.STCError):
                    convert(hostile)


class Buffers(unittest.TestCase):
    def test_all_kinds_of_input(self):
        expected = stc.encode(JSON)
        data = JSON.encode()
        strided = bytes(byte for pair in zip(data, data) for byte in pair)
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            for given in [
                data,
                bytearray(data),
                memoryview(data),
                memoryview(b"ab" + data + b"c")[2:-1],
                memoryview(bytearray(data)),
                memoryview(bytearray(data)).toreadonly(),
                memoryview(strided)[::2],
                mapped,
            ]:
                self.assertEqual(stc.encode(given), expected)
            mapped.close()

    def test_a_bytearray_may_change_during_a_call(self):
        """The engine reads a copy, so a change from another thread cannot be seen half."""
        data = bytearray(json.dumps(ROWS * 400).encode())
        expected, stop = stc.encode(bytes(data)), threading.Event()
        original = bytes(data)

        def change():
            while not stop.is_set():
                data[:] = b"[" * len(original)
                data[:] = original

        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(30):
                try:
                    self.assertEqual(stc.encode(data), expected)
                except stc.STCError as error:
                    self.assertEqual(error.kind, "Depth")
        finally:
            stop.set()
            thread.join()

    def test_bytes_are_not_copied(self):
        """Peak memory of the rejection of 64 MiB stays far below 64 MiB, for bytes, views of bytes and ASCII str."""
        script = """
import resource, stc, sys
data = b"[" + b" " * (64 << 20)
given = {"bytes": data, "view": memoryview(data)[:], "str": data.decode()}[sys.argv[1]]
stc.Decoder(depth=1).push(b"[1]")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    stc.Decoder(depth=0).decode(given)
except stc.STCError as error:
    assert error.kind == "Depth"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
        for kind in ["bytes", "view", "str"]:
            grown = int(subprocess.check_output([sys.executable, "-c", script, kind]))
            self.assertLess(grown, 8 << 10, f"{kind}: {grown} KiB")


class Threads(unittest.TestCase):
    def test_the_gil_is_released(self):
        """Another thread runs Python code while a large document is encoded."""
        document = json.dumps(ROWS * 20_000).encode()
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)  # gives up the GIL

        # With so long an interval, the thread could not take the GIL from a call that keeps it; the call has to give it up.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        thread = threading.Thread(target=count)
        try:
            before = counted[0]
            thread.start()
            stc.encode(document)
            after = counted[0]
        finally:
            stop.set()
            sys.setswitchinterval(interval)
            thread.join()
        self.assertGreater(after, before)

    def test_threads_do_not_disturb_each_other(self):
        documents = [json.dumps([{"id": n, "text": "x" * (n % 900)} for n in range(start, start + 300)]) for start in range(8)]
        expected = [[stc.encode(document, format) for format in stc.FORMATS] for document in documents]
        wrong = []

        def convert(start):
            for turn in range(40):
                at = (start + turn) % len(documents)
                for format, text in zip(stc.FORMATS, expected[at]):
                    if stc.encode(documents[at], format) != text or json.loads(stc.decode(text)) != json.loads(documents[at]):
                        wrong.append((start, turn, format))

        threads = [threading.Thread(target=convert, args=(start,)) for start in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_codec_that_is_in_use_says_so(self):
        encoder, document, seen = stc.Encoder(), json.dumps(ROWS * 20_000), []
        thread = threading.Thread(target=lambda: seen.append(encoder.encode(document)))
        thread.start()
        refused = 0
        while thread.is_alive() and not refused:
            try:
                encoder.encode("1")
            except RuntimeError:
                refused += 1
        thread.join()
        self.assertEqual(stc.decode(seen[0]), stc.encode(document, "json"))
        self.assertEqual(refused, 1)


class Package(unittest.TestCase):
    def test_texts(self):
        self.assertTrue(stc.legend().startswith("STC 2"))
        self.assertEqual(stc.legend("json"), "")
        self.assertGreater(stc.estimate_tokens(JSON), 100)
        self.assertEqual(stc.estimate_tokens(JSON), stc.estimate_tokens(JSON.encode()))
        self.assertEqual(stc.FORMATS, ("json", "stc1", "stc2", "stc2-labelled"))

    def test_metadata(self):
        self.assertEqual(importlib.metadata.version("stc-codec"), stc.__version__)
        files = [str(file) for file in importlib.metadata.files("stc-codec")]
        for name in ["stc/py.typed", "stc/__init__.pyi", "stc/_stc.pyi", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"]:
            self.assertTrue(any(file.endswith(name) for file in files), name)
        metadata = importlib.metadata.metadata("stc-codec")
        self.assertEqual(metadata["License-Expression"], "MIT OR Apache-2.0")
        self.assertIn("```python", metadata.get_payload())

    def test_streams(self):
        data = JSON.encode()
        for format in stc.FORMATS:
            text = b"".join(stc.iter_encode([data[:7], data[7:100], b"", data[100:]], format))
            self.assertEqual(text.decode(), stc.encode(data, format))
            self.assertEqual(b"".join(stc.iter_decode(text[at : at + 5] for at in range(0, len(text), 5))), stc.encode(data, "json").encode())
        first = next(stc.iter_encode([b'{"a": 1, "b": ' + b" " * 200, b"2}"], "stc1"))
        self.assertTrue(first.startswith(b"{a: 1"), first)

    def test_the_plugin_for_contextforge_has_no_format_json(self):
        """The plugin itself; integrations/contextforge runs it in the gateway."""
        framework = types.ModuleType("cpex.framework")
        framework.Plugin = type("Plugin", (), {"__init__": lambda self, config: None})
        framework.ToolPostInvokePayload = framework.ToolPostInvokeResult = object
        with unittest.mock.patch.dict(sys.modules, {"cpex": types.ModuleType("cpex"), "cpex.framework": framework}):
            from stc.contextforge import Plugin

            for format in ["json", "stc3"]:
                with self.assertRaisesRegex(ValueError, "stc1, stc2, stc2-labelled"):
                    Plugin(types.SimpleNamespace(config={"format": format}))
            with self.assertRaisesRegex(ValueError, "^stc2-refs is now stc2$"):
                Plugin(types.SimpleNamespace(config={"format": "stc2-refs"}))
            self.assertEqual(Plugin(types.SimpleNamespace(config={"format": "stc1"})).format, "stc1")

    def test_a_subinterpreter_gets_an_import_error(self):
        script = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import sys
if sys.argv[1] == "both":
    import stc
interpreters.run_string(interpreters.create(), '''
import os
try:
    import stc
except ImportError as error:
    os.write(1, f"ImportError: {error}".encode())
''')
"""
        for where in ["both", "there"]:
            run = subprocess.run([sys.executable, "-c", script, where], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, "ImportError: module stc._stc does not support loading in subinterpreters")

    def test_the_readme_runs(self):
        readme = pathlib.Path(__file__).resolve().parent.parent / "README.md"
        blocks = readme.read_text().split("```python\n")[1:]
        self.assertGreaterEqual(len(blocks), 2)
        for block in blocks:
            code = block.split("```")[0]
            # Blocks that need another library are those of the adapters, which test_adapters.py has.
            if not code.startswith("# needs"):
                exec(compile(code, "README.md", "exec"), {})


if __name__ == "__main__":
    unittest.main()
