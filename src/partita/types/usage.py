"""What a model call consumed."""

from msgspec import UNSET, UnsetType

from .json import Json
from .value import Value


class Usage(Value):
    """Token counts. `raw` is what the provider said, word for word."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    raw: Json | UnsetType = UNSET
