"""What the events of a stream say that a later one has replaced, or that nobody listens to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object

from .decoder import index_of

REPLACED: Final = "a later event has replaced it"
AGAIN: Final = "a later event says it again"
ANOTHER: Final = "another answer has replaced it"
UNHEARD: Final = "a message has no place for it"
STRANGE: Final = "it is not what every answer has here"

EVENTS: Final[Mapping[str, frozenset[str]]] = {
    "ping": frozenset({"type"}),
    "message_stop": frozenset({"type"}),
    "content_block_start": frozenset({"type", "index", "content_block"}),
    "content_block_delta": frozenset({"type", "index", "delta"}),
    "content_block_stop": frozenset({"type", "index"}),
}
"""The members of events that are not heard as a whole."""

DELTAS: Final[Mapping[str, str]] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
    "citations_delta": "citation",
}
"""The one member of a piece, by its type."""

CONSTANTS: Final[Mapping[str, str]] = {"type": "message", "role": "assistant"}
"""What every answer says of itself."""

NOT_SAID: Final = ("type", "role", "content", "delta", "message", "id", "usage", "error")


def replaced_losses(events: Sequence[Json]) -> list[Loss]:
    """Those of a whole stream."""
    heard = _Heard()
    losses: list[Loss] = []
    for index, event in enumerate(events):
        if is_object(event):
            losses += heard.take(event, f"$[{index}]")
    return losses


def strange(message: JsonObject, path: str) -> Iterator[Loss]:
    """Members of an answer that are not what every answer has there."""
    for key, usual in CONSTANTS.items():
        if message.get(key, usual) != usual:
            yield Loss.of(f"{path}.{key}", message[key], STRANGE)
    content = message.get("content", [])
    if not is_array(content):
        yield Loss.of(f"{path}.content", content, STRANGE)


class _Heard:
    """What was said of the answer so far, by name, and where; and of its blocks, by place."""

    def __init__(self) -> None:
        self._id: Json = None
        self._said: dict[str, tuple[str, Json]] = {}
        self._blocks: dict[int | None, tuple[str, JsonObject]] = {}
        self._events: list[tuple[str, JsonObject]] = []

    def take(self, event: JsonObject, path: str) -> Iterator[Loss]:
        match event:
            case {"type": "message_start", "message": dict()}:
                message: JsonObject = event["message"]
                yield from self._start(message.get("id"))
                yield from strange(message, f"{path}.message")
                yield from self._hear(message, f"{path}.message")
                yield from self._hear(event, path)
            case {"type": "message_delta"}:
                delta = event.get("delta")
                yield from self._hear(delta if is_object(delta) else {}, f"{path}.delta")
                yield from self._hear(event, path)
            case {"type": "message"}:
                yield from strange(event, path)
                yield from self._hear(event, path)
            case {"type": str(kind)} if kind in EVENTS:
                yield from _unheard(event, EVENTS[kind], path)
                yield from self._block(event, path)
            case _:
                pass
        self._events.append((path, event))

    def _start(self, id: Json) -> Iterator[Loss]:
        """An answer begins; one that was open and is another will never be finished."""
        if self._id is not None and id is not None and id != self._id:
            yield from (Loss.of(path, event, ANOTHER) for path, event in self._events)
            self._said, self._blocks, self._events = {}, {}, []
        self._id = id if id is not None else self._id

    def _block(self, event: JsonObject, path: str) -> Iterator[Loss]:
        index, block, delta = index_of(event), event.get("content_block"), event.get("delta")
        if is_object(block):
            self._blocks[index] = f"{path}.content_block", block
        if not is_object(delta):
            return
        kind = delta.get("type")
        if isinstance(kind, str) and kind in DELTAS:
            yield from _unheard(delta, frozenset({"type", DELTAS[kind]}), f"{path}.delta")
        start, begun = self._blocks.get(index, ("", {}))
        again: tuple[str, ...]
        match delta:
            case {"type": "input_json_delta", "partial_json": str(piece)} if piece.strip():
                again = ("input",)
            case {"type": "compaction_delta"}:
                again = tuple(key for key in delta if key != "type")
            case _:
                return
        for key in again:
            if begun.get(key) not in (None, {}):
                yield Loss.of(f"{start}.{key}", begun[key], REPLACED, "minor")
        self._blocks[index] = start, {key: item for key, item in begun.items() if key not in again}

    def _hear(self, said: JsonObject, path: str) -> Iterator[Loss]:
        usage = said.get("usage")
        counts = {f"usage.{key}": item for key, item in usage.items()} if is_object(usage) else {}
        for key, item in {**{key: said[key] for key in said if key not in NOT_SAID}, **counts}.items():
            if item is None:
                continue
            before = self._said.get(key)
            self._said[key] = f"{path}.{key}", item
            if before is not None:
                yield Loss.of(*before, REPLACED if before[1] != item else AGAIN, "minor")


def _unheard(value: JsonObject, known: frozenset[str], path: str) -> Iterator[Loss]:
    for key, item in value.items():
        if key not in known:
            yield Loss.of(f"{path}.{key}", item, UNHEARD, "minor")
