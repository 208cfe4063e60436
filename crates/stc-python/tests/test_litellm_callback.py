"""stc.litellm with stand-ins for LiteLLM and FastAPI: which calls are prepared, and which are refused."""

import asyncio
import json
import sys
import types
import unittest

import stc.context


class HTTPException(Exception):
    def __init__(self, status_code, detail):
        super().__init__(status_code)
        self.status_code, self.detail = status_code, detail


class Message:
    """An object of an SDK, as pydantic makes them."""

    def __init__(self, **members):
        self.__dict__.update(members)

    def model_dump(self, exclude_none=False):
        return {name: value for name, value in self.__dict__.items() if value is not None or not exclude_none}


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


stand_in("litellm", completion=lambda **keywords: keywords)
stand_in("litellm.integrations")
stand_in("litellm.integrations.custom_logger", CustomLogger=object)
stand_in("fastapi", HTTPException=HTTPException)

from stc.litellm import Callback, completion  # noqa: E402

SECRET = "the key is ghp_" + "a1B2c3D4e5" * 4
REQUIRED = {"redact": {"enabled": "required"}}
ROWS = json.dumps([{"id": number, "state": "open", "by": "ann"} for number in range(60)])


def chat(text=ROWS, **members):
    return {"model": "m", "messages": [{"role": "tool", "tool_call_id": "c", "content": text}], **members}


def called(settings, data, kind="acompletion"):
    return asyncio.run(Callback(stc.context.Context(**settings)).async_pre_call_hook(None, None, data, kind))


class LiteLLM(unittest.TestCase):
    def refused(self, settings, data, kind="acompletion"):
        with self.assertRaises(HTTPException) as raised:
            called(settings, data, kind)
        return raised.exception.status_code, raised.exception.detail["error"]["code"]

    def test_settings_apply(self):
        self.assertEqual(called({}, chat())["messages"][0]["content"], stc.encode(ROWS, "stc2-labelled"))
        self.assertEqual(called({"min_bytes": 100_000}, chat())["messages"][0]["content"], ROWS)
        tools = [{"type": "function", "function": {"name": "list", "description": "Lists.   \n\n\n\nAll."}}]
        self.assertEqual(called({}, chat(tools=tools))["tools"], tools)
        self.assertLess(len(json.dumps(called({"schemas": "minify"}, chat(tools=tools))["tools"])), len(json.dumps(tools)))
        self.assertNotIn("ghp_", str(called({"redact": {"enabled": "on"}}, chat(SECRET))))
        shorter = completion(model="m", messages=chat()["messages"], tools=tools, stc_context=stc.context.Context(schemas="minify"))
        self.assertEqual(shorter["messages"][0]["content"], stc.encode(ROWS, "stc2-labelled"))
        self.assertNotEqual(shorter["tools"], tools)

    def test_the_model_behind_a_name_decides_the_format(self):
        full, labelled = stc.encode(ROWS, "stc2"), stc.encode(ROWS, "stc2-labelled")
        deployed = {"prod": ["openai/gpt-5"], "mixed": ["openai/gpt-5", "ollama/llama3.2:3b"], "gpt-4": ["ollama/llama3.2:3b"], "none": []}

        class Router:
            def resolved_litellm_models(self, name, team_id=None):
                return tuple(deployed[name])

        def sent(model, **settings):
            return called(settings, {**chat(), "model": model})["messages"][0]["content"]

        self.assertEqual([sent("gpt-5"), sent("prod"), sent(7), sent(None)], [full, labelled, labelled, labelled])
        self.assertEqual(completion(model="xai/grok-4", messages=chat()["messages"])["messages"][0]["content"], full)
        for router in (Router(), object(), None):
            stand_in("litellm.proxy.proxy_server", llm_router=router)
            expected = [full, labelled, labelled, labelled] if isinstance(router, Router) else [labelled, labelled, full, labelled]
            self.assertEqual([sent("prod"), sent("mixed"), sent("gpt-4"), sent("none")], expected)
            self.assertEqual(sent("mixed", readers=[{"model": "mixed", "format": "stc2"}]), full)
            self.assertEqual(sent("none", format="stc2"), full)
        del sys.modules["litellm.proxy.proxy_server"]

    def test_what_is_refused(self):
        self.assertEqual(self.refused({}, chat(_stc={"mode": "best"})), (400, "stc_option"))
        self.assertNotIn("ghp_", str(called(REQUIRED, chat(SECRET))))
        for data, kind in [
            ({"model": "m", "input": SECRET}, "aembedding"),
            ({"model": "m", "prompt": SECRET}, "text_completion"),
            ({"model": "m"}, "acompletion"),
            (chat(SECRET.encode()), "acompletion"),
        ]:
            self.assertEqual(self.refused(REQUIRED, data, kind), (502, "stc_redaction"), kind)
            self.assertIs(called({"redact": {"enabled": "on"}}, data, kind), data)

    def test_objects_are_looked_through(self):
        given, plain = Message(role="user", content=SECRET), Message(role="user", content="hi")
        sent = called(REQUIRED, {"model": "m", "messages": [given, plain, {"role": "tool", "tool_call_id": "c", "content": "a"}]})
        self.assertNotIn("ghp_", json.dumps(sent["messages"][0]))
        self.assertIs(sent["messages"][1], plain)
        messages = [given, plain]
        sent = completion(model="m", messages=messages, stc_context=stc.context.Context(**REQUIRED))["messages"]
        self.assertEqual((given.content, messages, sent[1]), (SECRET, [given, plain], plain))
        self.assertNotIn("ghp_", json.dumps(sent[0]))
        self.assertIs(called(REQUIRED, {"model": "m", "messages": [plain]})["messages"][0], plain)

    def test_every_member_is_looked_through(self):
        places = {
            "prediction": {"type": "content", "content": SECRET},
            "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"description": SECRET}}},
            "metadata": {"note": SECRET, SECRET: 1},
            "extra_body": {"note": [SECRET]},
            "mcp_servers": [{"name": SECRET}],
            "tool_choice": {"function": {"name": SECRET}},
            "stop": ["end", SECRET],
            "tools": [Message(role="a", content=SECRET)],
            "fallbacks": [{"model": "n", "messages": [SECRET]}],
        }
        names = ["user", "prompt", "system", "instructions", "unknown", "litellm_unknown"]
        for name, value in [*places.items(), *((name, SECRET) for name in names), (SECRET, 1)]:
            for api, kind in [("messages", "acompletion"), ("messages", "anthropic_messages"), ("input", "aresponses")]:
                for settings in ({"redact": {"enabled": "on"}}, REQUIRED):
                    sent = called(settings, {"model": "m", api: [{"role": "user", "content": "hi"}], name: value}, kind)
                    self.assertNotIn("ghp_", json.dumps(sent, default=str), (name, kind))
            if name != SECRET:
                sent = completion(**chat("a", **{name: value}), stc_context=stc.context.Context(**REQUIRED))
                self.assertNotIn("ghp_", json.dumps(sent, default=str), name)

    def test_members_of_litellm_stay(self):
        own = {
            "api_key": SECRET,
            "extra_headers": {"Authorization": SECRET},
            "proxy_server_request": {"headers": {}, "body": chat(SECRET)},
            "litellm_metadata": {"user_api_key": SECRET},
            "litellm_logging_obj": object(),
            "metadata": {"user_api_key": SECRET, "user_api_key_auth": object(), "headers": {"a": SECRET}, "note": "n", "tags": ["a"]},
        }
        for text in ("a", SECRET):
            sent = called(REQUIRED, chat(text, **own))
            self.assertNotIn("ghp_", str(sent["messages"]))
            for name, value in own.items():
                self.assertIs(sent[name], value)
        changed = called(REQUIRED, chat("a", metadata={**own["metadata"], "requester_metadata": {"user_api_key": SECRET}}))["metadata"]
        self.assertEqual(changed["user_api_key_auth"], own["metadata"]["user_api_key_auth"])
        self.assertNotIn("ghp_", str(changed["requester_metadata"]))
        # The other APIs send the metadata on.
        sent = called(REQUIRED, chat("a", metadata={"user_api_key": SECRET}), "anthropic_messages")
        self.assertNotIn("ghp_", str(sent))

    def test_members_that_are_not_json(self):
        for name, value in [("response_format", Message), ("stop", {"a"}), ("metadata", {"a": object()}), ("extra_body", b"a")]:
            self.assertEqual(self.refused(REQUIRED, chat(SECRET, **{name: value})), (502, "stc_redaction"), name)
            sent = called({"redact": {"enabled": "on"}}, chat(SECRET, user=SECRET, **{name: value}))
            self.assertNotIn("ghp_", str(sent))
            self.assertIs(sent[name], value)
            with self.assertRaises(stc.context.RedactionError):
                completion(**chat(SECRET, **{name: value}), stc_context=stc.context.Context(**REQUIRED))

    def test_redaction_that_a_request_asks_for(self):
        for options in [{"_stc": {"redact_secrets": True}}, {"_stc": "safe"}, {"_forge": {"tool_output_compression": {"redact_secrets": True}}}]:
            sent = called({}, chat("a", user=SECRET, tools=[{"name": SECRET}], **options))
            self.assertNotIn("ghp_", str(sent), options)
            self.assertFalse({"_stc", "_forge"} & set(sent))
        request = {"headers": {"X-STC-Mode": "safe"}}
        self.assertNotIn("ghp_", called({}, chat("a", user=SECRET, proxy_server_request=request))["user"])
        self.assertIn("ghp_", called({}, chat("a", user=SECRET))["user"])

    def test_options_do_not_reach_the_provider(self):
        for option in ("disabled", {}):
            self.assertNotIn("_stc", called({}, chat("a", _stc=option)), option)
        self.assertEqual(self.refused({}, chat("a", _stc=None)), (400, "stc_option"))
        self.assertEqual(called({"options": False}, chat(_stc="disabled"))["_stc"], "disabled")

    def test_results_for_programs(self):
        callers = ["code_execution_20250825"]
        for tool in [
            {"name": "list", "allowed_callers": callers},
            {"type": "function", "function": {"name": "list", "allowed_callers": callers}},
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "list", "allowed_callers": callers}]},
            {"functionDeclarations": [{"name": "list", "allowed_callers": callers}]},
        ]:
            for settings in ({}, {"redact": {"enabled": "on"}}):
                tools = [tool]
                sent = called(settings, chat(tools=tools))
                self.assertEqual(sent["messages"][0]["content"], ROWS, tool)
                self.assertIs(sent["tools"], tools)
        tools = [{"name": "list", "allowed_callers": ["direct"]}]
        sent = called({}, chat(tools=tools))
        self.assertEqual(sent["messages"][0]["content"], stc.encode(ROWS, "stc2-labelled"))
        self.assertIs(sent["tools"], tools)


if __name__ == "__main__":
    unittest.main()
