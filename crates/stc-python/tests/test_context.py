"""stc.context in the installed package: bodies, reports, settings, options, threads."""

import inspect
import json
import threading
import unittest

import stc
import stc.context

ROWS = [{"id": number, "state": "open", "by": "ann", "price": 1.0} for number in range(60)]
TEXT = json.dumps(ROWS, indent=2)


def chat(*texts, tool="list", **members):
    messages = [{"role": "user", "content": "How many?"}]
    for number, text in enumerate(texts):
        call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
    return json.dumps({"model": "m", "messages": messages, **members})


def contents(body):
    return [message["content"] for message in json.loads(body)["messages"] if message["role"] == "tool"]


class Context(unittest.TestCase):
    def test_results_become_stc_and_come_back(self):
        for body in (chat(TEXT), chat(TEXT).encode(), bytearray(chat(TEXT).encode())):
            prepared = stc.context.prepare(body)
            self.assertEqual(contents(prepared.body), [stc.encode(TEXT, "stc2-labelled")])
            self.assertTrue(prepared.is_changed)
            self.assertEqual(contents(stc.context.restore(prepared.body)), [stc.encode(TEXT, "json")])
        # Outside the text not one byte differs.
        before, after = chat(TEXT).encode(), stc.context.prepare(chat(TEXT)).body
        self.assertEqual(after.replace(json.dumps(stc.encode(TEXT, "stc2-labelled")).encode(), json.dumps(TEXT).encode()), before)

    def test_other_apis(self):
        body = json.dumps({"input": [{"type": "function_call_output", "call_id": "c", "output": TEXT}]})
        self.assertEqual(json.loads(stc.context.prepare(body, "openai-responses").body)["input"][0]["output"], stc.encode(TEXT, "stc2-labelled"))
        block = {"type": "tool_result", "tool_use_id": "c", "content": TEXT}
        body = json.dumps({"messages": [{"role": "user", "content": [block]}]})
        self.assertEqual(json.loads(stc.context.prepare(body, "anthropic").body)["messages"][0]["content"][0]["content"], stc.encode(TEXT, "stc2-labelled"))
        with self.assertRaisesRegex(ValueError, "openai-chat, openai-responses, anthropic"):
            stc.context.prepare(body, "palm")

    def test_the_report(self):
        report = stc.context.prepare(chat(TEXT, "[1]", "words " * 300)).report
        self.assertEqual((report["api"], report["mode"], report["left"], report["changed"]), ("openai-chat", "lossless", None, 1))
        self.assertEqual([item["status"] for item in report["items"]], ["stc2-labelled", "small", "not-json"])
        first = report["items"][0]
        self.assertEqual((first["call"], first["tool"], first["bytes"]), ("c0", "list", (len(TEXT), len(stc.encode(TEXT, "stc2-labelled")))))
        self.assertLess(first["tokens"][1], first["tokens"][0] // 2)

    def test_what_stays(self):
        for body in (chat(), chat("[1]"), "{", "[]", "", chat(TEXT, tool="read_file")):
            prepared = stc.context.prepare(body)
            self.assertEqual((prepared.body, prepared.is_changed), (body.encode(), False), body[:40])

    def test_settings(self):
        body = chat(TEXT, TEXT)
        whole = stc.context.Context(format="stc2").prepare(body)
        self.assertEqual(contents(whole.body)[0], stc.encode(TEXT, "stc2"))
        with self.assertRaisesRegex(ValueError, "stc2-dense is part of stc2"):
            stc.context.Context(format="stc2-dense")
        self.assertEqual(stc.context.Context(dedup=True).prepare(body).report["items"][1]["status"], "duplicate")
        self.assertEqual(stc.context.Context(skip_tools=["li*"]).prepare(body).report["changed"], 0)
        self.assertTrue(contents(stc.context.Context(legend="first").prepare(body).body)[0].startswith("STC 2"))
        for wrong, error in [({"min_byte": 1}, TypeError), ({"telemetry": {}}, TypeError), ({"mode": "best"}, ValueError), ({"min_bytes": -1}, ValueError)]:
            with self.assertRaises(error, msg=wrong):
                stc.context.Context(**wrong)

    def test_the_model_decides_the_format(self):
        large, small = "anthropic/claude-sonnet-4-5", "gpt-4.1-nano"
        full, labelled = stc.encode(TEXT, "stc2"), stc.encode(TEXT, "stc2-labelled")
        for model, expected, level in [(large, full, "large"), (small, labelled, "small"), ("m", labelled, "small")]:
            body = chat(TEXT).replace('"m"', json.dumps(model))
            for prepared in (stc.context.prepare(body), stc.context.prepare(chat(TEXT), model=model)):
                self.assertEqual(contents(prepared.body), [expected], model)
                self.assertEqual(prepared.report["reading"]["reader"], level)
        self.assertEqual(stc.context.prepare(chat(TEXT), model=large).report["reading"]["by"], "readers.toml:claude-*")
        self.assertEqual(contents(stc.context.Context(reader="large").prepare(chat(TEXT)).body), [full])
        self.assertEqual(contents(stc.context.Context(unknown_reader="large").prepare(chat(TEXT)).body), [full])
        readers = stc.context.Context(readers=[{"model": "house/*", "format": "json"}, {"model": "gpt-*", "format": "stc2"}])
        self.assertEqual(readers.reading("house/x"), {"format": "json", "reader": None, "by": "context.readers:house/*"})
        self.assertEqual(readers.reading(small)["format"], "stc2")
        self.assertEqual(stc.context.Context().reading()["by"], "no-model")
        self.assertIsNone(stc.context.Context(format="stc2-labelled").reading(large))
        self.assertIsNone(stc.context.Context(format="stc2-labelled").prepare(chat(TEXT), model=large).report["reading"])
        for wrong in ({"reader": "huge"}, {"readers": [{"model": "a"}]}, {"readers": [{"model": "a b", "format": "json"}]}, {"unknown_reader": "auto"}):
            with self.assertRaises(ValueError, msg=wrong):
                stc.context.Context(**wrong)

    def test_every_setting_that_is_said(self):
        said = {name: value.default for name, value in inspect.signature(stc.context.Context).parameters.items()}
        self.assertEqual(len(said), 24)
        spelled = stc.context.Context(**said)
        for body in (chat(TEXT), chat("a line\n" * 400, tool="bash"), chat(TEXT, _stc="aggressive")):
            self.assertEqual(spelled.prepare(body).body, stc.context.prepare(body).body, "what is said are the defaults")
        self.assertEqual((said["excerpt"], said["redact"]["enabled"]), ({"lines": 160}, "by-mode"))
        for name in ("api", "header", "memo", "store", "telemetry", "max_held_bytes", "expand"):
            with self.assertRaises(TypeError, msg=name):
                stc.context.Context(**{name: None})

    def test_tables_and_redaction(self):
        log = "".join(f"line {number} of a log that is long\n" for number in range(2000))
        capped = stc.context.Context(mode="safe", cap={"bytes": 3000}).prepare(chat(log, tool="bash"))
        self.assertLessEqual(len(contents(capped.body)[0]), 3000)
        few = stc.context.Context(mode="standard", excerpt={"lines": 10}).prepare(chat(log, tool="bash"))
        self.assertLess(contents(few.body)[0].count("\n"), 40)
        tools = [{"type": "function", "function": {"name": "list", "description": "Lists.   \n\n\n\nAll."}}]
        shorter = stc.context.Context(schemas="minify")
        self.assertLess(len(json.loads(shorter.prepare(chat(TEXT, tools=tools)).body)["tools"][0]["function"]["description"]), 20)
        secret = "the key is ghp_" + "a1B2c3D4e5" * 4
        self.assertIn("ghp_", contents(stc.context.prepare(chat(secret)).body)[0])
        for enabled in ("on", "required"):
            context = stc.context.Context(redact={"enabled": enabled})
            prepared = context.prepare(chat(secret))
            self.assertNotIn("ghp_", prepared.body.decode())
            self.assertEqual((prepared.report["items"][0]["redacted"], context.requires_redaction), (1, enabled == "required"))
        left_out = stc.context.Context(redact={"enabled": "on", "rules": ["-github-token"]})
        self.assertEqual([stc.context.Context().reads_all, shorter.reads_all, left_out.reads_all], [False, True, True])
        with self.assertRaises(stc.context.RedactionError):
            stc.context.Context(redact={"enabled": "required"}).prepare('{"messages":[{"role":"tool","content":"a","content":"b"}]}')
        for wrong in ({"redact": {"enabled": "yes"}}, {"redact": {"rules": ["-jwts"]}}, {"cap": {"lines": 1}}, {"schemas": "tiny"}):
            with self.assertRaises(ValueError, msg=wrong):
                stc.context.Context(**wrong)

    def test_options_of_a_request(self):
        prepared = stc.context.prepare(chat(TEXT, _stc="disabled"))
        self.assertEqual((contents(prepared.body), b"_stc" in prepared.body, prepared.is_changed), ([TEXT], False, True))
        self.assertFalse(stc.context.prepare(chat(TEXT), headers={"x-StC-bypass": "true", "Accept": "x"}).is_changed)
        with self.assertRaises(stc.context.OptionError) as raised:
            stc.context.prepare(chat(TEXT, _stc={"mode": "best"}))
        self.assertEqual((raised.exception.field, isinstance(raised.exception, ValueError)), ("_stc.mode", True))

    def test_threads(self):
        context, wrong = stc.context.Context(), []
        bodies = [chat(*[json.dumps(ROWS[number:])] * 20) for number in range(8)]
        expected = [stc.context.prepare(body).body for body in bodies]

        def work(number):
            for _ in range(20):
                if context.prepare(bodies[number]).body != expected[number]:
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
