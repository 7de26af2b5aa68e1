"""Parts that came from a session file → the blocks they were made of."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import UNSET

from partita.formats.claude_code.media import ANTHROPIC
from partita.formats.session_losses import NO_PLACE, Losses
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart, UserPart
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    PartBase,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
)

from .media import ONLY_STORED, media_block

OWN_DATA: Final = "claude-code-"
"""How the names of data begin that the reader of session files has made."""


def notes_of(metadata: JsonObject | None) -> JsonObject:
    """What the provider metadata of a part says of its block."""
    own = (metadata or {}).get(ANTHROPIC)
    return own if is_object(own) else {}


def answer_block(part: AssistantPart, path: str, losses: Losses) -> JsonObject | None:
    """The block of an answer that a part was made of, if there was one."""
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text, **notes_of(part.provider_metadata)}
        case ReasoningPart(text=text):
            notes = dict(notes_of(part.provider_metadata))
            if "redactedData" in notes:
                return {"type": "redacted_thinking", "data": notes.pop("redactedData"), **notes}
            return {"type": "thinking", "thinking": text, **notes}
        case ToolCallPart():
            input_: Json = {} if part.input is UNSET else part.input
            call: JsonObject = {"type": "tool_use", "id": part.id, "name": part.name, "input": input_}
            return {**call, **notes_of(part.call_provider_metadata)}
        case StepStartPart() | SourceUrlPart():
            return None  # the reader has added them
        case _:
            losses.whole(part, path, NO_PLACE)
            return None


def content_item(part: UserPart, path: str, losses: Losses) -> Json:
    """The block that a part was made of; nothing but a loss if there is none."""
    text = text_of_part(part)
    if text is not None:
        notes = notes_of(part.provider_metadata) if isinstance(part, PartBase) else {}
        return {"type": "text", "text": text, **notes}
    match part:
        case ImagePart(url=url) | FilePart(url=url):
            if not url.startswith("blob:"):
                return media_block(part)
            losses.whole(part, path, ONLY_STORED)
            return UNSET
        case ForeignPart(format="anthropic", value=value):
            return value
        case _:
            losses.whole(part, path, NO_PLACE)
            return UNSET


def text_of_part(part: UserPart) -> str | None:
    """The words of a part: a text, or what an editor or the agent has put in front of one."""
    match part:
        case TextPart(text=text):
            return text
        case DataPart(name=name, data={"text": str(text)}) if name.startswith(OWN_DATA):
            return text
        case _:
            return None


def user_blocks(parts: Sequence[UserPart], split: Json, path: str, losses: Losses) -> list[Json]:
    """The blocks of a user's content; `split` says how many parts came of each."""
    blocks: list[Json] = []
    index = 0
    for group in _groups(parts, split):
        texts = [text_of_part(part) for part in group]
        if len(group) > 1:
            blocks.append({"type": "text", "text": "".join(text or "" for text in texts)})
        else:
            blocks.append(content_item(group[0], f"{path}.parts[{index}]", losses))
        index += len(group)
    return [block for block in blocks if block is not UNSET]


def _groups(parts: Sequence[UserPart], split: Json) -> Iterator[list[UserPart]]:
    """The parts of each block. Once parts were added or taken out, each is a block of its own."""
    sizes: list[Json] = split if is_array(split) else []
    fits = all(type(size) is int and size > 0 for size in sizes) and sum(sizes) == len(parts)
    rest = iter(parts)
    for size in sizes if fits else [1] * len(parts):
        group = list(islice(rest, size))
        if len(group) > 1 and any(text_of_part(part) is None for part in group):
            yield from ([part] for part in group)
        else:
            yield group
