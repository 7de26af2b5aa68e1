"""A stored run or thread → a recording: the responses of models as they were received, and their requests."""

from collections.abc import Iterable, Sequence
from typing import Final

from partita.errors import AgentError
from partita.formats.call_decoder import is_marker
from partita.runtime.model_calls import REQUEST, ModelRequest, RequestExpander
from partita.runtime.replay.message_chunks import chunks_of_imported_run, is_imported
from partita.runtime.replay.model_calls import (
    TOP,
    CallRecord,
    ModelResponse,
    responses_of,
    sort_records,
    wrapped,
)
from partita.runtime.replay.recorded_run import RecordedRun, lineage, read_recorded_run
from partita.runtime.session.live_run import is_note
from partita.store.logs.run_log import LogRecord
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.stream.records import Framing
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.messages import Message, UserMessage, text_of
from partita.types.threads import Run, Thread

from .recording import (
    EVENT_STREAM,
    JSON,
    Exchange,
    RecordedRequest,
    Recording,
    origin_of,
    records_of,
    response_of,
)

RUN_PAGE: Final = 1000
HTTP: Final = ("sse", "body")
"""The framings of HTTP responses."""


async def record_run(store: Store, run: Run) -> Recording:
    """The recording of a run, and of the runs that wrote the same messages."""
    messages = await _messages(store, run)
    runs = [run] if is_imported(run) else await lineage(store, run)
    exchanges: list[Exchange] = []
    for one in runs:
        exchanges += exchanges_of(await _recorded(store, one), prompt_before(messages, one))
    if not exchanges:
        raise AgentError(
            f"run {run.id!r} has no response",
            hint="its log was dropped, or it ended before there was any output",
        )
    origin = origin_of("run", run.id, agent=run.agent, model=run.model)
    conversation = _up_to_runs(messages, {one.id for one in runs})
    return Recording(
        origin=origin, exchanges=exchanges, messages=[to_json(message) for message in conversation]
    )


async def record_thread(store: Store, thread: Thread) -> Recording:
    """The recording of all runs of a thread."""
    messages = list(await store.messages.list(thread.id, MessageFilter(internal=None), limit=None))
    runs: list[Run] = []
    cursor: str | None = None
    while True:
        page = await store.runs.list(RunFilter(thread_id=thread.id), limit=RUN_PAGE, cursor=cursor)
        runs += page.items
        if (cursor := page.next) is None:
            break
    exchanges: list[Exchange] = []
    for run in reversed(runs):  # the oldest first
        exchanges += exchanges_of(await _recorded(store, run), prompt_before(messages, run))
    if not exchanges:
        raise AgentError(f"thread {thread.id!r} has no response", hint="no run of it has a log with output")
    origin = origin_of("thread", thread.id, agent=thread.agent, title=thread.title)
    return Recording(origin=origin, exchanges=exchanges, messages=[to_json(one) for one in messages])


async def _recorded(store: Store, run: Run) -> RecordedRun:
    """A run with its log. The chunks of an imported run are made of its messages."""
    if not is_imported(run):
        return await read_recorded_run(store, run)
    chunks = await chunks_of_imported_run(store, run)
    return RecordedRun(run, [LogRecord(one.seq, one.time, one.chunk, None) for one in chunks])


async def _messages(store: Store, run: Run) -> list[Message]:
    """The messages of the active branch, or of all branches if the run is in another one."""
    active = await store.messages.list(run.thread_id, MessageFilter(internal=None), limit=None)
    if any(message.run_id == run.id for message in active):
        return list(active)
    return list(
        await store.messages.list(run.thread_id, MessageFilter(branch="all", internal=None), limit=None)
    )


def _up_to_runs(messages: Sequence[Message], runs: set[str]) -> Sequence[Message]:
    """The conversation up to the last message of these runs."""
    last = max((index for index, one in enumerate(messages) if one.run_id in runs), default=len(messages) - 1)
    return messages[: last + 1]


def prompt_before(messages: Sequence[Message], run: Run) -> str | None:
    """The text of the last user message before the response of a run."""
    prompt: str | None = None
    for message in messages:
        if message.run_id == run.id and not isinstance(message, UserMessage):
            break
        if isinstance(message, UserMessage):
            prompt = text_of(message)
    return prompt


def exchanges_of(recorded: RecordedRun, prompt: str | None) -> list[Exchange]:
    """The exchanges of one run. The `prompt` is recorded for responses without a request."""
    requests, unanswered = _requests(sort_records(recorded.records, recorded.last_seq))
    responses = responses_of(recorded)
    requests += [unanswered] * (len(responses) - len(requests))
    return [
        _exchange(response, request, prompt) for response, request in zip(responses, requests, strict=False)
    ]


def _requests(records: Iterable[CallRecord]) -> tuple[list[ModelRequest | None], ModelRequest | None]:
    """The requests of the calls of the run itself, and the last one if it has no response."""
    expander = RequestExpander()
    found: list[ModelRequest | None] = []
    pending: ModelRequest | None = None
    for record in records:
        if record.address != TOP or record.chunk is None:
            continue
        if is_marker(record.chunk, REQUEST):
            pending = expander.read(record.chunk)
        elif record.kind == "start":
            found.append(pending)
            pending = None
    return found, pending


def _exchange(response: ModelResponse, sent: ModelRequest | None, prompt: str | None) -> Exchange:
    end = None if response.end is None else to_json(response.end)
    request = None if sent is None else RecordedRequest(method="POST", path=sent.path, body=sent.body)
    body = b"".join([record.raw for record in response.records if record.raw is not None])
    facts = response.facts or {}
    name, framing = facts.get("format"), facts.get("framing")
    if sent is not None and response.facts is None:  # there was no response
        return Exchange(format=sent.format_name, request=request, end=end)
    if sent is not None and framing in HTTP:
        kind = EVENT_STREAM if framing == "sse" else JSON
        status = facts.get("status")
        received = response_of(status if isinstance(status, int) else 200, {"content-type": kind}, body)
        return Exchange(format=str(name), request=request, response=received)
    if isinstance(name, str) and body and _is_text(body):
        known: Framing = "lines" if framing == "lines" else "sse" if framing == "sse" else "body"
        output = records_of(body, known)
        return Exchange(format=name, prompt=prompt, framing=known, output=output, end=end)
    return Exchange(prompt=prompt, chunks=[to_json(chunk) for chunk in _chunks(response.records)], end=end)


def _chunks(records: Iterable[CallRecord]) -> list[Chunk]:
    """The chunks of a response, without notes of Partita."""
    chunks = [(record.address, record.chunk) for record in records if record.chunk is not None]
    return [wrapped(address, chunk) for address, chunk in chunks if not is_note(chunk)]


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
