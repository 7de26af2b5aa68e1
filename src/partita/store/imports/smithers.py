"""Smithers: agents with their stream events and tool calls, and the threads of its memory.

An agent becomes a thread, as the format has it: prompts and one answer, folded from the events, which come by
their time and then as they were inserted. If its row names a log file that is there, the messages of the log
take the place of the answer that was made of the row's text, with their runs and what they consumed.
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
from partita.formats.plain import RECONSTRUCTED
from partita.formats.rows import Row
from partita.formats.smithers import format as smithers
from partita.logs.facts import title_of
from partita.logs.importing.books import Books, records_of
from partita.logs.parsing import ParsedLog, parse_log_file
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, UserMessage, text_of
from partita.types.parts import DataPart, ForeignPart, TextPart
from partita.types.threads import Thread

from .system import Followed, Layout, Lookups, Rows, System, Table, origin, taken_moment

NAME: Final = "smithers"
AGENTS = Table("agents", key="id", needs=("prompt", "executionId"), moments=("createdAt", "startedAt"))
EVENTS = Table(
    "agent_stream_events",
    key="agentId",
    needs=("eventType", "content"),
    moments=("timestamp", "createdAt"),
)
CALLS = Table("tool_calls", key="agentId", needs=("toolName",), moments=("startedAt", "createdAt"))
THREADS = Table("_smithers_memory_threads", key="threadId", needs=("namespace",))
MESSAGES = Table(
    "_smithers_memory_messages",
    key="threadId",
    needs=("role", "contentJson"),
    moments=("createdAtMs",),
)

TOLD: Final = ("executionId", "phaseId", "model", "status")
"""What a thread says of its agent; the rest of the row is in its messages."""


def read_agent(row: Row, lookups: Lookups) -> Thread:
    """The thread of an agent."""
    told: JsonObject = {name: row.get(name) for name in TOLD if name in row}
    return Thread(
        id=row.take_text("id") or "",
        title=title_of({"prompt": row.get("prompt")}),
        agent=NAME,
        metadata=origin(NAME, None, told),
        created_at=taken_moment(row, "createdAt", "startedAt"),
        updated_at=taken_moment(row, "completedAt"),
    )


def load_agent(rows: Rows) -> Loaded:
    """What an agent was told and what it answered."""
    return smithers.load({name: list(found) for name, found in rows.items()})


def follow_agent(rows: Rows, messages: Sequence[Message], thread: Thread, source: Path | None) -> Followed:
    """The messages of the log that an agent's row names, and what the agent consumed."""
    row = Row(next(iter(rows.get(AGENTS.name, ())), {}), "$")
    named = row.get("logPath")
    losses: list[Loss] = []
    if isinstance(named, str) and named:
        where = f"{AGENTS.name}[{thread.id}].logPath"
        try:
            return _logged(parse_log_file(_found(named, source), thread_id=thread.id), messages, thread)
        except PartitaError as error:
            losses.append(Loss.of(where, named, f"{error.what}: the text of the row is kept", "minor"))
    answer = messages[-1] if messages else None
    usage = answer.content.usage if isinstance(answer, AssistantMessage) else None
    if answer is None or usage is None:
        return Followed(messages, losses)
    model = row.get("model")
    used = Consumption(
        f"{NAME}:{thread.id}",
        answer.id,
        model if isinstance(model, str) else None,
        usage,
        thread.updated_at or answer.created_at,
        run_id=answer.run_id,
    )
    return Followed(messages, losses, consumptions=records_of([used], thread.id))


def _found(named: str, source: Path | None) -> Path:
    """The file that a row names: as it is, or from the folder of the database, or from the one above."""
    path = Path(named).expanduser()
    folders = () if source is None else (source.parent, source.parent.parent)
    places = [path] if path.is_absolute() else [*(folder / path for folder in folders), path]
    return next((place for place in places if place.is_file()), places[0])


def _logged(log: ParsedLog, messages: Sequence[Message], thread: Thread) -> Followed:
    """The messages of a log. The last answer keeps what the row says besides."""
    reading, batch = log.read_whole()
    books = Books(thread.id, log.agent, {"log": {"path": str(log.path), "format": log.format}}, {})
    books.add(batch)
    found = list({message.id: message for message in batch.messages}.values())
    asked = [message for message in messages if not isinstance(message, AssistantMessage | UserMessage)]
    row = messages[-1] if messages else None
    answers = [place for place, message in enumerate(found) if isinstance(message, AssistantMessage)]
    if not answers:
        return Followed(messages, runs=books.take(last=None, running=False))
    if row is not None:
        found[answers[-1]] = _with_row(found[answers[-1]], row, "".join(map(text_of, found)))
    if asked:  # instructions, which the log does not have: all that begins there follows them
        root = asked[-1].id
        found = [replace(one, parent_id=root) if one.parent_id == "" else one for one in found]
    return Followed(
        [*asked, *found],
        runs=books.take(last=None, running=False),
        consumptions=records_of(batch.consumptions, reading.thread_id),
    )


def _with_row(answer: Message, row: Message, text: str) -> Message:
    """The last answer of a log, with what only the row says: its result, an error, other columns."""
    if not isinstance(answer, AssistantMessage) or not isinstance(row, AssistantMessage):
        return answer
    parts = [part for part in row.parts if not isinstance(part, TextPart) or part.text.strip() not in text]
    added = [part for part in parts if isinstance(part, TextPart | DataPart | ForeignPart)]
    metadata: list[JsonObject] = [value for one in (row, answer) if is_object(value := one.content.metadata)]
    merged = {key: value for one in metadata for key, value in one.items() if key != RECONSTRUCTED}
    content = replace(answer.content, parts=(*answer.parts, *added), metadata=merged or UNSET)
    return replace(answer, content=content)


def read_thread(row: Row, lookups: Lookups) -> Thread:
    """A thread of the memory."""
    row.unpack("metadataJson")
    metadata = row.take("metadataJson") if is_object(row.get("metadataJson")) else None
    return Thread(
        id=row.take_text("threadId") or "",
        title=row.take_text("title"),
        agent=NAME,
        created_at=taken_moment(row, "createdAtMs"),
        updated_at=taken_moment(row, "updatedAtMs"),
        metadata=origin(NAME, metadata, row.left),  # last: what is left by then
    )


def load(rows: Rows) -> Loaded:
    """The messages of rows of `_smithers_memory_messages`."""
    return smithers.load({MESSAGES.name: list(rows[MESSAGES.name])})


SMITHERS = System(
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
            follow=follow_agent,
        ),
    ),
)
