"""Mastra's V2 and V1 messages, and the rows of its table ↔ canonical messages.

V2 is the form that Mastra stores and its API returns today, V1 the form before the middle of 2025. A table
may have both. A row of the table is written as a message of the API: with `threadId`, its content an object.

There are more modules than in other formats, because a message may have one value in several forms: `wire`
and `parts` (parts), `calls` (tool invocations, waiting calls), `mirrors` (members that repeat parts), `rows`
(the members of a message besides its content), `v2` and `v1` (messages), `stored` (lists of both), `notes`
(values without a canonical field), `network` and `network_payload` (executions of networks). Streams:
`stream` (decoder), `agent_stream` and `network_stream` (events), `stream_calls` (tool calls), `stream_output`
(messages).
"""

from collections.abc import Sequence
from typing import Any, Final

from partita.formats.ai_sdk.model.wire import NAME as CORE
from partita.formats.core.report import Entry, Record, Report
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import Position, join
from partita.formats.core.wire import conversion_errors
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import NO_PLACE, OUTPUT_FORM, REQUIRED, Loss
from partita.types.json import Json, is_array
from partita.types.messages import Message

from . import v1, v2
from .network import structured
from .network_payload import NetworkForm, check_form
from .parts import CONTINUES, DATA_URL, MEDIA
from .stored import StoredReader
from .wire import NAME

REASONS: Final = {
    "output": OUTPUT_FORM,
}
REPORT: Final = Report(
    NAME, NO_PLACE, REASONS, frozenset({v2.MIRRORED, CONTINUES, MEDIA, DATA_URL, "network", "text"})
)
REPORT_V1: Final = Report(CORE, NO_PLACE, REASONS)


class _Reader:
    """Reads stored messages, and the JSON that networks store in texts."""

    def __init__(self, payload: Json, *, is_v1: bool = False) -> None:
        raws = payload if is_array(payload) else [payload]
        paths = [f"$[{index}]" for index in range(len(raws))] if is_array(payload) else ["$"]
        self.stored = StoredReader(raws, paths, is_v1=is_v1)

    def loaded(self) -> Loaded:
        """Return the messages, which are written back in their original form."""
        messages = tuple(structured(message) or message for message in self.stored.messages)
        return Loaded(messages, tuple(self.stored.losses), write_back=self.stored.write_back)

    def positions(self) -> dict[Position, Any]:
        """Return messages and parts by position, without texts that were read as JSON of a network."""
        positions = self.stored.positions()
        changed = {
            place: (message, with_network)
            for place, message in positions.items()
            if len(place) == 1 and (with_network := structured(message)) is not None
        }
        replaced = {id(part) for before, _ in changed.values() for part in before.parts}
        replaced -= {id(part) for _, after in changed.values() for part in after.parts}
        kept: dict[Position, Any] = {
            place: one for place, one in positions.items() if id(one) not in replaced
        }
        return kept | {place: after for place, (_, after) in changed.items()}


@conversion_errors()
def load(payload: Json) -> Loaded:
    """Read stored messages, one or a list of them, of both versions."""
    return _Reader(payload).loaded()


def dump(messages: Sequence[Message], network: NetworkForm | None = None) -> Dumped:
    """Write messages as the list that Mastra's memory accepts and returns.

    `network`: the form of network executions: a `part`, a `field`, a `string`, or `both` field and string.
    """
    check_form(network)
    record = Record()
    payload: list[Json] = []
    for index, message in enumerate(join(messages)):
        path = f"$[{index}]"
        written = v2.write_message(message, network)
        payload.append(written)
        if message.content.content is not None and not message.parts and written["content"]["parts"]:
            record.losses.append(Loss(f"{path}.content.parts", "no parts", REQUIRED, "repaired"))
        record.entries.append(Entry(message, path, (index,)))
        parts = zip(message.content.parts, v2.positions_of(message), strict=True)
        for number, (part, place) in enumerate(parts):
            record.entries.append(Entry(part, f"{path}.content.parts[{number}]", (index, *place)))
    return Dumped(payload, lambda: REPORT.compare(record, _Reader(payload).positions()))


@conversion_errors()
def load_v1(payload: Json) -> Loaded:
    """Read V1 messages, one or a list of them."""
    return _Reader(payload, is_v1=True).loaded()


def dump_v1(messages: Sequence[Message]) -> Dumped:
    """Write messages as the list that Mastra accepted and returned before V2."""
    record = Record()
    payload = v1.write_messages(messages, record)
    return Dumped(payload, lambda: REPORT_V1.compare(record, _Reader(payload, is_v1=True).positions()))


V2: Final = Format(
    "mastra-v2",
    "Mastra V2 messages and table rows",
    load,
    dump,
    slot=in_messages("content", "metadata"),
    is_complete=True,
)
V1: Final = Format("mastra-v1", "Mastra V1 messages", load_v1, dump_v1, is_complete=True)
