"""What we use of a compiled graph, in types of ours: those of the package are open."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol


class Snapshot(Protocol):
    """The state of a thread."""

    @property
    def values(self) -> Any:
        """What the graph knows, by the names of its channels."""
        ...

    @property
    def next(self) -> tuple[str, ...]:
        """The nodes that are still to run: the graph has not ended."""
        ...

    @property
    def interrupts(self) -> tuple[Any, ...]:
        """The interrupts that wait."""
        ...

    @property
    def config(self) -> Any:
        """Where the checkpoint is found."""
        ...

    @property
    def metadata(self) -> Any:
        """What is known about the checkpoint; `None` if there is none."""
        ...


class Graph(Protocol):
    """A compiled graph."""

    name: str
    checkpointer: Any
    channels: Mapping[str, Any]

    def astream(
        self, input: Any, config: Any, *, context: Any, stream_mode: Sequence[str], subgraphs: bool
    ) -> AsyncIterator[tuple[tuple[str, ...], str, Any]]:
        """What happens while the graph works: where, in which mode, and what."""
        ...

    async def aget_state(self, config: Any) -> Snapshot:
        """The state of a thread."""
        ...
