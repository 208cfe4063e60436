"""STC in MCP, for the official Python SDK (`mcp`, versions 1 and 2).

A text block that is STC is marked: `"_meta": {"io.stoa/stc": {"format": "stc2"}}`, as stc-gateway does it. A client decodes marked
blocks with `DecodingSession`, or leaves them as they are for the model. A server encodes what a tool returns with `encodes`.
"""

import functools
import inspect
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar, overload

import mcp.types as _types
from pydantic_core import to_json

from ._stc import decode
from ._texts import EXTENSION, MIN_BYTES, SKIP_TOOLS, checked_format, elements, is_program, is_skipped, shorter

if TYPE_CHECKING:
    from ._stc import StcFormat

__all__ = ["EXTENSION", "DecodingSession", "decoded", "encoded", "encodes"]

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


class _Decorator(Protocol):
    """What `encodes` returns: it keeps a tool's arguments, and whether it is a coroutine function."""

    @overload
    def __call__(
        self, tool: Callable[_Arguments, Coroutine[Any, Any, Any]], /
    ) -> Callable[_Arguments, Coroutine[Any, Any, _types.CallToolResult]]: ...
    @overload
    def __call__(self, tool: Callable[_Arguments, Any], /) -> Callable[_Arguments, _types.CallToolResult]: ...


def decoded(result: _Result) -> _Result:
    """Returns a tool's result with its marked text blocks as JSON again, without the marks. Other results are returned as they are."""
    content = getattr(result, "content", None)
    if not isinstance(content, list) or not any(_mark(block) for block in content):
        return result
    blocks = []
    for block in content:
        if (mark := _mark(block)) is None:
            blocks.append(block)
            continue
        meta = {key: value for key, value in block.meta.items() if key != EXTENSION} or None
        text = decode(block.text)
        # A gateway may fold several blocks into one: an array with an element for each.
        texts = elements(text) if "blocks" in mark else [text]
        blocks += [block.model_copy(update={"text": text, "meta": meta}) for text in texts]
    return result.model_copy(update={"content": blocks})


def encoded(
    result: _types.CallToolResult,
    format: "StcFormat" = "stc2",
    *,
    min_bytes: int = MIN_BYTES,
    tool: str | None = None,
    skip_tools: Iterable[str] = SKIP_TOOLS,
) -> _types.CallToolResult:
    """Returns a tool's result with text blocks of JSON as marked STC, where that is shorter. Errors stay as they are, and so do results
    of a `tool` that is in `skip_tools`, by family, name or pattern, and of a call that its `caller` in `_meta` says is a program's. Without
    the name of its `tool` a result stays, unless `skip_tools` is empty.
    """
    checked_format(format)
    if getattr(result, "is_error", False) or getattr(result, "isError", False) or is_skipped(tool, skip_tools):
        return result
    if is_program((getattr(result, "meta", None) or {}).get("caller")):
        return result
    blocks = []
    for block in result.content:
        text = shorter(block.text, format, min_bytes) if isinstance(block, _types.TextContent) and not _mark(block) else None
        if text is not None:
            meta = {**(block.meta or {}), EXTENSION: {"format": format}}
            block = block.model_copy(update={"text": text, "meta": meta})
        blocks.append(block)
    return result.model_copy(update={"content": blocks})


def encodes(
    format: "StcFormat" = "stc2",
    *,
    min_bytes: int = MIN_BYTES,
    tool_name: str | None = None,
    skip_tools: Iterable[str] = SKIP_TOOLS,
) -> _Decorator:
    """Makes a tool return STC: a decorator below `@server.tool()`, for functions and coroutine functions.

    The tool then has no structured output: the text is what the model reads. Every client gets STC; a client that needs JSON decodes
    the marked blocks. Tools that read, edit and write files stay as they are, by `skip_tools` and `tool_name`, or the function's name
    without it. A function without a name, as a lambda, needs `tool_name`, or an empty `skip_tools`.
    """
    checked_format(format)
    skip_tools = tuple(skip_tools)

    def decorate(tool: Callable[..., Any], /) -> Any:
        name = tool_name or getattr(tool, "__name__", "").removeprefix("<lambda>")

        def result(value: Any) -> _types.CallToolResult:
            if not isinstance(value, _types.CallToolResult):
                value = _types.CallToolResult(content=_content(value))
            return encoded(value, format, min_bytes=min_bytes, tool=name, skip_tools=skip_tools)

        if inspect.iscoroutinefunction(tool):

            @functools.wraps(tool)
            async def wrapped(*args: Any, **keywords: Any) -> _types.CallToolResult:
                return result(await tool(*args, **keywords))
        else:

            @functools.wraps(tool)
            def wrapped(*args: Any, **keywords: Any) -> _types.CallToolResult:
                return result(tool(*args, **keywords))

        # The server derives a schema from the annotation of the return value: it has to be that of the wrapper.
        signature = inspect.signature(tool, eval_str=True)
        wrapped.__signature__ = signature.replace(return_annotation=_types.CallToolResult)
        wrapped.__annotations__ = {
            **{name: parameter.annotation for name, parameter in signature.parameters.items() if parameter.annotation is not parameter.empty},
            "return": _types.CallToolResult,
        }
        del wrapped.__wrapped__
        return wrapped

    return decorate


class DecodingSession:
    """A client session whose `call_tool` returns decoded results; everything else is the session's own.

    It takes a `ClientSession`, or a `Client` of version 2, also as an asynchronous context manager.
    """

    def __init__(self, session: Any) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def __aenter__(self) -> Self:
        await self._session.__aenter__()
        return self

    async def __aexit__(self, *reason: Any) -> bool | None:
        return await self._session.__aexit__(*reason)

    async def call_tool(self, *args: Any, **keywords: Any) -> _types.CallToolResult:
        """Calls a tool, with the arguments of the session's own method, and decodes its result."""
        return decoded(await self._session.call_tool(*args, **keywords))


def _mark(block: Any) -> dict[str, Any] | None:
    """The mark of a text block, or None."""
    meta = block.meta if isinstance(block, _types.TextContent) else None
    mark = meta.get(EXTENSION) if meta else None
    return mark if isinstance(mark, dict) else None


def _content(value: Any) -> list[Any]:
    """The content blocks of what a tool returned."""
    if value is None:
        return []
    if isinstance(value, _types.TextContent | _types.ImageContent | _types.AudioContent | _types.ResourceLink | _types.EmbeddedResource):
        return [value]
    if isinstance(value, list) and any(hasattr(item, "type") and hasattr(item, "model_copy") for item in value):
        return value
    # What JSON does not have is written as the server itself does it.
    text = value if isinstance(value, str) else to_json(value, fallback=str).decode()
    return [_types.TextContent(type="text", text=text)]
