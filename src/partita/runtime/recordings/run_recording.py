"""A stored run → a recording: its answers as they came, with what the model was asked for each."""

from collections.abc import Iterable, Sequence
from typing import Final

from partita.errors import AgentError
from partita.formats.call_decoder import is_marker
from partita.runtime.model_calls import REQUEST, ModelRequest, RequestExpander
from partita.runtime.replay.message_chunks import is_imported, retold_run
from partita.runtime.replay.model_calls import TOP, Answer, Sorted, answers_in, sort_records, wrapped
from partita.runtime.replay.recorded_run import Recorded, lineage, recorded
from partita.runtime.session.live_run import is_note
from partita.store.logs.run_log import LogRecord
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.stream.records import Framing
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.messages import Message, UserMessage, text_of
from partita.types.threads import Run

from .recording import EVENT_STREAM, JSON, Exchange, Recording, Request, origin_of, records_of, response_of

HTTP: Final = ("sse", "body")
"""How answers over HTTP are framed."""


async def record_run(store: Store, run: Run) -> Recording:
    """The recording of a run, and of those that it went on with or that went on with it."""
    messages = await _messages(store, run)
    runs = [run] if is_imported(run) else await lineage(store, run)
    exchanges: list[Exchange] = []
    for one in runs:
        exchanges += exchanges_in(await _recorded(store, one), words_before(messages, one))
    if not exchanges:
        raise AgentError(
            f"run {run.id!r} holds no answer", hint="its log was dropped, or it ended before a word was said"
        )
    origin = origin_of("run", run.id, agent=run.agent, model=run.model)
    told = until(messages, {one.id for one in runs})
    return Recording(origin=origin, exchanges=exchanges, messages=[to_json(message) for message in told])


async def _recorded(store: Store, run: Run) -> Recorded:
    """A run with its log. Of one that was imported, the messages are told once more."""
    if not is_imported(run):
        return await recorded(store, run)
    told = await retold_run(store, run)
    return Recorded(run, [LogRecord(seen.seq, seen.time, seen.chunk, None) for seen in told])


async def _messages(store: Store, run: Run) -> list[Message]:
    """The branch that the run's message stands in."""
    active = await store.messages.list(run.thread_id, MessageFilter(internal=None), limit=None)
    if any(message.run_id == run.id for message in active):
        return list(active)
    return list(
        await store.messages.list(run.thread_id, MessageFilter(branch="all", internal=None), limit=None)
    )


def until(messages: Sequence[Message], runs: set[str]) -> Sequence[Message]:
    """A conversation up to what these runs said last."""
    last = max((place for place, one in enumerate(messages) if one.run_id in runs), default=len(messages) - 1)
    return messages[: last + 1]


def words_before(messages: Sequence[Message], run: Run) -> str | None:
    """What the user said last before a run answered."""
    words: str | None = None
    for message in messages:
        if message.run_id == run.id and not isinstance(message, UserMessage):
            break
        if isinstance(message, UserMessage):
            words = text_of(message)
    return words


def exchanges_in(recorded: Recorded, asked: str | None) -> list[Exchange]:
    """The answers of one run. Where nothing tells what was asked, it was about these words of the user."""
    records = recorded.records
    items = list(sort_records(records, records[-1].seq if records else 0))
    requests, left = _requests(items)
    answers = answers_in(recorded)
    marked = [*requests, *([left] * (len(answers) - len(requests)))]
    return [_exchange(answer, request, asked) for answer, request in zip(answers, marked, strict=False)]


def _requests(items: Sequence[Sorted]) -> tuple[list[ModelRequest | None], ModelRequest | None]:
    """What was asked for each call of the run itself, and what got no answer."""
    reading = RequestExpander()
    found: list[ModelRequest | None] = []
    waiting: ModelRequest | None = None
    for item in items:
        if item.address != TOP or item.chunk is None:
            continue
        if is_marker(item.chunk, REQUEST):
            waiting = reading.read(item.chunk)
        elif item.kind == "begin":
            found.append(waiting)
            waiting = None
    return found, waiting


def _exchange(answer: Answer, asked: ModelRequest | None, words: str | None) -> Exchange:
    end = None if answer.end is None else to_json(answer.end)
    request = None if asked is None else Request(method="POST", path=asked.path, body=asked.body)
    raw = [item.raw for item in answer.items if item.raw is not None]
    body = b"".join(raw)
    facts = answer.facts or {}
    name, framing = facts.get("format"), facts.get("framing")
    if asked is not None and answer.facts is None:  # nothing came
        return Exchange(format=asked.format_name, request=request, end=end)
    if asked is not None and framing in HTTP:
        kind = EVENT_STREAM if framing == "sse" else JSON
        status = facts.get("status")
        response = response_of(status if isinstance(status, int) else 200, {"content-type": kind}, body)
        return Exchange(format=str(name), request=request, response=response)
    if isinstance(name, str) and body and _is_text(body):
        reads: Framing = "lines" if framing == "lines" else "sse" if framing == "sse" else "body"
        said = records_of(body, reads)
        return Exchange(format=name, asked=words, framing=reads, said=said, end=end)
    return Exchange(asked=words, chunks=[to_json(chunk) for chunk in _told(answer.items)], end=end)


def _told(items: Iterable[Sorted]) -> list[Chunk]:
    """The chunks of an answer, without notes of ours."""
    chunks = [(item.address, item.chunk) for item in items if item.chunk is not None]
    return [wrapped(address, chunk) for address, chunk in chunks if not is_note(chunk)]


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
