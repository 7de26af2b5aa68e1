"""What payloads of the protocol say that shows in the form of the messages read from them."""

from typing import Any

from partita.formats.format import Implied


def implied() -> Implied:
    """Types of blocks, and roles."""
    blocks = {"text", "image", "audio", "resource", "resource_link", "tool_use", "tool_result"}
    return {
        "type": frozenset[Any](blocks),
        "role": frozenset[Any]({"user", "assistant"}),
        "isError": frozenset[Any]({True}),
    }
