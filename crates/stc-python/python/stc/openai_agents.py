"""STC for function tools of the OpenAI Agents SDK (`openai-agents`): what a tool returns reaches the model as STC."""

import copy
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from agents import FunctionTool, ToolOutputText

from ._texts import MIN_BYTES, SKIP_TOOLS, as_text, checked_format, is_skipped, may_be_programs, shorter

if TYPE_CHECKING:
    from ._stc import StcFormat

__all__ = ["encoded_tool"]


def encoded_tool(
    tool: FunctionTool, format: "StcFormat" = "stc2", *, min_bytes: int = MIN_BYTES, skip_tools: Iterable[str] = SKIP_TOOLS
) -> FunctionTool:
    """Returns a copy of a function tool that returns STC, where that is shorter.

    Dictionaries, lists and models are written as JSON first; the SDK would write them as Python does. A tool in `skip_tools`, by family, name or pattern, is copied as it is, and so is one that
    programs may call by its `allowed_callers`: they parse what it returns.
    """
    checked_format(format)
    if is_skipped(tool.name, skip_tools) or may_be_programs(getattr(tool, "allowed_callers", None)):
        return copy.copy(tool)
    invoke = tool.on_invoke_tool

    @functools.wraps(invoke)
    async def invoked(context: Any, arguments: str) -> Any:
        return _encoded(await invoke(context, arguments), format, min_bytes)

    wrapped = copy.copy(tool)
    wrapped.on_invoke_tool = invoked
    return wrapped


def _encoded(output: Any, format: "StcFormat", min_bytes: int) -> Any:
    if isinstance(output, ToolOutputText):
        text = shorter(output.text, format, min_bytes)
        return output if text is None else output.model_copy(update={"text": text})
    if isinstance(output, str):
        return shorter(output, format, min_bytes) or output
    if isinstance(output, dict | list) or (hasattr(output, "model_dump") and not hasattr(output, "type")):
        if isinstance(output, list) and any(hasattr(item, "type") for item in output):
            return [_encoded(item, format, min_bytes) for item in output]
        text = as_text(output)
        return output if text is None else shorter(text, format, min_bytes) or text
    return output
