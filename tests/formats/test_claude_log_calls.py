"""Calls in session files of Claude Code: results are joined by id, and errors, denials and stops differ."""

from itertools import permutations

from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ImagePart,
    InterruptedOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.logs.claude_session import Session, data_of, read, text, use
from tests.tables import each_row

PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}


@each_row("live", [False, True], ids=["at once", "live"])
@each_row("order", list(permutations(["c1", "c2", "c3"])), ids="-".join)
def test_parallel_results_come_in_any_order_on_different_parents(order: tuple[str, ...], live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1"), use("c2"), use("c3")])
    lines = {
        block["id"]: record["uuid"]
        for record in session.records[1:]
        for block in record["message"]["content"]
    }
    for call in order:
        session.result(call, f"{call} is warm", parent=lines[call], sourceToolAssistantUUID=lines[call])
    session.answer(text="All warm.")
    reading = read(session, live=live)
    assert {call: part.output for call, part in reading.calls.items()} == {
        call: TextOutput(f"{call} is warm") for call in order
    }
    assert reading.parents == {"u-1": "", "msg-u-1": "u-1", "msg-u-2": "msg-u-1"}
    assert not reading.unknown_records


def test_results_of_one_record_go_to_their_calls_and_texts_remain() -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1"), use("c2")])
    blocks = [
        {"type": "tool_result", "tool_use_id": "c2", "content": "two"},
        {"type": "tool_result", "tool_use_id": "c1", "content": "one", "is_error": True},
        text("[Request interrupted by user for tool use]"),
    ]
    reading = read(session.prompt(blocks))
    assert reading.calls["c1"].output == ErrorTextOutput("one")
    assert reading.calls["c2"].output == TextOutput("two")
    (notice,) = reading.notices
    assert notice.content.parts == (TextPart("[Request interrupted by user for tool use]"),)


def test_a_result_may_come_before_its_call() -> None:
    session = Session().prompt("Bake").result("c1", "warm").answer(text="Look", calls=[use("c1")])
    reading = read(session)
    assert reading.calls["c1"].output == TextOutput("warm")
    assert not reading.unknown_records


def test_a_result_without_a_call_is_kept_and_reported() -> None:
    session = Session().prompt("Bake").result("gone", "warm", toolUseResult={"heat": 3}).answer(text="Hm")
    reading = read(session)
    assert list(reading.unknown_records) == ["the result has no call right before it"]
    (note,) = reading.notes
    assert data_of(note)["message"]["content"][0]["content"] == "warm"
    assert data_of(note)["toolUseResult"] == {"heat": 3}


@each_row("live", [False, True], ids=["at once", "live"])
def test_the_first_of_two_results_is_used_and_the_second_is_kept(live: bool) -> None:
    reading = read(Session().work("Bake", "c1").result("c1", "cold").turn("Again"), live=live)
    assert reading.calls["c1"].output == TextOutput("c1 is done")
    assert reading.unknown_records == {"a result of an old call, or of a call that has one": [7]}
    assert [data_of(note)["message"]["content"][0]["content"] for note in reading.notes] == ["cold"]


@each_row("live", [False, True], ids=["at once", "live"])
@each_row("turns", [0, 1, 30])
def test_a_call_without_a_result_is_lost_until_its_result_comes_late(turns: int, live: bool) -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1")])
    for number in range(turns):
        session.turn(f"Still? {number}")
    lost = read(session, live=live).calls["c1"]
    assert (lost.state, lost.output) == ("output-error", InterruptedOutput("lost"))
    found = read(session.result("c1", "warm"), live=live).calls["c1"]
    assert (found.state, found.output) == ("output-available", TextOutput("warm"))


def test_a_running_call_is_open_while_its_agent_is_running() -> None:
    reading = read(Session().prompt("Bake"))
    log = reading.log
    log.feed(Session(mark="v").prompt("More").answer(calls=[use("c1")]).data)
    (*_, response) = log.finish(running=True).messages
    assert [getattr(part, "state", None) for part in response.content.parts] == [None, "input-available"]


NO: Json = "The user doesn't want to proceed with this tool use. The tool use was rejected."
WHY = f"{NO} To tell you how to proceed, the user said:\nuse the other oven"

ENDINGS: dict[str, tuple[Json, JsonObject, str, ToolOutput]] = {
    "text": ("warm", {}, "output-available", TextOutput("warm")),
    "nothing": ("", {}, "output-available", TextOutput("")),
    "text and a picture": (
        [text("look"), PNG],
        {},
        "output-available",
        ContentOutput((TextPart("look"), ImagePart("data:image/png;base64,iVBORw==", "image/png"))),
    ),
    "the tool failed": ("Exit code 1", {"error": True}, "output-error", ErrorTextOutput("Exit code 1")),
    "the tool failed in blocks": (
        [text("no"), text("heat")],
        {"error": True},
        "output-error",
        ErrorJsonOutput([text("no"), text("heat")]),
    ),
    "a denial by the user": (NO, {"error": True}, "output-denied", ExecutionDeniedOutput(NO)),
    "text of the user stays text in a file that was read": (NO, {}, "output-available", TextOutput(NO)),
    "no permission": (
        "Claude requested permissions to use Oven, but you haven't granted it yet.",
        {"error": True},
        "output-denied",
        ExecutionDeniedOutput("Claude requested permissions to use Oven, but you haven't granted it yet."),
    ),
    "a sibling failed": (
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        {"error": True},
        "output-error",
        InterruptedOutput("aborted", "<tool_use_error>Sibling tool call errored</tool_use_error>"),
    ),
}


def bare(output: ToolOutput | None) -> Json:
    """An output without what only a writer of the same file needs."""
    assert output is not None
    fields = {name: getattr(output, name) for name in output.__struct_fields__ if name != "provider_metadata"}
    return type(output), fields


@each_row(("content", "fields", "state", "output"), ENDINGS.values(), ids=ENDINGS)
def test_how_a_call_ended(content: Json, fields: JsonObject, state: str, output: ToolOutput) -> None:
    call = read(Session().answer(calls=[use("c1")]).result("c1", content, **fields)).calls["c1"]
    assert call.state == state
    assert bare(call.output) == bare(output)


def test_the_text_of_a_denial_is_its_reason() -> None:
    session = Session().answer(calls=[use("c1")])
    session.result("c1", WHY, error=True, toolUseResult="User rejected tool use")
    output = read(session).calls["c1"].output
    assert isinstance(output, ExecutionDeniedOutput)
    assert output.reason == "use the other oven"


def test_newer_logs_have_the_kind_of_a_denial() -> None:
    session = Session().answer(calls=[use("c1")])
    session.result("c1", "not today", error=True, toolDenialKind="user-rejected")
    call = read(session).calls["c1"]
    assert (call.state, bare(call.output)) == ("output-denied", bare(ExecutionDeniedOutput("not today")))


STRUCTURED: dict[str, Json] = {
    "an object": {"stdout": "warm", "stderr": "", "interrupted": False},
    "a list": [{"type": "text", "text": "warm"}],
    "a string": "Error: no heat",
    "null": None,
    "empty": {},
}


@each_row("structured", STRUCTURED.values(), ids=STRUCTURED)
def test_the_structured_result_is_kept_whatever_its_shape(structured: Json) -> None:
    session = Session().answer(calls=[use("c1")]).result("c1", "warm", toolUseResult=structured)
    call = read(session).calls["c1"]
    assert (call.tool_metadata or {})["claudeCode"]["toolUseResult"] == structured
    assert call.output == TextOutput("warm")


def test_without_a_structured_result_there_is_none() -> None:
    call = read(Session().answer(calls=[use("c1")]).result("c1", "warm")).calls["c1"]
    assert "toolUseResult" not in (call.tool_metadata or {}).get("claudeCode", {})


def test_progress_is_the_output_until_there_is_one() -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1", "Bash")])
    session.progress("c1", "bash_progress", output="w", fullOutput="wa", elapsedTimeSeconds=1)
    assert not read(session).unknown_records
    log = read(Session().prompt("Bake")).log
    log.feed(session.data)
    (*_, response) = log.finish(running=True).messages
    call = response.content.parts[-1]
    assert getattr(call, "preliminary", None)
    assert read(session.result("c1", "warm")).calls["c1"].output == TextOutput("warm")


def test_a_call_with_only_progress_is_lost_with_the_progress_as_its_message() -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1", "Bash"), use("c2", "mcp__oven__heat")])
    session.progress("c1", "bash_progress", output="w", fullOutput="wa")
    session.progress("c2", "mcp_progress", progress=3)
    calls = read(session.turn("And?")).calls
    assert calls["c1"].output == InterruptedOutput("lost", "wa")
    assert calls["c2"].output == InterruptedOutput("lost", '{"type":"mcp_progress","progress":3}')
    assert {(call.state, call.preliminary) for call in calls.values()} == {("output-error", None)}


def test_progress_after_the_result_is_ignored() -> None:
    session = Session().answer(calls=[use("c1", "Bash")]).result("c1", "warm")
    session.progress("c1", "bash_progress", output="w", fullOutput="late")
    assert read(session).calls["c1"].output == TextOutput("warm")


def test_the_times_of_a_call_are_those_of_its_lines() -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1")]).result("c1")
    log = read(Session()).log
    log.feed(session.data)
    began, ended = log.take().times["c1"]
    assert began is not None
    assert ended is not None
    assert (ended - began).total_seconds() == 1


def test_a_repeated_call_is_one_call() -> None:
    session = Session().answer(calls=[use("c1")]).piece("msg-u-1", use("c1")).result("c1", "warm")
    reading = read(session)
    (response,) = reading.responses
    assert [part.id for part in response.parts if isinstance(part, ToolCallPart)] == ["c1"]
    assert reading.calls["c1"].output == TextOutput("warm")
