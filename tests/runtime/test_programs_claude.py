"""Claude Code as a program, by a stand-in that speaks its protocol."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest

from partita.errors import AgentError
from partita.runtime.programs.claude_code import ClaudeCodeService
from partita.runtime.programs.process import HIGH_WATER, Launch, Patience, Piece, Program
from partita.runtime.service import Decision, Question
from partita.types.chunks import ToolApprovalRequest, ToolApprovalResponse
from partita.types.events import AgentStreamEvent, ChunkEvent, CompleteEvent
from partita.types.json import JsonObject, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    ToolCallPart,
    UserContent,
    UserMessage,
)
from partita.types.parts import ImagePart, ReasoningPart, TextPart
from partita.types.tools import ExecutionDeniedOutput, TextOutput
from tests.runtime.programs.running import (
    BRISK,
    PATIENT,
    Answers,
    Silence,
    alive,
    check_record,
    chunks,
    command,
    complaints,
    completed,
    failed,
    gather,
    message,
    options,
    paths,
    pids,
    words,
)
from tests.sampling import HUGE
from tests.tables import each_row

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes the Linux way")


def service(patience: Patience = PATIENT) -> ClaudeCodeService:
    return ClaudeCodeService(command("claude"), patience=patience)


def call(events: list[AgentStreamEvent], id: str) -> ToolCallPart:
    return next(part for part in message(events).parts if isinstance(part, ToolCallPart) and part.id == id)


def heard(folder: Path) -> list[JsonObject]:
    return [loads(line) for line in paths(folder).heard.read_bytes().splitlines()]


async def test_a_turn_comes_whole(tmp_path: Path) -> None:
    desk = Answers(approved=True)
    behaviour = options(tmp_path, "tool", "sub-agent", "stderr", "blank", desk=desk)
    events = await gather(service().invoke("Paint the fence", cwd=tmp_path, options=behaviour))
    result = completed(events)
    assert result["sessionId"] == "session-of-its-own"
    assert result["totalCostUsd"] == 0.25
    last = events[-1]
    assert isinstance(last, CompleteEvent)
    assert last.usage is not None
    assert last.usage.total_tokens == 12
    thought = next(part for part in message(events).parts if isinstance(part, ReasoningPart))
    assert thought.provider_metadata == {"anthropic": {"signature": "c2lnbmVk"}}
    assert words(events) == "You said: Paint the fence"
    assert call(events, "c2").children
    assert complaints(events) == "careful: the paint is wet\n"
    check_record(events, tmp_path)


async def test_a_question_is_answered_with_yes(tmp_path: Path) -> None:
    desk = Answers(approved=True)
    events = await gather(service().invoke("Paint", options=options(tmp_path, "tool", desk=desk)))
    assert desk.asked == [Question("q1", "c1", "Bash", {"command": "paint fence"})]
    output = call(events, "c1").output
    assert isinstance(output, TextOutput)
    assert output.value == "painted paint fence"
    answers = [chunk for chunk in chunks(events) if isinstance(chunk, ToolApprovalResponse)]
    assert [answer.approved for answer in answers] == [True]


DENIALS = {
    "someone says no": (Answers(approved=False, reason="not on a Sunday"), "not on a Sunday"),
    "nobody is there": (None, "nobody is there to allow it"),
}


@pytest.mark.parametrize(("desk", "reason"), DENIALS.values(), ids=DENIALS)
async def test_a_question_is_answered_with_no(tmp_path: Path, desk: Answers | None, reason: str) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, "tool", desk=desk)))
    part = call(events, "c1")
    assert part.state == "output-denied"
    assert isinstance(part.output, ExecutionDeniedOutput)
    assert part.output.reason == reason
    completed(events)
    check_record(events, tmp_path)


async def test_a_question_that_is_withdrawn_needs_no_answer(tmp_path: Path) -> None:
    desk = Silence()
    events = await gather(service().invoke("Paint", options=options(tmp_path, "tool", "withdraw", desk=desk)))
    completed(events)
    assert not any(line["type"] == "control_response" for line in heard(tmp_path))


async def test_a_desk_that_fails_is_told_to_the_caller_and_the_program_is_gone(tmp_path: Path) -> None:
    class Broken:
        async def ask(self, question: Question) -> Decision:
            raise AgentError("the desk is on fire")

    with pytest.raises(AgentError, match="on fire"):
        await gather(service().invoke("Paint", options=options(tmp_path, "tool", desk=Broken())))


async def test_a_turn_that_is_stopped_while_a_question_is_open_is_interrupted(tmp_path: Path) -> None:
    desk = Silence()
    stream = service().invoke("Paint", options=options(tmp_path, "tool", desk=desk))
    reader = asyncio.create_task(gather(stream))
    await desk.was_asked.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert desk.was_withdrawn
    assert heard(tmp_path)[-1]["request"] == {"subtype": "interrupt"}
    assert b"error_during_execution" in paths(tmp_path).said.read_bytes()


@linux
@pytest.mark.parametrize("behaviour", ["hang", "tool,stubborn"])
async def test_whoever_stops_reading_leaves_no_process_behind(tmp_path: Path, behaviour: str) -> None:
    given = options(tmp_path, *behaviour.split(","), desk=Silence())
    reader = asyncio.create_task(gather(service(BRISK).invoke("Paint", options=given)))
    family = await pids(tmp_path)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert len(family) == 3
    assert not alive(family)


@linux
async def test_closing_the_stream_stops_a_program_that_listens_to_nothing(tmp_path: Path) -> None:
    given = options(tmp_path, "hang")
    stream = cast("AsyncGenerator[AgentStreamEvent, None]", service(BRISK).invoke("Paint", options=given))
    async for event in stream:
        if isinstance(event, ChunkEvent) and event.raw_text and "You sai" in event.raw_text:
            break
    family = await pids(tmp_path)
    assert len(alive(family)) == 3
    await stream.aclose()
    assert not alive(family)


@linux
async def test_a_reader_that_is_cancelled_twice_still_leaves_nothing(tmp_path: Path) -> None:
    patience = Patience(interrupt=600, leave=600, terminate=600, kill=30)
    reader = asyncio.create_task(gather(service(patience).invoke("Paint", options=options(tmp_path, "hang"))))
    family = await pids(tmp_path)
    for _ in range(3):
        reader.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await reader
    while alive(family):
        await asyncio.sleep(0.01)


@linux
async def test_what_a_program_leaves_running_is_ended(tmp_path: Path) -> None:
    patience = Patience(interrupt=30, leave=0.2, terminate=30, kill=30)
    events = await gather(service(patience).invoke("Paint", options=options(tmp_path, "leaves-child")))
    completed(events)
    assert not alive(await pids(tmp_path))


@linux
async def test_a_result_counts_though_the_program_does_not_go(tmp_path: Path) -> None:
    events = await gather(service(BRISK).invoke("Paint", options=options(tmp_path, "stays")))
    assert completed(events)["exitCode"] is None
    assert not alive(await pids(tmp_path))


FAILURES: dict[str, tuple[str, str, str]] = {
    "it breaks in the middle": ("crash", "exited with code 3", "the brush broke"),
    "it exits with a code after its result": ("exit-code", "exited with code 4", ""),
    "it gives no result": ("no-result", "ended without a result", ""),
    "its last line is cut": ("half-line", "ended without a result", ""),
    "the provider fails": ("api-error", "the shop is closed", ""),
}


@pytest.mark.parametrize(("behaviour", "what", "complaint"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_the_last_event(tmp_path: Path, behaviour: str, what: str, complaint: str) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, behaviour)))
    error = failed(events)
    assert what in error.message
    assert complaint in error.message
    assert is_object(error.details)
    assert error.details["sessionId"] == "session-of-its-own"
    assert complaint in error.details["stderr"]
    assert words(events) == "You said: Paint"
    check_record(events, tmp_path)


async def test_a_program_that_closes_its_output_and_lives_is_a_failure(tmp_path: Path) -> None:
    events = await gather(service(BRISK).invoke("Paint", options=options(tmp_path, "mute")))
    assert "without a result" in failed(events).message


async def test_a_program_that_says_nothing_for_too_long_is_a_failure(tmp_path: Path) -> None:
    patience = Patience(interrupt=0.1, leave=0.1, terminate=0.1, kill=30, silence=2)
    events = await gather(service(patience).invoke("Paint", options=options(tmp_path, "hang")))
    assert "said nothing for 2 seconds" in failed(events).message


async def test_a_line_that_is_no_json_is_kept(tmp_path: Path) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, "bad-json")))
    completed(events)
    assert any(event.raw_text == "this is {no JSON\n" for event in events)
    check_record(events, tmp_path)


async def test_a_huge_line_comes_whole(tmp_path: Path) -> None:
    events = await gather(service().invoke("Paint", options=options(tmp_path, "flood", flood=HUGE)))
    completed(events)
    output = call(events, "c-flood").output
    assert isinstance(output, TextOutput)
    assert len(output.value) == HUGE
    check_record(events, tmp_path)


async def test_a_flood_of_complaints_does_not_stop_the_work(tmp_path: Path) -> None:
    size = 20 * 1024 * 1024
    events = await gather(service().invoke("Paint", options=options(tmp_path, "stderr-flood", flood=size)))
    completed(events)
    assert len(complaints(events)) == size // 5 * 5


async def test_while_nobody_reads_the_program_has_to_wait() -> None:
    size = 5 * HIGH_WATER
    code = f"import sys; sys.stdout.write('x' * {size})"
    pieces: asyncio.Queue[Piece] = asyncio.Queue()
    program = await Program.start(Launch([sys.executable, "-c", code]), pieces.put_nowait, PATIENT)
    waiting: list[Piece] = []
    while sum(len(piece.data) for piece in waiting) <= HIGH_WATER:
        waiting.append(await pieces.get())
    assert not await program.wait(0.2)
    waiting += [pieces.get_nowait() for _ in range(pieces.qsize())]
    told = sum(len(piece.data) for piece in waiting)
    assert told < 2 * HIGH_WATER
    for piece in waiting:
        program.took(piece)
    while (piece := await pieces.get()).channel != "gone":
        told += len(piece.data)
        program.took(piece)
    await program.stop()
    assert told == size


async def test_a_session_is_gone_on_with(tmp_path: Path) -> None:
    given = options(
        tmp_path, model="m-2", instructions="Be brief", settings={"permissionMode": "plan", "x": 1}
    )
    events = await gather(service().invoke("Go on", session_id="session-7", options=given))
    assert completed(events)["sessionId"] == "session-7"
    assert b'"model": "m-2"' in paths(tmp_path).said.read_bytes()


WRONG = {"an option": "--dangerously-skip-permissions", "nothing": ""}


@each_row("session", WRONG.values(), ids=WRONG)
def test_a_session_id_that_is_none_is_refused(session: str) -> None:
    with pytest.raises(AgentError, match="no session id"):
        service().invoke("Go on", session_id=session)


MISSING = {
    "no program": (("/no/such/program",), None, "there is no program"),
    "no folder": (command("claude"), Path("/no/such/folder"), "cannot start"),
    "no word": (("a\0b",), None, "cannot start"),
}


@each_row(("words_", "cwd", "what"), MISSING.values(), ids=MISSING)
async def test_a_program_that_cannot_be_started_is_a_failure(
    words_: tuple[str, ...], cwd: Path | None, what: str
) -> None:
    events = await gather(ClaudeCodeService(words_).invoke("Paint", cwd=cwd))
    assert len(events) == 1
    assert what in failed(events).message


async def test_a_conversation_is_told_to_an_agent_that_does_not_know_it(tmp_path: Path) -> None:
    picture = ImagePart("data:image/png;base64,AAAA", "image/png")
    talk: list[Message] = [
        UserMessage(id="1", content=UserContent(parts=(TextPart("Which colour?"),))),
        AssistantMessage(id="2", content=AssistantContent(parts=(TextPart("Green."),))),
        UserMessage(id="3", content=UserContent(parts=(TextPart("Paint it"), picture))),
    ]
    await gather(service().invoke(talk, options=options(tmp_path)))
    text, image = heard(tmp_path)[1]["message"]["content"]
    assert "Which colour?" in text["text"]
    assert "Green." in text["text"]
    assert text["text"].endswith("Paint it")
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def done(id: str, output: str) -> ToolCallPart:
    call = {"command": f"cat {id}"}
    return ToolCallPart(id, "Bash", "output-available", input=call, output=TextOutput(output))


async def test_a_conversation_is_sent_with_its_calls_and_outputs(tmp_path: Path) -> None:
    refused = ToolCallPart("c2", "Write", "output-denied", input={}, output=ExecutionDeniedOutput("no"))
    talk: list[Message] = [
        UserMessage(id="1", content="What is in the shed?"),
        AssistantMessage(
            id="2",
            content=[ReasoningPart("Hm."), done("c1", "a saw"), refused, TextPart("A saw.")],
        ),
        UserMessage(id="3", content="Use it"),
    ]
    await gather(service().invoke(talk, options=options(tmp_path)))
    assert heard(tmp_path)[1]["message"]["content"] == (
        "What was said in this conversation before:\n\n"
        "<user>\nWhat is in the shed?\n</user>\n\n"
        "<assistant>\n"
        """<call tool='Bash'>\n{"command":"cat c1"}\n</call>\n\n<output>\na saw\n</output>\n\n"""
        "<call tool='Write'>\n{}\n</call>\n\n<output>\nnot allowed: no\n</output>\n\n"
        "A saw.\n</assistant>\n\nUse it"
    )


async def test_a_long_conversation_is_sent_shortened(tmp_path: Path) -> None:
    talk: list[Message] = [UserMessage(id="0", content="Once upon a time")]
    talk += [
        AssistantMessage(id=f"m{number}", content=[done(f"c{number}", "x" * 10_000), TextPart("y" * 50_000)])
        for number in range(5)
    ]
    await gather(service().invoke([*talk, UserMessage(id="z", content="Go on")], options=options(tmp_path)))
    sent = heard(tmp_path)[1]["message"]["content"]
    assert len(sent) < 201_000
    assert "[3 earlier messages are left out]" in sent
    assert "… 6000 characters left out …" in sent
    assert "cat c4" in sent
    assert sent.endswith("</assistant>\n\nGo on")


def test_a_conversation_that_asks_nothing_is_refused() -> None:
    with pytest.raises(AgentError, match="last message"):
        service().invoke([])


async def test_questions_are_seen_before_they_are_asked(tmp_path: Path) -> None:
    seen: list[str] = []

    class Watching:
        async def ask(self, question: Question) -> Decision:
            seen.append("asked")
            return Decision(True)

    async for event in service().invoke("Paint", options=options(tmp_path, "tool", desk=Watching())):
        match event:
            case ChunkEvent(chunk=ToolApprovalRequest()):
                seen.append("seen")
            case _:
                pass
    assert seen == ["seen", "asked"]
