"""What we use of a compiled graph, in types of ours: those of the package are open."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol


class Snapshot(Protocol):
    """The state of a thread."""

    @property
    def values(self) -> Any:
        """What the graph knows, by the names of its channels."""
        ...


class Graph(Protocol):
    """A compiled graph."""

    name: str
    checkpointer: Any
    channels: Mapping[str, Any]

    def astream(
        self, input: Any, config: Any, *, stream_mode: Sequence[str], subgraphs: bool
    ) -> AsyncIterator[tuple[tuple[str, ...], str, Any]]:
        """What happens while the graph works: where, in which mode, and what."""
        ...

    async def aget_state(self, config: Any) -> Snapshot:
        """The state of a thread."""
        ...
