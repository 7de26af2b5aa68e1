"""Messages as the rows that assistant-ui keeps: `{id, parent_id, format, content}`.

The content is a UI message of the AI SDK without its id. Rows form a tree: a message with two children was
edited, or answered twice.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from partita.errors import ConflictError, ConversionError
from partita.formats.ai_sdk.ui.chat import dump_chat, is_continued
from partita.formats.ai_sdk.ui.format import load_message
from partita.formats.mastra.notes import strip_notes
from partita.runtime.principal import Principal
from partita.server.callers import require
from partita.server.open_calls import check_calls
from partita.server.problems import Problem
from partita.store.messages import queries as messages
from partita.store.messages import writer as saving
from partita.store.messages.prepared import prepare
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.stream.state import RULES, Version
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, SystemMessage, ToolMessage, UserMessage
from partita.types.tool_results import fold

FORMATS: Final[Mapping[str, Version]] = {f"ai-sdk/v{version}": version for version in RULES}
"""What assistant-ui calls the UI messages of each version of the AI SDK."""

DEFAULT: Final = "ai-sdk/v6"


class Row(msgspec.Struct, kw_only=True):
    """A message."""

    id: Annotated[str, Meta(description="Its id.", examples=["m1"])]
    parent_id: Annotated[str | None, Meta(description="What it follows; `null`: nothing.")] = None
    format: Annotated[str, Meta(description="How the content is written.", examples=[DEFAULT])] = DEFAULT
    content: Annotated[dict[str, Any], Meta(description="A UI message without its id.")]


class Tree(NamedTuple):
    """All rows of a thread, parents first, and the last message of the branch that is shown."""

    head: str | None
    rows: list[Row]


def checked_format(name: str | None) -> str:
    """A format that rows can be in: `ai-sdk/v6`, or `v6` for short."""
    full = DEFAULT if name is None else f"ai-sdk/{name}" if name.startswith("v") else name
    if full not in FORMATS:
        raise Problem(
            400, f"no rows in format {full[:40]!r}", where="format", hint=f"use {', '.join(FORMATS)}"
        )
    return full


def tree_of(messages: Sequence[Message], leaf: str | None, format_: str) -> Tree:
    """The rows of a thread. What agents said among themselves is left out, and bridged.

    The row of the shown branch's last message stands last, where its children allow it: a page that is not
    told the head takes the last row for it.
    """
    parents = {message.id: message.parent_id for message in messages}
    visible = fold([message for message in messages if not message.internal])
    shown = {message.id: message for message in visible if not isinstance(message, ToolMessage)}
    groups: dict[str, list[Message]] = {}  # what a client has as one message, by each message in it
    for id_, message in shown.items():
        parent = shown.get(_shown(parents.get(id_), parents, shown) or "")
        is_more = parent is not None and parent.id in groups and is_continued(parent, message)
        groups[id_] = groups[parent.id] if is_more and parent is not None else []
        groups[id_].append(message)
    rows = [
        Row(
            id=id_,
            parent_id=_first(_shown(parents.get(id_), parents, shown), groups),
            format=format_,
            content=content_of(group, format_),
        )
        for id_, group in groups.items()
        if group[0].id == id_
    ]
    head = _first(_shown(leaf, parents, shown), groups)
    has_children = any(row.parent_id == head for row in rows)
    if head is not None and not has_children:
        rows.sort(key=lambda row: row.id == head)  # stable: parents stay before their children
    return Tree(head, _parents_first(rows))


def _first(id_: str | None, groups: Mapping[str, Sequence[Message]]) -> str | None:
    return None if id_ is None else groups[id_][0].id


def content_of(messages: Sequence[Message], format_: str) -> JsonObject:
    """The messages of a run, or another message, as the content of a row; empty if nothing is shown."""
    dumped: Json = dump_chat([strip_notes(message) for message in messages], FORMATS[format_]).payload
    return {key: value for key, value in dumped[0].items() if key != "id"} if dumped else {}


def _shown(id_: str | None, parents: Mapping[str, str | None], shown: Mapping[str, Any]) -> str | None:
    """A message, or the nearest one before it that is shown."""
    seen: set[str] = set()
    while id_ is not None and id_ not in shown and id_ not in seen:
        seen.add(id_)
        id_ = parents.get(id_)
    return id_ if id_ in shown else None


def _parents_first(rows: list[Row]) -> list[Row]:
    """The rows in their order, but none before its parent: pages refuse a message whose parent is missing."""
    waiting: dict[str, list[Row]] = {}
    done: dict[str, Row] = {}
    ids = {row.id for row in rows}
    for row in rows:
        if row.parent_id in ids and row.parent_id not in done:
            waiting.setdefault(str(row.parent_id), []).append(row)
            continue
        ready = [row]
        while ready:
            next_ = ready.pop(0)
            done[next_.id] = next_
            ready.extend(waiting.pop(next_.id, []))
    circle = [row for group in waiting.values() for row in group]
    return [*done.values(), *(msgspec.structs.replace(row, parent_id=None) for row in circle)]


def read_row(row: Row) -> Message:
    """The message of a row."""
    checked_format(row.format)
    message = load_message({**row.content, "id": row.id}, "$.content")
    if isinstance(message, SystemMessage):
        raise ConversionError(
            "a system message from a page",
            where="$.content.role",
            hint="instructions are given to the agent, on the server",
        )
    return message


def keep(tx: Transaction, thread_id: str, row: Row, message: Message, principal: Principal) -> Message:
    """Store a message, or leave the one that is there.

    What a run wrote stays as it is: a page only repeats what it received. Any other message is replaced when
    it says something else now; it keeps its place and its times. Only a caller who may write can replace a
    message, or add one that is not a user's.
    """
    threads.find(tx, thread_id, lock=True)  # so that nobody changes it between the look and the change
    known = messages.get(tx, thread_id, row.id)
    if known is None:
        if not isinstance(message, UserMessage):
            require(principal, "write", "add an answer", where="$.content.role")
        return _add(tx, thread_id, row, message)
    if known.run_id is not None or _says_the_same(known, row):
        return known
    require(principal, "write", f"change message {row.id!r}", where="$.content")
    check_calls(message, known)
    changed = replace(
        message, thread_id=thread_id, resource_id=known.resource_id, created_at=known.created_at
    )
    return saving.save(tx, [prepare(changed, thread_id)])[0]


def _add(tx: Transaction, thread_id: str, row: Row, message: Message) -> Message:
    check_calls(message, None)
    parent = row.parent_id
    if parent is not None and messages.get(tx, thread_id, parent, blobs="reference") is None:
        raise ConflictError(
            f"no message {parent!r} to follow", where="$.parent_id", hint="append what comes first, first"
        )
    placed = replace(message, thread_id=thread_id, parent_id=parent or "")
    return saving.save(tx, [prepare(placed, thread_id)])[0]


def _says_the_same(known: Message, row: Row) -> bool:
    return content_of([known], row.format) == row.content
