"""Recordings in which everybody says what they say in texts, and calls are answered in their order.

msgspec looks whether one is, and all that is left is to put it together.
"""

from typing import Annotated, Any, Final, NamedTuple, final

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, field

from partita.formats.framework.plain import UnusualError
from partita.types.json import Json, JsonObject, is_object
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
from partita.types.parts import ReasoningPart, TextPart

from .calls import read_value
from .wrapping import CONVERSATION, INPUT, NAME, OUTPUT, SYSTEM, TOOLS, is_event


class _Part(Struct, tag_field="type", forbid_unknown_fields=True, gc=False):
    """A part with the members that it has to have."""


@final
class _Text(_Part, tag="text"):
    content: str


@final
class _Thought(_Part, tag="reasoning"):
    content: str


@final
class _Call(_Part, tag="tool_call"):
    id: str
    name: str
    arguments: JsonObject


@final
class _Result(_Part, tag="tool_call_response"):
    id: str
    response: Any


class _Message(Struct, tag_field="role", forbid_unknown_fields=True, gc=False):
    """A message that says nothing around its parts."""


@final
class _System(_Message, tag="system"):
    parts: list[_Text]


@final
class _User(_Message, tag="user"):
    parts: list[_Text]


@final
class _Assistant(_Message, tag="assistant"):
    parts: list[_Text | _Thought | _Call]
    finish_reason: str | UnsetType = UNSET


@final
class _Tool(_Message, tag="tool"):
    parts: Annotated[list[_Result], Meta(min_length=1)]


class _Recording(Struct, gc=False):
    """What was given to the model, and what it made of that."""

    given: list[_System | _User | _Assistant | _Tool] = field(name=INPUT)
    made: Annotated[list[_Assistant], Meta(max_length=1)] = field(
        name=OUTPUT, default_factory=list[_Assistant]
    )


class Plain(NamedTuple):
    """The messages of a recording, and what is said besides."""

    messages: list[Message]
    attributes: JsonObject
    is_answered: bool
    """Whether the model has the last word."""


ELSEWHERE: Final = (SYSTEM, "attributes", "role")


def read_plainly(payload: Json) -> Plain | None:
    """What a recording holds; none if there is anything unusual in it."""
    if not is_object(payload) or is_event(payload) or any(name in payload for name in ELSEWHERE):
        return None
    attributes = {key: value for key, value in payload.items() if key not in (INPUT, OUTPUT)}
    if isinstance(attributes.get(TOOLS), str):
        return None
    thread = attributes.get(CONVERSATION)
    try:
        recording = convert(payload, _Recording)
        messages = _Reader(thread if isinstance(thread, str) else None).read(recording)
    except (ValidationError, RecursionError, UnicodeError, UnusualError):
        return None
    return Plain(messages, attributes, bool(recording.made))


class _Reader:
    """One recording on its way."""

    def __init__(self, thread_id: str | None) -> None:
        self._thread_id = thread_id
        self._count = 0
        """How many messages there are when results are apart from their calls."""

    def read(self, recording: _Recording) -> list[Message]:
        """All messages."""
        said = [*recording.given, *recording.made]
        if not recording.made and said and type(said[-1]) is _Assistant:
            raise UnusualError  # the model has the last word, and it is not said to be its own
        messages: list[Message] = []
        waiting: _Assistant | None = None
        for message in said:
            results = message if type(message) is _Tool else None
            if waiting is not None:
                messages.append(self._answer(waiting, results))
            elif results is not None:
                raise UnusualError
            waiting = message if type(message) is _Assistant else None
            if type(message) is _User or type(message) is _System:
                messages.append(self._ask(message))
        if waiting is not None:
            messages.append(self._answer(waiting, None))
        return messages

    def _ask(self, message: _System | _User) -> Message:
        self._count += 1
        id_, thread_id = f"message-{self._count}", self._thread_id
        parts = tuple([TextPart(part.content) for part in message.parts])
        if type(message) is _User:
            said = UserContent(parts=parts)
            return UserMessage(id=id_, thread_id=thread_id, type="text", content=said)
        told = SystemContent(parts=parts)
        return SystemMessage(id=id_, thread_id=thread_id, type="text", content=told)

    def _answer(self, message: _Assistant, behind: _Tool | None) -> AssistantMessage:
        """What the model said and called. Either all its calls have results, in their order, or none has."""
        results = None if behind is None else behind.parts
        parts: list[AssistantPart] = []
        calls: set[str] = set()
        for part in message.parts:
            if type(part) is _Text:
                parts.append(TextPart(part.content))
            elif type(part) is _Thought:
                parts.append(ReasoningPart(part.content))
            else:
                parts.append(_called(part, results, len(calls)))
                if part.id in calls:
                    raise UnusualError
                calls.add(part.id)
        if results is not None and len(calls) != len(results):
            raise UnusualError
        self._count += 1
        reason = message.finish_reason
        note = None if reason is UNSET else {NAME: {"finish_reason": reason}}
        answer = AssistantMessage(
            id=f"message-{self._count}",
            thread_id=self._thread_id,
            type="tool" if calls else "text",
            content=AssistantContent(parts=tuple(parts), provider_metadata=note),
        )
        self._count += results is not None
        return answer


def _called(call: _Call, results: list[_Result] | None, place: int) -> ToolCallPart:
    """A call, with the result that stands in this place behind it, if one does."""
    if results is None:
        return ToolCallPart(call.id, call.name, "input-available", call.arguments)
    result = results[place] if place < len(results) else None
    if result is None or result.id != call.id:
        raise UnusualError
    output = read_value(result.response)
    return ToolCallPart(call.id, call.name, "output-available", call.arguments, output=output)
