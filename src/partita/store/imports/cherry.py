"""Cherry Studio: the sessions of its agents, in `agents.db` and in the main database of today.

| tables | order |
|---|---|
| `sessions`, `session_messages`, `agents` | the number that is the id |
| `agent_session`, `agent_session_message`, `agent`, `agent_workspace` | `createdAt`, then the id |
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from partita.formats.cherry import format as cherry
from partita.formats.cherry.blocks import NAME as NAMESPACE
from partita.formats.core.members import parsed
from partita.formats.format import Loaded
from partita.formats.registry import get_format
from partita.formats.rows import Row
from partita.logs.places.detection import detect
from partita.store.sessions.rows import RunRows
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Thread

from .raw_messages import run_of
from .system import Followed, Layout, Lookups, Rows, System, Table, origin, taken_moment

NAME: Final = "cherry"
AGENT: Final = "cherry-studio"
OLD_MESSAGES = Table("session_messages", key="sessionId", needs=("role", "content"), tie="id")
OLD_SESSIONS = Table("sessions", key="id", needs=("agentId", "name"))
MESSAGES = Table(
    "agent_session_message",
    key="sessionId",
    needs=("role", "data"),
    moments=("createdAt",),
    tie="id",
)
SESSIONS = Table("agent_session", key="id", needs=("agentId", "name"))

RAW: Final = "rawAgentMessages"
"""What a row of the first months has of its agent's own messages."""

JSON_COLUMNS: Final = ("accessiblePaths", "mcps", "allowedTools", "slashCommands", "configuration")


def read_thread(row: Row, lookups: Lookups) -> Thread:
    """The thread of a session, with the name of its agent and the folder it works in."""
    row.unpack(*JSON_COLUMNS)
    agent = _named(lookups, ("agents", "agent"), row.get("agentId"))
    workspace = _named(lookups, ("agent_workspace",), row.get("workspaceId"))
    return Thread(
        id=row.take_text("id") or "",
        title=row.take_text("name") or row.take_text("title"),
        agent=_text(agent.get("name")) or AGENT,
        project=_text(workspace.get("path")) or _first_path(row.left) or _first_path(agent),
        created_at=taken_moment(row, "createdAt"),
        updated_at=taken_moment(row, "lastActivityAt", "updatedAt"),
        metadata=origin(NAME, None, row.left),  # last: what is left by then
    )


def _named(lookups: Lookups, tables: tuple[str, ...], id_: object) -> Mapping[str, object]:
    """The row of that id in the first of these tables that has one."""
    nothing: JsonObject = {}
    return next((found for table in tables if (found := lookups.get(table, {}).get(str(id_)))), nothing)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _first_path(row: Mapping[str, object]) -> str | None:
    """The first of the folders that an agent may touch: the one it works in."""
    paths = parsed(row.get("accessiblePaths") or row.get("accessible_paths"))
    return _text(paths[0]) if is_array(paths) and paths else None


def load_old(rows: Rows) -> Loaded:
    """The messages of rows of `session_messages`."""
    return cherry.load(list(rows[OLD_MESSAGES.name]))


def follow_old(rows: Rows, messages: Sequence[Message], thread: Thread, source: Path | None) -> Followed:
    """A run for each answer whose row keeps the raw messages of its agent; there they leave the message."""
    found: list[Message] = []
    runs: list[RunRows] = []
    for message in messages:
        kept = _raw_messages(message) if isinstance(message, AssistantMessage) else None
        if not isinstance(message, AssistantMessage) or kept is None:
            found.append(message)
            continue
        body, raws, format_name = kept
        agent = _text(body.get("agentType")) or thread.agent or AGENT
        run = run_of(message, raws, format_name, thread_id=thread.id, agent=agent)
        runs.append(run)
        found.append(replace(_without_raw(message), run_id=run.run.id))
    return Followed(found, runs=runs)


def _raw_messages(message: AssistantMessage) -> tuple[JsonObject, Sequence[Json], str] | None:
    """The content that a row has besides its chunks, its raw messages, and the format that they are in."""
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
    """The message without the raw messages, which its run has now."""
    own = _own(message)
    body = {name: value for name, value in own["content"].items() if name != RAW}
    rest = {name: value for name, value in own.items() if name != "content"} | (
        {"content": body} if body else {}
    )
    others = message.content.metadata
    metadata = {**(others if is_object(others) else {}), NAMESPACE: rest}
    return replace(message, content=replace(message.content, metadata=metadata))


def load(rows: Rows) -> Loaded:
    """The messages of rows of `agent_session_message`."""
    return cherry.load(list(rows[MESSAGES.name]))


CHERRY = System(
    NAME,
    "Cherry Studio",
    AGENT,
    (
        Layout(
            "Cherry Studio of today",
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
            follow=follow_old,
        ),
    ),
)
