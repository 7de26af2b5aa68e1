"""Cherry Studio: the sessions of its agents, in `agents.db` (version 1) and in the main database (later).

| tables | order |
|---|---|
| `sessions`, `session_messages`, `agents` | the numeric id |
| `agent_session`, `agent_session_message`, `agent`, `agent_workspace` | `createdAt`, then the id |

Early versions stored the raw messages of the agent with each response. They become the log of a run, which
can be replayed.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from partita.formats.call_decoder import CallDecoder
from partita.formats.cherry import format as cherry
from partita.formats.cherry.blocks import NAME as NAMESPACE
from partita.formats.core.members import parsed
from partita.formats.format import Loaded
from partita.formats.registry import get_format
from partita.formats.rows import Row
from partita.logs.detection import detect
from partita.store.bulk.rows import RunRows, pack_entries
from partita.store.logs.blocks import StoredEntry
from partita.store.schema import to_microseconds
from partita.types.chunks import ChunkEvent, raw_bytes
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run, Thread

from .system import Layout, Lookups, Rows, System, Table, ThreadContent, import_metadata, take_time

NAME: Final = "cherry"
AGENT: Final = "cherry-studio"
OLD_MESSAGES = Table("session_messages", key="sessionId", needs=("role", "content"), tie="id")
OLD_SESSIONS = Table("sessions", key="id", needs=("agentId", "name"))
MESSAGES = Table(
    "agent_session_message",
    key="sessionId",
    needs=("role", "data"),
    times=("createdAt",),
    tie="id",
)
SESSIONS = Table("agent_session", key="id", needs=("agentId", "name"))

RAW: Final = "rawAgentMessages"
"""The member of a row's content that holds the raw messages of its agent."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
JSON_COLUMNS: Final = ("accessiblePaths", "mcps", "allowedTools", "slashCommands", "configuration")


def read_thread(row: Row, lookups: Lookups) -> Thread:
    """The thread of a session, with the name of its agent and its working directory."""
    row.unpack(*JSON_COLUMNS)
    agent = _look_up(lookups, ("agents", "agent"), row.get("agentId"))
    workspace = _look_up(lookups, ("agent_workspace",), row.get("workspaceId"))
    return Thread(
        id=row.take_text("id") or "",
        title=row.take_text("name") or row.take_text("title"),
        agent=_text(agent.get("name")) or AGENT,
        project=_text(workspace.get("path")) or _first_path(row.left) or _first_path(agent),
        created_at=take_time(row, "createdAt"),
        updated_at=take_time(row, "lastActivityAt", "updatedAt"),
        metadata=import_metadata(NAME, None, row.left),  # last: with the columns not taken before
    )


def _look_up(lookups: Lookups, tables: tuple[str, ...], id_: object) -> Mapping[str, object]:
    """The row with that id, from the first of the tables that has it."""
    nothing: JsonObject = {}
    return next((found for table in tables if (found := lookups.get(table, {}).get(str(id_)))), nothing)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _first_path(row: Mapping[str, object]) -> str | None:
    """The first folder that an agent may access: its working directory."""
    paths = parsed(row.get("accessiblePaths") or row.get("accessible_paths"))
    return _text(paths[0]) if is_array(paths) and paths else None


def load_old(rows: Rows) -> Loaded:
    """The messages of rows of `session_messages`."""
    return cherry.load(list(rows[OLD_MESSAGES.name]))


def enrich_old(rows: Rows, messages: Sequence[Message], thread: Thread, source: Path | None) -> ThreadContent:
    """Move the raw messages of each response to the log of a run."""
    found: list[Message] = []
    runs: list[RunRows] = []
    for message in messages:
        raw = _raw_messages(message) if isinstance(message, AssistantMessage) else None
        if not isinstance(message, AssistantMessage) or raw is None:
            found.append(message)
            continue
        body, raws, format_name = raw
        agent = _text(body.get("agentType")) or thread.agent or AGENT
        run = _build_run(message, raws, format_name, thread_id=thread.id, agent=agent)
        runs.append(run)
        found.append(replace(_without_raw(message), run_id=run.run.id))
    return ThreadContent(found, runs=runs)


def _raw_messages(message: AssistantMessage) -> tuple[JsonObject, Sequence[Json], str] | None:
    """The content of a row besides its chunks, the raw messages in it, and their format."""
    body = _own(message).get("content")
    raws = body.get(RAW) if is_object(body) else None
    if not is_object(body) or not is_array(raws) or not raws:
        return None
    detected = detect(raws)
    name = detected.format if detected is not None else None
    if name is None and "claude" in str(body.get("agentType")):
        name = "claude-code-stream"
    return None if name is None or get_format(name).decoder is None else (body, raws, name)


def _own(message: Message) -> JsonObject:
    metadata = message.content.metadata
    own = metadata.get(NAMESPACE) if is_object(metadata) else None
    return own if is_object(own) else {}


def _without_raw(message: AssistantMessage) -> AssistantMessage:
    """The message without its raw messages."""
    own = _own(message)
    body = {name: value for name, value in own["content"].items() if name != RAW}
    rest = {name: value for name, value in own.items() if name != "content"} | (
        {"content": body} if body else {}
    )
    others = message.content.metadata
    metadata = {**(others if is_object(others) else {}), NAMESPACE: rest}
    return replace(message, content=replace(message.content, metadata=metadata))


def _build_run(
    message: AssistantMessage, raws: Sequence[Json], format_name: str, *, thread_id: str, agent: str
) -> RunRows:
    """The run of a response, whose log has one line per raw message, like that of a recorded run."""
    time = message.created_at or EPOCH
    run = Run(
        id=f"{thread_id}:{message.id}",
        thread_id=thread_id,
        status="completed",
        agent=agent,
        message_id=message.id,
        usage=message.content.usage,
        created_at=time,
        started_at=time,
        finished_at=time,
    )
    return pack_entries(run, 1, list(_entries(raws, format_name, to_microseconds(time))), {})


def _entries(raws: Sequence[Json], format_name: str, time: int) -> Iterator[StoredEntry]:
    decoding = CallDecoder(format_name, "lines")
    events = decoding.start()
    for raw in _without_repeats(raws):
        events += decoding.feed(dumps(raw) + b"\n")
    events += decoding.finish()
    for event in events:
        chunk = encode(event.chunk) if isinstance(event, ChunkEvent) else None
        yield StoredEntry(time, chunk, raw_bytes(event))


def _without_repeats(raws: Sequence[Json]) -> Iterator[Json]:
    """Each raw message once: one that produced several chunks was stored with every chunk."""
    last: Json = None
    for raw in raws:
        if not (is_object(raw) and "uuid" in raw and raw == last):
            yield raw
        last = raw


def load(rows: Rows) -> Loaded:
    """The messages of rows of `agent_session_message`."""
    return cherry.load(list(rows[MESSAGES.name]))


SYSTEM = System(
    NAME,
    "Cherry Studio",
    AGENT,
    (
        Layout(
            "Cherry Studio 2",
            SESSIONS,
            (MESSAGES,),
            read_thread,
            load,
            lookups=("agent", "agent_workspace"),
        ),
        Layout(
            "Cherry Studio 1",
            OLD_SESSIONS,
            (OLD_MESSAGES,),
            read_thread,
            load_old,
            lookups=("agents",),
            enrich=enrich_old,
        ),
    ),
)
