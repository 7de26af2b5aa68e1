"""The AG-UI messages that one canonical message becomes, and what they are called.

An assistant message of AG-UI has one text, then calls. So a canonical message is told in pieces: the first
has its id, piece `k` is `ID#k`, and the results of its calls are `ID#k:results`, `ID#k:results:2` and so on:
the names that `partita.types.fold` gives and takes back.
"""

import re
from typing import Final

_RESULT: Final = re.compile(r"(.*#\d+:results):\d+", re.DOTALL)


class Pieces:
    """Goes along with the parts of a message, and names the pieces they belong to."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.number = 1
        self.is_used = False
        """Whether the piece at hand has a text or a call."""
        self._calls: dict[str, int] = {}
        self._results: dict[int, int] = {}

    @property
    def id(self) -> str:
        """The id of the piece at hand."""
        return self.message_id if self.number == 1 else f"{self.message_id}#{self.number}"

    def step(self) -> bool:
        """Something begins that cannot stand behind what the piece has; whether another piece begins."""
        if not self.is_used:
            return False
        self.number += 1
        self.is_used = False
        return True

    def text(self) -> str:
        """The id of the message that a text is."""
        self.step()
        self.is_used = True
        return self.id

    def call(self, call_id: str) -> str:
        """The id of the message that a call stands in."""
        self.is_used = True
        self._calls[call_id] = self.number
        return self.id

    def result(self, call_id: str) -> str:
        """The id of the message that a result is."""
        number = self._calls.get(call_id, self.number)
        count = self._results[number] = self._results.get(number, 0) + 1
        name = f"{self.message_id}#{number}:results"
        return name if count == 1 else f"{name}:{count}"


def result_group(message_id: str) -> str:
    """The id that all results of a piece share."""
    found = _RESULT.fullmatch(message_id) if ":results:" in message_id else None
    return found[1] if found else message_id


def unused(message_id: str, used: dict[str, int]) -> str:
    """An id for a result: the one it has, or the next one of the group that shares it."""
    if message_id not in used:
        used[message_id] = 1
        return message_id
    group = result_group(message_id)
    number = used.get(group, 1) + 1
    while f"{group}:{number}" in used:
        number += 1
    used[group] = number
    used[f"{group}:{number}"] = 1
    return f"{group}:{number}"
