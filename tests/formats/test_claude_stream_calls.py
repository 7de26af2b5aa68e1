"""Calls in a streamed turn: denials, interruptions, approval requests and responses."""

from partita.types.chunks import DataChunk, ToolInputAvailable
from partita.types.json import Json
from partita.types.messages import ToolCallPart
from partita.types.parts import Approval, ExecutionDeniedOutput, InterruptedOutput, ToolOutput
from tests.formats.claude_turns import (
    ABORTED,
    BAKE,
    DONE,
    LOST,
    answered,
    ask,
    begun,
    called,
    decode,
    folded,
    reply,
    result,
    state_after,
    system,
    text,
    use,
    user,
    whole,
)
from tests.tables import each_row

DENIED: dict[str, tuple[list[Json], ToolOutput]] = {
    "by a rule": (
        [
            system("permission_denied", tool_use_id="bake", decision_reason="no ovens", message="denied"),
            user(answered("bake", "Permission denied", is_error=True)),
            result(),
        ],
        ExecutionDeniedOutput(
            "no ovens",
            provider_metadata={"anthropic": {"content": "Permission denied", "denial": "permission"}},
        ),
    ),
    "by a rule that another tool result says nothing of": (
        [system("permission_denied", tool_use_id="bake", message="denied"), result()],
        ExecutionDeniedOutput("denied"),
    ),
    "not at all, after all": (
        [system("permission_denied", tool_use_id="bake"), user(answered("bake", "done")), result()],
        DONE,
    ),
    "by a person, in so many words": (
        [
            ask("r", "bake"),
            reply("r", behavior="deny", message="too hot"),
            user(answered("bake", "too hot", is_error=True)),
        ],
        ExecutionDeniedOutput("too hot", provider_metadata={"anthropic": {"denial": "user-rejected"}}),
    ),
    "by a person, and no result came": (
        [ask("r", "bake"), reply("r", behavior="deny", message="too hot"), result()],
        ExecutionDeniedOutput("too hot"),
    ),
    "as the message says beside the result": (
        [
            user(
                answered("bake", "x", is_error=True),
                tool_result_meta=[{"id": "bake", "non_execution_kind": "permission-rule"}],
            )
        ],
        ExecutionDeniedOutput("x", provider_metadata={"anthropic": {"denial": "permission-rule"}}),
    ),
    "no: it was stopped before it ran": (
        [
            user(
                answered("bake", "x", is_error=True),
                tool_result_meta=[{"id": "bake", "non_execution_kind": "interrupted"}],
            )
        ],
        InterruptedOutput("aborted", "x", provider_metadata={"anthropic": {"denial": "interrupted"}}),
    ),
    "as only the end of the turn tells": (
        [
            user(answered("bake", "use rye", is_error=True)),
            result(permission_denials=[{"tool_name": "Oven", "tool_use_id": "bake"}]),
        ],
        ExecutionDeniedOutput("use rye", provider_metadata={"anthropic": {"denial": "permission"}}),
    ),
    "as only the end of the turn tells, and no result came": (
        [result(permission_denials=[{"tool_name": "Oven", "tool_use_id": "bake"}])],
        ExecutionDeniedOutput(),
    ),
}


@each_row(("events", "output"), DENIED.values(), ids=DENIED)
def test_a_denial_has_its_reason(events: list[Json], output: ToolOutput) -> None:
    call = folded([whole("m1", BAKE), *events]).parts[1]
    assert isinstance(call, ToolCallPart)
    assert call.output == output
    assert call.state == state_after(output)


OPEN: dict[str, tuple[list[Json], ToolOutput | None]] = {
    "the stream ends": ([], LOST),
    "the turn ends": ([result()], LOST),
    "someone stopped the words": ([user(text("[Request interrupted by user]"))], ABORTED),
    "someone stopped the turn": ([{"type": "control_request", "request": {"subtype": "interrupt"}}], ABORTED),
    "the result says so": ([result(terminal_reason="aborted_tools")], ABORTED),
    "the question was never answered": ([ask("r", "bake")], LOST),
    "the host is to run it": ([result(deferred_tool_use={"id": "bake"})], None),
    "an output comes after all": ([result(), user(answered("bake", "done"))], DONE),
}


@each_row(("events", "output"), OPEN.values(), ids=OPEN)
def test_a_call_without_an_output_ends_with_its_cause(events: list[Json], output: ToolOutput | None) -> None:
    call = folded([whole("m1", BAKE), *events]).parts[1]
    assert isinstance(call, ToolCallPart)
    assert call.output == output


# Questions


def test_an_approval_request_and_its_response() -> None:
    events = [
        whole("m1", BAKE),
        ask("r", "bake", decision_reason="it is hot", title="Bake?", permission_suggestions=[]),
        reply("r", behavior="allow", updatedInput={"heat": 2}),
    ]
    call = folded(events).parts[1]
    assert isinstance(call, ToolCallPart)
    assert call.approval == Approval(
        "r",
        approved=True,
        request_reason="it is hot",
        descriptor={"title": "Bake?", "permission_suggestions": []},
    )
    assert call.call_provider_metadata == {"claudeCode": {"updatedInput": {"heat": 2}}}


def test_an_approval_response_keeps_the_provider_metadata_of_the_call() -> None:
    asked = use("bake", input={"heat": 1}, caller={"type": "direct"})
    call = folded(
        [whole("m1", asked), ask("r", "bake"), reply("r", behavior="allow", updatedInput={})]
    ).parts[1]
    assert isinstance(call, ToolCallPart)
    assert call.call_provider_metadata == {
        "anthropic": {"caller": {"type": "direct"}},
        "claudeCode": {"updatedInput": {}},
    }


def test_a_call_with_an_approval_request_is_not_emitted_twice() -> None:
    events = [begun("m1"), *called(0, BAKE, '{"heat":1}'), ask("r", "bake"), whole("m1", use("bake"))]
    told = [type(chunk) for chunk in decode(events, finish=False)]
    assert told.count(ToolInputAvailable) == 1


def test_an_approval_request_belongs_to_one_call() -> None:
    again = ask("r", "cool")
    chunks = decode([whole("m1", BAKE, use("cool")), ask("r", "bake"), again], finish=False)
    assert chunks[-1] == DataChunk("data-claude-permission-request", again["request"])


QUESTIONS: dict[str, tuple[list[Json], str, Approval]] = {
    "while the input is still coming": (
        [begun("m1"), *called(0, BAKE, '{"heat":1}')[:-1], ask("r", "bake")],
        "bake",
        Approval("r"),
    ),
    "about a call that nobody told of": ([ask("r", "new")], "new", Approval("r")),
    "without the id of the call": ([whole("m1", use("other"), BAKE), ask("r", None)], "bake", Approval("r")),
    "without the id of a call that nobody told of": ([ask("r", None)], "r", Approval("r")),
    "with another input": (
        [whole("m1", use("bake", input={"heat": 9})), ask("r", "bake")],
        "bake",
        Approval("r", descriptor={"input": {"heat": 1}}),
    ),
    "asked again": (
        [whole("m1", BAKE), ask("r", "bake"), ask("q", "bake"), reply("r", behavior="allow")],
        "bake",
        Approval("q"),
    ),
    "answered by an error": (
        [
            whole("m1", BAKE),
            ask("r", "bake"),
            {
                "type": "control_response",
                "response": {"subtype": "error", "request_id": "r", "error": "no one"},
            },
        ],
        "bake",
        Approval("r", approved=False, reason="no one"),
    ),
}


@each_row(("events", "call_id", "approval"), QUESTIONS.values(), ids=QUESTIONS)
def test_an_approval_request_finds_its_call(events: list[Json], call_id: str, approval: Approval) -> None:
    calls = [part for part in folded(events).parts if isinstance(part, ToolCallPart)]
    assert {call.id: call.approval for call in calls if call.approval} == {call_id: approval}
    assert next(call.name for call in calls if call.id == call_id) == "Oven"
