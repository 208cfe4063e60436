"""STC for tools of LangChain (`langchain-core`): what a tool returns reaches the model as STC.

`encoded_tool(tool)` wraps a tool. `encode_message` and `decode_message` convert a `ToolMessage`; the mark is in its
`response_metadata`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from ._stc import decode
from ._texts import EXTENSION, MIN_BYTES, SKIP_TOOLS, as_text, checked_format, is_skipped, may_be_programs, shorter

if TYPE_CHECKING:
    from ._stc import StcFormat

__all__ = ["EXTENSION", "EncodedTool", "decode_message", "encode_message", "encoded_tool"]


def encode_message(
    message: ToolMessage,
    format: "StcFormat" = "stc2",
    *,
    min_bytes: int = MIN_BYTES,
    tool: str | None = None,
    skip_tools: Iterable[str] = SKIP_TOOLS,
) -> ToolMessage:
    """Returns a `ToolMessage` with its text as STC, where that is shorter. Errors and contents of several blocks stay as they are, and so
    do messages whose tool is in `skip_tools`, by family, name or pattern. A message without a name is of `tool`; without that it stays too,
    unless `skip_tools` is empty.
    """
    if is_skipped(message.name or tool, skip_tools) or message.status == "error":
        return message
    if not isinstance(message.content, str) or EXTENSION in message.response_metadata:
        return message
    text = shorter(message.content, checked_format(format), min_bytes)
    if text is None:
        return message
    metadata = {**message.response_metadata, EXTENSION: {"format": format}}
    return message.model_copy(update={"content": text, "response_metadata": metadata})


def decode_message(message: ToolMessage) -> ToolMessage:
    """Returns a `ToolMessage` of `encode_message` with its text as JSON again; other messages are returned as they are."""
    if EXTENSION not in message.response_metadata:
        return message
    metadata = {key: value for key, value in message.response_metadata.items() if key != EXTENSION}
    return message.model_copy(update={"content": decode(message.content), "response_metadata": metadata})


class EncodedTool(BaseTool):
    """A tool that runs another one and returns its result as STC."""

    tool: BaseTool
    format: str = "stc2"
    min_bytes: int = MIN_BYTES
    skip_tools: tuple[str, ...] = SKIP_TOOLS

    def _encoded(self, output: Any) -> Any:
        callers = (getattr(self.tool, "extras", None) or {}).get("allowed_callers")
        # A program that calls the tool parses what it returns.
        if is_skipped(self.tool.name, self.skip_tools) or may_be_programs(callers):
            return output
        if isinstance(output, ToolMessage):
            return encode_message(output, self.format, min_bytes=self.min_bytes, tool=self.tool.name, skip_tools=self.skip_tools)
        if isinstance(output, str | dict | list):
            text = as_text(output)
            return (text and shorter(text, self.format, self.min_bytes)) or output
        return output

    def run(self, *args: Any, **keywords: Any) -> Any:
        """Runs the tool. Callbacks, validation and errors are those of the inner tool."""
        return self._encoded(self.tool.run(*args, **keywords))

    async def arun(self, *args: Any, **keywords: Any) -> Any:
        """Runs the tool asynchronously."""
        return self._encoded(await self.tool.arun(*args, **keywords))

    def _run(self, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError("run calls the inner tool")


def encoded_tool(
    tool: BaseTool, format: "StcFormat" = "stc2", *, min_bytes: int = MIN_BYTES, skip_tools: Iterable[str] = SKIP_TOOLS
) -> EncodedTool:
    """Returns a tool with the name, description and arguments of `tool` that returns STC, where that is shorter. What a tool in `skip_tools`
    returns stays, and of one that programs may call by the `allowed_callers` of its extras.
    """
    return EncodedTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        response_format=tool.response_format,
        return_direct=tool.return_direct,
        tags=tool.tags,
        metadata=tool.metadata,
        tool=tool,
        format=checked_format(format),
        min_bytes=min_bytes,
        skip_tools=tuple(skip_tools),
    )
