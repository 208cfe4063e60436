"""The exceptions of the package."""


class STCError(ValueError):
    """A rejected document: what was wrong, and where.

    `kind` is the kind's name, as "Syntax" or "Depth". `offset` counts bytes (UTF-8) from the start of the document. `line` and
    `column` count from 1, the column in characters; they are None in a stream, whose earlier chunks are gone.
    """

    def __init__(self, message, kind, offset, line=None, column=None):
        # All of them are arguments, so that the exception can be pickled.
        super().__init__(message, kind, offset, line, column)
        self.kind = kind
        self.offset = offset
        self.line = line
        self.column = column

    def __str__(self):
        return self.args[0]


class OptionError(ValueError):
    """An option of a request to a model that cannot be followed; `field` is its name, as "_stc.mode"."""

    def __init__(self, message, field):
        super().__init__(message, field)
        self.field = field

    def __str__(self):
        return self.args[0]


class RedactionError(RuntimeError):
    """A request that is not to be sent: it could not be looked through for secrets, and its settings require that."""
