"""The blocks of messages by role: content of the user, content of the assistant, and results of tools.

Instructions are content of the user that is text. A block that has no part in a message of its role is kept
whole, and a part that has no block there is not written.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import ToolResultPart

from .codec import PartCodecs
from .report import Place
from .server_tools import write_message_blocks
from .turns import Placed
from .wire import to_json


class MessageBlocks:
    """Reads and writes the blocks of messages, given the codecs for them."""

    def __init__(
        self,
        user: PartCodecs[Any],
        assistant: PartCodecs[Any],
        results: PartCodecs[Mapping[str, str]],
        text: Callable[[str], Json],
    ) -> None:
        """`results`: their context is the names of calls by id. `text`: the block of a text."""
        self._user, self._assistant, self._results, self._text = user, assistant, results, text

    def read(self, block: Any, role: str, calls: Mapping[str, str], context: Any = None) -> Any:
        """The part of a block. `calls` are the names of open calls by id."""
        if role != "system" and self._results.reads(block):
            return self._results.read(block, calls)
        part = (self._assistant if role == "assistant" else self._user).read(block, context)
        is_kept = role == "system" and not isinstance(part, TextPart | ForeignPart)
        return self._user.keep(to_json(block)) if is_kept else part

    def write(self, part: Any, role: str) -> Any:
        """The block of a part; `None` if it has none in a message of that role."""
        if type(part) is ToolResultPart:
            return self._results.write(part)
        if role == "system" and not isinstance(part, TextPart | ForeignPart):
            return None
        return (self._assistant if role == "assistant" else self._user).write(part)

    def is_written(self, part: AssistantPart) -> bool:
        """Whether a part of the assistant has a block."""
        return self.write(part, "assistant") is not None

    def write_all(
        self, parts: Sequence[Placed], role: str, text: str | None = None
    ) -> tuple[list[Json], list[Place | None]]:
        """The blocks of a message, and of a text behind them, and the number of each part's block."""
        blocks, places = write_message_blocks(
            parts, lambda part: self.write_with_notes(part, role), self.write_server_results
        )
        return (blocks if text is None else [*blocks, self._text(text)]), places

    def write_response(self, parts: Sequence[Placed], text: str | None) -> tuple[Any, list[Place | None]]:
        """The blocks of a response, as the format writes them into a body."""
        return self.write_all(parts, "assistant", text)

    def write_with_notes(self, part: Any, role: str) -> Sequence[Json]:
        """The block of a part, if it has one. A format adds blocks that are notes here."""
        block = self.write(part, role)
        return [] if block is None else [block]

    def write_server_results(self, call: ToolCallPart) -> Sequence[tuple[Json, JsonObject]]:
        """The blocks of the results of a call that the provider ran, and the notes about them."""
        raise NotImplementedError

    def as_string(self, blocks: Sequence[Any]) -> str | Sequence[Any]:
        """The only text of blocks that have nothing else, for contents that were a string."""
        text = getattr(blocks[0], "text", None) if len(blocks) == 1 else None
        return text if isinstance(text, str) and blocks[0] == self._text(text) else blocks
