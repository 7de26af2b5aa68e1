"""Parts of any source → content blocks that the API takes. What it does not take is told as a loss."""

from collections.abc import Iterable
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET

from partita.formats.session_losses import NO_PLACE, Losses
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import ToolCallPart, UserPart
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    TextPart,
    UnknownPart,
)

from .blocks import notes_of
from .media import PLAIN, file_block

NO_NAME: Final = "unknown"
LONGEST_NAME: Final = 200
UNSIGNED: Final = "the API takes reasoning only with its own signature"
BLANK: Final = "the API takes no blank text"
NO_OBJECT: Final = "the API takes an input that is an object: it is written as a member of one"
OWN_TYPE: Final = "the API takes words as plain text"


def text_blocks(part: TextPart, path: str, losses: Losses) -> list[JsonObject]:
    """A text. The API refuses one without a word in it."""
    losses.rest(part, path, "text", "state")
    if part.text.strip():
        return [{"type": "text", "text": part.text}]
    if part.text:
        losses.say(f"{path}.text", part.text, BLANK)
    return []


def reasoning_blocks(part: ReasoningPart, path: str, losses: Losses) -> list[JsonObject]:
    """Reasoning of Anthropic's own models, which is signed or sealed."""
    notes = notes_of(part.provider_metadata)
    if isinstance(notes.get("redactedData"), str):
        block: JsonObject = {"type": "redacted_thinking", "data": notes["redactedData"]}
    elif isinstance(notes.get("signature"), str) and notes["signature"]:
        block = {"type": "thinking", "thinking": part.text, "signature": notes["signature"]}
    else:
        losses.whole(part, path, UNSIGNED)
        return []
    losses.rest(part, path, "text", "state", "id", "provider_metadata")
    return [block]


def file_blocks(part: ImagePart | FilePart, path: str, losses: Losses) -> list[JsonObject]:
    """A picture or document."""
    block = file_block(part)
    if isinstance(block, str):
        losses.whole(part, path, block)
        return []
    losses.rest(part, path, "url", "media_type", "filename", "name", "provider_reference")
    if block["source"].get("media_type") == PLAIN != part.media_type:
        losses.say(f"{path}.mediaType", part.media_type, OWN_TYPE)
    return [block]


def user_blocks(parts: Iterable[UserPart], path: str, losses: Losses) -> list[JsonObject]:
    """What a user says, as far as the API takes it."""
    blocks: list[JsonObject] = []
    for index, part in enumerate(parts):
        where = f"{path}.parts[{index}]"
        match part:
            case TextPart():
                blocks += text_blocks(part, where, losses)
            case ImagePart() | FilePart():
                blocks += file_blocks(part, where, losses)
            case DataPart() | ReasoningFilePart() | ForeignPart() | UnknownPart():
                losses.whole(part, where, NO_PLACE)
            case _:
                assert_never(part)
    return blocks


class Call(NamedTuple):
    """A call, its id in the file, and where it was."""

    part: ToolCallPart
    id: str
    path: str

    @property
    def block(self) -> JsonObject:
        """The block of the call."""
        name = self.part.name[:LONGEST_NAME] or NO_NAME
        return {"type": "tool_use", "id": self.id, "name": name, "input": _input(self.part)}

    def tell(self, losses: Losses) -> None:
        """Tell what of the call does not arrive."""
        part, path = self.part, self.path
        if self.id != part.id:
            losses.say(f"{path}.id", part.id, f"the API takes no such id, or another call has it: {self.id}")
        if part.name != self.block["name"]:
            losses.say(f"{path}.name", part.name, "the API takes no such name")
        if part.input is not UNSET and not is_object(part.input):
            losses.say(f"{path}.input", part.input, NO_OBJECT)
        if part.raw_input is not UNSET and part.input is not UNSET:
            losses.say(f"{path}.rawInput", to_json(part.raw_input), NO_PLACE)
        losses.rest(part, path, "id", "name", "state", "input", "raw_input", "output")


def _input(part: ToolCallPart) -> JsonObject:
    given: Json = part.raw_input if part.input is UNSET else part.input
    if given is UNSET:
        return {}
    return given if is_object(given) else {"input": given}
