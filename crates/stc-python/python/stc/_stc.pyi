from typing_extensions import Buffer
from typing import Literal, final

Format = Literal["json", "stc1", "stc2", "stc2-dense", "stc2-refs"]

__version__: str
FORMATS: tuple[str, ...]

def encode(json: str | Buffer, format: Format = "stc2") -> str: ...
def decode(text: str | Buffer) -> str: ...
def legend(format: Format = "stc2") -> str: ...
def estimate_tokens(text: str | Buffer) -> int: ...
@final
class Encoder:
    def __new__(
        cls,
        format: Format = "stc2",
        *,
        window: int = ...,
        depth: int = ...,
        input: int = ...,
        output: int = ...,
        ratio: int = ...,
        ratio_after: int = ...,
        columns: int = ...,
        header: int = ...,
        row: int = ...,
        anchors: int = ...,
    ) -> Encoder: ...
    def encode(self, json: str | Buffer) -> str: ...
    def push(self, chunk: str | Buffer) -> bytes: ...
    def finish(self) -> bytes: ...
    def clear(self) -> None: ...

@final
class Decoder:
    def __new__(
        cls,
        *,
        depth: int = ...,
        input: int = ...,
        output: int = ...,
        ratio: int = ...,
        ratio_after: int = ...,
        columns: int = ...,
        header: int = ...,
        row: int = ...,
        anchors: int = ...,
    ) -> Decoder: ...
    def decode(self, text: str | Buffer) -> str: ...
    def push(self, chunk: str | Buffer) -> bytes: ...
    def finish(self) -> bytes: ...
    def clear(self) -> None: ...
