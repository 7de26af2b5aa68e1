"""Messages as the rows of assistant-ui: `{id, parent_id, format, content}`.

The content is a UI message of the AI SDK without its id. Rows form a tree: if a message has two children, its
response was regenerated, or the next message was edited.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from partita.errors import ConflictError
from partita.formats.ai_sdk.ui.chat import dump_chat, is_continued
from partita.formats.ai_sdk.ui.format import load_message
from partita.formats.mastra.notes import strip_notes
from partita.runtime.principal import Principal
from partita.server.callers import require
from partita.server.open_calls import check_calls
from partita.server.problems import Problem
from partita.store.messages import queries as messages
from partita.store.messages import writer
from partita.store.messages.prepared import prepare
from partita.store.sql.transaction import Transaction
from partita.store.threads import rows as threads
from partita.stream.state import RULES, Version
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, ToolMessage, UserMessage
from partita.types.tool_results import fold

from .client_messages import check_not_system

FORMATS: Final[Mapping[str, Version]] = {f"ai-sdk/v{version}": version for version in RULES}
"""The names of formats in assistant-ui, with their versions of the AI SDK."""

DEFAULT: Final = "ai-sdk/v6"


class Row(msgspec.Struct, kw_only=True):
    """A message."""

    id: Annotated[str, Meta(description="Its id.", examples=["m1"])]
    parent_id: Annotated[str | None, Meta(description="The message before it; `null`: none.")] = None
    format: Annotated[str, Meta(description="The format of the content.", examples=[DEFAULT])] = DEFAULT
    content: Annotated[dict[str, Any], Meta(description="A UI message without its id.")]


class Tree(NamedTuple):
    """All rows of a thread, parents first, and the last message of the active branch."""

    head: str | None
    rows: list[Row]


def checked_format(name: str | None) -> str:
    """A format of rows: `ai-sdk/v6`, or `v6` for short."""
    full = DEFAULT if name is None else f"ai-sdk/{name}" if name.startswith("v") else name
    if full not in FORMATS:
        raise Problem(
            400, f"no rows in format {full[:40]!r}", where="format", hint=f"use {', '.join(FORMATS)}"
        )
    return full


def tree_of(messages: Sequence[Message], leaf: str | None, format_: str) -> Tree:
    """The rows of a thread. Internal messages are left out: a child of one becomes a child of its parent.

    The row of the last message of the active branch is the last row, unless it has children: a client that
    does not receive the head assumes that it is the last row.
    """
    parents = {message.id: message.parent_id for message in messages}
    folded = fold([message for message in messages if not message.internal])
    visible = {message.id: message for message in folded if not isinstance(message, ToolMessage)}
    groups: dict[str, list[Message]] = {}  # the messages that a client joins, by the id of each of them
    for id_, message in visible.items():
        parent = visible.get(_visible(parents.get(id_), parents, visible) or "")
        is_joined = parent is not None and parent.id in groups and is_continued(parent, message)
        groups[id_] = groups[parent.id] if is_joined and parent is not None else []
        groups[id_].append(message)
    rows = _parents_first(
        [
            Row(
                id=id_,
                parent_id=_first(_visible(parents.get(id_), parents, visible), groups),
                format=format_,
                content=content_of(group, format_),
            )
            for id_, group in groups.items()
            if group[0].id == id_
        ]
    )
    head = _first(_visible(leaf, parents, visible), groups)
    if head is not None and all(row.parent_id != head for row in rows):
        rows.sort(key=lambda row: row.id == head)  # stable: parents stay before their children
    return Tree(head, rows)


def _first(id_: str | None, groups: Mapping[str, Sequence[Message]]) -> str | None:
    return None if id_ is None else groups[id_][0].id


def content_of(messages: Sequence[Message], format_: str) -> JsonObject:
    """The messages of a run, or another message, as the content of a row; empty if none is visible."""
    dumped: Json = dump_chat([strip_notes(message) for message in messages], FORMATS[format_]).payload
    return {key: value for key, value in dumped[0].items() if key != "id"} if dumped else {}


def _visible(id_: str | None, parents: Mapping[str, str | None], visible: Mapping[str, Any]) -> str | None:
    """A message, or its nearest ancestor that is visible."""
    seen: set[str] = set()
    while id_ is not None and id_ not in visible and id_ not in seen:
        seen.add(id_)
        id_ = parents.get(id_)
    return id_ if id_ in visible else None


def _parents_first(rows: list[Row]) -> list[Row]:
    """The rows in their order, but none before its parent: clients refuse a message without its parent."""
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
    in_cycle = [row for group in waiting.values() for row in group]
    return [*done.values(), *(replace(row, parent_id=None) for row in in_cycle)]


def read_row(row: Row) -> Message:
    """The message of a row."""
    message = load_message({**row.content, "id": row.id}, "$.content")
    check_not_system(message, "$.content")
    return message


def save_row(tx: Transaction, thread_id: str, row: Row, message: Message, principal: Principal) -> Message:
    """Store a message, or return the stored one if it does not change.

    A message of a run does not change: a client only repeats what it has received. Any other message is
    replaced if its content differs, and keeps its position and times. Only a caller with the permission
    `write` may replace a message, or add one that is not a user message.
    """
    threads.find(tx, thread_id, lock=True)  # no other transaction can change it before this one ends
    known = messages.get(tx, thread_id, row.id)
    if known is None:
        if not isinstance(message, UserMessage):
            require(principal, "write", "add a response", where="$.content.role")
        return _add(tx, thread_id, row, message)
    if known.run_id is not None or content_of([known], row.format) == row.content:
        return known
    require(principal, "write", f"change message {row.id!r}", where="$.content")
    check_calls(message, known)
    changed = replace(
        message, thread_id=thread_id, resource_id=known.resource_id, created_at=known.created_at
    )
    return writer.save(tx, [prepare(changed, thread_id)])[0]


def _add(tx: Transaction, thread_id: str, row: Row, message: Message) -> Message:
    check_calls(message, None)
    parent = row.parent_id
    if parent is not None and messages.get(tx, thread_id, parent, blobs="reference") is None:
        raise ConflictError(
            f"no parent message {parent!r}", where="$.parent_id", hint="append the parent first"
        )
    child = replace(message, thread_id=thread_id, parent_id=parent or "")
    return writer.save(tx, [prepare(child, thread_id)])[0]
