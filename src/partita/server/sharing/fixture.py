"""A thread as a file that a test loads: messages, and what the agent said, chunk by chunk.

{"partita": "1.0", "thread": {…}, "messages": [canonical…],
 "runs": [{"run": {…}, "entries": [{"at": seconds, "chunk": {…}, "raw": "…"}], "dropped": 0, "cut": false}]}
"""

from collections.abc import Iterator

from partita.types.codec import encode, to_json
from partita.types.json import JsonObject, dumps

from .cleaning import Cleaned
from .run_logs import CleanRun


def fixture(cleaned: Cleaned, version: str) -> Iterator[bytes]:
    """The file, piece by piece."""
    yield b'{"partita":' + dumps(version) + b',"thread":' + encode(cleaned.thread) + b',"messages":[\n'
    yield b",\n".join(map(encode, cleaned.messages))
    yield b'\n],"runs":['
    for number, run in enumerate(cleaned.runs):
        yield (b",\n" if number else b"\n") + dumps(_told(run))
    yield b"\n]}\n"


def _told(run: CleanRun) -> JsonObject:
    entries: list[JsonObject] = []
    for entry in run.entries:
        told: JsonObject = {"at": entry.at}
        if entry.chunk is not None:
            told["chunk"] = to_json(entry.chunk)
        if entry.raw is not None:
            told["raw"] = entry.raw
        entries.append(told)
    return {"run": to_json(run.run), "entries": entries, "dropped": run.dropped, "cut": run.cut}
