"""`user` messages: results of calls, prompts of sub-agents, and words that came in while the agent worked."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.claude_code.user_content import content_part as content_item
from partita.formats.claude_code.wire import RESULT
from partita.formats.core.anthropic_media import ANY_IMAGE as UNKNOWN_IMAGE
from partita.types.chunks import ChildMessage, SteeringMessageChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import UserMessage
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
from partita.types.tools import ContentItem

from .snapshots import show
from .speaker import Speaker
from .turn import Denial, Turn

INTERRUPTED: Final = "[Request interrupted by user"
"""How the words begin that the CLI puts in when someone stops it."""

PUT_IN: Final = (
    *("<system-reminder>", "<task-notification>", "<teammate-message", "<command-", "<local-command-"),
    *("<bash-", "<user-memory-input>", "Caveat: The messages below", "This session is being continued"),
)
"""How other words begin that the CLI puts in, for the model to read."""


def take_user(turn: Turn, event: JsonObject) -> None:
    """Take a `user` message."""
    message = event.get("message")
    blocks = message.get("content") if is_object(message) else None
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    if not is_array(blocks):
        turn.outlet.puzzle(event)
        return
    if not turn.is_new(event):
        return
    speaker = turn.speaker(event.get("parent_tool_use_id"))
    if speaker is None:
        turn.outlet.tell("retracted", event)
        return
    words = _take_results(turn, speaker, event, blocks)
    if words:
        _take_words(turn, speaker, event, words)


def _take_results(turn: Turn, speaker: Speaker, event: JsonObject, blocks: Sequence[Json]) -> list[Json]:
    """Take the results in a message; what else is in it is given back."""
    kinds = [block.get("type") if is_object(block) else None for block in blocks]
    structured = event.get("tool_use_result", UNSET)
    if structured is not UNSET and kinds.count("tool_result") != 1:
        # Nobody says to which of the results it belongs.
        turn.outlet.tell("tool-use-result", structured)
        structured = UNSET
    denials = _denials(event.get("tool_result_meta"))
    words: list[Json] = []
    for kind, block in zip(kinds, blocks, strict=True):
        if kind == "tool_result":
            call_id = block.get("tool_use_id")
            turn.end(block, structured, denials.get(call_id) if isinstance(call_id, str) else None)
        elif isinstance(kind, str) and kind.endswith(RESULT):
            show(turn, speaker, block)
        else:
            words.append(block)
    return words


def _denials(meta: Json) -> dict[str, Denial]:
    """Why calls were not run, by call."""
    denials: dict[str, Denial] = {}
    for item in meta if is_array(meta) else ():
        match item:
            case {"id": str(call), "non_execution_kind": str(kind)}:
                denials[call] = Denial(kind)
            case _:
                pass
    return denials


def _take_words(turn: Turn, speaker: Speaker, event: JsonObject, words: list[Json]) -> None:
    """What a person or a program said. It is never shown as words of the model."""
    parts = [content_item(block) for block in words]
    first = parts[0]
    if isinstance(first, TextPart) and first.text.startswith(INTERRUPTED):
        turn.is_interrupted = True
        turn.outlet.tell("interrupted", event)
    elif speaker.path and not speaker.has_spoken:
        prompt = UserMessage(id=_id(turn, event, speaker), content=parts)
        turn.outlet.emit(ChildMessage(speaker.path, prompt))
    elif event.get("isReplay") is True:
        turn.outlet.tell("user-replay", event, transient=True)
    elif _is_synthetic(event, first):
        turn.outlet.tell("synthetic", event)
    elif not speaker.path and not turn.is_at_work:
        turn.outlet.tell("prompt", event, transient=True)
    else:
        steering = tuple([_steering_part(part) for part in parts])
        turn.outlet.emit(SteeringMessageChunk(_id(turn, event, speaker), steering), speaker.path)


def _is_synthetic(event: JsonObject, first: ContentItem) -> bool:
    """Whether no person wrote it."""
    if event.get("isSynthetic") is True or event.get("isMeta") is True:
        return True
    origin = event.get("origin")
    kind = origin.get("kind") if is_object(origin) else None
    return kind not in (None, "human") or (isinstance(first, TextPart) and first.text.startswith(PUT_IN))


def _id(turn: Turn, event: JsonObject, speaker: Speaker) -> str:
    """The message's own id, else one that is made of its place."""
    uuid = event.get("uuid")
    if isinstance(uuid, str):
        return uuid
    turn.unnamed += 1
    return "/".join((*speaker.path, f"user-{turn.unnamed}"))


def _steering_part(part: ContentItem) -> TextPart | FilePart | ForeignPart | UnknownPart:
    if not isinstance(part, ImagePart):
        return part
    media_type = part.media_type or UNKNOWN_IMAGE
    return FilePart(part.url, media_type, provider_metadata=part.provider_metadata)
