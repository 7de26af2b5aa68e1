"""Items of a request → messages.

What the model said and did up to the next message of a user is one message, its steps divided where outputs
of calls stand between. Items are no messages: a message is `message-N`, where N is the place of its first
item, counted from one. Outputs without a call stay tool messages.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.losses import Loss
from partita.formats.openai_responses.amending import amendments
from partita.formats.openai_responses.fields import NAMESPACE, text
from partita.formats.openai_responses.request_content import content_of
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import ToolResultPart

from .content import read_content
from .outputs import CALLS, read_lone_output
from .turn import MOVED, Turn

SYSTEM: Final = ("system", "developer")

SHORT: Final = ("user", "system")
"""Roles under which messages are written."""


def message_id(place: int) -> str:
    """The id of a message that begins with the item at that place."""
    return f"message-{place + 1}"


class Conversation:
    """Messages, item by item."""

    def __init__(self, losses: list[Loss]) -> None:
        self._losses = losses
        self._messages: list[Message] = []
        self._turn: Turn | None = None
        self._alone: dict[str, str] = {}
        """Outputs that found no call in their turn: the ids of their messages, and where they stood."""

    def add(self, raw: Json, place: int, path: str) -> None:
        """Take the next item."""
        item = _checked(raw, path)
        kind, role = text(item, "type"), text(item, "role")
        if kind in ("", "message") and role in ("user", *SYSTEM):
            self._end_turn()
            self._messages.append(read_message(item, message_id(place)))
        elif kind in CALLS and not (self._turn and self._turn.answers(item)) and not self._is_hosted(item):
            self._end_turn()
            self._messages.append(ToolMessage(id=message_id(place), content=(read_lone_output(item),)))
            self._alone[message_id(place)] = path
        else:
            self._turn = self._turn or Turn(message_id(place), self._losses)
            self._turn.add(item, path)

    def messages(self) -> list[Message]:
        """The messages, with outputs in calls that are in another turn."""
        self._end_turn()
        if not self._alone or not self._has_calls_for_alone():
            return self._messages
        folded = fold(self._messages)
        left = {message.id for message in folded}
        self._losses += [
            Loss(path, "the place of an output", MOVED, "changed")
            for id_, path in self._alone.items()
            if id_ not in left
        ]
        return folded

    def _has_calls_for_alone(self) -> bool:
        """Whether a call that the client ran waits for an output that stands in another turn."""
        results = {
            part.id
            for message in self._messages
            if message.id in self._alone
            for part in message.parts
            if isinstance(part, ToolResultPart)
        }
        calls = (
            part for message in self._messages for part in message.parts if isinstance(part, ToolCallPart)
        )
        return any(call.id in results and not call.provider_executed for call in calls)

    def _is_hosted(self, item: JsonObject) -> bool:
        """Whether an output is of a call that the provider ran, and stays where it is."""
        return self._turn is not None and text(item, "type") in ("shell_call_output", "tool_search_output")

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._messages.append(self._turn.message())
            self._turn = None


def read_conversation(items: Sequence[Json], path: str, losses: list[Loss]) -> list[Message]:
    """The messages that items amount to."""
    conversation = Conversation(losses)
    for place, item in enumerate(items):
        conversation.add(item, place, f"{path}[{place}]")
    return conversation.messages()


def read_message(item: JsonObject, id: str) -> UserMessage | SystemMessage:
    """A message of a user, or instructions."""
    said = item.get("content")
    words = said if isinstance(said, str) else None
    parts = read_content(said) if is_array(said) else [TextPart(words or "")]
    message: UserMessage | SystemMessage
    if text(item, "role") == "user":
        message = UserMessage(id=id, content=UserContent(parts=tuple(parts), content=words))
    else:
        spoken = tuple(
            _spoken(part, raw) for part, raw in zip(parts, said if is_array(said) else [""], strict=True)
        )
        message = SystemMessage(id=id, content=SystemContent(parts=spoken, content=words))
    is_short = len(item) == 2 and item["role"] in SHORT
    if is_short and (words is not None or (is_array(said) and all(type(part) is TextPart for part in parts))):
        return message
    more = amendments(item, write_message(message))
    if not more:
        return message
    content = replace(message.content, provider_metadata={NAMESPACE: more})
    return replace(message, content=content)  # pyright: ignore[reportArgumentType] # the content of its own role


def _spoken(part: Json, raw: Json) -> TextPart | ForeignPart:
    """Instructions are words: anything else is kept whole."""
    return part if isinstance(part, TextPart | ForeignPart) else ForeignPart("openai-responses", raw)


def write_message(message: UserMessage | SystemMessage) -> JsonObject:
    """The item of a message, without what its metadata say of it."""
    role = "user" if isinstance(message, UserMessage) else "system"
    content: Json = content_of(message.parts, "", [])
    words = message.content.content
    if words is not None and content == [{"type": "input_text", "text": words}]:
        content = words
    return {"role": role, "content": content}


def _checked(item: Json, path: str) -> JsonObject:
    if not is_object(item):
        raise ConversionError(
            f"an item is an object, found {kind_of(item)}",
            where=path,
            hint="give {role, content} or {type, …}",
        )
    if not text(item, "type") and not text(item, "role") and not text(item, "id"):
        raise ConversionError(
            "an item without a type", where=path, hint="give its type, or a role and content"
        )
    return item
