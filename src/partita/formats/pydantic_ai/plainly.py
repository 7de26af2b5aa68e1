"""Plain histories → messages. Everybody says what they say in texts; calls are answered in their order."""

from collections.abc import Sequence

from msgspec import UNSET, ValidationError, convert
from msgspec.structs import replace

from partita.formats.framework.members import Members, metadata_of
from partita.formats.framework.plain import UnusualError
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
from partita.types.parts import ReasoningPart, TextPart
from partita.types.tools import JsonOutput, TextOutput

from .around import answered_in, asked_in, moment_of, said_in
from .outputs import is_content
from .parts import read_arguments
from .plain_history import Call, History, Request, Response, Return, System, Text, Thought, User
from .shapes import NAME


def read_plainly(raws: Sequence[Json]) -> list[Message] | None:
    """The messages of a history; none if there is anything unusual in it."""
    try:
        return _read(convert({"messages": raws}, History).messages)
    except (ValidationError, RecursionError, UnicodeError, UnusualError):
        return None


def _read(said: list[Request | Response]) -> list[Message]:
    reader = _Reader()
    waiting: Response | None = None
    for place, message in enumerate(said):
        if type(message) is Response:
            if waiting is not None:
                reader.answer(waiting, None)
            waiting = message
        elif waiting is not None:
            reader.ask(message, reader.answer(waiting, message))
            waiting = None
        elif place:
            raise UnusualError
        else:
            reader.ask(message, 0)
    if waiting is not None:
        reader.answer(waiting, None)
    return reader.messages


class _Reader:
    """The messages so far."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._count = 0
        """How many there are when results are apart from their calls."""
        self._instructions: str | None = None

    def answer(self, response: Response, after: Request | None) -> int:
        """What the model said and called, and how many results stand first in the request behind it.

        Either all calls have results, in their order, or none has.
        """
        behind = after.parts if after is not None and type(after.parts[0]) is Return else None
        parts: list[AssistantPart] = []
        calls = 0
        for part in response.parts:
            if type(part) is Text:
                parts.append(TextPart(part.content))
            elif type(part) is Thought:
                parts.append(ReasoningPart(part.content))
            else:
                parts.append(_called(part, behind, calls))
                calls += 1
        self._count += 1
        id_ = f"message-{self._count}"
        is_silent = response.is_silent()
        if is_silent:
            content = AssistantContent(parts=tuple(parts))
            message = AssistantMessage(id=id_, type="tool" if calls else "text", content=content)
        else:
            message = said_in(response, id_, parts)
        if after is not None and behind is not None:
            self._count += 1
            if not is_silent or not after.is_silent():
                message = answered_in(after, message)
        self.messages.append(message)
        return 0 if behind is None else calls

    def ask(self, request: Request, answered: int) -> None:
        """What was said to the model, behind so many results."""
        since, parts = len(self.messages), request.parts
        if request.instructions != self._instructions:
            self._instruct(request.instructions, answered)
        if answered == len(parts):
            return
        for part in parts[answered:] if answered else parts:
            if type(part) is Return:
                raise UnusualError
            self._prompt(part)
        if not request.is_silent() or self.messages[since].created_at is not None:
            self.messages[since:] = asked_in(request, self.messages[since:], is_first=not answered)

    def _instruct(self, text: str | None, answered: int) -> None:
        if text is None or answered:
            raise UnusualError
        self._instructions = text
        self._count += 1
        content = SystemContent(parts=(TextPart(text),), provider_metadata={NAME: {"instructions": True}})
        self.messages.append(SystemMessage(id=f"message-{self._count}", type="text", content=content))

    def _prompt(self, prompt: System | User) -> None:
        self._count += 1
        id_, text = f"message-{self._count}", prompt.content
        moment = None if prompt.timestamp is UNSET else moment_of(prompt.timestamp)
        message: Message
        if type(prompt) is User:
            said = UserContent(parts=(TextPart(text),), content=text)
            message = UserMessage(id=id_, type="text", created_at=moment, content=said)
        else:
            told = SystemContent(parts=(TextPart(text),), content=text)
            message = SystemMessage(id=id_, type="text", created_at=moment, content=told)
        self.messages.append(message)


def _called(call: Call, behind: list[System | User | Return] | None, place: int) -> ToolCallPart:
    """A call, with the result that stands in this place of the request behind it, if one does."""
    id_, name, input_ = call.tool_call_id, call.tool_name, call.args
    if behind is None:
        part = ToolCallPart(id_, name, "input-available", input_)
    else:
        result = behind[place] if place < len(behind) else None
        if type(result) is not Return or result.tool_call_id != id_ or result.tool_name != name:
            raise UnusualError
        part = ToolCallPart(id_, name, "output-available", input_, UNSET, None, _output(result.content))
        if result.timestamp is not UNSET:
            part = replace(part, result_provider_metadata={NAME: {"timestamp": result.timestamp}})
    return part if type(input_) is dict else _with_arguments(part)


def _output(value: Json) -> TextOutput | JsonOutput:
    if type(value) is str:
        return TextOutput(value)
    if type(value) is list and is_content(value):
        raise UnusualError
    return JsonOutput(value)


def _with_arguments(call: ToolCallPart) -> ToolCallPart:
    """A call with an input that is not written as an object."""
    members = Members({})
    input_, raw = read_arguments(call.input, members)
    note = metadata_of(NAME, members.left)
    return replace(call, input=input_, raw_input=raw, call_provider_metadata=note)
