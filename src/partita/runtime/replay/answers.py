"""The answers of a model that a log holds, to be given again: read from their bytes."""

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from msgspec import UNSET

from partita.errors import AgentError
from partita.formats.agent_decoder import Decoding, facts_of
from partita.runtime.folding import tells_ending
from partita.runtime.session.driver import FAILURE
from partita.runtime.session.live_run import NOTES
from partita.store.facade.store import Store
from partita.types.chunks import Chunk, DataChunk, ErrorChunk, MessageAbort
from partita.types.events import (
    AgentStreamEvent,
    CancelledEvent,
    ChunkEvent,
    ErrorEvent,
    RawEvent,
    raw_text,
)
from partita.types.json import JsonObject, is_object
from partita.types.runs import Run

from .calls import TOP, Sorted, sort_records
from .lineage import Recorded, get_run, lineage, recorded
from .redecoding import decoding_of


class Answer(NamedTuple):
    """One answer of a model, as a log has it."""

    facts: JsonObject | None
    """What its mark says; nothing when all that was said is one answer."""
    items: Sequence[Sorted]
    end: AgentStreamEvent | None
    """How it ended, unless it ended well."""


async def load_answers(store: Store, run_id: str) -> list[Answer]:
    """The answers of a run, and of those it went on with or that went on with it."""
    answers: list[Answer] = []
    for run in await lineage(store, await get_run(store, run_id)):
        answers += answers_in(await recorded(store, run))
    if not answers:
        raise AgentError(
            f"run {run_id!r} holds no answer",
            hint="an imported run has the lines of its agent, and no chunks",
        )
    return answers


def answers_in(recorded: Recorded) -> list[Answer]:
    """The answers of one run. Where nothing marks them, all that was said is one."""
    records = recorded.records
    items = list(sort_records(records, records[-1].seq if records else 0))
    answers = [
        Answer(facts_of(item.chunk), _inside(items, place), None)
        for place, item in enumerate(items)
        if item.kind == "begin" and item.address == TOP and item.chunk is not None
    ]
    end = _end(recorded.run, items)
    if not answers:
        said = any(item.chunk is not None and not _is_note(item.chunk) for item in items)
        return [Answer(None, items, end)] if said or end is not None else []
    is_closed = bool(answers[-1].items) and answers[-1].items[-1].kind == "end"
    if not is_closed or (isinstance(end, ErrorEvent) and not _has_work_behind(items)):
        answers[-1] = answers[-1]._replace(end=end)
    elif isinstance(end, ErrorEvent) and _failure_in(items) is not None:
        answers.append(Answer(None, (), end))  # it failed before it said a word
    return answers


def _has_work_behind(items: Sequence[Sorted]) -> bool:
    """Whether something was done behind the last answer, such as a call of a tool."""
    for item in reversed(items):
        if item.kind == "end" and item.address == TOP:
            return False
        if item.chunk is None or isinstance(item.chunk, DataChunk | ErrorChunk | MessageAbort):
            continue
        if not tells_ending(item.chunk):
            return True
    return False


def _inside(items: Sequence[Sorted], begin: int) -> list[Sorted]:
    """What stands between the mark of a call and its end, the end included, of this call alone."""
    inside: list[Sorted] = []
    for item in items[begin + 1 :]:
        if item.address == TOP and item.kind in ("said", "end"):
            inside.append(item)
        if item.kind == "end" and item.address == TOP:
            break
    return inside


def _is_note(chunk: Chunk) -> bool:
    return isinstance(chunk, DataChunk) and chunk.type.startswith(NOTES)


def _end(run: Run, items: Sequence[Sorted]) -> ErrorEvent | CancelledEvent | None:
    """How a run ended, unless it ended well."""
    match run.status:
        case "failed" | "interrupted":
            return _failure_in(items) or ErrorEvent(
                message=run.error or f"the run was {run.status}", name=run.status
            )
        case "cancelled":
            return CancelledEvent(reason=run.error)
        case "completed" | "running" | "pending":
            return None
        case _:
            assert_never(run.status)


def _failure_in(items: Sequence[Sorted]) -> ErrorEvent | None:
    """What the agent said of its failure."""
    for item in reversed(items):
        if isinstance(item.chunk, DataChunk) and item.chunk.type == FAILURE and is_object(item.chunk.data):
            said: JsonObject = item.chunk.data
            name = said.get("name")
            return ErrorEvent(
                message=str(said.get("message")),
                name=name if isinstance(name, str) else None,
                details=said.get("details", UNSET),
            )
    return None


def events_of(answer: Answer) -> list[AgentStreamEvent]:
    """The events of an answer: from its bytes, else its chunks as they were."""
    if answer.facts is None:
        return [_as_it_was(item) for item in answer.items if item.chunk is None or not _is_note(item.chunk)]
    decoding = decoding_of(answer.facts)
    events = decoding.begin()
    for item in answer.items:
        events += _read(item, decoding)
    return events


def _read(item: Sorted, decoding: Decoding) -> list[AgentStreamEvent]:
    match item:
        case Sorted(kind="end"):
            return decoding.finish()
        case Sorted(raw=bytes() as raw):
            return decoding.feed(raw)
        case _:
            return []  # it came from bytes that are read before it


def _as_it_was(item: Sorted) -> AgentStreamEvent:
    text = None if item.raw is None else raw_text(item.raw)
    return RawEvent(raw_text=text) if item.chunk is None else ChunkEvent(chunk=item.chunk, raw_text=text)
