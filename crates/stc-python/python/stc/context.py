"""Tool results inside requests to a model, in fewer tokens.

    prepared = stc.context.prepare(body, "openai-chat")
    send(prepared.body)

A request is bytes of JSON in the API "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock" or "ollama". Outside the texts
of tool results not one byte changes, and the same message always becomes the same text, so that a provider's cache of prompts keeps
working. The format is that of the model that reads: the body's `model`, or `model=` where a path names it. A large one gets the whole
format, a small or unknown one the labelled form; `Context(reader="large")` and `Context(readers=[{"model": "house/*", "format":
"stc2"}])` say otherwise. `Context(**settings)` has settings of its own; `restore` is the way back. The rules and the options of a request are those of
stc-gateway, and so are the settings, but for those of its routes, answers, sessions and files: `api`, `header`, `memo`, `store`,
`telemetry`, `max_held_bytes`. Tables are dictionaries: `Context(mode="safe", cap={"bytes": 4096}, redact={"enabled": "required"})`.
"""

from ._error import OptionError, RedactionError
from ._stc import Context, Prepared, restore

__all__ = ["Context", "OptionError", "Prepared", "RedactionError", "prepare", "restore"]

_usual = Context()


def prepare(body, api="openai-chat", *, headers=None, model=None):
    """Converts the tool results of a request with the default settings. A wrong option of the request is an OptionError."""
    return _usual.prepare(body, api, headers=headers, model=model)
