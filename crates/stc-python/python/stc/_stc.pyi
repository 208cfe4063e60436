from typing_extensions import Buffer
from typing import Literal, TypedDict, final

Format = Literal["json", "stc1", "stc2", "stc2-labelled"]
# What the adapters write.
StcFormat = Literal["stc1", "stc2", "stc2-labelled"]

__version__: str
FORMATS: tuple[str, ...]

def encode(json: str | Buffer, format: Format = "stc2") -> str: ...
def decode(text: str | Buffer) -> str: ...
def legend(format: Format = "stc2") -> str: ...
def estimate_tokens(text: str | Buffer) -> int: ...
def tool_family(name: str) -> str: ...
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

Api = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "ollama"]

class Item(TypedDict):
    call: str | None
    tool: str | None
    family: str
    status: str
    legend: bool
    redacted: int
    bytes: tuple[int, int]
    tokens: tuple[int, int]

class Reading(TypedDict):
    format: Literal["stc2", "stc2-labelled", "json"]
    reader: Literal["large", "small"] | None
    by: str

class Report(TypedDict):
    api: Api
    mode: str
    reading: Reading | None
    left: str | None
    changed: int
    bytes: tuple[int, int]
    tokens: tuple[int, int]
    items: list[Item]

@final
class Prepared:
    @property
    def body(self) -> bytes: ...
    @property
    def is_changed(self) -> bool: ...
    @property
    def report(self) -> Report: ...

Mode = Literal["disabled", "lossless", "safe", "standard", "aggressive"]

class Cap(TypedDict):
    bytes: int

class Excerpt(TypedDict):
    lines: int

class Dictionary(TypedDict):
    method: Literal["lzw", "repair", "auto"]

class _Rule(TypedDict):
    id: str
    keywords: list[str]
    pattern: str
    hit: str

class Rule(_Rule, total=False):
    form: str
    entropy: float
    classes: int
    guess: bool
    unless: list[str]
    reach: int
    sign: str
    miss: str

class Redact(TypedDict, total=False):
    enabled: Literal["by-mode", "on", "required", "off"]
    rules: list[str]
    more: list[Rule]

class ReaderLine(TypedDict):
    model: str
    format: Literal["stc2", "stc2-labelled", "json"]

@final
class Context:
    def __new__(
        cls,
        *,
        mode: Mode = ...,
        format: Literal["by-model", "stc2", "stc2-labelled", "json"] = ...,
        readers: list[ReaderLine] = ...,
        reader: Literal["auto", "large", "small"] = ...,
        unknown_reader: Literal["large", "small"] = ...,
        legend: Literal["none", "first"] = ...,
        min_bytes: int = ...,
        max_bytes: int = ...,
        max_request_bytes: int = ...,
        min_saving: float = ...,
        skip_tools: list[str] = ...,
        skip_unknown: bool = ...,
        errors: bool = ...,
        dedup: bool = ...,
        user_text: bool = ...,
        gemini_wrap: bool = ...,
        verify: Literal["off", "sampled", "always"] = ...,
        options: bool = ...,
        allow: list[Mode] = ...,
        cap: Cap = ...,
        excerpt: Excerpt = ...,
        dictionary: Dictionary = ...,
        schemas: Literal["keep", "minify"] = ...,
        redact: Redact = ...,
    ) -> Context: ...
    @property
    def requires_redaction(self) -> bool: ...
    @property
    def reads_all(self) -> bool: ...
    def prepare(
        self, body: str | Buffer, api: Api = "openai-chat", *, headers: dict[str, str] | None = None, model: str | None = None
    ) -> Prepared: ...
    def reading(self, model: str | None = None) -> Reading | None: ...

def restore(body: str | Buffer, api: Api = "openai-chat") -> bytes: ...
