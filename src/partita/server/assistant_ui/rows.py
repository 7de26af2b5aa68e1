"""Messages as the rows that assistant-ui keeps: `{id, parent_id, format, content}`.

The content is a UI message of the AI SDK without its id. Rows form a tree: a message with two children was
edited, or answered twice.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta

from partita.formats.mastra.unmarked import unmarked
from partita.formats.registry import get_format
from partita.server.problems import Problem
from partita.types.fold import fold
from partita.types.json import Json, JsonObject
from partita.types.messages import Message

FORMATS: Final[Mapping[str, str]] = {f"ai-sdk/v{version}": f"ai-sdk-ui-v{version}" for version in (5, 6, 7)}
"""What assistant-ui calls formats of UI messages, and what we do."""

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
    shown = {
        message.id: content
        for message in fold([message for message in messages if not message.internal])
        if (content := content_of(message, format_)) is not None
    }
    rows = [
        Row(id=id_, parent_id=_shown(parents.get(id_), parents, shown), format=format_, content=content)
        for id_, content in shown.items()
    ]
    head = _shown(leaf, parents, shown)
    has_children = any(row.parent_id == head for row in rows)
    if head is not None and not has_children:
        rows.sort(key=lambda row: row.id == head)  # stable: parents stay before their children
    return Tree(head, _parents_first(rows))


def content_of(message: Message, format_: str) -> JsonObject | None:
    """A message as the content of a row; `None` when there is nothing to show of it."""
    dump = get_format(FORMATS[format_]).dump
    assert dump is not None, "UI messages are written"
    dumped: Json = dump([unmarked(message)]).payload
    return {key: value for key, value in dumped[0].items() if key != "id"} if dumped else None


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
