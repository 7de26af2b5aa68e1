"""The records of a log, all available, as messages. Facts about the thread are not in them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from partita.errors import FormatError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.reasons import ORDERED
from partita.types.json import Json, is_array, is_object, kind_of
from partita.types.messages import Message

from .diagnostics import CHAIN_FINDINGS
from .sink import LinkChecker, LogDecoder
from .thread_builder import LogBuilder

NOT_UNDERSTOOD: Final = "not understood"


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
    line: str,
    *,
    whole: bool = False,
    numbers: Sequence[int] | None = None,
) -> Loaded:
    """The messages of a log. `line`: the name of the notes that keep lines which are not objects.

    `whole`: all records of the log are given, so that one without its parent has lost it.
    `numbers`: the numbers of the lines, if they are not 1, 2, 3 …
    """
    builder = LogBuilder(_session_of(records))
    decoder = make(builder)
    builder.begin_turn()
    for offset, record in enumerate(records, 1):
        number = offset if numbers is None else numbers[offset - 1]
        builder.line, builder.offset = number, offset
        if is_object(record):
            decoder.feed(record)
        else:
            builder.report_unknown("a line that is no object")
            builder.note(line, record, str(number))
    builder.line = builder.offset = len(records) + 1
    decoder.finish()
    if whole and isinstance(decoder, LinkChecker):
        decoder.check_links()
    found: dict[str, Message] = {message.id: message for message in builder.finish()}
    orphans = (message for messages in builder.orphans().values() for message in messages)
    return Loaded((*found.values(), *orphans), tuple(_losses(builder)))


def _losses(builder: LogBuilder) -> Iterator[Loss]:
    for finding in builder.diagnostics:
        path = f"$[{finding.places[0].line - 1}]"
        if finding.what in CHAIN_FINDINGS:
            yield Loss(path, str(finding), ORDERED, "minor")
        else:
            yield Loss(path, str(finding), NOT_UNDERSTOOD)


def _session_of(records: Sequence[Json]) -> str | None:
    ids = (record.get("sessionId") for record in records if is_object(record))
    return next((id_ for id_ in ids if isinstance(id_, str)), None)
