"""One answer while it comes: what its items share."""

from typing import Protocol

from partita.formats.answers.outlet import Outlet
from partita.types.json import JsonObject

from .fields import NAMESPACE


class Item(Protocol):
    """One item of the output while it comes."""

    kind: str
    is_ended: bool

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the item; whether it was understood."""
        ...

    def end(self, item: JsonObject) -> None:
        """Take the whole item."""
        ...

    def stop(self, *, whole: bool) -> None:
        """Nothing more comes of it: the answer is whole, or was cut."""
        ...


class Answer:
    """Where chunks go, and what the end of the answer depends on."""

    def __init__(self, sources: int = 0) -> None:
        """`sources` counts those that were named before."""
        self.outlet = Outlet(NAMESPACE)
        self.is_refusal = False
        self.searches: list[str] = []
        """Searches for tools on the provider's side whose output is still to come."""
        self._waiting: dict[str, bool] = {}
        self.sources = sources
        self._names = 0

    @property
    def has_client_calls(self) -> bool:
        """Whether someone has to run a call of this answer."""
        return any(self._waiting.values())

    def call_id(self, wanted: str, *, provider_executed: bool) -> str:
        """The id of a new call: the one wanted, made unique. Servers exist that give two calls the same."""
        first, count = wanted or self.name("call"), 1
        name = first
        while name in self._waiting:
            count += 1
            name = f"{first}:{count}"
        self._waiting[name] = not provider_executed
        return name

    def knows(self, call_id: str) -> bool:
        """Whether a call of that id was told."""
        return call_id in self._waiting

    def answer_call(self, call_id: str) -> None:
        """A call has its output: nobody has to run it."""
        self._waiting[call_id] = False

    def name(self, kind: str) -> str:
        """An id for what came without."""
        self._names += 1
        return f"{kind}-{self._names}"

    def source_id(self) -> str:
        """The id of the next source."""
        self.sources += 1
        return f"source-{self.sources}"
