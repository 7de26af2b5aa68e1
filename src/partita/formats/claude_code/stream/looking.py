"""Looking at JSON values of which nothing is known."""

from collections.abc import Iterator

from partita.types.json import Json, is_array


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal. Values nested too deeply to tell are not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False


def strings(value: Json) -> Iterator[str]:
    """The strings in a list, if it is one."""
    if is_array(value):
        yield from (item for item in value if isinstance(item, str))
