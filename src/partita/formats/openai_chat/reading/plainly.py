"""Requests in which everybody says what they say in one text, and calls are answered in their order.

Most requests are like that. msgspec looks whether one is, and all that is left is to put it together.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias, final

from msgspec import UNSET, Meta, MsgspecError, Struct, UnsetType, ValidationError, convert
from msgspec.json import Decoder
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.notes import ROLE
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    MessageType,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import StepStartPart, TextPart
from partita.types.tools import TextOutput, ToolState

from .answers import input_of
from .messages import named

_decode: Final = Decoder().decode

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

    __slots__ = ("_calls", "_dialect", "_has_called", "_id", "_is_answered", "_parts", "messages")

    def __init__(self, dialect: Dialect) -> None:
        self.messages: list[Message] = []
        self._dialect = dialect
        self._id = ""
        self._parts: list[AssistantPart] = []
        self._calls: list[_Call] = []
        """The calls of the step that are not among the parts yet, the next one last."""
        self._has_called = False
        """Whether there is any call in the turn."""
        self._is_answered = False
        """Whether any call of the step has a result."""

    def ask(self, message: _System | _Developer | _User, number: int) -> bool:
        """What a person said, or instructions."""
        if self._id:
            self.end_turn()
        id_, parts = f"message-{number}", (TextPart(message.content),)
        if type(message) is _User:
            self.messages.append(UserMessage(id=id_, type="text", content=UserContent(parts=parts)))
            return True
        role = "system" if type(message) is _System else "developer"
        notes = {} if role == self._dialect.system_role else {ROLE: role}
        content = SystemContent(parts=parts, provider_metadata=named(self._dialect, notes))
        self.messages.append(SystemMessage(id=id_, type="text", content=content))
        return True

    def say(self, message: _Assistant, number: int) -> bool:
        """What the model said and called, if it did either, and no two calls have one id."""
        if self._is_answered:
            self._add_open_calls()
            self._parts.append(StepStartPart())
            self._is_answered = False
        else:
            self.end_turn()
            self._id = f"message-{number}"
        if message.content is not None:
            self._parts.append(TextPart(message.content))
        calls = message.tool_calls
        if calls is UNSET:
            return message.content is not None
        self._has_called = True
        self._calls = calls
        calls.reverse()
        return len(calls) == 1 or len({call.id for call in calls}) == len(calls)

    def answer(self, message: _Tool) -> bool:
        """What came of a call, if it is one of the step at hand and none behind it has a result."""
        while self._calls:
            call = self._calls.pop()
            if call.id == message.tool_call_id:
                self._add_call(call, "output-available", TextOutput(message.content))
                self._is_answered = True
                return True
            self._add_call(call, "input-available", None)
        return False

    def _add_open_calls(self) -> None:
        while self._calls:
            self._add_call(self._calls.pop(), "input-available", None)

    def _add_call(self, call: _Call, state: ToolState, output: TextOutput | None) -> None:
        name, words = call.function.name, call.function.arguments
        given = _plain_input(words)
        if given is not None:
            self._parts.append(ToolCallPart(call.id, name, state, given, output=output))
            return
        odd, kept = input_of(words)
        part = ToolCallPart(call.id, name, state, **odd, output=output)
        self._parts.append(replace(part, call_provider_metadata=named(self._dialect, kept)) if kept else part)

    def end_turn(self) -> None:
        """What the model said and did so far is one message."""
        if self._calls:
            self._add_open_calls()
        if self._parts:
            content = AssistantContent(parts=tuple(self._parts))
            type_: MessageType = "tool" if self._has_called else "text"
            self.messages.append(AssistantMessage(id=self._id, type=type_, content=content))
            self._parts, self._has_called, self._is_answered = [], False, False


def _plain_input(words: str) -> JsonObject | None:
    """The object that words mean, if they are the words in which it is written."""
    try:
        value: Json = _decode(words)
        return value if is_object(value) and dumps(value) == words.encode() else None
    except (MsgspecError, UnicodeError, RecursionError, DecodeError):
        return None
