"""JSON-RPC, one message a line, seen from the side that starts the talk."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, is_object

from .dialogue import Action, Line

Next: TypeAlias = Callable[[JsonObject], Sequence[Action]]
"""What to do with the result of a request."""

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
FAILED: Final = -32603


class Pending(NamedTuple):
    """A request that has no answer yet."""

    method: str
    then: Next


class Refusal(NamedTuple):
    """An answer that is an error."""

    method: str
    code: Json
    message: str
    data: Json


class Calls:
    """Requests that were sent, and what to do when they are answered."""

    def __init__(self, envelope: JsonObject, *, is_told: bool, prefix: str = "") -> None:
        """`envelope` is what every message carries; `is_told` says whether ours belong to the record.

        With a `prefix`, our ids are words, so that they are never those of the other side.
        """
        self._envelope = envelope
        self._is_told = is_told
        self._prefix = prefix
        self._pending: dict[int | str, Pending] = {}
        self._count = 0

    def request(self, method: str, params: JsonObject, then: Next) -> Line:
        """A request."""
        number = f"{self._prefix}{self._count}" if self._prefix else self._count
        self._count += 1
        self._pending[number] = Pending(method, then)
        message: JsonObject = {**self._envelope, "id": number, "method": method, "params": params}
        return Line(message, self._is_told)

    def notification(self, method: str, params: JsonObject | None = None) -> Line:
        """A message that wants no answer."""
        given = {} if params is None else {"params": params}
        return Line({**self._envelope, "method": method, **given}, self._is_told)

    def answer(self, id: Json, result: Json) -> Line:
        """The answer to a request of the other side."""
        return Line({**self._envelope, "id": id, "result": result})

    def refuse(self, id: Json, code: int, message: str) -> Line:
        """An error, as the answer to a request of the other side."""
        return Line({**self._envelope, "id": id, "error": {"code": code, "message": message}})

    def take(self, message: JsonObject) -> Sequence[Action] | Refusal | None:
        """What follows from an answer; `None` if it answers nothing."""
        number = message.get("id")
        pending = self._pending.pop(number, None) if isinstance(number, int | str) else None
        if pending is None:
            return None
        error, result = message.get("error"), message.get("result")
        if is_object(error):
            words = error.get("message")
            return Refusal(
                pending.method, error.get("code"), str(words or "unknown error"), error.get("data")
            )
        return pending.then(result if is_object(result) else {})
