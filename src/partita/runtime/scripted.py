"""Scripted agents: `scripted:FILE` streams responses from a JSON file."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import UNSET

from partita.errors import AgentError, DecodeError
from partita.formats.call_decoder import CallDecoder
from partita.formats.model_view import model_view
from partita.runtime.service import InvokeOptions, Prompt, prompt_messages
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    CompleteEvent,
    ErrorEvent,
    FileChunk,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
)
from partita.types.codec import Codec, encode, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart, UserMessage
from partita.types.parts import FilePart, ReasoningPart, SourceUrlPart, TextPart
from partita.types.usage import Usage
from partita.types.value import Value

# A script is `{"scenes": [{"match": "text", "steps": [{"parts": […]}, …]}, …]}`. The first scene whose
# `match` occurs in the last user message is used; a scene without `match` is always used. A step is one
# response of a model, as canonical parts: text, reasoning, tool calls. The next step is used once its calls
# have outputs.


class Step(Value, kw_only=True):
    """One response: its parts, its finish reason, its usage, and how fast it is streamed."""

    parts: tuple[AssistantPart, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    pause: Annotated[float, msgspec.Meta(ge=0)] = 0.0  # seconds between chunks
    error: str | None = None  # the error that it fails with, after its parts


class Scene(Value, kw_only=True):
    """Steps, and the text that selects them."""

    steps: tuple[Step, ...]
    match: str | None = None


class Script(Value, kw_only=True):
    """The scenes of an agent."""

    scenes: tuple[Scene, ...]


SCRIPT: Codec[Script] = Codec(Script)

CONTAINERS: Final = ("scenes", "steps", "parts")
"""Members that contain the parts of a script."""


def read_script(path: Path) -> Script:
    """The script of a file."""
    try:
        return as_script(loads(path.read_bytes()))
    except OSError as error:
        raise AgentError(
            f"the script cannot be read: {error.strerror}",
            where=str(path),
            hint="scripted:FILE names a JSON file",
        ) from None
    except DecodeError as error:
        raise AgentError(
            f"this is not a script: {error.what}", where=f"{path} {error.where}", hint=error.hint
        ) from None


def as_script(value: JsonObject) -> Script:
    """Read a script from JSON. A call needs a name and an input; it gets an id when it is streamed."""
    return SCRIPT.read(_with_calls(value))


def _with_calls(value: Json) -> Json:
    if is_array(value):
        return [_with_calls(item) for item in value]
    if not is_object(value):
        return value
    if value.get("type") == "tool-call":
        return {"id": "", "state": "input-available", **value}
    return {key: _with_calls(item) if key in CONTAINERS else item for key, item in value.items()}


def step_for(script: Script, messages: Sequence[Message]) -> Step | None:
    """The step that responds to messages as a model sees them; `None` if the script has none."""
    prompt, responses = "", 0
    for message in messages:
        if isinstance(message, UserMessage):
            prompt = " ".join(part.text for part in message.parts if isinstance(part, TextPart))
            responses = 0
        elif isinstance(message, AssistantMessage):
            responses += 1
    for scene in script.scenes:
        if scene.match is None or scene.match.casefold() in prompt.casefold():
            return scene.steps[responses] if responses < len(scene.steps) else None
    return None


# A step → the chunks that a model would stream for it, a word at a time.

PIECE: Final = re.compile(r"\S+\s*|\s+")


def chunks_of(step: Step, call_ids: Iterator[str]) -> Iterator[Chunk]:
    """The chunks of one response. A call whose id is empty gets the next of `call_ids`."""
    yield MessageStart()
    yield StepStart()
    for number, part in enumerate(step.parts):
        yield from _part(part, str(number), call_ids)
    if step.error is None:
        calls = any(isinstance(part, ToolCallPart) for part in step.parts)
        reason = step.finish_reason or ("tool-calls" if calls else "stop")
        metadata: JsonObject = {"finishReason": reason}
        if step.usage is not None:
            metadata["usage"] = to_json(step.usage)
        yield StepFinish()
        yield MessageFinish(reason, metadata)


def _part(part: AssistantPart, id: str, call_ids: Iterator[str]) -> Iterator[Chunk]:
    match part:
        case TextPart():
            yield TextStart(id, part.provider_metadata)
            yield from (TextDelta(id, piece) for piece in PIECE.findall(part.text))
            yield TextEnd(id, citations=part.citations)
        case ReasoningPart():
            yield ReasoningStart(id, part.provider_metadata)
            yield from (ReasoningDelta(id, piece) for piece in PIECE.findall(part.text))
            yield ReasoningEnd(id)
        case ToolCallPart():
            call_id = part.id or next(call_ids)
            given: Json = {} if part.input is UNSET else part.input
            yield ToolInputStart(call_id, part.name)
            yield from (ToolInputDelta(call_id, piece) for piece in PIECE.findall(dumps(given).decode()))
            yield ToolInputAvailable(call_id, part.name, given, provider_metadata=part.call_provider_metadata)
        case SourceUrlPart():
            yield SourceUrlChunk(part.source_id, part.url, part.title, part.provider_metadata)
        case FilePart():
            yield FileChunk(part.url, part.media_type, part.provider_metadata)
        case _:
            pass


NO_MORE: Final = "the script has no more steps"


class ScriptedService:
    """Streams the steps of a script like a model. The next step depends only on the conversation."""

    supports_client_tools = True  # the script decides what is called

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        self.name = name
        self.model = "scripted"
        self._script = script

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one response."""
        messages = prompt_messages(prompt)
        step = step_for(self._script, model_view(messages).messages)
        if step is None:
            yield ErrorEvent(message=NO_MORE, name="script-ended")
            return
        ids = (f"call-{number}" for number in count(_calls_in(messages) + 1))
        decoding = CallDecoder("ai-sdk-chunks", "lines", {"model": self.model})
        for event in decoding.start():
            yield event
        for chunk in chunks_of(step, ids):
            if step.pause:
                await asyncio.sleep(step.pause)
            for event in decoding.feed(encode(chunk) + b"\n"):
                yield event
        for event in decoding.finish():
            yield event
        if step.error is not None:
            yield ErrorEvent(message=step.error, name="scripted")
        else:
            yield CompleteEvent(agent_type=self.name, usage=step.usage)


def _calls_in(messages: Sequence[Message]) -> int:
    """The number of calls so far, so that ids do not repeat in a conversation."""
    return sum(isinstance(part, ToolCallPart) for message in messages for part in message.parts)


def make(name: str, argument: str) -> ScriptedService:
    """The agent of a name `scripted:FILE` (see `partita.runtime.registry`)."""
    if not argument:
        raise AgentError("no script is named", where=name, hint="scripted:FILE, a JSON file of scenes")
    return ScriptedService(read_script(Path(argument).expanduser()))
