"""The records of a log, all of them, as messages. Facts about the thread are not in them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from partita.errors import FormatError
from partita.formats.format import Loaded
from partita.formats.losses import ORDERED, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message

from .sink import LINK_PROBLEMS, LinkChecker, LogDecoder, LogSink
from .thread_builder import LogBuilder

NOT_UNDERSTOOD: Final = "not understood"
NOT_AN_OBJECT: Final = "a line that is not an object"


class EmptyLogDecoder:
    """The decoder of a log without records."""

    def __init__(self, sink: LogSink) -> None:
        self._sink = sink

    def feed(self, record: JsonObject) -> None:
        """Report a record of a log that should not have any."""
        self._sink.report_unknown("a record of a log that was empty")

    def finish(self) -> None:
        """Do nothing, because nothing is pending."""


def records_in(payload: Json) -> list[Json]:
    """The records of a log: a list, or one of them."""
    if not is_array(payload) and not is_object(payload):
        raise FormatError(
            f"a session file is a list of records, not {kind_of(payload)}", hint="give the lines, as a list"
        )
    return payload if is_array(payload) else [payload]


def load_records(
    records: Sequence[Json],
    make: Callable[[LogBuilder], LogDecoder],
    line_name: str,
    *,
    whole: bool = False,
    numbers: Sequence[int] | None = None,
) -> Loaded:
    """The messages of a log. `line_name`: the name of the data that keeps lines which are not objects.

    `whole`: these are all records of the log, so that a parent which is not found is missing.
    `numbers`: the numbers of the lines, if they are not 1, 2, 3 …
    """
    builder = LogBuilder(_session_of(records))
    decoder = make(builder)
    builder.start_turn()
    for offset, record in enumerate(records, 1):
        number = offset if numbers is None else numbers[offset - 1]
        builder.line, builder.offset = number, offset
        if is_object(record):
            decoder.feed(record)
        else:
            builder.report_unknown(NOT_AN_OBJECT)
            builder.add_record(line_name, record, str(number))
    builder.line = builder.offset = len(records) + 1
    decoder.finish()
    if whole and isinstance(decoder, LinkChecker):
        decoder.check_links()
    found: dict[str, Message] = {message.id: message for message in builder.finish()}
    orphans = (message for messages in builder.orphans().values() for message in messages)
    return Loaded((*found.values(), *orphans), tuple(_losses(builder)))


def _losses(builder: LogBuilder) -> Iterator[Loss]:
    for unknown in builder.unknown_records:
        path = f"$[{unknown.positions[0].line - 1}]"
        if unknown.what in LINK_PROBLEMS:
            yield Loss(path, str(unknown), ORDERED, "minor")
        else:
            yield Loss(path, str(unknown), NOT_UNDERSTOOD)


def _session_of(records: Sequence[Json]) -> str | None:
    ids = (record.get("sessionId") for record in records if is_object(record))
    return next((id_ for id_ in ids if isinstance(id_, str)), None)
