"""What has to be said of an item beyond what its canonical parts say, for it to be written as it came.

A reader writes what it has read, compares, and leaves the difference in the metadata: members that the writer
would write otherwise or not at all, and names of members that it would add. Nothing can be forgotten so.
"""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .fields import ITEM, array, inner

PART: Final = "part"
"""Where the members of a content part stand in metadata that nothing else says."""

OUTPUT: Final = "output"
"""Where what is to be said of the output of a call stands in the metadata of its result."""


def without(name: str) -> str:
    """Where the members stand that were not there."""
    return f"{name}Without"


def amendments(raw: JsonObject, written: JsonObject, name: str = ITEM) -> JsonObject:
    """What makes `raw` of what was written; nothing if they are the same."""
    given = {key: said for key, said in raw.items() if key not in written or not is_same(written[key], said)}
    gone = [key for key in written if key not in raw]
    return {**({name: given} if given else {}), **({without(name): gone} if gone else {})}


def amended(written: JsonObject, metadata: JsonObject, name: str = ITEM) -> JsonObject:
    """What was written, with all that the metadata say of it."""
    if not metadata:
        return written
    gone, given = array(metadata, without(name)), inner(metadata, name)
    kept = {key: said for key, said in written.items() if key not in gone} if gone else written
    return {**kept, **given} if given else kept


def joined(metadata: JsonObject, more: JsonObject) -> JsonObject:
    """Metadata with amendments of what they make when it is written."""
    both = {name: {**inner(metadata, name), **said} for name, said in more.items() if is_object(said)}
    return {**metadata, **more, **both}


def is_same(one: Json, other: Json) -> bool:
    """Whether two JSON values are the same, in whatever order their members stand."""
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(is_same(said, other[key]) for key, said in one.items())
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and bool(one == other)
