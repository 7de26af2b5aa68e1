"""Run a stand-in through a service, and look at what came of it."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NamedTuple

from partita.runtime.programs.process import Patience
from partita.runtime.service import Decision, Desk, Options, Question
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, DataChunk
from partita.types.events import AgentStreamEvent, ChunkEvent, CompleteEvent, ErrorEvent, raw_bytes
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.parts import TextPart

ROOT = Path(__file__).parents[3]

PATIENT = Patience(interrupt=30, leave=30, terminate=30, kill=30)
"""For programs that do as they should: no machine is so slow."""

BRISK = Patience(interrupt=0.2, leave=0.2, terminate=0.2, kill=30)
"""For programs that do not."""


def command(name: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-m", f"tests.runtime.programs.{name}_stand_in")  # needs no packages


class Answers:
    """A desk where one answer is given to every question."""

    def __init__(self, approved: bool, reason: str | None = None) -> None:
        self.asked: list[Question] = []
        self._decision = Decision(approved, reason)

    async def ask(self, question: Question) -> Decision:
        self.asked.append(question)
        return self._decision


class Silence:
    """A desk where nobody ever answers."""

    def __init__(self) -> None:
        self.was_asked = asyncio.Event()
        self.was_withdrawn = False

    async def ask(self, question: Question) -> Decision:
        self.was_asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.was_withdrawn = True
        raise AssertionError


class Paths(NamedTuple):
    """Files that a stand-in writes: what it said, what it heard, who there is."""

    said: Path
    heard: Path
    pids: Path


def paths(folder: Path) -> Paths:
    return Paths(folder / "said.jsonl", folder / "heard.jsonl", folder / "pids.json")


def options(folder: Path, *behaviour: str, desk: Desk | None = None, flood: int = 0, **more: Json) -> Options:
    places = paths(folder)
    environment = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        "STAND_IN": ",".join(behaviour),
        "STAND_IN_FLOOD": str(flood),
        "STAND_IN_RECORD": str(places.said),
        "STAND_IN_HEARD": str(places.heard),
        "STAND_IN_PIDS": str(places.pids),
    }
    return Options(desk=desk, environment=environment, **more)


async def gather(events: AsyncIterator[AgentStreamEvent]) -> list[AgentStreamEvent]:
    return [event async for event in events]


def chunks(events: list[AgentStreamEvent]) -> list[Chunk]:
    return [event.chunk for event in events if isinstance(event, ChunkEvent)]


def message(events: list[AgentStreamEvent]) -> AssistantMessage:
    """The message, by an accumulator that forgives nothing."""
    accumulator = Accumulator(id="message")
    for chunk in chunks(events):
        accumulator.feed(chunk)
    return accumulator.snapshot()


def words(events: list[AgentStreamEvent]) -> str:
    return "".join(part.text for part in message(events).parts if isinstance(part, TextPart))


def complaints(events: list[AgentStreamEvent]) -> str:
    """What came over standard error."""
    told = [chunk.data for chunk in chunks(events) if isinstance(chunk, DataChunk)]
    return "".join(data["text"] for data in told if is_object(data) and data.keys() == {"text"})


def completed(events: list[AgentStreamEvent]) -> JsonObject:
    last = events[-1]
    assert isinstance(last, CompleteEvent), last
    assert is_object(last.agent_result)
    return last.agent_result


def failed(events: list[AgentStreamEvent]) -> ErrorEvent:
    last = events[-1]
    assert isinstance(last, ErrorEvent), last
    assert not any(isinstance(event, ErrorEvent | CompleteEvent) for event in events[:-1])
    return last


def is_ours_by(folder: Path) -> Callable[[bytes], bool]:
    """Whether a line is one that the stand-in heard, not one that it said."""
    heard = paths(folder).heard
    lines = set(heard.read_bytes().splitlines(keepends=True)) if heard.exists() else set[bytes]()
    return lines.__contains__


def check_record(events: list[AgentStreamEvent], folder: Path) -> None:
    """Every byte that was said is in the record, in order; between them stand only lines of ours."""
    is_ours = is_ours_by(folder)
    raws = [raw for event in events if event.raw_text is not None and (raw := raw_bytes(event)) is not None]
    assert b"".join(raw for raw in raws if not is_ours(raw)) == paths(folder).said.read_bytes()


async def pids(folder: Path) -> list[int]:
    """Who there is, once the stand-in has told."""
    place = paths(folder).pids
    while not place.exists():
        await asyncio.sleep(0.01)
    found: list[int] = json.loads(place.read_text())
    return found


def alive(numbers: list[int]) -> list[int]:
    """Those that run. One that has ended and waits to be taken note of does not."""
    return [number for number in numbers if _state(number) not in ("", "Z", "X")]


def _state(number: int) -> str:
    try:
        text = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return ""
    return text[text.rfind(")") + 2]
