"""Messages, artifacts, tasks and streams of the Agent2Agent protocol ↔ canonical messages.

Protocol 1.0 and older JSON are read, as single messages, lists and JSON-RPC envelopes. The writer writes one
message of 1.0 for each message. Parts that A2A does not have are written as data with a Partita media type.

Specification: https://a2a-protocol.org/latest/specification/
"""

from collections.abc import Sequence
from typing import Any, Final

from partita.errors import ConversionError
from partita.formats.core.report import Record, Report
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import Position, join
from partita.formats.core.wire import to_json
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.losses import OTHER_FORM, UNREAD, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message

from .parts import is_canonical, read_message, write_message, write_part
from .tasks import HINT, TaskReader
from .wire import NAME

REQUEST_MEMBERS: Final = ("configuration", "metadata", "tenant")
"""The members of a request to send a message, besides the message."""

REPORT: Final = Report(
    NAME,
    reasons={"role": "A2A has only users and agents"},
)


def load(payload: Json) -> Loaded:
    """Read a message, an artifact, a task, an event of a stream, a list of them, or `{messages}`."""
    reader = TaskReader()
    settings: JsonObject = {}
    if is_object(payload) and is_array(payload.get("messages")):
        settings |= {name: value for name, value in payload.items() if name != "messages"}
        payload = payload["messages"]
    if not is_array(payload) and not is_object(payload):
        raise ConversionError(f"a message is {kind_of(payload)}", where="$", hint=HINT)
    for number, item in enumerate(payload if is_array(payload) else [payload]):
        path = f"$[{number}]" if is_array(payload) else "$"
        raw, where = _without_envelope(item, path, reader)
        if is_object(raw) and is_object(raw.get("message")) and not raw.keys().isdisjoint(REQUEST_MEMBERS):
            settings |= {name: value for name, value in raw.items() if name in REQUEST_MEMBERS}
            raw = {name: value for name, value in raw.items() if name not in REQUEST_MEMBERS}
        reader.read(raw, where)
    request = Request((), settings) if settings else None
    # Only messages of 1.0 are written back. Of other payloads, all members are read, or reported here.
    is_complete = not reader.is_written_back or request is not None
    return Loaded(tuple(join(reader.messages())), tuple(reader.losses), request, is_complete=is_complete)


def _without_envelope(item: Json, path: str, reader: TaskReader) -> tuple[Json, str]:
    """Return the content of an envelope of JSON-RPC, or the item itself."""
    if not is_object(item) or "jsonrpc" not in item:
        return item, path
    found = next((name for name in ("result", "params") if is_object(item.get(name))), None)
    if found is None:
        raise ConversionError("an envelope without a result", where=path, hint=HINT)
    reader.is_written_back = False
    for name, value in item.items():
        if name != found:
            reader.losses.append(Loss.of(f"{path}.{name}", value, UNREAD, "minor"))
    return item[found], f"{path}.{found}"


def dump(messages: Sequence[Message]) -> Dumped:
    """Write a message of A2A for each message, in order."""
    joined = join(messages)
    blocks = [tuple(map(write_part, message.parts)) for message in joined]
    payload = [to_json(write_message(one, parts)) for one, parts in zip(joined, blocks, strict=True)]

    def losses() -> list[Loss]:
        record = Record()
        for at, message in enumerate(joined):
            path = f"$[{at}]"
            record.add_message(message, path, (at,), [(at, number) for number in range(len(message.parts))])
            for number, part in enumerate(message.parts):
                if is_canonical(blocks[at][number]):
                    where = f"{path}.content.parts[{number}]"
                    record.losses.append(Loss.of(where, part, OTHER_FORM, "changed"))
        return REPORT.compare(record, _positions(payload, joined))

    return Dumped(payload, losses)


def _positions(payload: Sequence[JsonObject], messages: Sequence[Message]) -> dict[Position, Any]:
    """Return the messages and parts that are read back, by their numbers."""
    positions: dict[Position, Any] = {}
    for at, raw in enumerate(payload):
        positions[at,] = message = read_message(raw, f"$[{at}]", messages[at].id)
        for number, part in enumerate(message.parts):
            positions[at, number] = part
    return positions


FORMAT: Final = Format(
    NAME,
    "Agent2Agent messages, artifacts and tasks",
    load,
    dump,
    slot=in_messages("metadata"),
    is_complete=True,
)
