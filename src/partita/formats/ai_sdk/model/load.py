"""Model messages of AI SDK 5, 6 and 7 → canonical messages: the way back that the SDK does not have.

Assistant and tool messages in a row become one assistant message, its steps divided by step starts, its
results merged into their calls. Model messages have no ids: a message is `message-N`, where N is the place
of its first model message in the payload, counted from one. Results without a call stay tool messages.

Lost: the place of a result or an approval that does not stand where the SDK puts it. What has no place in
canonical messages is kept in `extra`, or whole as a foreign part.
"""

from collections.abc import Iterable, Sequence

from partita.errors import ConversionError
from partita.formats.ai_sdk.versions import check_version
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    Message,
    SystemContent,
    SystemMessage,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import TextPart
from partita.types.tools import ToolResultPart

from .marks import conversion, extra_on, message_id, options_of
from .outputs import read_tool_part
from .parts import read_part
from .turns import Turn, misplaced, tool_message

ROLES = ("system", "user", "assistant", "tool")


def load(payload: Json, version: int = 7) -> Loaded:
    """Model messages, one or a list of them, as canonical messages."""
    return read_messages(payload, check_version(version))


def read_messages(payload: Json, version: int) -> Loaded:
    """The same, for version 4 too once it is translated to the shapes of version 5."""
    with conversion():
        return _Reader(version).read(payload)


class _Reader:
    """One payload on its way."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.losses: list[Loss] = []
        self.messages: list[Message] = []
        self.turn: Turn | None = None
        self.alone: list[tuple[str, ToolResultPart]] = []

    def read(self, payload: Json) -> Loaded:
        """All of it."""
        if is_array(payload):
            for index, raw in enumerate(payload):
                path = f"$[{index}]"
                self._add(_checked(raw, path), index, path)
        else:
            self._add(_checked(payload, "$"), 0, "$")
        self._end_turn()
        return Loaded(tuple(self._folded()), tuple(self.losses))

    def _add(self, raw: JsonObject, index: int, path: str) -> None:
        id_ = message_id(index)
        match raw["role"]:
            case "assistant":
                self.turn = self.turn or Turn(id_, self.version, self.losses)
                self.turn.add_said(raw, path)
            case "tool" if self.turn is not None:
                rest = self.turn.add_answers(raw, id_, path)
                if rest is not None:
                    self._append(rest, path)
            case "tool":
                parts = [read_tool_part(piece, self.version) for piece in raw["content"]]
                self._append(tool_message(raw, id_, parts), path)
            case "system":
                self._append(_system_message(raw, id_), path)
            case _:
                self._append(_user_message(raw, id_, self.version), path)

    def _append(self, message: Message, path: str) -> None:
        self._end_turn()
        self.messages.append(message)
        if isinstance(message, ToolMessage):
            self.alone.extend((path, result) for result in _results([message]))

    def _end_turn(self) -> None:
        if self.turn is not None:
            self.messages.append(self.turn.finish())
            self.turn = None

    def _folded(self) -> Sequence[Message]:
        """The messages, with results merged into calls that are in another turn."""
        if not self.alone:
            return self.messages
        folded = fold(self.messages)
        left = {id(result) for result in _results(folded)}
        self.losses.extend(
            misplaced(path, {"type": "tool-result"}) for path, result in self.alone if id(result) not in left
        )
        return folded


def _results(messages: Iterable[Message]) -> list[ToolResultPart]:
    return [
        part
        for message in messages
        if isinstance(message, ToolMessage)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]


def _checked(raw: Json, path: str) -> JsonObject:
    if not is_object(raw):
        raise ConversionError(
            f"a model message is an object, found {kind_of(raw)}", where=path, hint="give {role, content}"
        )
    role, content = raw.get("role"), raw.get("content")
    if role not in ROLES:
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint="use system, user, assistant or tool")
    may_be_text, may_be_parts = role != "tool", role != "system"
    if (isinstance(content, str) and may_be_text) or (is_array(content) and may_be_parts):
        return raw
    expected = " or ".join([*(["a string"] if may_be_text else []), *(["an array"] if may_be_parts else [])])
    found = kind_of(content) if "content" in raw else "missing"
    raise ConversionError(
        f"content of a {role} message is {found}", where=f"{path}.content", hint=f"make it {expected}"
    )


def _system_message(raw: JsonObject, id_: str) -> SystemMessage:
    options = options_of(raw)
    text = TextPart(raw["content"], provider_metadata=options or None)
    content = SystemContent(parts=(text,), provider_metadata=None if options else options)
    return SystemMessage(id=id_, content=content, extra=extra_on(raw))


def _user_message(raw: JsonObject, id_: str, version: int) -> UserMessage:
    said = raw["content"]
    text = said if isinstance(said, str) else None
    parts = [TextPart(said)] if text is not None else [read_part(part, "user", version) for part in said]
    content = UserContent(parts=tuple(parts), content=text, provider_metadata=options_of(raw))
    return UserMessage(id=id_, content=content, extra=extra_on(raw))
