"""Names that are made: the same for the same messages, whenever and wherever they are written."""

import re
from collections.abc import Iterable
from typing import Final
from uuid import UUID, uuid5

NAMESPACE: Final = UUID("6d1f2c0e-5a86-5c7b-9d0e-3b7a51f0c2a4")
CALL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What the API takes as the id of a call."""


class Names:
    """The names of one file. None is given twice."""

    def __init__(self, thread_id: str, taken: Iterable[str] = (), *, calls: str = "toolu_{}") -> None:
        """`calls`: the form of ids that are made for calls."""
        self._thread_id = thread_id
        self._taken = set(taken)
        self._calls = calls

    def line(self, message_id: str, number: int) -> str:
        """A name for a line of a message."""
        return self._new("line", message_id, number, "{}")

    def response(self, message_id: str, number: int) -> str:
        """A name for a response in a message."""
        return self._new("response", message_id, number, "msg_{}")

    def call(self, call_id: str, message_id: str) -> str:
        """The name of a call: its own, if the API takes it and no other call has it."""
        if CALL_ID.fullmatch(call_id) and call_id not in self._taken:
            self._taken.add(call_id)
            return call_id
        return self._new(f"call {call_id}", message_id, 0, self._calls)

    def _new(self, kind: str, message_id: str, number: int, form: str) -> str:
        while True:
            made = made_uuid(kind, self._thread_id, message_id, str(number))
            name = form.format(made if form == "{}" else made.hex)
            if name not in self._taken:
                self._taken.add(name)
                return name
            kind += "+"


def made_uuid(*words: str) -> UUID:
    """The UUID that these words give, always."""
    return uuid5(NAMESPACE, "\n".join(words).encode("utf-8", "backslashreplace").decode())


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID as such files have them."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
