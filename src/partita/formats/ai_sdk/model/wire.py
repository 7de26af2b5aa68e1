"""Wire types of model messages of AI SDK 4 to 7, as `generateText` takes them and returns them.

Source: https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message and `packages/provider-utils/src/types` in
https://github.com/vercel/ai. Version 4: `packages/ai/core/prompt` there, on the branch `v4`.

The content of a message is a text or a list of blocks. Blocks are read one by one, because a payload may have
anything in their place.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from partita.formats.core.wire import Codec, UnknownVariant, Wire
from partita.types.json import Json, JsonObject

NAME: Final = "ai-sdk-model"
"""The namespace of all versions in provider metadata, and the format of blocks that are kept whole."""


class Block(Wire, tag_field="type", rename="camel", kw_only=True):
    """Members that all blocks may have."""

    provider_options: JsonObject | UnsetType = UNSET


class UnknownBlock(UnknownVariant, tag_field="type", tag="__unknown__"):
    """A block of an unknown type."""


class Message(Wire, tag_field="role", rename="camel", kw_only=True):
    """Members that all messages may have. The content is checked and read separately."""

    content: Json
    provider_options: JsonObject | UnsetType = UNSET


class System(Message, tag="system"):
    """Instructions: a text."""


class User(Message, tag="user"):
    """A prompt: a text, or texts, images and files."""


class Assistant(Message, tag="assistant"):
    """The output of the model in one call."""


class Tool(Message, tag="tool"):
    """Results of calls, and responses to approval requests."""


MESSAGE: Final[Codec[Any]] = Codec(System | User | Assistant | Tool)


# Texts and files


class Text(Block, tag="text"):
    """A text."""

    text: str


class Reasoning(Block, tag="reasoning"):
    """Reasoning."""

    text: str


class Custom(Block, tag="custom"):
    """Content of one provider. New in version 7."""

    kind: str


class Image(Block, tag="image"):
    """An image in a prompt. `image` is a URL or base64, in version 7 also an object with file ids."""

    image: Json
    media_type: str | UnsetType = UNSET


class File(Block, tag="file"):
    """A file. `data` is a URL or base64, in version 7 also an object: see `files`."""

    data: Json
    media_type: str
    filename: str | UnsetType = UNSET


class ReasoningFile(Block, tag="reasoning-file"):
    """A file that the model produced while reasoning. New in version 7."""

    data: Json
    media_type: str


# Calls


class Call(Block, tag="tool-call"):
    """A call of a tool."""

    tool_call_id: str
    tool_name: str
    input: Json = UNSET
    provider_executed: bool | UnsetType = UNSET


class Request(Block, tag="tool-approval-request"):
    """An approval request for a call. New in version 6; `reason` and `isAutomatic` in version 7."""

    approval_id: str
    tool_call_id: str
    is_automatic: bool | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    input_schema_input: Json = UNSET
    signature: str | UnsetType = UNSET


class Response(Block, tag="tool-approval-response"):
    """The response to an approval request."""

    approval_id: str
    approved: bool
    reason: str | UnsetType = UNSET
    provider_executed: bool | UnsetType = UNSET


class Result(Block, tag="tool-result"):
    """The output of a call."""

    tool_call_id: str
    tool_name: str
    output: Json = UNSET


# Outputs, and the items of those that are content


class TextOut(Block, tag="text"):
    """A text."""

    value: str


class JsonOut(Block, tag="json"):
    """A JSON value."""

    value: Json


class ErrorTextOut(Block, tag="error-text"):
    """An error as text."""

    value: str


class ErrorJsonOut(Block, tag="error-json"):
    """An error as JSON."""

    value: Json


class DeniedOut(Block, tag="execution-denied"):
    """The call was not approved. New in version 6."""

    reason: str | UnsetType = UNSET


class ContentOut(Block, tag="content"):
    """Texts and files."""

    value: list[Any]


class Media(Block, tag="media"):
    """A file as base64. Until version 6."""

    data: str
    media_type: str


class TaggedFile(Block, tag="file"):
    """A file. New in version 7, which still reads the other types."""

    data: JsonObject
    media_type: str
    filename: str | UnsetType = UNSET


class FileData(Block, tag="file-data"):
    """A file as base64."""

    data: str
    media_type: str
    filename: str | UnsetType = UNSET


class FileUrl(Block, tag="file-url"):
    """A file by its URL."""

    url: str
    media_type: str | UnsetType = UNSET


class FileId(Block, tag="file-id"):
    """A file by its ids at providers."""

    file_id: dict[str, str]


class FileReference(Block, tag="file-reference"):
    """The same, by the name of version 7."""

    provider_reference: dict[str, str]


class ImageData(Block, tag="image-data"):
    """An image as base64."""

    data: str
    media_type: str


class ImageUrl(Block, tag="image-url"):
    """An image by its URL."""

    url: str


# Version 4. Names of later versions are read too.


class ImageV4(Block, tag="image"):
    """An image in a prompt."""

    image: Json
    mime_type: str | UnsetType = UNSET
    media_type: str | UnsetType = UNSET


class FileV4(Block, tag="file"):
    """A file."""

    data: Json
    mime_type: str | UnsetType = UNSET
    media_type: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET


class ReasoningV4(Block, tag="reasoning"):
    """Reasoning. Only Anthropic signed it."""

    text: str
    signature: str | UnsetType = UNSET


class RedactedReasoningV4(Block, tag="redacted-reasoning"):
    """Reasoning that only Anthropic can read."""

    data: str


class CallV4(Block, tag="tool-call"):
    """A call of a tool."""

    tool_call_id: str
    tool_name: str
    args: Json = UNSET
    input: Json = UNSET


class ResultV4(Wire, tag_field="type", tag="tool-result", kw_only=True):
    """The output of a call.

    The model receives `experimental_content` instead of `result`, if there is any.
    """

    toolCallId: str  # noqa: N815 # camel case beside snake case
    toolName: str  # noqa: N815
    providerOptions: JsonObject | UnsetType = UNSET  # noqa: N815
    result: Json = UNSET
    isError: bool | UnsetType = UNSET  # noqa: N815
    experimental_content: list[Any] | UnsetType = UNSET
    output: Json = UNSET


class ImageItemV4(Block, tag="image"):
    """An image in an output."""

    data: str
    mime_type: str | UnsetType = UNSET


_CALLS: Final[tuple[type[Block], ...]] = (Call, Result)
_APPROVALS: Final[tuple[type[Block], ...]] = (Request, Response)
_SINCE_7: Final[tuple[type[Block], ...]] = (Custom, ReasoningFile)
BLOCKS: Final[Mapping[int, tuple[type[Wire], ...]]] = {
    4: (Text, ImageV4, FileV4, ReasoningV4, RedactedReasoningV4, CallV4, ResultV4),
    5: (Text, Image, File, Reasoning, *_CALLS),
    6: (Text, Image, File, Reasoning, *_CALLS, *_APPROVALS),
    7: (Text, Image, File, Reasoning, *_CALLS, *_APPROVALS, *_SINCE_7),
}
"""The blocks of messages, by version."""

_VALUES: Final[tuple[type[Block], ...]] = (TextOut, JsonOut, ErrorTextOut, ErrorJsonOut, ContentOut)
OUTPUTS: Final[Mapping[int, tuple[type[Wire], ...]]] = {
    5: _VALUES,
    6: (*_VALUES, DeniedOut),
    7: (*_VALUES, DeniedOut),
}
"""The outputs of calls, by version."""

_FILES_6: Final[tuple[type[Block], ...]] = (FileData, FileUrl, FileId, ImageData, ImageUrl)
ITEMS: Final[Mapping[int, tuple[type[Wire], ...]]] = {
    4: (Text, ImageItemV4),
    5: (Text, Media),
    6: (Text, Media, *_FILES_6),
    7: (Text, TaggedFile, *_FILES_6, FileReference),
}
"""The items of content, by version."""


def union_codec(types: tuple[type[Wire], ...]) -> Codec[Any]:
    """The codec of a union of blocks."""
    union: Any = UnknownBlock
    for type_ in types:
        union |= type_
    return Codec(union)
