"""Wire types of the parts and attachments of UI messages of AI SDK 4.

Source: https://github.com/vercel/ai/blob/v4/packages/ui-utils/src/types.ts
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire
from partita.types.json import Json, JsonObject

NAME: Final = "ai-sdk-ui-v4"
"""The namespace in provider metadata, and the format of parts that are kept whole."""

ATTACHMENT_NAME: Final = "ai-sdk-ui-v4-attachment"
"""The format of attachments that are kept whole."""


class Block(Wire, tag_field="type", kw_only=True):
    """A part."""


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A part of an unknown type."""


class Text(Block, tag="text"):
    """A text."""

    text: str


class StepStart(Block, tag="step-start"):
    """The start of a step. Messages without one may have steps: `step` of the calls, below."""


class File(Block, tag="file"):
    """A file that the model generated. `data` is base64; a URL is accepted too."""

    mimeType: str  # noqa: N815 # names of the SDK
    data: str


class Source(Wire, tag_field="sourceType", tag="url", kw_only=True):
    """A web page."""

    id: str
    url: str
    title: str | UnsetType = UNSET
    providerMetadata: JsonObject | UnsetType = UNSET  # noqa: N815


class SourceBlock(Block, tag="source"):
    """A source of the response."""

    source: Source


class Invocation(Wire, kw_only=True):
    """A call. `step`, if any, is the number of its step: `ToolInvocation` of @ai-sdk/ui-utils 1."""

    state: Literal["partial-call", "call", "result"] | UnsetType = UNSET
    step: int | UnsetType = UNSET
    toolCallId: str  # noqa: N815
    toolName: str  # noqa: N815
    args: Json = UNSET
    result: Json = UNSET


class InvocationBlock(Block, tag="tool-invocation"):
    """A call, with its result once there is one."""

    toolInvocation: Invocation  # noqa: N815


class TextDetail(Block, tag="text"):
    """Reasoning, with its signature if it has one."""

    text: str
    signature: str | UnsetType = UNSET


class RedactedDetail(Block, tag="redacted"):
    """Reasoning that only its provider can read."""

    data: str


class Reasoning(Block, tag="reasoning"):
    """Reasoning. Its text is that of its details; messages of the first releases have no details."""

    reasoning: str
    details: tuple[TextDetail | RedactedDetail | UnknownBlock, ...] | UnsetType = UNSET


class Attachment(Wire, kw_only=True):
    """A file of a message: https://ai-sdk.dev/v4/docs/ai-sdk-ui/chatbot#attachments-experimental"""

    url: str
    name: str | UnsetType = UNSET
    contentType: str | UnsetType = UNSET  # noqa: N815


BLOCK: Final[Codec[Any]] = Codec(
    Text | StepStart | File | SourceBlock | InvocationBlock | Reasoning | UnknownBlock
)
ATTACHMENT: Final[Codec[Attachment]] = Codec(Attachment)

EVERY_TYPE: Final = frozenset({"text", "reasoning", "tool-invocation", "source", "file", "step-start"})
TYPES: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"text"}),
    "user": frozenset({"text", "file"}),
    "assistant": EVERY_TYPE,
    "data": EVERY_TYPE,
}
"""The types of parts that have a canonical form, by role."""
