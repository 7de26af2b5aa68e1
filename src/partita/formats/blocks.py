"""Contents that are lists of blocks, each with its type."""

from typing import Final

from partita.errors import ConversionError
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

HINT: Final = "make it a string or a list of blocks"


def checked_blocks(content: Json, path: str, hint: str = HINT) -> list[JsonObject]:
    """The blocks of a content; an error that says which is none."""
    if not is_array(content):
        raise ConversionError(f"content is {kind_of(content)}", where=path, hint=hint)
    for index, block in enumerate(content):
        if not is_object(block) or not isinstance(block.get("type"), str):
            found = "an object without type" if is_object(block) else kind_of(block)
            raise ConversionError(
                f"a block is {found}", where=f"{path}[{index}]", hint='give {"type": …} and its members'
            )
    return content
