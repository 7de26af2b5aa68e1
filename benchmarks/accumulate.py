"""How long does it take to fold a stream into a message, compared with `readUIMessageStream` of ai 7?

Caveats: `ai` always makes a snapshot after every chunk; ours is measured both ways,
reading the message once at the end (as a server does) and after every chunk (as a page does).
Chunks are parsed objects on both sides. One machine, one run; only the ratios mean something.
"""

import subprocess
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import read_chunk
from partita.types.json import JsonObject, dumps, loads

from .streams import SIZES, STREAMS
from .table import print_table

SCRIPT = Path(__file__).with_suffix(".mjs")
LIMIT_OF_REAL = 4_000
"""`ai` is not measured with longer streams of input or after a large part: they take minutes."""


def fold(chunks: Sequence[Chunk], *, watched: bool) -> float:
    """Seconds to fold a stream; with `watched`, a snapshot is taken after every chunk."""
    begin = time.perf_counter()
    accumulator = Accumulator()
    for chunk in chunks:
        if accumulator.feed(chunk) and watched:
            accumulator.snapshot()
    accumulator.snapshot()
    return time.perf_counter() - begin


def peak_memory(chunks: Sequence[Chunk]) -> int:
    """The peak memory of folding a stream, without the chunks themselves."""
    tracemalloc.start()
    fold(chunks, watched=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def real(streams: Sequence[list[JsonObject]]) -> list[float]:
    """Seconds that ai 7 takes for each stream."""
    requests = b"".join(dumps({"chunks": chunks, "warm": True}) + b"\n" for chunks in streams)
    answer = subprocess.run(["node", str(SCRIPT)], input=requests, capture_output=True, check=True)
    return [loads(line)["seconds"] for line in answer.stdout.splitlines()]


def main() -> None:
    """Measure and print."""
    cases = [(name, size, make(size)) for name, make in STREAMS.items() for size in SIZES]
    asked = [(name, size, raw) for name, size, raw in cases if name == "text" or size <= LIMIT_OF_REAL]
    theirs = dict(zip([(n, s) for n, s, _ in asked], real([raw for _, _, raw in asked]), strict=True))
    rows: list[list[str]] = []
    for name, size, raw in cases:
        chunks = [read_chunk(chunk) for chunk in raw]
        once = min(fold(chunks, watched=False) for _ in range(5))
        watched = min(fold(chunks, watched=True) for _ in range(2 if size > LIMIT_OF_REAL else 3))
        seconds = theirs.get((name, size))
        rows.append(
            [
                name,
                f"{size:,}",
                f"{once / size * 1e6:.2f}",
                f"{watched / size * 1e6:.2f}",
                "–" if seconds is None else f"{seconds / size * 1e6:.1f}",
                "–" if seconds is None else f"{seconds / once:,.0f}×",
                "–" if seconds is None else f"{seconds / watched:,.1f}×",
                f"{peak_memory(chunks) / size:,.0f}",
            ]
        )
    print_table(
        "Folding a stream into a message (µs per delta)",
        ["stream", "deltas", "ours", "ours, watched", "ai 7", "faster", "faster, watched", "bytes per delta"],
        rows,
    )


if __name__ == "__main__":
    main()
