"""Smithers: agents with their stream events and tool calls, and the threads of its memory.

An agent becomes a thread: its prompts and one response, folded from the events in the order of their times
and then of their insertion. If its row names a log file that exists, the messages of the log replace the
response, together with their runs and token usage.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.format import Loaded
from partita.formats.log.sink import Consumption
from partita.formats.losses import Loss
from partita.formats.rows import RECONSTRUCTED, Row
from partita.formats.smithers import format as smithers
from partita.importers.logs.runs_builder import RunsBuilder, consumption_records
from partita.logs.parsed_log import ParsedLog, parse_log_file
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, UserMessage, text_of
from partita.types.parts import DataPart, ForeignPart, TextPart
from partita.types.threads import Thread
from partita.views.prompts import clean_title

from .system import Layout, Lookups, Rows, System, Table, ThreadContent, import_metadata, take_time

NAME: Final = "smithers"
AGENTS = Table("agents", key="id", needs=("prompt", "executionId"), times=("createdAt", "startedAt"))
EVENTS = Table(
    "agent_stream_events",
    key="agentId",
    needs=("eventType", "content"),
    times=("timestamp", "createdAt"),
)
CALLS = Table("tool_calls", key="agentId", needs=("toolName",), times=("startedAt", "createdAt"))
THREADS = Table("_smithers_memory_threads", key="threadId", needs=("namespace",))
MESSAGES = Table(
    "_smithers_memory_messages",
    key="threadId",
    needs=("role", "contentJson"),
    times=("createdAtMs",),
)

THREAD_COLUMNS: Final = ("executionId", "phaseId", "model", "status")
"""Columns of an agent that go to the metadata of its thread; the others are stored with its messages."""


def read_agent(row: Row, lookups: Lookups) -> Thread:
    """The thread of an agent."""
    columns: JsonObject = {name: row.get(name) for name in THREAD_COLUMNS if name in row}
    return Thread(
        id=row.take_text("id") or "",
        title=clean_title(prompt) or None if isinstance(prompt := row.get("prompt"), str) else None,
        agent=NAME,
        metadata=import_metadata(NAME, None, columns),
        created_at=take_time(row, "createdAt", "startedAt"),
        updated_at=take_time(row, "completedAt"),
    )


def load_agent(rows: Rows) -> Loaded:
    """The prompts and the response of an agent."""
    return smithers.load({name: list(found) for name, found in rows.items()})


def enrich_agent(
    rows: Rows, messages: Sequence[Message], thread: Thread, source: Path | None
) -> ThreadContent:
    """The messages of the log file that the agent's row names, and the token usage."""
    row = Row(next(iter(rows.get(AGENTS.name, ())), {}), "$")
    named = row.get("logPath")
    losses: list[Loss] = []
    if isinstance(named, str) and named:
        where = f"{AGENTS.name}[{thread.id}].logPath"
        try:
            return _with_log(parse_log_file(_log_path(named, source), thread_id=thread.id), messages, thread)
        except PartitaError as error:
            losses.append(Loss.of(where, named, f"{error.what}: the text of the row is kept", "minor"))
    response = messages[-1] if messages else None
    usage = response.content.usage if isinstance(response, AssistantMessage) else None
    if response is None or usage is None:
        return ThreadContent(messages, losses=losses)
    model = row.get("model")
    used = Consumption(
        f"{NAME}:{thread.id}",
        response.id,
        model if isinstance(model, str) else None,
        usage,
        thread.updated_at or response.created_at,
        run_id=response.run_id,
    )
    return ThreadContent(messages, losses=losses, consumptions=consumption_records([used], thread.id))


def _log_path(named: str, source: Path | None) -> Path:
    """The log file of a row: relative to the folder of the database or its parent, or as it is."""
    path = Path(named).expanduser()
    folders = () if source is None else (source.parent, source.parent.parent)
    places = [path] if path.is_absolute() else [*(folder / path for folder in folders), path]
    return next((place for place in places if place.is_file()), places[0])


def _with_log(log: ParsedLog, messages: Sequence[Message], thread: Thread) -> ThreadContent:
    """The content of a log file. The last response also gets what only the row has."""
    reading, batch = log.read_whole()
    runs = RunsBuilder(thread.id, log.agent, {"log": {"path": str(log.path), "format": log.format}}, {})
    runs.add(batch)
    found = list({message.id: message for message in batch.messages}.values())
    instructions = [
        message for message in messages if not isinstance(message, AssistantMessage | UserMessage)
    ]
    row = messages[-1] if messages else None
    responses = [place for place, message in enumerate(found) if isinstance(message, AssistantMessage)]
    if not responses:
        return ThreadContent(messages, runs=runs.take(last=None, active_until=None))
    if row is not None:
        found[responses[-1]] = _with_row(found[responses[-1]], row, "".join(map(text_of, found)))
    if instructions:  # the log does not have them
        root = instructions[-1].id
        found = [replace(one, parent_id=root) if one.parent_id == "" else one for one in found]
    return ThreadContent(
        [*instructions, *found],
        runs=runs.take(last=None, active_until=None),
        consumptions=consumption_records(batch.consumptions, reading.thread_id),
    )


def _with_row(response: Message, row: Message, text: str) -> Message:
    """The last response of a log with what only the row has: its result, an error, other columns."""
    if not isinstance(response, AssistantMessage) or not isinstance(row, AssistantMessage):
        return response
    parts = [part for part in row.parts if not isinstance(part, TextPart) or part.text.strip() not in text]
    added = [part for part in parts if isinstance(part, TextPart | DataPart | ForeignPart)]
    metadata: list[JsonObject] = [
        value for one in (row, response) if is_object(value := one.content.metadata)
    ]
    merged = {key: value for one in metadata for key, value in one.items() if key != RECONSTRUCTED}
    content = replace(response.content, parts=(*response.parts, *added), metadata=merged or UNSET)
    return replace(response, content=content)


def read_thread(row: Row, lookups: Lookups) -> Thread:
    """The thread of a row of `_smithers_memory_threads`."""
    row.unpack("metadataJson")
    metadata = row.take("metadataJson") if is_object(row.get("metadataJson")) else None
    return Thread(
        id=row.take_text("threadId") or "",
        title=row.take_text("title"),
        agent=NAME,
        created_at=take_time(row, "createdAtMs"),
        updated_at=take_time(row, "updatedAtMs"),
        metadata=import_metadata(NAME, metadata, row.left),  # last: with the columns not taken before
    )


def load(rows: Rows) -> Loaded:
    """The messages of rows of `_smithers_memory_messages`."""
    return smithers.load({MESSAGES.name: list(rows[MESSAGES.name])})


SYSTEM = System(
    NAME,
    "Smithers",
    NAME,
    (
        Layout("Smithers memory", THREADS, (MESSAGES,), read_thread, load),
        Layout(
            "Smithers agents",
            AGENTS,
            (AGENTS, EVENTS, CALLS),
            read_agent,
            load_agent,
            whole=True,
            enrich=enrich_agent,
        ),
    ),
)
