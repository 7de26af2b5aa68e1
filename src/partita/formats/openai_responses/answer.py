"""One answer while it comes: what its items share."""

from collections.abc import Iterator
from typing import Final, Protocol

from partita.formats.answers.outlet import Outlet
from partita.types.json import JsonObject

from .fields import NAMESPACE, objects, text

CLIENT_KINDS: Final = frozenset({"", "function", "custom", "namespace", "local_shell", "apply_patch"})
"""The kinds of tools that a client runs."""


class Item(Protocol):
    """One item of the output while it comes."""

    kind: str
    is_ended: bool

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the item; whether it was understood."""
        ...

    def may_be(self, item: JsonObject) -> bool:
        """Whether a whole item with another id is this one: it repeats what came in pieces."""
        ...

    def end(self, item: JsonObject) -> None:
        """Take the whole item."""
        ...

    def stop(self, *, whole: bool) -> None:
        """Nothing more comes of it: the answer is whole, or was cut."""
        ...


class Answer:
    """Where chunks go, and what the end of the answer depends on."""

    def __init__(self, sources: int = 0, client_tools: frozenset[str] | None = None) -> None:
        """`sources` counts those that were named before; `client_tools` is what `client_tools_of` returns."""
        self.outlet = Outlet(NAMESPACE)
        self.client_tools = client_tools
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

    def is_providers_tool(self, name: str) -> bool:
        """Whether a custom tool is one that the client did not declare: then the provider runs it.

        xAI reports its search tools so: `x_keyword_search` for the declared `x_search`.
        """
        return self.client_tools is not None and bool(name) and name not in self.client_tools

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


def client_tools_of(response: JsonObject) -> frozenset[str] | None:
    """The names of the tools that the client runs, as a response repeats them beside tools of the provider.

    `None` if it repeats no tool of the provider: then every custom tool is the client's.
    """
    kinds = {text(tool, "type") for tool in objects(response, "tools")}
    return frozenset(_names(response)) if kinds - CLIENT_KINDS else None


def _names(holder: JsonObject) -> Iterator[str]:
    for tool in objects(holder, "tools"):
        if text(tool, "type") in ("custom", "function"):
            yield text(tool, "name")
        yield from _names(tool)  # tools in a namespace
