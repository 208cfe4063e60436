"""STC for LiteLLM (`litellm`): results of tools in a request reach the model as STC.

`encoded_messages` converts the messages of a request; `completion` and `acompletion` are LiteLLM's own with that step before them.
`Callback` does it in LiteLLM's proxy, which loads callbacks from files beside its configuration: `from stc.litellm import callback` in
`stc_callback.py`, and `litellm_settings: {callbacks: stc_callback.callback}`.
"""

import litellm as _litellm
from litellm.integrations.custom_logger import CustomLogger

from ._texts import MIN_BYTES, shorter

__all__ = ["Callback", "acompletion", "callback", "completion", "encoded_messages"]


def encoded_messages(messages, format="stc2", *, min_bytes=MIN_BYTES):
    """Returns messages in which the contents of tool messages are STC, where that is shorter. The messages given are not changed.

    The same message always becomes the same bytes, so that a provider's cache of prompts keeps working.
    """
    return [_encoded(message, format, min_bytes) for message in messages]


def completion(*args, stc_format="stc2", **keywords):
    """Calls `litellm.completion` with the messages encoded."""
    return _litellm.completion(*args, **_converted(keywords, stc_format))


async def acompletion(*args, stc_format="stc2", **keywords):
    """Calls `litellm.acompletion` with the messages encoded."""
    return await _litellm.acompletion(*args, **_converted(keywords, stc_format))


class Callback(CustomLogger):
    """A callback of LiteLLM's proxy that encodes the messages of chat requests."""

    def __init__(self, format="stc2", min_bytes=MIN_BYTES):
        super().__init__()
        self.format, self.min_bytes = format, min_bytes

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        if isinstance(data.get("messages"), list):
            data["messages"] = encoded_messages(data["messages"], self.format, min_bytes=self.min_bytes)
        return data


callback = Callback()


def _converted(keywords, format):
    if "messages" not in keywords:
        raise TypeError("messages is a keyword argument")
    return {**keywords, "messages": encoded_messages(keywords["messages"], format)}


def _encoded(message, format, min_bytes):
    if not isinstance(message, dict) or message.get("role") != "tool":
        return message
    content = message.get("content")
    if isinstance(content, str):
        text = shorter(content, format, min_bytes)
        return message if text is None else {**message, "content": text}
    if isinstance(content, list):
        return {**message, "content": [_encoded_block(block, format, min_bytes) for block in content]}
    return message


def _encoded_block(block, format, min_bytes):
    if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
        return block
    text = shorter(block["text"], format, min_bytes)
    return block if text is None else {**block, "text": text}
