"""Run a stand-in program through a service, and inspect its events."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NamedTuple

from partita.runtime.programs.process import Timeouts
from partita.runtime.service import ApprovalDecision, ApprovalGate, ApprovalRequest, InvokeOptions
from partita.stream.accumulator import Accumulator
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    DataChunk,
    ErrorEvent,
    raw_bytes,
)
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage
from partita.types.parts import TextPart

ROOT = Path(__file__).parents[3]

LONG = Timeouts(interrupt=30, exit=30, terminate=30, kill=30)
"""For programs that behave: long enough for any machine."""

SHORT = Timeouts(interrupt=0.2, exit=0.2, terminate=0.2, kill=30)
"""For programs that do not exit."""


def command(name: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-m", f"tests.runtime.programs.{name}_stand_in")  # needs no packages


class FixedDecision:
    """An approval gate that makes the same decision on every request."""

    def __init__(self, approved: bool, reason: str | None = None) -> None:
        self.requests: list[ApprovalRequest] = []
        self._decision = ApprovalDecision(approved, reason)

    async def request(self, request: ApprovalRequest) -> ApprovalDecision:
        self.requests.append(request)
        return self._decision


class NoDecision:
    """An approval gate that never decides."""

    def __init__(self) -> None:
        self.was_requested = asyncio.Event()
        self.was_cancelled = False

    async def request(self, request: ApprovalRequest) -> ApprovalDecision:
        self.was_requested.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.was_cancelled = True
        raise AssertionError


class Paths(NamedTuple):
    """Files that a stand-in writes: what it said, what it heard, who there is."""

    said: Path
    heard: Path
    pids: Path


def paths(folder: Path) -> Paths:
    return Paths(folder / "said.jsonl", folder / "heard.jsonl", folder / "pids.json")


def options(
    folder: Path, *behaviour: str, approvals: ApprovalGate | None = None, flood: int = 0, **more: Json
) -> InvokeOptions:
    places = paths(folder)
    environment = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        "STAND_IN": ",".join(behaviour),
        "STAND_IN_FLOOD": str(flood),
        "STAND_IN_RECORD": str(places.said),
        "STAND_IN_HEARD": str(places.heard),
        "STAND_IN_PIDS": str(places.pids),
    }
    return InvokeOptions(approvals=approvals, environment=environment, **more)


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


def stderr_text(events: list[AgentStreamEvent]) -> str:
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
