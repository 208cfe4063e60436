"""What a type checker sees: `mypy --strict` accepts this file, and rejects the last line."""

from collections.abc import Iterator

import stc
import stc.context

text: str = stc.dumps({"a": [1, 2]}, "stc2-dense", sort_keys=True)
value: object = stc.loads(text)
json_text: str = stc.decode(memoryview(b"[1]"))
encoder: stc.Encoder = stc.Encoder("stc1", depth=64, window=1 << 20)
chunk: bytes = encoder.push("[1") + encoder.push(b"]") + encoder.finish()
parts: Iterator[bytes] = stc.iter_encode([b"[", "1]"], "stc1")
tokens: int = stc.estimate_tokens(text) + len(stc.legend())
try:
    stc.decode("[")
except stc.STCError as error:
    place: tuple[str, int, int | None, int | None] = (error.kind, error.offset, error.line, error.column)
sent: bytes = stc.context.Context(min_bytes=512).prepare(b"{}", "anthropic").body
saved: tuple[int, int] = stc.context.prepare("{}").report["tokens"]
stc.encode("1", "stc3")  # a name that is no format
