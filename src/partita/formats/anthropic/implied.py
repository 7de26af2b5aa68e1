"""What payloads of the Messages API say that shows in the form of the messages read from them."""

from typing import Any, Final

from partita.formats.format import Implied

from .blocks import CALLS
from .decoder import TAKERS
from .replaced import DELTAS

BLOCKS: Final = (
    "text",
    "image",
    "document",
    "thinking",
    "redacted_thinking",
    "tool_result",
    *CALLS,
    "mcp_tool_result",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "tool_search_tool_search_result",
    "advisor_tool_result",
)
SOURCES: Final = ("base64", "url", "file")


def implied() -> Implied:
    """Types of blocks, sources, pieces and events, and roles."""
    return {
        "type": frozenset[Any]({*BLOCKS, *SOURCES, *TAKERS, *DELTAS, "custom", "compaction_delta"}),
        "role": frozenset[Any]({"user", "assistant", "system"}),
        "is_error": frozenset[Any]({True}),
        "media_type": frozenset[Any]({"text/plain"}),
    }
