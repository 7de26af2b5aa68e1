"""What canonical messages say and the messages of a request have no place for, field by field."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.bare import is_bare
from partita.formats.losses import Loss, Severity
from partita.formats.openai_chat.attachments import media_item
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.notes import (
    CONTENT,
    OF_CALL,
    OF_MEDIA,
    OF_MESSAGE,
    OF_REASONING,
    OF_RESULT,
    OF_TEXT,
)
from partita.formats.openai_chat.reading.items import read_item
from partita.formats.openai_chat.texts import fields_in
from partita.formats.saying import said_in
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message, ToolCallPart, UserMessage, derive_type
from partita.types.parts import (
    FilePart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
)
from partita.types.tools import ContentOutput, ErrorJsonOutput, ErrorTextOutput, TextOutput, ToolOutput

NO_PLACE: Final = "the API has no place for it"
AS_TEXT: Final = "a result is text"
NOT_OWN: Final = "metadata that the server did not give"
ANSWERED: Final = "a call that has a result is settled"
OTHERWISE: Final = "the server takes files in another form"

MINOR: Final = frozenset({"state", "content", "seq", "format"})
"""Fields that nobody will miss: the state of a text that is done, a text that repeats the parts."""

SIGNED: Final = frozenset({"thoughtSignature"})
"""What repeats a member that goes back with a call."""

SAID_WHOLE: Final = frozenset({TextPart, ReasoningPart, StepStartPart})
"""Parts of which everything is written, or told where it is not, as long as they are bare."""

OF_A_CALL: Final = frozenset(
    {"id", "name", "input", "output", "state", "callProviderMetadata", "resultProviderMetadata"}
)
"""What is written of a call, or told by itself."""


class Untold:
    """Tells what was not written. Parts that are told as lost already are left alone."""

    def __init__(self, dialect: Dialect, losses: list[Loss]) -> None:
        self._dialect = dialect
        self._losses = losses
        self._gone = {loss.path for loss in losses if loss.severity == "lost"}

    def tell(
        self, folded: Sequence[Message], ids: Sequence[str | None], plain: Mapping[str, Sequence[Loss]]
    ) -> None:
        """Tell of all messages; `ids` are those that they would be read with again.

        Of `plain` ones all but the id is known.
        """
        for index, (message, id_) in enumerate(zip(folded, ids, strict=True)):
            path = f"$[{index}]"
            known = plain.get(path)
            if known is not None:
                if message.id != id_:
                    self._lose(f"{path}.id", message.id, NO_PLACE)
                self._losses += known
                continue
            if path in self._gone:
                continue
            self.around(message, path, id_)
            is_asked = isinstance(message, UserMessage)
            for place, part in enumerate(message.parts):
                if type(part) not in SAID_WHOLE or not is_bare(part):
                    self.part(part, f"{path}.content.parts[{place}]", is_asked=is_asked)

    def around(self, message: Message, path: str, id_: str | None) -> None:
        """The fields around the content, and those of the content around the parts."""
        known = {"content"}
        if message.id == id_:
            known.add("id")
        if message.type == derive_type(message.parts):
            known.add("type")
        if len(known) < 3 or not is_bare(message):
            self._fields(said_in(message, *known), path)
        content = message.content
        if not is_bare(content):
            self._metadata(content.provider_metadata, f"{path}.content.providerMetadata", OF_MESSAGE)
            self._fields(said_in(content, "parts", "format", "providerMetadata"), f"{path}.content")

    def part(self, part: object, path: str, *, is_asked: bool) -> None:
        """Tell what of a part was not written; `is_asked` says that it is not the model's own."""
        if path in self._gone:
            return
        match part:
            case TextPart():
                self._fields(said_in(part, "text", "citations", "providerMetadata"), path)
                self._metadata(part.provider_metadata, f"{path}.providerMetadata", OF_TEXT)
            case ReasoningPart():
                own = OF_REASONING | self._opaque()
                self._fields(said_in(part, "text", "id", "providerMetadata"), path)
                if part.id is not None:
                    self._lose(f"{path}.id", part.id, NO_PLACE, "minor")
                self._metadata(part.provider_metadata, f"{path}.providerMetadata", own)
            case ToolCallPart():
                self._call(part, path)
            case StepStartPart():
                self._fields(said_in(part, "providerMetadata"), path)
                self._metadata(part.provider_metadata, f"{path}.providerMetadata", OF_MESSAGE)
            case SteeringMessagePart():
                for index, item in enumerate(part.parts):
                    self.part(item, f"{path}.parts[{index}]", is_asked=True)
            case ImagePart() | FilePart() | ReasoningFilePart() if is_asked:
                self._media(part, path)
            case _:
                pass

    def _opaque(self) -> frozenset[str]:
        """What the server wants back with a thought."""
        match self._dialect.reasoning:
            case "thinking":
                return frozenset({"signature"})
            case "reasoning_details":
                return frozenset({"reasoning_details"})
            case _:
                return frozenset()

    def _call(self, call: ToolCallPart, path: str) -> None:
        if not is_bare(call):
            self._around_call(call, path)
        if call.output is None:
            return
        if call.state != "output-available":
            self._lose(f"{path}.state", call.state, ANSWERED, "changed")
        is_list = self._own(call.result_provider_metadata).get(CONTENT) == "list"
        self._output(call.output, f"{path}.output", is_list=is_list)

    def _around_call(self, call: ToolCallPart, path: str) -> None:
        """What is said of a call besides what it is for."""
        own = self._own(call.call_provider_metadata)
        written = OF_A_CALL
        if own.get("type") == "custom" and isinstance(call.input, str):
            written |= {"inputEncoding"}
        raw = None if call.raw_input is UNSET else call.raw_input
        if raw == own.get("rawInput") or call.input is UNSET:
            written |= {"rawInput"}
        self._fields(said_in(call, *written), path)
        known = OF_CALL | (SIGNED if "extra_content" in fields_in(own) else frozenset[str]())
        self._metadata(call.call_provider_metadata, f"{path}.callProviderMetadata", known)
        self._metadata(call.result_provider_metadata, f"{path}.resultProviderMetadata", OF_RESULT)

    def _output(self, output: ToolOutput, path: str, *, is_list: bool) -> None:
        match output:
            case TextOutput() | ErrorTextOutput() | ErrorJsonOutput():
                pass  # that it is an error is told where the result is written
            case ContentOutput():
                self._content(output, path, is_list=is_list)
            case _:
                self._lose(f"{path}.type", output.__struct_config__.tag, AS_TEXT, "changed")
        if not is_bare(output):
            self._fields(said_in(output, "value", "reason", "message", "providerMetadata"), path)
            self._metadata(output.provider_metadata, f"{path}.providerMetadata", frozenset())

    def _content(self, output: ContentOutput, path: str, *, is_list: bool) -> None:
        if not is_list and len(output.value) < 2:
            self._lose(f"{path}.type", "content", AS_TEXT, "changed")
        for index, item in enumerate(output.value):
            self.part(item, f"{path}.value[{index}]", is_asked=True)

    def _media(self, part: ImagePart | FilePart | ReasoningFilePart, path: str) -> None:
        """A picture or a file, by what is read again of the item that it was written as."""
        item = media_item(part, self._dialect)
        if isinstance(item, str):
            return
        before, again = to_json(part), read_item(item, self._dialect)
        self._metadata(part.provider_metadata, f"{path}.providerMetadata", OF_MEDIA)
        if isinstance(again, TextPart):
            self._lose(path, before, OTHERWISE, "changed")
        else:
            self._losses.extend(_differing(before, to_json(again), path))

    def _metadata(self, metadata: JsonObject | None, path: str, known: frozenset[str]) -> None:
        own = self._dialect.namespace
        for space, value in (metadata or {}).items():
            if space != own or not is_object(value):
                self._lose(f"{path}.{space}", value, NOT_OWN)
                continue
            for key, item in value.items():
                if key not in known:
                    self._lose(f"{path}.{space}.{key}", item, NO_PLACE)

    def _own(self, metadata: JsonObject | None) -> JsonObject:
        own: Json = (metadata or {}).get(self._dialect.namespace)
        return own if is_object(own) else {}

    def _fields(self, said: Iterable[tuple[str, Json]], path: str) -> None:
        for key, value in said:
            self._lose(f"{path}.{key}", value, NO_PLACE, "minor" if key in MINOR else "lost")

    def _lose(self, path: str, value: Json, why: str, severity: Severity = "lost") -> None:
        self._losses.append(Loss.of(path, value, why, severity))


def _differing(before: JsonObject, after: JsonObject, path: str) -> Iterator[Loss]:
    for key, value in before.items():
        if key != "providerMetadata" and after.get(key) != value:
            severity: Severity = "changed" if key == "type" else "lost"
            yield Loss.of(f"{path}.{key}", value, OTHERWISE, severity)
