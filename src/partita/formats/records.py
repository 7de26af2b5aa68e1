"""The records of a log, all at hand, as messages. What the log says of its thread alone is not in them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from partita.errors import FormatError
from partita.types.json import Json, is_array, is_object, kind_of
from partita.types.messages import Message

from .assembly import Assembly
from .diagnostics import CHAIN_FINDINGS
from .format import Loaded
from .losses import Loss
from .transcript import LinkChecker, LogDecoder

NOT_UNDERSTOOD: Final = "not understood"
BAD_CHAIN: Final = "the records are kept, in the order of the file"


def records_in(payload: Json) -> list[Json]:
    """The records of a log: a list, or one of them."""
    if not is_array(payload) and not is_object(payload):
        raise FormatError(
            f"a session file is a list of records, not {kind_of(payload)}", hint="give the lines, as a list"
        )
    return payload if is_array(payload) else [payload]


def load_records(
    records: Sequence[Json], make: Callable[[Assembly], LogDecoder], line: str, *, whole: bool = False
) -> Loaded:
    """The messages of a log. `line` is what a line is called that is no record; it is kept as a notice.

    `whole`: all records of the log are there, so that one whose parent is not has lost it.
    """
    assembly = Assembly(_session_of(records))
    decoder = make(assembly)
    assembly.begin_turn()
    for number, record in enumerate(records, 1):
        assembly.line = assembly.offset = number
        if is_object(record):
            decoder.feed(record)
        else:
            assembly.puzzle("a line that is no object")
            assembly.note(line, record, str(number))
    assembly.line = assembly.offset = len(records) + 1
    decoder.finish()
    if whole and isinstance(decoder, LinkChecker):
        decoder.check_links()
    found: dict[str, Message] = {message.id: message for message in assembly.finish()}
    orphans = (message for messages in assembly.orphans().values() for message in messages)
    return Loaded((*found.values(), *orphans), tuple(_losses(assembly)))


def _losses(assembly: Assembly) -> Iterator[Loss]:
    for finding in assembly.diagnostics:
        path = f"$[{finding.places[0].line - 1}]"
        if finding.what in CHAIN_FINDINGS:
            yield Loss(path, str(finding), BAD_CHAIN, "minor")
        else:
            yield Loss(path, str(finding), NOT_UNDERSTOOD)


def _session_of(records: Sequence[Json]) -> str | None:
    ids = (record.get("sessionId") for record in records if is_object(record))
    return next((id_ for id_ in ids if isinstance(id_, str)), None)
