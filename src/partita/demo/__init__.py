"""A recorded stream to look at when there is nothing else."""

from collections.abc import Iterator
from importlib.resources import files

from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk

PICNIC = "picnic.jsonl"


def recorded_stream(name: str = PICNIC) -> Iterator[Chunk]:
    """The chunks of a bundled recording, in order."""
    for line in files("partita.demo").joinpath(name).read_bytes().splitlines():
        yield decode_chunk(line)
