"""A model that returns the replies of a test and keeps the prompts that it receives."""

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

ReplyPart: TypeAlias = str | tuple[str, Json]
"""A text, or a call: the name of a tool and its input."""

Reply: TypeAlias = Sequence[Chunk | AgentStreamEvent | BaseException]


class Model:
    """Returns its replies, one for each call."""

    name = "model"
    model = "model-1"

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.prompts: list[tuple[Message, ...]] = []
        """The messages of each call, as a provider would receive them."""
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
        self.prompts.append(model_view(prompt).messages)
        self.options.append(options or InvokeOptions())
        for one in self._replies.pop(0):
            if isinstance(one, BaseException):
                raise one
            yield one if isinstance(one, AgentStreamEvent) else ChunkEvent(chunk=one)


_numbers = count(1)


def reply(*parts: ReplyPart, usage: Usage | None = None, reason: str | None = None) -> Reply:
    """The events of a complete response with texts and calls. Each call gets a new id."""
    chunks: list[Chunk] = [MessageStart(), StepStart()]
    for number, one in enumerate(parts):
        if isinstance(one, str):
            chunks += [TextStart(str(number)), TextDelta(str(number), one), TextEnd(str(number))]
        else:
            call = f"call-{next(_numbers)}"
            chunks += [ToolInputStart(call, one[0]), ToolInputAvailable(call, one[0], one[1])]
    calls = any(not isinstance(one, str) for one in parts)
    metadata: JsonObject = {"finishReason": reason or ("tool-calls" if calls else "stop")}
    if usage is not None:
        metadata["usage"] = to_json(usage)
    finish = MessageFinish(metadata["finishReason"], metadata)
    return [*chunks, StepFinish(), finish, CompleteEvent(usage=usage)]


def failing_reply(text: str, error: str) -> Reply:
    """The events of a response that fails after some text."""
    return [MessageStart(), StepStart(), TextStart("0"), TextDelta("0", text), ErrorEvent(message=error)]


Summary: TypeAlias = tuple[str, Json]


def summary_of(messages: Sequence[Message]) -> list[Summary]:
    """The kind and the content of each part that a model receives."""
    short: list[Summary] = []
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
                short += [("result", output_value(part.output)) for part in results]
            case _:
                short.append((str(type(message)), text_of(message)))
    return short


def output_value(output: ToolOutput | None) -> Json:
    """The value of an output; with its type unless that is text or JSON."""
    if output is None:
        return None
    plain = to_json(output)
    assert is_object(plain)
    value = plain.get("value", plain.get("reason"))
    return value if plain["type"] in ("text", "json") else f"{plain['type']}: {value}"


def calls_of(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]
