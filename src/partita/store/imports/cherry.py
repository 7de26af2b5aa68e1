"""Cherry Studio: the sessions of its agents, in `agents.db` and in the main database of today.

| tables | order |
|---|---|
| `sessions`, `session_messages`, `agents` | the number that is the id |
| `agent_session`, `agent_session_message`, `agent`, `agent_workspace` | `createdAt`, then the id |
"""

from collections.abc import Mapping
from typing import Final

from partita.formats.cherry import load as cherry
from partita.formats.format import Loaded
from partita.formats.rows import Row, unpacked
from partita.types.json import JsonObject, is_array
from partita.types.threads import Thread

from .system import Layout, Lookups, Rows, System, Table, origin, taken_moment

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
    paths = unpacked(row.get("accessiblePaths") or row.get("accessible_paths"))
    return _text(paths[0]) if is_array(paths) and paths else None


def load_old(rows: Rows) -> Loaded:
    """The messages of rows of `session_messages`."""
    return cherry.load(list(rows[OLD_MESSAGES.name]))


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
        Layout("Cherry Studio 1", OLD_SESSIONS, (OLD_MESSAGES,), read_thread, load_old, lookups=("agents",)),
    ),
)
