from collections.abc import Callable, Iterable, Iterator
from json import JSONEncoder
from typing import Any

from typing_extensions import Buffer

from ._error import STCError as STCError
from ._stc import FORMATS as FORMATS
from ._stc import Decoder as Decoder
from ._stc import Encoder as Encoder
from ._stc import Format
from ._stc import __version__ as __version__
from ._stc import decode as decode
from ._stc import encode as encode
from ._stc import estimate_tokens as estimate_tokens
from ._stc import legend as legend

def dumps(
    obj: Any,
    format: Format = "stc2",
    *,
    default: Callable[[Any], Any] | None = None,
    cls: type[JSONEncoder] | None = None,
    sort_keys: bool = False,
) -> str: ...
def loads(text: str | Buffer, **keywords: Any) -> Any: ...
def iter_encode(chunks: Iterable[str | Buffer], format: Format = "stc2", **limits: int) -> Iterator[bytes]: ...
def iter_decode(chunks: Iterable[str | Buffer], **limits: int) -> Iterator[bytes]: ...
