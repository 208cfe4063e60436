"""STC for LiteLLM (`litellm`): results of tools in a request reach the model as STC, by the rules of `stc.context`.

`Callback` does it in LiteLLM's proxy, for Chat Completions, Responses and Messages. The proxy loads callbacks from files beside its
configuration: `from stc.litellm import callback` in `stc_callback.py`, and `litellm_settings: {callbacks: stc_callback.callback}`.
`completion` and `acompletion` are LiteLLM's own with that step before them; `encoded_messages` converts messages alone.

Where redaction is on, every member of a request is looked through, but for LiteLLM's own: credentials, headers, accounts. With
`redact={"enabled": "required"}` a call that is not looked through is refused with status 502: one of another kind, as an embedding, and one
with a member that is not JSON, as a class for `response_format`.
"""

import json as _json
import re
import sys
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
# Members that LiteLLM reads and no model: where a call goes, with which credentials, and what the proxy notes of it.
_OWN = frozenset(
    {
        "acompletion",
        "api_base",
        "api_key",
        "api_version",
        "aws_access_key_id",
        "aws_secret_access_key",
        "aws_session_token",
        "azure_ad_token",
        "azure_ad_token_provider",
        "base_url",
        "client",
        "custom_llm_provider",
        "extra_headers",
        "headers",
        "litellm_call_id",
        "litellm_logging_obj",
        "litellm_metadata",
        "logger_fn",
        "model_list",
        "provider_specific_header",
        "proxy_server_request",
        "secret_fields",
        "shared_session",
        "timeout",
        "user_config",
        "vertex_ai_credentials",
        "vertex_credentials",
    }
)
# What the proxy writes into the `metadata` of a chat. For the other APIs it has `litellm_metadata`.
_OWN_METADATA = re.compile(r"user_api_|litellm_|(headers|endpoint)\Z")
_usual = Context()


def encoded_messages(
    messages: list[Any], context: Context = _usual, tools: list[Any] | None = None, model: str | None = None
) -> list[Any]:
    """Returns messages in which the results of tools are STC. The messages given are not changed.

    The same message always becomes the same bytes, so that a provider's cache of prompts keeps working. The `tools` of the request say
    whose results only programs read, which stay. The `model` says which form its tool results get.
    """
    part = {"messages": messages, "tools": tools}
    return _changes(part, "openai-chat", "messages", context, model=model)[0].get("messages", messages)


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
            model = _deployed(data.get("model"), self.context, getattr(user_api_key_dict, "team_id", None))
            changes, removed = _changes(data, api, conversation, self.context, headers, model=model)
        except OptionError as error:
            raise _refused(error) from error
        except RedactionError as error:
            raise _unredacted(error) from error
        # Options are for this callback: the model's API would reject them.
        for name in removed:
            del data[name]
        data.update(changes)
        return data


callback = Callback()


def _converted(keywords: dict[str, Any], context: Context) -> dict[str, Any]:
    if "messages" not in keywords:
        raise TypeError("messages is a keyword argument")
    changes, removed = _changes(keywords, "openai-chat", "messages", context, options=False, model=keywords.get("model"))
    return {**{name: value for name, value in keywords.items() if name not in removed}, **changes}


def _deployed(name: Any, context: Context, team: "str | None") -> Any:
    """Returns the model that reads a request: the proxy's name for it, if the settings have a line for that, or what answers to
    the name. Of several the smallest, so that the same message becomes the same bytes whichever of them is chosen.
    """
    reading = context.reading(name) if isinstance(name, str) else None
    router = getattr(sys.modules.get("litellm.proxy.proxy_server"), "llm_router", None)
    if reading is None or router is None or reading["by"].startswith("context."):
        return name
    try:
        models = router.resolved_litellm_models(name, team_id=team)
    except Exception:  # another version of LiteLLM: the name has to do
        return name
    small = [model for model in models if (context.reading(model) or reading)["reader"] != "large"]
    return next(iter([*small, *models]), name)


def _changes(
    data: dict[str, Any],
    api: "Api",
    conversation: str,
    context: Context,
    headers: dict[str, str] | None = None,
    *,
    options: bool = True,
    model: Any = None,
) -> tuple[dict[str, Any], list[str]]:
    """Returns the members of a request that have to be sent instead of its own, and the names of those that are not sent."""
    asks = options and (any(name in data for name in _OPTIONS) or any(name.lower() == "x-stc-mode" for name in headers or ()))
    try:
        part = _part(data, api, conversation, options, context.reads_all or asks)
        # Tools that nothing is changed in still say whose results only programs read.
        tools = None if "tools" in part else data.get("tools")
        has_callers = tools is not None and b"allowed_callers" in _body({"tools": tools})
        body, part = _json_body({**part, "tools": tools} if has_callers else part, conversation, context.requires_redaction)
    except (TypeError, ValueError, RecursionError) as error:
        if context.requires_redaction:
            raise RedactionError("redaction failed") from error
        # Values that are not JSON, as bytes: LiteLLM decides what they mean.
        return {}, []
    prepared = context.prepare(body, api, headers=headers, model=model if isinstance(model, str) else None)
    if not prepared.is_changed:
        return {}, []
    fresh = _json.loads(prepared.body)
    if has_callers:
        del part["tools"], fresh["tools"]
    changes = {name: _fresh(part[name], value) if name in part else value for name, value in fresh.items()}
    changes = {name: value for name, value in changes.items() if name not in part or value is not part[name]}
    if "metadata" in changes and isinstance(data.get("metadata"), dict):
        own = {name: value for name, value in data["metadata"].items() if name not in part["metadata"]}
        changes["metadata"] = {**own, **changes["metadata"]}
    return changes, [name for name in part if name not in fresh]


def _part(data: dict[str, Any], api: "Api", conversation: str, options: bool, reads_all: bool) -> dict[str, Any]:
    """Returns the members of a request that are looked at."""
    if not reads_all:
        return {conversation: data[conversation]}
    part = {name: value for name, value in data.items() if name not in _OWN and value is not None and name not in _OPTIONS}
    part |= {name: data[name] for name in _OPTIONS if options and name in data}
    metadata = part.get("metadata")
    if api == "openai-chat" and isinstance(metadata, dict):
        part["metadata"] = {name: value for name, value in metadata.items() if not _OWN_METADATA.match(str(name))}
    return part


def _json_body(part: dict[str, Any], conversation: str, is_required: bool) -> tuple[bytes, dict[str, Any]]:
    """Returns members as a body, and those that it has. Without those that are not JSON, if the conversation and tools are, and if
    nothing requires that all are looked through.
    """
    try:
        return _body(part), part
    except (TypeError, ValueError):
        if is_required:
            raise
    readable = {name: value for name, value in part.items() if name in (conversation, "tools", *_OPTIONS) or _is_json(value)}
    return _body(readable), readable


def _is_json(value: Any) -> bool:
    try:
        _body({"value": value})
    except (TypeError, ValueError):
        return False
    return True


def _fresh(given: Any, fresh: Any) -> Any:
    """Returns a prepared value, or the one given if nothing changed: some are objects of the provider's SDK."""
    if isinstance(given, list) and isinstance(fresh, list) and len(given) == len(fresh):
        values = [_fresh_value(old, new) for old, new in zip(given, fresh)]
        return given if all(new is old for new, old in zip(values, given)) else values
    return _fresh_value(given, fresh)


def _fresh_value(given: Any, fresh: Any) -> Any:
    return given if given == fresh or _json.loads(_body({"value": given}))["value"] == fresh else fresh


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
