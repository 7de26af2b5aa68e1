"""Codex as a program, both ways, by a stand-in that speaks its protocols."""

import asyncio
from pathlib import Path

import pytest

from partita.errors import AgentError
from partita.runtime.programs.codex import CodexService
from partita.runtime.programs.process import Patience
from partita.runtime.service import Question
from partita.types.events import AgentStreamEvent, CompleteEvent
from partita.types.json import JsonObject, loads
from partita.types.messages import ToolCallPart, UserContent, UserMessage
from partita.types.parts import ImagePart, TextPart
from tests.runtime.programs.running import (
    BRISK,
    PATIENT,
    Answers,
    Silence,
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
    words,
)

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes the Linux way")


def service(patience: Patience = PATIENT) -> CodexService:
    return CodexService(command("codex"), patience=patience)


def heard(folder: Path) -> list[JsonObject]:
    return [loads(line) for line in paths(folder).heard.read_bytes().splitlines()]


def call(events: list[AgentStreamEvent]) -> ToolCallPart:
    return next(part for part in message(events).parts if isinstance(part, ToolCallPart))


async def test_without_a_desk_it_is_only_listened_to(tmp_path: Path) -> None:
    events = await gather(service().invoke("Build a shed", cwd=tmp_path, options=options(tmp_path)))
    assert completed(events)["sessionId"] == "thread-of-its-own"
    assert words(events) == f"{tmp_path.name}: Build a shed"
    last = events[-1]
    assert isinstance(last, CompleteEvent)
    assert last.usage is not None
    assert (last.usage.input_tokens, last.usage.output_tokens) == (11, 4)
    check_record(events, tmp_path)


async def test_a_thread_is_gone_on_with(tmp_path: Path) -> None:
    given = options(
        tmp_path, model="m", instructions="Be brief", settings={"sandbox": "read-only", "effort": "low"}
    )
    events = await gather(service().invoke("Go on", session_id="thread-7", options=given))
    assert completed(events)["sessionId"] == "thread-7"


def test_a_thread_id_that_is_an_option_is_refused() -> None:
    with pytest.raises(AgentError, match="no thread id"):
        service().invoke("Go on", session_id="--last")


ALLOWED = {"yes": (True, "output-available"), "no": (False, "output-denied")}


@pytest.mark.parametrize(("approved", "state"), ALLOWED.values(), ids=ALLOWED)
async def test_a_question_is_answered_over_the_app_server(tmp_path: Path, approved: bool, state: str) -> None:
    desk = Answers(approved)
    events = await gather(service().invoke("a nail", options=options(tmp_path, "approval", desk=desk)))
    assert desk.asked == [
        Question("2", "c1", "command_execution", {"command": "rm nail", "cwd": "/shed"}, "it is sharp")
    ]
    part = call(events)
    assert part.state == state
    assert part.approval is not None
    assert part.approval.approved is approved
    assert completed(events)["status"] == "completed"
    assert words(events) == "I saw a nail"
    check_record(events, tmp_path)


async def test_a_turn_that_is_stopped_while_a_question_is_open_is_interrupted(tmp_path: Path) -> None:
    desk = Silence()
    reader = asyncio.create_task(
        gather(service().invoke("a nail", options=options(tmp_path, "approval", desk=desk)))
    )
    await desk.was_asked.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert desk.was_withdrawn
    last = heard(tmp_path)[-1]
    assert last["method"] == "turn/interrupt"
    assert last["params"] == {"threadId": "thread-of-its-own", "turnId": "t1"}
    assert b"interrupted" in paths(tmp_path).said.read_bytes()


@linux
@pytest.mark.parametrize("with_desk", [True, False], ids=["app server", "exec"])
async def test_stopping_leaves_no_process_behind(tmp_path: Path, with_desk: bool) -> None:
    desk = Answers(approved=True) if with_desk else None
    stream = service(BRISK).invoke("a nail", options=options(tmp_path, "hang", desk=desk))
    reader = asyncio.create_task(gather(stream))
    family = await pids(tmp_path)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert not alive(family)


FAILURES = {
    "exec fails": ("turn-failed", False, "out of wood"),
    "exec breaks": ("crash", False, "the brush broke"),
    "the turn fails": ("turn-failed", True, "out of wood"),
    "the server breaks": ("crash", True, "the brush broke"),
    "there is no such thread": ("no-thread", True, "no such thread"),
}


@pytest.mark.parametrize(("behaviour", "with_desk", "what"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_the_last_event(
    tmp_path: Path, behaviour: str, with_desk: bool, what: str
) -> None:
    desk = Answers(approved=True) if with_desk else None
    events = await gather(service().invoke("a nail", options=options(tmp_path, behaviour, desk=desk)))
    assert what in failed(events).message
    check_record(events, tmp_path)


async def test_a_request_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    given = options(tmp_path, "unknown-request", desk=Answers(approved=True))
    events = await gather(service().invoke("a nail", options=given))
    completed(events)
    check_record(events, tmp_path)


async def test_a_picture_goes_over_the_app_server(tmp_path: Path) -> None:
    picture = ImagePart("data:image/png;base64,AAAA", "image/png")
    prompt = [UserMessage(id="1", content=UserContent(parts=(TextPart("this"), picture)))]
    events = await gather(service().invoke(prompt, options=options(tmp_path)))
    completed(events)
    start = next(line for line in heard(tmp_path) if line.get("method") == "turn/start")
    assert start["params"]["input"][1] == {"type": "image", "url": picture.url}
