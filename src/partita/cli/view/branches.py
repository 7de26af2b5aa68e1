"""Which messages lie on a branch, and what other branches leave it on the way."""

from collections.abc import Mapping, Sequence

from partita.errors import NotFoundError, StoreError
from partita.types.messages import Message

from .text import one_line


class Branches:
    """A thread as a tree of messages. A parent that is not there is none; a circle ends where it closes."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._by_id = {message.id: message for message in messages}
        self._below: dict[str | None, list[Message]] = {}
        for message in messages:  # in the order of their numbers
            self._below.setdefault(self._parent(message), []).append(message)

    def _parent(self, message: Message) -> str | None:
        return message.parent_id if message.parent_id in self._by_id else None

    def way(self, leaf: str | None) -> list[Message]:
        """The messages from the first one to a leaf."""
        found: dict[str, Message] = {}
        at = leaf
        while at is not None and at not in found and at in self._by_id:
            found[at] = self._by_id[at]
            at = self._parent(found[at])
        return list(reversed(found.values()))

    def through(self, id: str) -> list[Message]:
        """The branch that a message lies on: below it, the latest answers."""
        leaf, passed = id, {id}
        while leaf in self._below and self._below[leaf][-1].id not in passed:
            leaf = self._below[leaf][-1].id
            passed.add(leaf)
        return self.way(leaf)

    def find(self, start: str) -> str:
        """The id of a message that begins so."""
        if start in self._by_id:
            return start
        found = [known for known in self._by_id if known.startswith(start)]
        if len(found) == 1:
            return found[0]
        if found:
            hint = "give more of it: " + ", ".join(one_line(known) for known in found[:5])
            raise StoreError(f"{start!r} begins the ids of {len(found)} messages", hint=hint)
        raise NotFoundError(
            f"no message {start!r} in this thread", hint="--json tells the ids of its messages"
        )

    def others(self, way: Sequence[Message], shown: Mapping[str, Message]) -> dict[str, list[Message]]:
        """By message on the way that is shown: the first messages of branches that leave just before it."""
        on_way = {message.id for message in way}
        result: dict[str, list[Message]] = {}
        waiting: list[Message] = []
        for message in way:
            beside = [one for one in self._below[self._parent(message)] if one.id not in on_way]
            waiting += [seen for one in beside if (seen := self._first_shown(one, shown)) is not None]
            if message.id in shown:
                if waiting:
                    result[message.id] = waiting
                waiting = []
        return result

    def _first_shown(self, message: Message, shown: Mapping[str, Message]) -> Message | None:
        """The first message from here down that would be shown."""
        waiting, passed = [message], {message.id}
        while waiting:
            one = waiting.pop(0)
            if one.id in shown:
                return one
            fresh = [below for below in self._below.get(one.id, ()) if below.id not in passed]
            passed.update(below.id for below in fresh)
            waiting += fresh
        return None
