"""A payload of one format in another: read, written, and looked over so that nothing is lost in silence."""

from partita.errors import FormatError
from partita.types.json import Json

from .format import Dumped
from .registry import get_format


def convert(payload: Json, source: str, target: str) -> Dumped:
    """A payload of one format in another, with the losses of both ways."""
    reading, writing = get_format(source), get_format(target)
    if reading.load is None:
        raise FormatError(f"{reading.name} is a stream, not a list of messages", hint="fold it first")
    if writing.dump is None:
        raise FormatError(f"{writing.name} can be read but not written", hint="choose another target")
    loaded = reading.load(payload)
    dumped = writing.dump(loaded.messages)
    return Dumped(dumped.payload, loaded.losses + dumped.losses)
