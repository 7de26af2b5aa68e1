"""Wire types of Anthropic's Messages API.

Source: https://docs.claude.com/en/api/messages, and the types of the `anthropic` package (`types/beta`).
"""

from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.anthropic import Block, Document, Image
from partita.formats.core.wire import Codec, UnknownVariant, Wire, always
from partita.types.json import Json, JsonObject

NAME: Final = "anthropic"
"""The format, and its namespace in provider metadata."""


class Text(Block, tag="text"):
    """A text, with the sources that it cites."""

    text: str
    citations: list[Any] | UnsetType | None = UNSET


class Thinking(Block, tag="thinking"):
    """Reasoning. The API takes it back only with its signature.

    https://docs.claude.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks
    """

    thinking: str
    signature: str = ""


class RedactedThinking(Block, tag="redacted_thinking"):
    """Reasoning that only Anthropic can read.

    https://docs.claude.com/en/docs/build-with-claude/extended-thinking#thinking-redaction
    """

    data: str


class Call(Block, kw_only=True):
    """What all calls have."""

    id: str
    name: str
    input: Json
    caller: JsonObject | UnsetType = UNSET


class ToolUse(Call, tag="tool_use"):
    """A call that the client runs."""


class ServerToolUse(Call, tag="server_tool_use"):
    """A call that Anthropic runs."""


class McpToolUse(Call, tag="mcp_tool_use"):
    """A call that Anthropic sends to an MCP server.

    https://docs.claude.com/en/docs/agents-and-tools/mcp-connector
    """

    server_name: Json


class Compaction(Block, tag="compaction"):
    """A summary of the conversation before it: `types/beta/beta_compaction_block.py` of the package."""

    content: str | None


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A block without a type here. Results of server tools are among them: their types are an open list."""


UserBlock: TypeAlias = Text | Image | Document | UnknownBlock


class ToolResult(Block, tag="tool_result"):
    """The result of a call that the client ran."""

    tool_use_id: str
    content: str | tuple[UserBlock, ...] | UnsetType | None = UNSET
    is_error: bool | UnsetType | None = UNSET


AnyBlock: TypeAlias = (
    Text
    | Thinking
    | RedactedThinking
    | ToolUse
    | ServerToolUse
    | McpToolUse
    | ToolResult
    | Image
    | Document
    | Compaction
    | UnknownBlock
)


class Message(Wire):
    """A message of a request. `system` is a beta: `BetaSystemMessageParam` of Anthropic's SDK."""

    role: Literal["user", "assistant", "system"]
    content: str | tuple[AnyBlock, ...]


MESSAGE: Final[Codec[Message]] = Codec(Message)
BLOCKS: Final[Codec[tuple[AnyBlock, ...]]] = Codec(tuple[AnyBlock, ...])

# Results of server tools end so: `web_search_tool_result`, `mcp_tool_result`, `code_execution_tool_result` …
RESULT: Final = "_tool_result"
MCP_RESULT: Final = "mcp_tool_result"


class Response(Wire, kw_only=True):
    """The body of a response."""

    id: str = ""
    type: Literal["message"] = always("message")
    role: Literal["assistant"] = always("assistant")
    model: str = ""
    content: tuple[AnyBlock, ...] = always(())
    stop_reason: str | None = always(None)
    stop_sequence: str | None = always(None)
    usage: JsonObject | UnsetType | None = UNSET


RESPONSE: Final[Codec[Response]] = Codec(Response)
