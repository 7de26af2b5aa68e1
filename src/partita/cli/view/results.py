"""What came of a call, when there is no better way to draw it."""

from rich.console import RenderableType

from partita.errors import DecodeError
from partita.types.json import Json, is_array, is_object, loads

from .bodies import folded, tree
from .calls import Call
from .rows import Row, Rows
from .text import lines_of

HEAD, TAIL = 6, 2
LONGEST_JSON = 200_000
"""Up to here a text is looked at whether it is JSON: tools behind MCP write it so."""


def errors(call: Call) -> list[RenderableType]:
    """What a call that failed says about it; nothing when it did not fail."""
    if not call.failed:
        return []
    if is_object(call.given.value) or is_array(call.given.value):
        return [Rows([row._replace(style="red") for row in tree(call.given.value, call.look)])]
    return [Rows(folded(lines_of(call.given.text), call.look, HEAD, TAIL, "red"))]


def value_rows(call: Call) -> list[Row]:
    """A value that a tool gave where words were expected of it."""
    if call.failed or call.given.text or call.given.value is None:
        return []
    return tree(call.given.value, call.look)


def result_rows(call: Call) -> list[Row]:
    """What came back, words or a value, the first and last of it."""
    text, value = call.given.text, call.given.value
    if text[:1] in ("{", "[") and len(text) <= LONGEST_JSON:
        value = _parsed(text)
    if is_object(value) or is_array(value):
        return tree(value, call.look)
    return folded(lines_of(text), call.look, HEAD, TAIL) if text or value is None else tree(value, call.look)


def _parsed(text: str) -> Json:
    """The value of a text that is JSON; nothing when it is not."""
    try:
        return loads(text)
    except DecodeError:
        return None
