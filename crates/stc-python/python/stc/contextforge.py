"""STC for IBM ContextForge (`mcp-contextforge-gateway`): results of tools reach the client as STC.

`Plugin` is a plugin for the hook `tool_post_invoke`; its `kind` in the file of plugins is `stc.contextforge.Plugin`. Text blocks that
are JSON and become shorter change, and are marked as stc-gateway marks them. All other blocks, and errors, stay as they are.
"""

from typing import TYPE_CHECKING, Any

from cpex.framework import Plugin as _Base
from cpex.framework import ToolPostInvokePayload, ToolPostInvokeResult

from ._texts import EXTENSION, MIN_BYTES, SKIP_TOOLS, checked_format, is_program, is_skipped, shorter

if TYPE_CHECKING:
    from cpex.framework import PluginConfig, PluginContext

__all__ = ["EXTENSION", "Plugin"]

# Longer texts stay as they are: a conversion of this size takes a few milliseconds of the gateway's only thread.
MAX_BYTES = 8 << 20


def _names(name: str) -> list[str]:
    """The names that a tool may have at its server: ContextForge writes the server's own before them, `server-read-file`."""
    parts = name.split("-")
    return ["-".join(parts[start:]) for start in range(min(len(parts), 16))]


class Plugin(_Base):
    """A plugin with the settings `format`, `min_bytes`, `max_bytes`, and two lists of tools whose results stay: `exclude_tools`, names or
    patterns with `*`, and `skip_tools`, families too, by default those that read, edit and write files.
    """

    def __init__(self, config: "PluginConfig") -> None:
        super().__init__(config)
        settings = dict(config.config or {})
        self.format = checked_format(settings.pop("format", "stc2"))
        self.min_bytes = settings.pop("min_bytes", MIN_BYTES)
        self.max_bytes = settings.pop("max_bytes", MAX_BYTES)
        self.skip_tools = [*settings.pop("exclude_tools", []), *settings.pop("skip_tools", SKIP_TOOLS)]
        if settings:
            raise ValueError(f"unknown settings: {', '.join(sorted(settings))}")

    async def tool_post_invoke(self, payload: ToolPostInvokePayload, context: "PluginContext") -> ToolPostInvokeResult:
        """Returns the result with its JSON as STC, where that is shorter."""
        result = payload.result
        if not isinstance(result, dict) or not isinstance(result.get("content"), list) or result.get("isError") or result.get("is_error"):
            return ToolPostInvokeResult()
        meta = result.get("_meta")
        caller = meta.get("caller") if isinstance(meta, dict) else None
        if any(is_skipped(name, self.skip_tools) for name in _names(payload.name)) or is_program(caller):
            return ToolPostInvokeResult()
        blocks = [self._encoded(block) for block in result["content"]]
        if all(new is old for new, old in zip(blocks, result["content"])):
            return ToolPostInvokeResult()
        changed = ToolPostInvokePayload(name=payload.name, result={**result, "content": blocks})
        return ToolPostInvokeResult(modified_payload=changed)

    def _encoded(self, block: Any) -> Any:
        if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
            return block
        meta = block.get("_meta") or {}
        if not isinstance(meta, dict) or EXTENSION in meta or len(block["text"]) > self.max_bytes:
            return block
        text = shorter(block["text"], self.format, self.min_bytes)
        if text is None:
            return block
        return {**block, "text": text, "_meta": {**meta, EXTENSION: {"format": self.format}}}
