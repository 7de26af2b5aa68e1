"""A kept session read once more, by the reader of logs: messages, and what they consumed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import CallTimes
from partita.logs.agents import Agents
from partita.logs.reading import LogReading
from partita.types.json import is_object, loads
from partita.types.messages import Message

from .doubts import MOVED, doubt_about, length_of
from .kept_session import KeptRun, KeptSession, Skipped, place_of

LINES_AT_ONCE: Final = 64

BLANK: Final = 4096
"""So many bytes between two lines may have been blank ones; where there are more, lines are missing."""


Attend: TypeAlias = Callable[[LogReading, Sequence[KeptRun]], None]
"""Who is told of each reading before it begins, with the runs whose lines it gets."""


class Reread(NamedTuple):
    """What a session comes to now."""

    messages: Mapping[str, Message]  # by id, in the order of the log
    orphans: Mapping[str, Sequence[Message]]  # of sub-agents that no call claims
    consumptions: Sequence[Consumption]
    times: Mapping[str, CallTimes]
    doubt: str | None = None  # why a difference may come from the lines, and not from the reader


def reread(session: KeptSession, attend: Attend | None = None) -> Reread:
    """The session as it is read today. Of a message that was read twice the last word counts."""
    messages: dict[str, Message] = {}
    orphans: Mapping[str, Sequence[Message]] = {}
    consumptions: list[Consumption] = []
    times: dict[str, CallTimes] = {}
    doubt = doubt_about(session)
    for generation, runs in session.generations():
        agents = Agents(session.agents)
        reading = LogReading(session.format, session.thread.id, elsewhere=agents.names, generation=generation)
        agents.attend(reading)
        if attend is not None:
            attend(reading, runs)
        if session.is_document:
            _read_records(reading, runs)
        elif not _read_lines(reading, runs):
            doubt = doubt or MOVED
        agents.read_rest(reading)
        batch = reading.finish(running=session.is_running)
        messages |= {message.id: message for message in batch.messages}
        consumptions += batch.consumptions
        times |= batch.times
        orphans = {} if session.is_running else reading.assembly.orphans()
    at_home = _Homes(session)
    return Reread(
        {one.id: at_home.message(one) for one in messages.values()},
        orphans,
        [at_home.consumption(one) for one in consumptions],
        times,
        doubt,
    )


def _read_lines(reading: LogReading, runs: Iterable[KeptRun]) -> bool:
    """Feed the lines of a file, each run where it began; whether they fill it without a gap."""
    at, whole = 0, True
    for kept in runs:
        gap = kept.offset - at
        if gap < 0:
            raise Skipped("its lines overlap: several records stood on one line, or two files were read")
        if gap > BLANK:
            raise Skipped("lines of its log are missing")
        whole = whole and gap == 0
        reading.feed(b"\n" * gap)
        for start in range(0, len(kept.lines), LINES_AT_ONCE):
            reading.feed(b"".join(line + b"\n" for line in kept.lines[start : start + LINES_AT_ONCE]))
        at = kept.offset + length_of(kept.lines)
    return whole


def _read_records(reading: LogReading, runs: Iterable[KeptRun]) -> None:
    """Feed the records of a document, which are numbered."""
    for number, line in enumerate(_numbered(runs), 1):
        try:
            record = loads(line)
        except PartitaError as error:
            raise Skipped(f"record {number} is no JSON: {error.what}") from error
        if is_object(record):
            reading.read_record(number, record, line)


def _numbered(runs: Iterable[KeptRun]) -> Iterator[bytes]:
    count = 0
    for kept in runs:
        if kept.offset != (count + 1 if kept.offset else 0):
            raise Skipped("its records do not follow each other: its file was written anew")
        yield from kept.lines
        count += len(kept.lines)


class _Homes:
    """The runs that are kept, for messages of turns that begin elsewhere now."""

    def __init__(self, session: KeptSession) -> None:
        self._thread_id = session.thread.id
        self._known = {run.id for run in session.every_run}
        self._runs = session.runs

    def message(self, message: Message) -> Message:
        """A message in a run that there is."""
        return replace(message, run_id=self._home(message.run_id))

    def consumption(self, one: Consumption) -> Consumption:
        """A consumption of a run that there is."""
        return replace(one, run_id=self._home(one.run_id))

    def _home(self, run_id: str | None) -> str | None:
        if run_id is None or run_id in self._known:
            return run_id
        place = place_of(run_id, self._thread_id)
        before = [kept for kept in self._runs if (kept.generation, kept.offset) <= place]
        return (before[-1] if before else self._runs[0]).run.id
