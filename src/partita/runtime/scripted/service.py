"""The scripted agent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path

from partita.formats.agent_decoder import Decoding
from partita.formats.answers.model_view import model_view
from partita.runtime.service import Options, Prompt
from partita.types.codec import encode
from partita.types.events import AgentStreamEvent, CompleteEvent, ErrorEvent
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage

from .chunks import chunks_of
from .script import Script, step_for

NO_MORE = "the script has nothing more to say"


class ScriptedService:
    """Plays a script, as a model that streams would. What it says next depends on the conversation alone."""

    supports_client_tools = True  # the script calls what it likes

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
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """One answer."""
        said = _messages(prompt)
        step = step_for(self._script, list(model_view(said).messages))
        if step is None:
            yield ErrorEvent(message=NO_MORE, name="script-ended")
            return
        ids = (f"call-{number}" for number in count(_calls_in(said) + 1))
        decoding = Decoding("ai-sdk-chunks", "lines", {"model": self.model})
        for event in decoding.begin():
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


def _calls_in(said: Sequence[Message]) -> int:
    """How many calls there are already: ids do not repeat in a conversation."""
    return sum(
        isinstance(part, ToolCallPart)
        for message in said
        if isinstance(message, AssistantMessage)
        for part in message.parts
    )


def _messages(prompt: Prompt) -> Sequence[Message]:
    return [UserMessage(id="prompt", content=prompt)] if isinstance(prompt, str) else prompt
