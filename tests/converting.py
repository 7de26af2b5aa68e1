"""Conversions as black boxes: payloads read from files, and changed leaves without an effect."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from partita.errors import PartitaError
from partita.formats.conversion import convert
from partita.formats.registry import get_format
from partita.stream.sse import SseDecoder
from partita.testing.full_conversation import full_conversation
from partita.types.json import Json, JsonObject, dumps, is_array, loads
from tests import leaves


class Outcome(NamedTuple):
    """The result of a conversion as bytes."""

    payload: bytes
    losses: bytes


def read_payload(file: Path) -> Json:
    """Return the content of a file: JSON, JSON lines, the events of a stream, or plain text."""
    match file.suffix:
        case ".jsonl":
            return [loads(line) for line in file.read_bytes().splitlines() if line.strip()]
        case ".sse":
            decoder = SseDecoder()
            return [loads(one) for one in [*decoder.feed(file.read_bytes()), *decoder.finish()]]
        case ".json":
            return loads(file.read_bytes())
        case _:
            return file.read_text()


def converted(payload: Json, source: str | None, target: str) -> JsonObject:
    """Return the payload and the losses of a conversion as JSON."""
    result = convert(payload, source, target)
    losses = [loss._asdict() for loss in result.losses]
    return {"payload": result.payload, "losses": losses, "from": result.source, "to": target}


def outcome(payload: Json, source: str, target: str, *, carry: bool = False) -> Outcome | None:
    """Return the result of a conversion, or None if it is refused. The input must not change."""
    given = dumps(payload)
    try:
        result = convert(payload, source, target, carry=carry)
    except PartitaError:
        return None
    finally:
        assert dumps(payload) == given
    return Outcome(dumps(result.payload), dumps([tuple(loss) for loss in result.losses]))


def silent(
    payload: Json, source: str, target: str, paths: Iterable[leaves.Path] | None = None
) -> Iterator[leaves.Path]:
    """Return the leaves whose change is neither in the output nor in the losses, and is not refused."""
    before = outcome(payload, source, target)
    for path in leaves.leaves(payload) if paths is None else paths:
        after = outcome(leaves.changed(payload, path), source, target)
        if after is not None and after == before:
            yield path


def spelled(path: leaves.Path) -> str:
    """Return a path as it is written in losses."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def read_lines(text: str, name: str) -> Json:
    """Return the payload of a file: a text, one body per line, or a message per line."""
    dump = get_format(name).dump
    assert dump is not None
    kind = dump(full_conversation()).payload
    if isinstance(kind, str):
        return text
    items = [loads(line) for line in text.splitlines()]
    return items if is_array(kind) else items[0]
