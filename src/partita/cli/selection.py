"""Selecting messages of a thread: a branch, with or without internal messages, from a number on."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from partita.errors import NotFoundError, StoreError
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.messages import Message
from partita.types.threads import Thread

from .blocking import Wait
from .view.text import one_line


class Selection(NamedTuple):
    """Which messages the options of a command select."""

    branch: str | None = None  # the beginning of the id of a message on it; `None` for the active branch
    internal: bool = False
    start: int | None = None  # the number of the first message
    last: int | None = None  # how many, counted from the end


class SelectedMessages(NamedTuple):
    """The selected messages, whose large values are references, and the branches that leave them."""

    thread: Thread
    messages: list[Message]
    others: dict[str, list[Message]]
    numbers: dict[str, int]  # by message id; internal messages have none
    left_out: int  # how many messages of the branch come before
    times: tuple[datetime, datetime] | None  # of the first and the last message of the branch


def select_messages(store: Store, wait: Wait, thread: Thread, selection: Selection) -> SelectedMessages:
    """Return the selected messages of a thread, in order."""
    every = wait(
        store.messages.list(
            thread.id, MessageFilter(branch="all", internal=None), limit=None, blobs="reference"
        )
    ).items
    numbers = wait(store.messages.numbers(thread.id))
    tree = MessageTree(every)
    start = None if selection.branch is None else tree.find(selection.branch)
    path = tree.path_to(thread.active_leaf_id) if start is None else tree.branch_through(start)
    visible = {one.id: one for one in every if selection.internal or not one.internal}
    branch = [one for one in path if one.id in visible]
    shown = branch
    if selection.start is not None:
        shown = _from_number(selection.start, branch, numbers)
    if selection.last is not None:
        shown = _last_numbered(selection.last, shown, numbers)
    before = sum(one.id in numbers for one in branch) - sum(one.id in numbers for one in shown)
    # Events without a time in the log may have the time when they were stored.
    times = [one.created_at for one in branch if one.type != "event" and one.created_at is not None]
    return SelectedMessages(
        thread,
        shown,
        tree.other_branches(path, visible),
        numbers,
        before,
        (min(times), max(times)) if times else None,
    )


def _from_number(number: int, branch: list[Message], numbers: Mapping[str, int]) -> list[Message]:
    """Return the messages from the one with this number on."""
    place = next((place for place, one in enumerate(branch) if numbers.get(one.id or "", 0) >= number), None)
    if place is None and branch:
        last = max((numbers.get(one.id or "", 0) for one in branch), default=0)
        raise NotFoundError(f"no message {number} on this branch", hint=f"the last one is {last}")
    return branch[place:]


def _last_numbered(count: int, branch: list[Message], numbers: Mapping[str, int]) -> list[Message]:
    """Return the last messages, this many of which have a number."""
    places = [place for place, one in enumerate(branch) if one.id in numbers]
    return branch[places[-count] :] if count <= len(places) else branch


class MessageTree:
    """The messages of a thread by their parents. A missing parent counts as none; a cycle is cut."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._by_id = {message.id: message for message in messages}
        self._children: dict[str | None, list[Message]] = {}
        for message in messages:  # in the order of their numbers
            self._children.setdefault(self._parent(message), []).append(message)

    def _parent(self, message: Message) -> str | None:
        return message.parent_id if message.parent_id in self._by_id else None

    def path_to(self, leaf: str | None) -> list[Message]:
        """Return the messages from the first one to a leaf."""
        found: dict[str, Message] = {}
        at = leaf
        while at is not None and at not in found and at in self._by_id:
            found[at] = self._by_id[at]
            at = self._parent(found[at])
        return list(reversed(found.values()))

    def branch_through(self, id: str) -> list[Message]:
        """Return the branch that a message is on; below the message, the latest of its children."""
        leaf, passed = id, {id}
        while leaf in self._children and self._children[leaf][-1].id not in passed:
            leaf = self._children[leaf][-1].id
            passed.add(leaf)
        return self.path_to(leaf)

    def find(self, start: str) -> str:
        """Return the id of the message whose id begins with this."""
        if start in self._by_id:
            return start
        found = [known for known in self._by_id if known.startswith(start)]
        if len(found) == 1:
            return found[0]
        if found:
            hint = "use a longer prefix: " + ", ".join(one_line(known) for known in found[:5])
            raise StoreError(f"{start!r} is the beginning of {len(found)} ids of messages", hint=hint)
        raise NotFoundError(
            f"no message {start!r} in this thread", hint="--json prints the ids of its messages"
        )

    def other_branches(
        self, path: Sequence[Message], shown: Mapping[str, Message]
    ) -> dict[str, list[Message]]:
        """Return for shown messages of a path the first messages of the branches that leave just before."""
        on_path = {message.id for message in path}
        result: dict[str, list[Message]] = {}
        waiting: list[Message] = []
        for message in path:
            siblings = [one for one in self._children[self._parent(message)] if one.id not in on_path]
            waiting += [first for one in siblings if (first := self._first_shown(one, shown)) is not None]
            if message.id in shown:
                if waiting:
                    result[message.id] = waiting
                waiting = []
        return result

    def _first_shown(self, message: Message, shown: Mapping[str, Message]) -> Message | None:
        """The first message, from this one down, that is shown."""
        waiting, passed = [message], {message.id}
        while waiting:
            one = waiting.pop(0)
            if one.id in shown:
                return one
            fresh = [child for child in self._children.get(one.id, ()) if child.id not in passed]
            passed.update(child.id for child in fresh)
            waiting += fresh
        return None
