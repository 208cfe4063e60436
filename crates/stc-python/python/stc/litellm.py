"""STC for LiteLLM (`litellm`): results of tools in a request reach the model as STC, by the rules of `stc.context`.

`Callback` does it in LiteLLM's proxy, for Chat Completions, Responses and Messages. The proxy loads callbacks from files beside its
configuration: `from stc.litellm import callback` in `stc_callback.py`, and `litellm_settings: {callbacks: stc_callback.callback}`.
`completion` and `acompletion` are LiteLLM's own with that step before them; `encoded_messages` converts messages alone.

With `redact={"enabled": "required"}` a call that is not looked through for secrets is refused with status 502: also one of another kind, as
an embedding.
"""

import json as _json
from typing import TYPE_CHECKING, Any

import litellm as _litellm
from litellm.integrations.custom_logger import CustomLogger

from .context import Context, OptionError, RedactionError

if TYPE_CHECKING:
    from ._stc import Api

__all__ = ["Callback", "acompletion", "callback", "completion", "encoded_messages"]

# The API of each kind of call, and the member that has the conversation.
_APIS: "dict[str, tuple[Api, str]]" = {
    "completion": ("openai-chat", "messages"),
    "acompletion": ("openai-chat", "messages"),
    "responses": ("openai-responses", "input"),
    "aresponses": ("openai-responses", "input"),
    "anthropic_messages": ("anthropic", "messages"),
    "aanthropic_messages": ("anthropic", "messages"),
}
# Members of a request that are options.
_OPTIONS = ("_stc", "_forge")
# Members beside the conversation that may have descriptions of tools, or secrets.
_MORE = ("tools", "functions", "system", "instructions")
_usual = Context()


def encoded_messages(messages: list[Any], context: Context = _usual, tools: list[Any] | None = None) -> list[Any]:
    """Returns messages in which the results of tools are STC. The messages given are not changed.

    The same message always becomes the same bytes, so that a provider's cache of prompts keeps working. The `tools` of the request say
    whose results only programs read, which stay.
    """
    return _changes({"messages": messages, "tools": tools}, "openai-chat", "messages", context).get("messages", messages)


def completion(*args: Any, stc_context: Context = _usual, **keywords: Any) -> Any:
    """Calls `litellm.completion` with the messages encoded."""
    return _litellm.completion(*args, **_converted(keywords, stc_context))


async def acompletion(*args: Any, stc_context: Context = _usual, **keywords: Any) -> Any:
    """Calls `litellm.acompletion` with the messages encoded."""
    return await _litellm.acompletion(*args, **_converted(keywords, stc_context))


class Callback(CustomLogger):
    """A callback of LiteLLM's proxy that encodes the results of tools in requests."""

    def __init__(self, context: Context = _usual) -> None:
        super().__init__()
        self.context = context

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str) -> dict[str, Any]:
        api, conversation = _APIS.get(call_type, (None, None))
        if api is None or not isinstance(data.get(conversation), (list, str)):
            if self.context.requires_redaction:
                raise _unredacted(RedactionError("redaction failed"))
            return data
        headers = (data.get("proxy_server_request") or {}).get("headers")
        try:
            changes = _changes(data, api, conversation, self.context, headers)
        except OptionError as error:
            raise _refused(error) from error
        except RedactionError as error:
            raise _unredacted(error) from error
        if changes:
            # Options are for this callback: the model's API would reject them.
            for name in _OPTIONS:
                data.pop(name, None)
            data.update(changes)
        return data


callback = Callback()


def _converted(keywords: dict[str, Any], context: Context) -> dict[str, Any]:
    if "messages" not in keywords:
        raise TypeError("messages is a keyword argument")
    return {**keywords, **_changes({**keywords}, "openai-chat", "messages", context, options=False)}


def _changes(
    data: dict[str, Any],
    api: "Api",
    conversation: str,
    context: Context,
    headers: dict[str, str] | None = None,
    *,
    options: bool = True,
) -> dict[str, Any]:
    """Returns the members of a request that have to be sent instead of its own; none if nothing changes."""
    names = (conversation, *(_OPTIONS if options else ()), *(_MORE if context.reads_all else ()))
    part = {name: data[name] for name in names if data.get(name) is not None}
    # Tools that nothing is changed in still say whose results only programs read.
    callers = [] if "tools" in part else _callers(data.get("tools"))
    if callers:
        part["tools"] = callers
    try:
        body = _body(part)
    except (TypeError, ValueError) as error:
        if context.requires_redaction:
            raise RedactionError("redaction failed") from error
        # Values that are not JSON, as bytes: LiteLLM decides what they mean.
        return {}
    prepared = context.prepare(body, api, headers=headers)
    if not prepared.is_changed:
        return {}
    changed = _json.loads(prepared.body)
    if callers:
        changed.pop("tools", None)
    # Messages that did not change keep their identity: some are objects of the provider's SDK.
    if not isinstance(data[conversation], list):
        return changed
    changed[conversation] = [
        fresh if isinstance(given, dict) and fresh != given else given for given, fresh in zip(data[conversation], changed[conversation])
    ]
    return changed


def _callers(tools: Any) -> list[dict[str, Any]]:
    """Returns who may call the tools that say so."""
    found = []
    for tool in tools if isinstance(tools, list) else []:
        tool = tool if isinstance(tool, dict) else {}
        function = tool.get("function") if isinstance(tool.get("function"), dict) else {}
        callers = tool.get("allowed_callers", function.get("allowed_callers"))
        if callers is not None:
            found.append({"name": tool.get("name", function.get("name")), "allowed_callers": callers})
    return found


def _body(part: dict[str, Any]) -> bytes:
    text = _json.dumps(part, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; as the escape \udXXX it is JSON.
        return _json.dumps(part, separators=(",", ":"), default=_plain).encode()


def _plain(value: Any) -> Any:
    """Returns an object of a provider's SDK as a dictionary."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _refused(error: OptionError) -> Exception:
    """Returns the answer of the proxy with status 400."""
    from fastapi import HTTPException

    detail = {"message": str(error), "type": "invalid_request_error", "param": error.field, "code": "stc_option"}
    return HTTPException(status_code=400, detail={"error": detail})


def _unredacted(error: RedactionError) -> Exception:
    """Returns the answer of the proxy with status 502."""
    from fastapi import HTTPException

    return HTTPException(status_code=502, detail={"error": {"message": str(error), "type": "server_error", "code": "stc_redaction"}})
