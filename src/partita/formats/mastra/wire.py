"""Wire types of the parts that Mastra's V2 messages have from AI SDK 4.

All other parts (`text`, `step-start`, `source-document`, `data-NAME`, `dynamic-tool`, …) are parts of UI
messages of AI SDK 5 to 7, which are written like canonical parts.

Sources: `MastraMessageContentV2` in packages/core/src/agent/message-list of
https://github.com/mastra-ai/mastra, and `UIMessage` in https://github.com/vercel/ai/tree/v4/packages/ui-utils
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.ai_sdk.ui_v4.wire import RedactedDetail, TextDetail
from partita.formats.core.wire import Codec, UnknownVariant, Wire
from partita.types.json import JsonObject
from partita.types.parts import ToolState

NAME: Final = "mastra-v2"
"""The namespace of notes in provider metadata. Mastra itself uses `mastra`."""

FOREIGN: Final = "mastra"
"""The format of a `ForeignPart` that was a part, or a content, of Mastra."""

STATES: Final[Mapping[str, ToolState]] = {
    "partial-call": "input-streaming",
    "call": "input-available",
    "result": "output-available",
    # Since 2026-04, in the names of AI SDK 6 (seen in recordings)
    "approval-requested": "approval-requested",
    "approval-responded": "approval-responded",
    "output-error": "output-error",
    "output-denied": "output-denied",
}
"""The canonical states, by the states of tool invocations."""

OPEN_STATES: Final = ("call", "partial-call")


class Block(Wire, tag_field="type", rename="camel", kw_only=True):
    """The base of all parts. Most also have `createdAt`: it is kept like any unknown member."""

    provider_metadata: JsonObject | UnsetType = UNSET


AnyDetail: TypeAlias = TextDetail | RedactedDetail
"""Rows of streamed messages have redacted data only in `providerMetadata`, and empty `data` here (seen in
recordings)."""


class Reasoning(Block, tag="reasoning"):
    """Reasoning: its text, and the same text in pieces.

    Rows from 2025-08 to 2026-06 may have the text in only one of these, or in neither:
    https://github.com/mastra-ai/mastra/issues/8073 and https://github.com/mastra-ai/mastra/issues/14094
    """

    reasoning: str | UnsetType = UNSET
    details: tuple[AnyDetail, ...] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    state: str | UnsetType = UNSET
    token_count: int | UnsetType = UNSET


class Invocation(Wire, rename="camel"):
    """A call of a tool, and its result."""

    tool_call_id: str
    tool_name: str
    state: str | UnsetType = UNSET
    args: Any = UNSET
    result: Any = UNSET
    is_error: bool | UnsetType = UNSET
    """The result is an error: https://github.com/mastra-ai/mastra/issues/15569"""
    error_text: str | UnsetType = UNSET
    raw_input: Any = UNSET
    approval: Any = UNSET


class ToolInvocation(Block, tag="tool-invocation"):
    """A call of a tool, and the members that newer versions write next to it."""

    tool_invocation: Invocation
    provider_executed: bool | UnsetType = UNSET
    title: str | UnsetType = UNSET
    preliminary: bool | UnsetType = UNSET
    result_provider_metadata: JsonObject | UnsetType = UNSET
    tool_metadata: JsonObject | UnsetType = UNSET


class File(Block, tag="file"):
    """A file in the names of version 4 (`mimeType` and `data`) or 5 (`mediaType` and `url`), or mixed.

    `data` is base64, a data URL, another URL, or the id of a file at a provider (seen in recordings).
    """

    mime_type: str | UnsetType = UNSET
    media_type: str | UnsetType = UNSET
    data: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET


class UrlSource(Wire, tag_field="sourceType", tag="url", rename="camel"):
    """A web page. Documents are stored as this too, with an empty `url` (seen in recordings)."""

    id: str
    url: str
    title: str | UnsetType = UNSET
    provider_metadata: JsonObject | UnsetType = UNSET


class Source(Block, tag="source"):
    """A source of the response."""

    source: UrlSource


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A part of another type."""


BLOCK: Final[Codec[Any]] = Codec(Reasoning | ToolInvocation | File | Source | UnknownBlock)
