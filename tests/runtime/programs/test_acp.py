"""Agents of the Agent Client Protocol, with a stand-in."""

import asyncio
from pathlib import Path

import pytest

from partita.errors import AgentError
from partita.runtime.programs.acp import AcpService, confined
from partita.runtime.programs.process import Timeouts
from partita.runtime.service import ApprovalRequest
from partita.types.chunks import AgentStreamEvent, CompleteEvent
from partita.types.json import JsonObject, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import ContentOutput, ExecutionDeniedOutput, ForeignPart, TextOutput
from tests.runtime.programs.running import (
    LONG,
    SHORT,
    FixedDecision,
    NoDecision,
    alive,
    check_record,
    chunks,
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


def service(timeouts: Timeouts = LONG, *, allow_all: bool = False) -> AcpService:
    return AcpService(
        command("acp"),
        timeouts=timeouts,
        read_files=allow_all,
        write_files=allow_all,
        terminals=allow_all,
    )


def input_lines(folder: Path) -> list[JsonObject]:
    return [loads(line) for line in paths(folder).input.read_bytes().splitlines()]


def call(events: list[AgentStreamEvent]) -> ToolCallPart:
    return next(part for part in message(events).parts if isinstance(part, ToolCallPart))


async def test_a_turn(tmp_path: Path) -> None:
    events = await gather(
        service().invoke("rain", cwd=tmp_path, options=options(tmp_path, instructions="Hi"))
    )
    result = completed(events)
    assert result["sessionId"] == "garden-1"
    assert result["stopReason"] == "end_turn"
    assert text_of_events(events) == "I heard rain"
    last = events[-1]
    assert isinstance(last, CompleteEvent)
    assert last.usage is not None
    assert last.usage.total_tokens == 5
    kinds = [type(part).__name__ for part in message(events).parts]
    assert kinds == ["StepStartPart", "ReasoningPart", "TextPart", "DataPart"]
    check_record(events, tmp_path)


async def test_messages_of_both_sides_are_recorded(tmp_path: Path) -> None:
    events = await gather(service().invoke("rain", options=options(tmp_path)))
    messages = [event.raw_agent_message for event in events]
    methods = [one.get("method") for one in messages if is_object(one)]
    assert [method for method in methods if method and method != "session/update"] == [
        "initialize",
        "session/new",
        "session/prompt",
    ]


async def test_the_replay_of_a_loaded_session_is_not_part_of_the_response(tmp_path: Path) -> None:
    events = await gather(service().invoke("rain", session_id="garden-9", options=options(tmp_path)))
    assert completed(events)["sessionId"] == "garden-9"
    assert text_of_events(events) == "I heard rain"


ALLOWED = {
    "approved once": (FixedDecision(approved=True), "yes", "output-available", TextOutput("chose yes")),
    "no": (FixedDecision(approved=False), "no", "output-denied", ExecutionDeniedOutput("No")),
    "no approval gate": (None, "no", "output-denied", ExecutionDeniedOutput("No")),
}


@pytest.mark.parametrize(("approvals", "option", "state", "output"), ALLOWED.values(), ids=ALLOWED)
async def test_permission_requests(
    tmp_path: Path, approvals: FixedDecision | None, option: str, state: str, output: object
) -> None:
    events = await gather(
        service().invoke("rain", options=options(tmp_path, "permission", approvals=approvals))
    )
    if approvals is not None:
        assert approvals.requests == [ApprovalRequest("0", "c1", "execute", {"depth": 2}, "Dig a hole")]
    part = call(events)
    assert part.state == state
    assert part.output == output
    assert part.input == {"depth": 2}
    assert part.title == "Dig a hole"
    response = next(line for line in input_lines(tmp_path) if is_object(line.get("result")))
    assert response["result"] == {"outcome": {"outcome": "selected", "optionId": option}}
    completed(events)
    check_record(events, tmp_path)


async def test_a_turn_stopped_during_a_permission_request_is_cancelled(tmp_path: Path) -> None:
    approvals = NoDecision()
    reader = asyncio.create_task(
        gather(service().invoke("rain", options=options(tmp_path, "permission", approvals=approvals)))
    )
    await approvals.was_requested.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert approvals.was_cancelled
    cancel, response = input_lines(tmp_path)[-2:]
    assert cancel["method"] == "session/cancel"
    assert response["result"] == {"outcome": {"outcome": "cancelled"}}


@linux
async def test_stopping_leaves_no_process(tmp_path: Path) -> None:
    reader = asyncio.create_task(gather(service(SHORT).invoke("rain", options=options(tmp_path, "hang"))))
    family = await pids(tmp_path)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert not alive(family)


FAILURES = {
    "the prompt fails": ("prompt-error", None, "the spade broke"),
    "the agent crashes": ("crash", None, "the brush broke"),
    "a login is required": ("login", None, "log in first: Garden key"),
    "another protocol version": ("new-version", None, "version 9"),
    "no support for resuming": ("no-load", "garden-9", "cannot resume a session"),
}


@pytest.mark.parametrize(("behaviour", "session", "what"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_the_last_event(
    tmp_path: Path, behaviour: str, session: str | None, what: str
) -> None:
    events = await gather(service().invoke("rain", session_id=session, options=options(tmp_path, behaviour)))
    assert what in failed(events).message
    check_record(events, tmp_path)


async def test_files_of_the_folder_are_read_and_written_and_no_others(tmp_path: Path) -> None:
    garden = tmp_path / "garden"
    garden.mkdir()
    (garden / "seeds.txt").write_text("peas\nbeans\nleeks\n")
    given = options(tmp_path, "files")
    events = await gather(service(allow_all=True).invoke("rain", cwd=garden, options=given))
    completed(events)
    assert "beans\n|-32602|True" in text_of_events(events)
    assert (garden / "beds" / "one.txt").read_text() == "carrots\n"
    check_record(events, tmp_path)


async def test_client_methods_that_are_not_allowed_are_refused(tmp_path: Path) -> None:
    """The stand-in crashes if a request is refused: it must not call methods that were not offered."""
    events = await gather(service().invoke("rain", cwd=tmp_path, options=options(tmp_path, "files")))
    failed(events)
    opening, refusal = input_lines(tmp_path)[0], input_lines(tmp_path)[-2]
    offered = opening["params"]["clientCapabilities"]
    assert offered == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    assert refusal["error"]["code"] == -32601


async def test_terminals_run_commands_and_their_output_is_in_the_call(tmp_path: Path) -> None:
    given = options(tmp_path, "terminal", "left-terminal")
    events = await gather(service(allow_all=True).invoke("rain", cwd=tmp_path, options=given))
    completed(events)
    output = call(events).output
    assert isinstance(output, ContentOutput)
    (item,) = output.value
    assert isinstance(item, ForeignPart)
    assert item.value["output"] == "water\n"
    assert item.value["exitStatus"] == {"exitCode": 5, "signal": None}
    check_record(events, tmp_path)


OUTSIDE = {
    "another folder": "/etc/passwd",
    "a parent folder": "../secret",
    "a parent folder within the path": "beds/../../secret",
    "a link": "door/secret",
    "nothing": "",
    "a NUL": "a\0b",
}


@pytest.mark.parametrize("path", OUTSIDE.values(), ids=OUTSIDE)
def test_a_path_outside_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    garden = tmp_path / "garden"
    garden.mkdir()
    (garden / "door").symlink_to(tmp_path)
    with pytest.raises(AgentError):
        confined(garden, path)


async def test_the_model_is_set_if_the_agent_supports_it(tmp_path: Path) -> None:
    events = await gather(service().invoke("rain", options=options(tmp_path, "models", model="m-2")))
    completed(events)
    wish = next(line for line in input_lines(tmp_path) if line.get("method") == "session/set_model")
    assert wish["params"] == {"sessionId": "garden-1", "modelId": "m-2"}
    assert chunks(events)
