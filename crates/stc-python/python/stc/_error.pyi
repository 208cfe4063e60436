class STCError(ValueError):
    kind: str
    offset: int
    line: int | None
    column: int | None
    def __init__(
        self, message: str, kind: str, offset: int, line: int | None = None, column: int | None = None
    ) -> None: ...

class OptionError(ValueError):
    field: str
    def __init__(self, message: str, field: str) -> None: ...

class RedactionError(RuntimeError): ...
