"""Claude Code as a program, with a stand-in."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest

from partita.errors import AgentError
from partita.runtime.programs.claude_code import ClaudeCodeService
from partita.runtime.programs.process import HIGH_WATER, ChildProcess, Launch, ProcessEvent, Timeouts
from partita.runtime.service import ApprovalDecision, ApprovalRequest
from partita.types.chunks import (
    AgentStreamEvent,
    ChunkEvent,
    CompleteEvent,
    ToolApprovalRequest,
    ToolApprovalResponse,
)
from partita.types.json import JsonObject, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import ExecutionDeniedOutput, ImagePart, ReasoningPart, TextOutput, TextPart
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
    stderr_text,
    text_of_events,
)
from tests.sampling import HUGE
from tests.tables import each_row

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def service(timeouts: Timeouts = LONG) -> ClaudeCodeService:
    return ClaudeCodeService(command("claude"), timeouts=timeouts)


def call(events: list[AgentStreamEvent], id: str) -> ToolCallPart:
    return next(part for part in message(events).parts if isinstance(part, ToolCallPart) and part.id == id)


def input_lines(folder: Path) -> list[JsonObject]:
    return [loads(line) for line in paths(folder).input.read_bytes().splitlines()]


async def test_a_turn(tmp_path: Path) -> None:
    approvals = FixedDecision(approved=True)
    behaviour = options(tmp_path, "tool", "sub-agent", "stderr", "blank", approvals=approvals)
    events = await gather(service().invoke("Paint the fence", cwd=tmp_path, options=behaviour))
    result = completed(events)
    assert result["sessionId"] == "new-session"
    assert result["totalCostUsd"] == 0.25
    last = events[-1]
    assert isinstance(last, CompleteEvent)
    assert last.usage is not None
    assert last.usage.total_tokens == 12
    thought = next(part for part in message(events).parts if isinstance(part, ReasoningPart))
    assert thought.provider_metadata == {"anthropic": {"signature": "c2lnbmVk"}}
    assert text_of_events(events) == "You said: Paint the fence"
    assert call(events, "c2").children
    assert stderr_text(events) == "careful: the paint is wet\n"
    check_record(events, tmp_path)


async def test_an_approved_call(tmp_path: Path) -> None:
    approvals = FixedDecision(approved=True)
    events = await gather(service().invoke("Paint", options=options(tmp_path, "tool", approvals=approvals)))
    assert approvals.requests == [ApprovalRequest("q1", "c1", "Bash", {"command": "paint fence"})]
    output = call(events, "c1").output
    assert isinstance(output, TextOutput)
    assert output.value == "painted paint fence"
    responses = [chunk for chunk in chunks(events) if isinstance(chunk, ToolApprovalResponse)]
    assert [response.approved for response in responses] == [True]


DENIALS = {
    "a denial": (FixedDecision(approved=False, reason="not on a Sunday"), "not on a Sunday"),
    "no approval gate": (None, "no user is available to approve it"),
}


@pytest.mark.parametrize(("approvals", "reason"), DENIALS.values(), ids=DENIALS)
async def test_a_denied_call(tmp_path: Path, approvals: FixedDecision | None, reason: str) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, "tool", approvals=approvals)))
    part = call(events, "c1")
    assert part.state == "output-denied"
    assert isinstance(part.output, ExecutionDeniedOutput)
    assert part.output.reason == reason
    completed(events)
    check_record(events, tmp_path)


async def test_a_cancelled_approval_request_gets_no_response(tmp_path: Path) -> None:
    approvals = NoDecision()
    events = await gather(
        service().invoke("Paint", options=options(tmp_path, "tool", "withdraw", approvals=approvals))
    )
    completed(events)
    assert not any(line["type"] == "control_response" for line in input_lines(tmp_path))


async def test_an_approval_gate_that_raises_raises_in_the_caller_and_ends_the_program(tmp_path: Path) -> None:
    class Broken:
        async def request(self, request: ApprovalRequest) -> ApprovalDecision:
            raise AgentError("the approval gate is broken")

    with pytest.raises(AgentError, match="is broken"):
        await gather(service().invoke("Paint", options=options(tmp_path, "tool", approvals=Broken())))


async def test_a_turn_stopped_during_an_approval_request_is_interrupted(tmp_path: Path) -> None:
    approvals = NoDecision()
    stream = service().invoke("Paint", options=options(tmp_path, "tool", approvals=approvals))
    reader = asyncio.create_task(gather(stream))
    await approvals.was_requested.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert approvals.was_cancelled
    assert input_lines(tmp_path)[-1]["request"] == {"subtype": "interrupt"}
    assert b"error_during_execution" in paths(tmp_path).output.read_bytes()


@linux
@pytest.mark.parametrize("behaviour", ["hang", "tool,stubborn"])
async def test_a_reader_that_stops_leaves_no_process(tmp_path: Path, behaviour: str) -> None:
    given = options(tmp_path, *behaviour.split(","), approvals=NoDecision())
    reader = asyncio.create_task(gather(service(SHORT).invoke("Paint", options=given)))
    family = await pids(tmp_path)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert len(family) == 3
    assert not alive(family)


@linux
async def test_closing_the_stream_stops_a_program_that_ignores_signals(tmp_path: Path) -> None:
    given = options(tmp_path, "hang")
    stream = cast("AsyncGenerator[AgentStreamEvent, None]", service(SHORT).invoke("Paint", options=given))
    async for event in stream:
        if isinstance(event, ChunkEvent) and event.raw_text and "You sai" in event.raw_text:
            break
    family = await pids(tmp_path)
    assert len(alive(family)) == 3
    await stream.aclose()
    assert not alive(family)


@linux
async def test_a_reader_that_is_cancelled_twice_leaves_no_process(tmp_path: Path) -> None:
    timeouts = Timeouts(interrupt=600, exit=600, terminate=600, kill=30)
    reader = asyncio.create_task(gather(service(timeouts).invoke("Paint", options=options(tmp_path, "hang"))))
    family = await pids(tmp_path)
    for _ in range(3):
        reader.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await reader
    while alive(family):
        await asyncio.sleep(0.01)


@linux
async def test_children_of_a_program_are_ended_with_it(tmp_path: Path) -> None:
    timeouts = Timeouts(interrupt=30, exit=0.2, terminate=30, kill=30)
    events = await gather(service(timeouts).invoke("Paint", options=options(tmp_path, "leaves-child")))
    completed(events)
    assert not alive(await pids(tmp_path))


@linux
async def test_a_result_counts_even_if_the_program_does_not_exit(tmp_path: Path) -> None:
    events = await gather(service(SHORT).invoke("Paint", options=options(tmp_path, "stays")))
    assert completed(events)["exitCode"] is None
    assert not alive(await pids(tmp_path))


FAILURES: dict[str, tuple[str, str, str]] = {
    "a crash": ("crash", "exited with code 3", "the brush broke"),
    "an exit code after the result": ("exit-code", "exited with code 4", ""),
    "no result": ("no-result", "ended without a result", ""),
    "a cut last line": ("half-line", "ended without a result", ""),
    "a failure of the provider": ("api-error", "the shop is closed", ""),
}


@pytest.mark.parametrize(("behaviour", "what", "stderr"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_the_last_event(tmp_path: Path, behaviour: str, what: str, stderr: str) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, behaviour)))
    error = failed(events)
    assert what in error.message
    assert stderr in error.message
    assert is_object(error.details)
    assert error.details["sessionId"] == "new-session"
    assert stderr in error.details["stderr"]
    assert text_of_events(events) == "You said: Paint"
    check_record(events, tmp_path)


async def test_a_program_that_closes_its_output_and_keeps_running_is_a_failure(tmp_path: Path) -> None:
    events = await gather(service(SHORT).invoke("Paint", options=options(tmp_path, "mute")))
    assert "without a result" in failed(events).message


async def test_an_idle_program_is_a_failure(tmp_path: Path) -> None:
    timeouts = Timeouts(interrupt=0.1, exit=0.1, terminate=0.1, kill=30, idle=2)
    events = await gather(service(timeouts).invoke("Paint", options=options(tmp_path, "hang")))
    assert "sent nothing for 2 seconds" in failed(events).message


async def test_a_line_that_is_not_json_is_kept(tmp_path: Path) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, "bad-json")))
    completed(events)
    assert any(event.raw_text == "this is {no JSON\n" for event in events)
    check_record(events, tmp_path)


async def test_a_huge_line(tmp_path: Path) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, "flood", flood=HUGE)))
    completed(events)
    output = call(events, "c-flood").output
    assert isinstance(output, TextOutput)
    assert len(output.value) == HUGE
    check_record(events, tmp_path)


async def test_much_output_on_stderr_does_not_block_the_program(tmp_path: Path) -> None:
    size = 20 * 1024 * 1024
    events = await gather(service().invoke("Paint", options=options(tmp_path, "stderr-flood", flood=size)))
    completed(events)
    assert len(stderr_text(events)) == size // 5 * 5


async def test_a_program_waits_while_its_output_is_not_read() -> None:
    size = 5 * HIGH_WATER
    code = f"import sys; sys.stdout.write('x' * {size})"
    events: asyncio.Queue[ProcessEvent] = asyncio.Queue()
    process = await ChildProcess.start(Launch([sys.executable, "-c", code]), events.put_nowait, LONG)
    unread: list[ProcessEvent] = []
    while sum(len(event.data) for event in unread) <= HIGH_WATER:
        unread.append(await events.get())
    assert not await process.wait(0.2)
    unread += [events.get_nowait() for _ in range(events.qsize())]
    received = sum(len(event.data) for event in unread)
    assert received < 2 * HIGH_WATER
    for event in unread:
        process.acknowledge(event)
    while (event := await events.get()).kind != "closed":
        received += len(event.data)
        process.acknowledge(event)
    await process.stop()
    assert received == size


async def test_a_session_is_resumed(tmp_path: Path) -> None:
    given = options(
        tmp_path, model="m-2", instructions="Be brief", settings={"permissionMode": "plan", "x": 1}
    )
    events = await gather(service().invoke("Go on", session_id="session-7", options=given))
    assert completed(events)["sessionId"] == "session-7"
    assert b'"model": "m-2"' in paths(tmp_path).output.read_bytes()


WRONG = {"an option": "--dangerously-skip-permissions", "nothing": ""}


@each_row("session", WRONG.values(), ids=WRONG)
def test_a_session_id_that_looks_like_an_option_is_refused(session: str) -> None:
    with pytest.raises(AgentError, match="is not a session id"):
        service().invoke("Go on", session_id=session)


MISSING = {
    "no program": (("/no/such/program",), None, "was not found"),
    "no folder": (command("claude"), Path("/no/such/folder"), "cannot start"),
    "an empty program": (("a\0b",), None, "cannot start"),
}


@each_row(("words_", "cwd", "what"), MISSING.values(), ids=MISSING)
async def test_a_program_that_cannot_be_started_is_a_failure(
    words_: tuple[str, ...], cwd: Path | None, what: str
) -> None:
    events = await gather(ClaudeCodeService(words_).invoke("Paint", cwd=cwd))
    assert len(events) == 1
    assert what in failed(events).message


async def test_the_history_is_sent_to_an_agent_without_a_session(tmp_path: Path) -> None:
    picture = ImagePart("data:image/png;base64,AAAA", "image/png")
    messages: list[Message] = [
        UserMessage(id="1", content=UserContent(parts=(TextPart("Which colour?"),))),
        AssistantMessage(id="2", content=AssistantContent(parts=(TextPart("Green."),))),
        UserMessage(id="3", content=UserContent(parts=(TextPart("Paint it"), picture))),
    ]
    await gather(service().invoke(messages, options=options(tmp_path)))
    text, image = input_lines(tmp_path)[1]["message"]["content"]
    assert "Which colour?" in text["text"]
    assert "Green." in text["text"]
    assert text["text"].endswith("Paint it")
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def done(id: str, output: str) -> ToolCallPart:
    call = {"command": f"cat {id}"}
    return ToolCallPart(id, "Bash", "output-available", input=call, output=TextOutput(output))


async def test_a_conversation_is_sent_with_its_calls_and_outputs(tmp_path: Path) -> None:
    refused = ToolCallPart("c2", "Write", "output-denied", input={}, output=ExecutionDeniedOutput("no"))
    messages: list[Message] = [
        UserMessage(id="1", content="What is in the shed?"),
        AssistantMessage(
            id="2",
            content=[ReasoningPart("Hm."), done("c1", "a saw"), refused, TextPart("A saw.")],
        ),
        UserMessage(id="3", content="Use it"),
    ]
    await gather(service().invoke(messages, options=options(tmp_path)))
    assert input_lines(tmp_path)[1]["message"]["content"] == (
        "The conversation so far:\n\n"
        "<user>\nWhat is in the shed?\n</user>\n\n"
        "<assistant>\n"
        """<call tool='Bash'>\n{"command":"cat c1"}\n</call>\n\n<output>\na saw\n</output>\n\n"""
        "<call tool='Write'>\n{}\n</call>\n\n<output>\nnot allowed: no\n</output>\n\n"
        "A saw.\n</assistant>\n\nUse it"
    )


async def test_a_long_conversation_is_sent_shortened(tmp_path: Path) -> None:
    messages: list[Message] = [UserMessage(id="0", content="Once upon a time")]
    messages += [
        AssistantMessage(id=f"m{number}", content=[done(f"c{number}", "x" * 10_000), TextPart("y" * 50_000)])
        for number in range(5)
    ]
    await gather(
        service().invoke([*messages, UserMessage(id="z", content="Go on")], options=options(tmp_path))
    )
    sent = input_lines(tmp_path)[1]["message"]["content"]
    assert len(sent) < 201_000
    assert "[3 earlier messages are left out]" in sent
    assert "… 6000 characters left out …" in sent
    assert "cat c4" in sent
    assert sent.endswith("</assistant>\n\nGo on")


def test_a_prompt_without_a_user_message_is_refused() -> None:
    with pytest.raises(AgentError, match="last message"):
        service().invoke([])


async def test_the_chunk_of_an_approval_request_comes_before_the_gate_is_asked(tmp_path: Path) -> None:
    seen: list[str] = []

    class Watching:
        async def request(self, request: ApprovalRequest) -> ApprovalDecision:
            seen.append("asked")
            return ApprovalDecision(True)

    async for event in service().invoke("Paint", options=options(tmp_path, "tool", approvals=Watching())):
        match event:
            case ChunkEvent(chunk=ToolApprovalRequest()):
                seen.append("seen")
            case _:
                pass
    assert seen == ["seen", "asked"]
