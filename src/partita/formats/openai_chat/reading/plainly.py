"""Requests in which everybody says what they say in one text, and calls are answered in their order.

Most requests are like that. msgspec looks whether one is, and all that is left is to put it together.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias, final

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert
from msgspec.structs import replace

from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.notes import ROLE
from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import StepStartPart, TextPart
from partita.types.tools import TextOutput

from .answers import input_of
from .messages import named

Words: TypeAlias = Annotated[str, Meta(min_length=1)]


class _Plain(Struct, tag_field="role", forbid_unknown_fields=True, gc=False):
    """A message with the members that every message has."""


@final
class _System(_Plain, tag="system"):
    content: Words


@final
class _Developer(_Plain, tag="developer"):
    content: Words


@final
class _User(_Plain, tag="user"):
    content: Words


class _Function(Struct, forbid_unknown_fields=True, gc=False):
    name: str
    arguments: str


class _Call(Struct, forbid_unknown_fields=True, gc=False):
    id: str
    type: Literal["function"]
    function: _Function


@final
class _Assistant(_Plain, tag="assistant"):
    content: Words | None
    tool_calls: Annotated[list[_Call], Meta(min_length=1)] | UnsetType = UNSET


@final
class _Tool(_Plain, tag="tool"):
    tool_call_id: str
    content: str


class _Request(Struct, gc=False):
    """A struct around the messages: msgspec remembers what it knows of structs, not of unions."""

    messages: list[_System | _Developer | _User | _Assistant | _Tool]


NOT_YET: Final = -1


def read_plainly(raws: Sequence[Json], dialect: Dialect) -> list[Message] | None:
    """The messages of a request; none if there is anything unusual in it."""
    try:
        said = convert({"messages": raws}, _Request).messages
    except (ValidationError, RecursionError, UnicodeError):
        return None
    reader = _Reader(dialect)
    for number, message in enumerate(said, 1):
        if type(message) is _Tool:
            is_read = reader.answer(message)
        elif type(message) is _Assistant:
            is_read = reader.say(message, number)
        else:
            is_read = reader.ask(message, number)
        if not is_read:
            return None
    reader.end_turn()
    return reader.messages


class _Reader:
    """The messages so far, and the turn of the model at hand."""

    def __init__(self, dialect: Dialect) -> None:
        self.messages: list[Message] = []
        self._dialect = dialect
        self._id = ""
        self._parts: list[AssistantPart] = []
        self._waiting: dict[str, int] = {}
        """Where the calls of the step stand that have no result, by their ids."""
        self._answered = NOT_YET
        """Where the last call stands that has one."""

    def ask(self, message: _System | _Developer | _User, number: int) -> bool:
        """What a person said, or instructions."""
        self.end_turn()
        id_, parts = f"message-{number}", (TextPart(message.content),)
        if type(message) is _User:
            self.messages.append(UserMessage(id=id_, content=UserContent(parts=parts)))
            return True
        role = "system" if type(message) is _System else "developer"
        notes = {} if role == self._dialect.system_role else {ROLE: role}
        content = SystemContent(parts=parts, provider_metadata=named(self._dialect, notes))
        self.messages.append(SystemMessage(id=id_, content=content))
        return True

    def say(self, message: _Assistant, number: int) -> bool:
        """What the model said and called, if it did either, and no two calls have one id."""
        if self._answered == NOT_YET:
            self.end_turn()
            self._id = f"message-{number}"
        else:
            self._parts.append(StepStartPart())
        self._waiting, self._answered = {}, NOT_YET
        if message.content is not None:
            self._parts.append(TextPart(message.content))
        calls = message.tool_calls
        if calls is UNSET:
            return message.content is not None
        for call in calls:
            self._waiting[call.id] = len(self._parts)
            self._parts.append(self._call(call))
        return len(self._waiting) == len(calls)

    def _call(self, call: _Call) -> ToolCallPart:
        given, kept = input_of(call.function.arguments)
        part = ToolCallPart(call.id, call.function.name, "input-available", **given)
        return replace(part, call_provider_metadata=named(self._dialect, kept)) if kept else part

    def answer(self, message: _Tool) -> bool:
        """What came of a call, if it is one of the step at hand and none behind it has a result."""
        place = self._waiting.pop(message.tool_call_id, NOT_YET)
        if place <= self._answered:
            return False
        output = TextOutput(message.content)
        self._parts[place] = replace(self._parts[place], state="output-available", output=output)
        self._answered = place
        return True

    def end_turn(self) -> None:
        """What the model said and did so far is one message."""
        if self._parts:
            content = AssistantContent(parts=tuple(self._parts))
            self.messages.append(AssistantMessage(id=self._id, content=content))
            self._parts, self._waiting, self._answered = [], {}, NOT_YET
