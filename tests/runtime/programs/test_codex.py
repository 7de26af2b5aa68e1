"""Codex as a program, over both interfaces, with a stand-in."""

import asyncio
from pathlib import Path

import pytest

from partita.errors import AgentError
from partita.runtime.programs.codex import CodexService
from partita.runtime.programs.process import Timeouts
from partita.runtime.service import ApprovalRequest
from partita.types.chunks import AgentStreamEvent, CompleteEvent
from partita.types.json import JsonObject, loads
from partita.types.messages import ToolCallPart, UserContent, UserMessage
from partita.types.parts import ImagePart, TextPart
from tests.runtime.programs.running import (
    LONG,
    SHORT,
    FixedDecision,
    NoDecision,
    alive,
    check_record,
    command,
    completed,
    failed,
    gather,
    message,
    options,
    paths,
    pids,
    text_of_events,
)

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def service(timeouts: Timeouts = LONG) -> CodexService:
    return CodexService(command("codex"), timeouts=timeouts)


def input_lines(folder: Path) -> list[JsonObject]:
    return [loads(line) for line in paths(folder).input.read_bytes().splitlines()]


def call(events: list[AgentStreamEvent]) -> ToolCallPart:
    return next(part for part in message(events).parts if isinstance(part, ToolCallPart))


async def test_without_approvals_codex_exec_is_used(tmp_path: Path) -> None:
    events = await gather(service().invoke("Build a shed", cwd=tmp_path, options=options(tmp_path)))
    assert completed(events)["sessionId"] == "thread-of-its-own"
    assert text_of_events(events) == f"{tmp_path.name}: Build a shed"
    last = events[-1]
    assert isinstance(last, CompleteEvent)
    assert last.usage is not None
    assert (last.usage.input_tokens, last.usage.output_tokens) == (11, 4)
    check_record(events, tmp_path)


async def test_a_thread_is_resumed(tmp_path: Path) -> None:
    given = options(
        tmp_path, model="m", instructions="Be brief", settings={"sandbox": "read-only", "effort": "low"}
    )
    events = await gather(service().invoke("Go on", session_id="thread-7", options=given))
    assert completed(events)["sessionId"] == "thread-7"


def test_a_thread_id_that_is_an_option_is_refused() -> None:
    with pytest.raises(AgentError, match="is not a thread id"):
        service().invoke("Go on", session_id="--last")


ALLOWED = {"yes": (True, "output-available"), "no": (False, "output-denied")}


@pytest.mark.parametrize(("approved", "state"), ALLOWED.values(), ids=ALLOWED)
async def test_approvals_over_the_app_server(tmp_path: Path, approved: bool, state: str) -> None:
    approvals = FixedDecision(approved)
    events = await gather(
        service().invoke("a nail", options=options(tmp_path, "approval", approvals=approvals))
    )
    assert approvals.requests == [
        ApprovalRequest("2", "c1", "command_execution", {"command": "rm nail", "cwd": "/shed"}, "it is sharp")
    ]
    part = call(events)
    assert part.state == state
    assert part.approval is not None
    assert part.approval.approved is approved
    assert completed(events)["status"] == "completed"
    assert text_of_events(events) == "I saw a nail"
    check_record(events, tmp_path)


async def test_a_turn_stopped_during_an_approval_request_is_interrupted(tmp_path: Path) -> None:
    approvals = NoDecision()
    reader = asyncio.create_task(
        gather(service().invoke("a nail", options=options(tmp_path, "approval", approvals=approvals)))
    )
    await approvals.was_requested.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert approvals.was_cancelled
    last = input_lines(tmp_path)[-1]
    assert last["method"] == "turn/interrupt"
    assert last["params"] == {"threadId": "thread-of-its-own", "turnId": "t1"}
    assert b"interrupted" in paths(tmp_path).output.read_bytes()


@linux
@pytest.mark.parametrize("with_approvals", [True, False], ids=["app server", "exec"])
async def test_stopping_leaves_no_process(tmp_path: Path, with_approvals: bool) -> None:
    approvals = FixedDecision(approved=True) if with_approvals else None
    stream = service(SHORT).invoke("a nail", options=options(tmp_path, "hang", approvals=approvals))
    reader = asyncio.create_task(gather(stream))
    family = await pids(tmp_path)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert not alive(family)


FAILURES = {
    "exec fails": ("turn-failed", False, "out of wood"),
    "exec crashes": ("crash", False, "the brush broke"),
    "the turn fails": ("turn-failed", True, "out of wood"),
    "the server crashes": ("crash", True, "the brush broke"),
    "an unknown thread": ("no-thread", True, "no such thread"),
}


@pytest.mark.parametrize(("behaviour", "with_approvals", "what"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_the_last_event(
    tmp_path: Path, behaviour: str, with_approvals: bool, what: str
) -> None:
    approvals = FixedDecision(approved=True) if with_approvals else None
    events = await gather(
        service().invoke("a nail", options=options(tmp_path, behaviour, approvals=approvals))
    )
    assert what in failed(events).message
    check_record(events, tmp_path)


async def test_an_unknown_request_is_refused(tmp_path: Path) -> None:
    given = options(tmp_path, "unknown-request", approvals=FixedDecision(approved=True))
    events = await gather(service().invoke("a nail", options=given))
    completed(events)
    check_record(events, tmp_path)


async def test_images_are_sent_over_the_app_server(tmp_path: Path) -> None:
    picture = ImagePart("data:image/png;base64,AAAA", "image/png")
    prompt = [UserMessage(id="1", content=UserContent(parts=(TextPart("this"), picture)))]
    events = await gather(service().invoke(prompt, options=options(tmp_path)))
    completed(events)
    start = next(line for line in input_lines(tmp_path) if line.get("method") == "turn/start")
    assert start["params"]["input"][1] == {"type": "image", "url": picture.url}
