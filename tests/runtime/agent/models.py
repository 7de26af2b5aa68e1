"""A model that answers as a test says, and remembers what it was sent."""

from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path
from typing import TypeAlias

from partita.formats.model_view import model_view
from partita.runtime.service import InvokeOptions, Prompt
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    MessageFinish,
    MessageStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputStart,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, ToolMessage, UserMessage, text_of
from partita.types.parts import TextPart, ToolOutput, ToolResultPart
from partita.types.usage import Usage

Said: TypeAlias = str | tuple[str, Json]
"""A text, or a call: a tool's name and its input."""

Line: TypeAlias = Sequence[Chunk | AgentStreamEvent | BaseException]


class Model:
    """Gives one answer after the other, however often it is asked."""

    name = "model"
    model = "model-1"

    def __init__(self, *answers: Line) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[Message, ...]] = []
        """The talk of each call, as a provider would be sent it."""
        self.options: list[InvokeOptions] = []

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        assert not isinstance(prompt, str)
        self.asked.append(model_view(prompt).messages)
        self.options.append(options or InvokeOptions())
        for one in self._answers.pop(0):
            if isinstance(one, BaseException):
                raise one
            yield one if isinstance(one, AgentStreamEvent) else ChunkEvent(chunk=one)


_numbers = count(1)


def reply(*said: Said, usage: Usage | None = None, reason: str | None = None) -> Line:
    """A whole answer of a model: texts and calls. Calls get ids of their own."""
    chunks: list[Chunk] = [MessageStart(), StepStart()]
    for number, one in enumerate(said):
        if isinstance(one, str):
            chunks += [TextStart(str(number)), TextDelta(str(number), one), TextEnd(str(number))]
        else:
            call = f"call-{next(_numbers)}"
            chunks += [ToolInputStart(call, one[0]), ToolInputAvailable(call, one[0], one[1])]
    calls = any(not isinstance(one, str) for one in said)
    metadata: JsonObject = {"finishReason": reason or ("tool-calls" if calls else "stop")}
    if usage is not None:
        metadata["usage"] = to_json(usage)
    finish = MessageFinish(metadata["finishReason"], metadata)
    return [*chunks, StepFinish(), finish, CompleteEvent(usage=usage)]


def failing(words: str, why: str) -> Line:
    """An answer that breaks off."""
    return [MessageStart(), StepStart(), TextStart("0"), TextDelta("0", words), ErrorEvent(message=why)]


Seen: TypeAlias = tuple[str, Json]


def seen(messages: Sequence[Message]) -> list[Seen]:
    """What a model was sent, in short: who, and what he said, called, or got."""
    short: list[Seen] = []
    for message in messages:
        match message:
            case UserMessage():
                short.append(("user", text_of(message)))
            case AssistantMessage():
                for part in message.parts:
                    if isinstance(part, TextPart):
                        short.append(("text", part.text))
                    elif isinstance(part, ToolCallPart):
                        short.append(("call", part.name))
            case ToolMessage():
                results = [part for part in message.parts if isinstance(part, ToolResultPart)]
                short += [("result", outcome(part.output)) for part in results]
            case _:
                short.append((str(type(message)), text_of(message)))
    return short


def outcome(output: ToolOutput | None) -> Json:
    """An output, in short."""
    if output is None:
        return None
    plain = to_json(output)
    assert is_object(plain)
    value = plain.get("value", plain.get("reason"))
    return value if plain["type"] in ("text", "json") else f"{plain['type']}: {value}"


def calls_of(message: AssistantMessage) -> list[ToolCallPart]:
    """The calls of a message."""
    return [part for part in message.parts if isinstance(part, ToolCallPart)]
