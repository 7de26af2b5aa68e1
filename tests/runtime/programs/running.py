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
"""For programs that exit: long enough for any machine."""

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
    """Files that a stand-in writes: its output, its input, its process ids."""

    output: Path
    input: Path
    pids: Path


def paths(folder: Path) -> Paths:
    return Paths(folder / "said.jsonl", folder / "heard.jsonl", folder / "pids.json")


def options(
    folder: Path, *behaviour: str, approvals: ApprovalGate | None = None, flood: int = 0, **more: Json
) -> InvokeOptions:
    files = paths(folder)
    environment = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        "STAND_IN": ",".join(behaviour),
        "STAND_IN_FLOOD": str(flood),
        "STAND_IN_RECORD": str(files.output),
        "STAND_IN_HEARD": str(files.input),
        "STAND_IN_PIDS": str(files.pids),
    }
    return InvokeOptions(approvals=approvals, environment=environment, **more)


async def gather(events: AsyncIterator[AgentStreamEvent]) -> list[AgentStreamEvent]:
    return [event async for event in events]


def chunks(events: list[AgentStreamEvent]) -> list[Chunk]:
    return [event.chunk for event in events if isinstance(event, ChunkEvent)]


def message(events: list[AgentStreamEvent]) -> AssistantMessage:
    """The message of the events. Every chunk must fit."""
    accumulator = Accumulator(id="message")
    for chunk in chunks(events):
        accumulator.feed(chunk)
    return accumulator.snapshot()


def text_of_events(events: list[AgentStreamEvent]) -> str:
    return "".join(part.text for part in message(events).parts if isinstance(part, TextPart))


def stderr_text(events: list[AgentStreamEvent]) -> str:
    """The text of standard error."""
    data_chunks = [chunk.data for chunk in chunks(events) if isinstance(chunk, DataChunk)]
    return "".join(data["text"] for data in data_chunks if is_object(data) and data.keys() == {"text"})


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
    """Whether a line is input of the stand-in and not output."""
    input_file = paths(folder).input
    lines = set(input_file.read_bytes().splitlines(keepends=True)) if input_file.exists() else set[bytes]()
    return lines.__contains__


def check_record(events: list[AgentStreamEvent], folder: Path) -> None:
    """Check that every byte of output is in the record, in order, with only input lines between."""
    is_ours = is_ours_by(folder)
    raws = [raw for event in events if event.raw_text is not None and (raw := raw_bytes(event)) is not None]
    assert b"".join(raw for raw in raws if not is_ours(raw)) == paths(folder).output.read_bytes()


async def pids(folder: Path) -> list[int]:
    """The process ids, once the stand-in has written them."""
    file = paths(folder).pids
    while not file.exists():
        await asyncio.sleep(0.01)
    found: list[int] = json.loads(file.read_text())
    return found


def alive(numbers: list[int]) -> list[int]:
    """Those of the processes that run. A zombie does not run."""
    return [number for number in numbers if _state(number) not in ("", "Z", "X")]


def _state(number: int) -> str:
    try:
        text = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return ""
    return text[text.rfind(")") + 2]
