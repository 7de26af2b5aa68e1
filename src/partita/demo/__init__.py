"""Demo data: a recorded stream, scripted agents, and an archive of threads."""

from collections.abc import Iterator
from importlib.resources import files

from partita.types.chunks import Chunk
from partita.types.codec import decode_chunk

PICNIC = "picnic.jsonl"


def recorded_stream(name: str = PICNIC) -> Iterator[Chunk]:
    """Yield the chunks of a bundled recording."""
    for line in files("partita.demo").joinpath(name).read_bytes().splitlines():
        yield decode_chunk(line)
