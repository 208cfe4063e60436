from ._error import OptionError as OptionError
from ._error import RedactionError as RedactionError
from ._stc import Api
from ._stc import Context as Context
from ._stc import Prepared as Prepared
from ._stc import restore as restore
from typing_extensions import Buffer

def prepare(
    body: str | Buffer, api: Api = "openai-chat", *, headers: dict[str, str] | None = None, model: str | None = None
) -> Prepared: ...
