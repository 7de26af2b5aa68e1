"""A wire format for tests, with a decoder that misses content and one that does not."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Literal

from partita.formats.call_decoder import CallDecoder
from partita.formats.format import Format
from partita.runtime.replay.service import responses_after_prompt
from partita.runtime.service import InvokeOptions, Prompt
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    CompleteEvent,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
)
from partita.types.json import Json, JsonObject, dumps

Quality = Literal["poor", "good", "forgetful"]


class Reader:
    """The current quality of the decoder."""

    quality: Quality = "good"


class LineDecoder:
    """`{"say"}`, `{"think"}`, `{"call"}`, `{"end"}`: a poor one misses reasoning, a lossy one text."""

    def __init__(self) -> None:
        self._count = 0

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks for one line."""
        chunks: list[Chunk] = [] if self._count else [MessageStart(), StepStart()]
        self._count += 1
        block = str(self._count)
        match event:
            case {"say": str(words)} if Reader.quality != "forgetful":
                chunks += [TextStart(block), TextDelta(block, words), TextEnd(block)]
            case {"think": str(words)} if Reader.quality != "poor":
                chunks += [ReasoningStart(block), ReasoningDelta(block, words), ReasoningEnd(block)]
            case {"call": {"id": str(id), "name": str(name), "input": given}}:
                chunks.append(ToolInputAvailable(id, name, given))
            case {"end": {"tokens": int(tokens)}}:
                chunks.append(MessageFinish("stop", self._metadata(tokens)))
            case _:
                pass
        return chunks

    def _metadata(self, tokens: int) -> JsonObject:
        metadata: JsonObject = {"finishReason": "stop"}
        return metadata if Reader.quality == "poor" else {**metadata, "usage": {"outputTokens": tokens}}

    def finish(self) -> list[Chunk]:
        """No chunks: nothing is open."""
        return []


FORMAT = Format("test-talk", "lines of a test", decoder=LineDecoder)

STEPS: list[list[JsonObject]] = [
    [
        {"think": "Where is it?"},
        {"say": "I ask first."},
        {"call": {"id": "c1", "name": "launch", "input": {"where": "moon"}}},
        {"end": {"tokens": 3}},
    ],
    [{"think": "That went well."}, {"say": "Done."}, {"end": {"tokens": 4}}],
]


class LineModel:
    """A model whose responses have the format."""

    name = "talker"
    model = "talker-1"

    def __init__(self, steps: list[list[JsonObject]] | None = None) -> None:
        self._steps = STEPS if steps is None else steps

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """One response."""
        decoding = CallDecoder("test-talk", "lines")
        events = decoding.start()
        for line in self._steps[0 if isinstance(prompt, str) else responses_after_prompt(prompt)]:
            events += decoding.feed(dumps(line) + b"\n")
        for event in [*events, *decoding.finish(), CompleteEvent(agent_type=self.name)]:
            yield event
