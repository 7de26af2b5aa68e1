"""Ids of calls: the provider's own, or invented ones that are the same for the same answer."""

from partita.types.json import Json


class CallIds:
    """Gives each call of an answer an id of its own."""

    def __init__(self, prefix: str) -> None:
        """`prefix` begins invented ids, as long as the answer has not told its own id."""
        self.response_id: str | None = None
        self._prefix = prefix
        self._invented = 0
        self._used: set[str] = set()

    def next(self, given: Json = None) -> str:
        """The id that was given, if it is one and no other call has it; else an invented one."""
        is_free = isinstance(given, str) and given and given not in self._used
        call_id: str = given if is_free else self._invent()
        self._used.add(call_id)
        return call_id

    def _invent(self) -> str:
        while True:
            call_id = f"{self.response_id or self._prefix}-{self._invented}"
            self._invented += 1
            if call_id not in self._used:
                return call_id
