"""What a message is made of, but for tool calls, which hold messages again (see `messages`)."""

from typing import ClassVar, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from .json import Json, JsonObject
from .value import Extra, Value

PartState: TypeAlias = Literal["streaming", "done"]


class UrlCitationSource(Value, tag_field="sourceType", tag="url"):
    """A web page that a text cites."""

    id: str
    url: str
    title: str | None = None
    provider_metadata: JsonObject | None = None
    type: Literal["source"] | None = None


class DocumentCitationSource(Value, tag_field="sourceType", tag="document"):
    """A document that a text cites."""

    id: str
    media_type: str
    title: str
    filename: str | None = None
    provider_metadata: JsonObject | None = None
    type: Literal["source"] | None = None


class Citation(Value):
    """Which words of a text rest on which source."""

    source: UrlCitationSource | DocumentCitationSource
    start_index: int | None = None
    end_index: int | None = None
    cited_text: str | None = None


class PartBase(Value, tag_field="type", kw_only=True):
    """What every part may carry. Signatures and redacted reasoning live here, byte for byte."""

    provider_metadata: JsonObject | None = None


class TextPart(PartBase, tag="text"):
    """Words for the reader."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    state: PartState | None = None
    citations: tuple[Citation, ...] | None = None


class ReasoningPart(PartBase, tag="reasoning"):
    """Words the model wrote for itself. `thinking` is read as this too."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str
    id: str | None = None
    state: PartState | None = None
    token_count: int | None = None


class ImagePart(PartBase, tag="image"):
    """A picture. The url is `https:`, `data:` or `blob:sha256:…`."""

    type: ClassVar[Literal["image"]] = "image"
    url: str
    media_type: str | None = None
    name: str | None = None


class FilePart(PartBase, tag="file"):
    """A file. The url is `https:`, `data:` or `blob:sha256:…`."""

    type: ClassVar[Literal["file"]] = "file"
    url: str
    media_type: str
    filename: str | None = None
    provider_reference: dict[str, str] | None = None  # file ids by provider; they win over the url


class ReasoningFilePart(PartBase, tag="reasoning-file"):
    """A file the model made while reasoning."""

    type: ClassVar[Literal["reasoning-file"]] = "reasoning-file"
    url: str
    media_type: str
    filename: str | None = None


class SourceUrlPart(PartBase, tag="source-url"):
    """A web page the answer rests on."""

    type: ClassVar[Literal["source-url"]] = "source-url"
    source_id: str
    url: str
    title: str | None = None


class SourceDocumentPart(PartBase, tag="source-document"):
    """A document the answer rests on."""

    type: ClassVar[Literal["source-document"]] = "source-document"
    source_id: str
    media_type: str
    title: str
    filename: str | None = None


class DataPart(PartBase, tag="data"):
    """Data of the application, by name; with an id it is replaced in place."""

    type: ClassVar[Literal["data"]] = "data"
    name: str
    data: Json | UnsetType = UNSET
    id: str | None = None


class StepStartPart(PartBase, tag="step-start"):
    """The boundary of one model call."""

    type: ClassVar[Literal["step-start"]] = "step-start"


class CustomPart(PartBase, tag="custom"):
    """Content of one provider, `provider.kind`; its payload lives in the provider metadata."""

    type: ClassVar[Literal["custom"]] = "custom"
    kind: str


class SteeringMessagePart(PartBase, tag="steering-message"):
    """What the user said while the agent was at work."""

    type: ClassVar[Literal["steering-message"]] = "steering-message"
    id: str
    parts: tuple["TextPart | FilePart | ForeignPart | UnknownPart", ...]


class ForeignPart(PartBase, tag="foreign"):
    """A part of another format that fits nowhere in this one, kept whole."""

    type: ClassVar[Literal["foreign"]] = "foreign"
    format: str
    value: Json


class UnknownPart(Value, tag_field="type", tag="__unknown__"):
    """A part whose type this version does not know, kept whole."""

    raw: Extra

    @property
    def type(self) -> str:
        """The type it came with."""
        return str(self.raw.get("type", ""))
