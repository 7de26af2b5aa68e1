"""What canonical messages say that shows in the form of any format."""

from typing import Any, Final, get_args

from partita.formats.format import Implied
from partita.types.messages import MessageType
from partita.types.tools import ToolState

PARTS: Final = ("text", "reasoning", "file", "image", "tool-call", "tool-result", "step-start", "content")

IMPLIED: Final[Implied] = {
    "role": frozenset[Any]({"system", "user", "assistant", "tool"}),
    "type": frozenset[Any]({*PARTS, *get_args(MessageType), "json", "error-text", "error-json", "url"}),
    "format": frozenset[Any]({2}),
    "state": frozenset[Any]({"done", *get_args(ToolState)} - {"approval-requested", "approval-responded"}),
}
