"""Pydantic AI's message history → canonical messages.

A response is an assistant message. A request is taken apart: system prompts, what tools gave back, and what
the user said are messages of their own; what came of calls is merged into them. Instructions are a system
message where they first appear or change. Messages have no ids there: a message is `message-N`, counted from
one. What Pydantic AI alone knows is kept under its name in provider metadata; parts of kinds that have no
counterpart are kept whole.

Lost: the place of a return that does not stand behind the response with its call, in the order of calls.
"""

from typing import Final, NoReturn

from partita.errors import ConversionError
from partita.formats.format import Loaded
from partita.formats.framework.members import checked_array, checked_object
from partita.formats.framework.places import told_places
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart

from .plainly import read_plainly
from .requests import RequestReader
from .responses import read_response
from .shapes import members_of

HINT: Final = "give what ModelMessagesTypeAdapter.dump_json writes: a list of requests and responses"


def load(payload: Json) -> Loaded:
    """A history, or one message of it, as canonical messages."""
    plain = read_plainly(payload if is_array(payload) else [payload])
    return load_any(payload) if plain is None else Loaded(tuple(plain))


def load_any(payload: Json) -> Loaded:
    """The same for whatever a history may hold."""
    reader = _Reader()
    for index, raw in enumerate(payload if is_array(payload) else [payload]):
        reader.add(raw, f"$[{index}]" if is_array(payload) else "$")
    losses = tuple(told_places(reader.messages, reader.paths))
    return Loaded(tuple(fold(reader.messages)), losses)


def _refuse(part: Json, path: str) -> NoReturn:
    checked_object(part, path, "a part", HINT)
    raise ConversionError("a part without its kind", where=f"{path}.part_kind", hint=HINT)


class _Reader:
    """One history on its way."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.paths: list[str] = []
        self.names: dict[str, str] = {}
        self.head: AssistantMessage | None = None
        self.instructions: str | None = None
        self.after_request = False

    def add(self, raw: Json, path: str) -> None:
        """Read one message."""
        message = checked_object(raw, path, "a message", HINT)
        kind = message.get("kind")
        parts = checked_array(message.get("parts"), f"{path}.parts", "the parts of a message", HINT)
        for index, part in enumerate(parts):
            if not is_object(part) or not isinstance(part.get("part_kind"), str):
                _refuse(part, f"{path}.parts[{index}]")
        if kind == "response":
            self._response(message, parts, path)
        elif kind == "request":
            self._request(message, parts, path)
        else:
            raise ConversionError(f"no message of kind {kind!r:.40}", where=f"{path}.kind", hint=HINT)
        self.after_request = kind == "request"

    def _response(self, raw: JsonObject, parts: list[JsonObject], path: str) -> None:
        members = members_of(raw, "response", "kind", "parts")
        message = read_response(members, parts, f"message-{len(self.messages) + 1}")
        self.names.update({part.id: part.name for part in message.parts if type(part) is ToolCallPart})
        self.head = message
        self._append(message, path)

    def _request(self, raw: JsonObject, parts: list[JsonObject], path: str) -> None:
        members = members_of(raw, "request", "kind", "parts")
        instructions = members.text("instructions")
        reader = RequestReader(members, self.head, self.names, len(self.messages))
        if instructions is not None and instructions != self.instructions:
            reader.instruct(instructions)
            self.instructions = instructions
        elif instructions is None and self.instructions is not None:
            members.left["uninstructed"] = True
        if self.after_request:
            members.left["apart"] = True
        for part in parts:
            reader.add(part)
        for message in reader.finish():
            self._append(message, path)

    def _append(self, message: Message, path: str) -> None:
        self.messages.append(message)
        self.paths.append(path)
