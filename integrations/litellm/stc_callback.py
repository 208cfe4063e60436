"""STC in LiteLLM's proxy. This file belongs beside config.yaml, which names it."""

from stc.context import Context
from stc.litellm import Callback

# Settings of stc.context, three of them with their defaults: format="by-model", min_bytes=1024, skip_tools=["read", "edit", "write"]
callback = Callback(Context())
