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
    approval_request,
    approval_response,
    assistant_event,
    decode,
    folded,
    message_start,
    result,
    state_after,
    streamed_call,
    system,
    text,
    tool_result,
    tool_use,
    user_event,
)
from tests.tables import each_row

DENIED: dict[str, tuple[list[Json], ToolOutput]] = {
    "by a rule": (
        [
            system("permission_denied", tool_use_id="bake", decision_reason="no ovens", message="denied"),
            user_event(tool_result("bake", "Permission denied", is_error=True)),
            result(),
        ],
        ExecutionDeniedOutput(
            "no ovens",
            provider_metadata={"anthropic": {"content": "Permission denied", "denial": "permission"}},
        ),
    ),
    "by a rule, with another tool result": (
        [system("permission_denied", tool_use_id="bake", message="denied"), result()],
        ExecutionDeniedOutput("denied"),
    ),
    "not at all, after all": (
        [system("permission_denied", tool_use_id="bake"), user_event(tool_result("bake", "done")), result()],
        DONE,
    ),
    "by the user, with a reason": (
        [
            approval_request("r", "bake"),
            approval_response("r", behavior="deny", message="too hot"),
            user_event(tool_result("bake", "too hot", is_error=True)),
        ],
        ExecutionDeniedOutput("too hot", provider_metadata={"anthropic": {"denial": "user-rejected"}}),
    ),
    "by the user, without a result": (
        [approval_request("r", "bake"), approval_response("r", behavior="deny", message="too hot"), result()],
        ExecutionDeniedOutput("too hot"),
    ),
    "as `tool_use_result` of the message states": (
        [
            user_event(
                tool_result("bake", "x", is_error=True),
                tool_result_meta=[{"id": "bake", "non_execution_kind": "permission-rule"}],
            )
        ],
        ExecutionDeniedOutput("x", provider_metadata={"anthropic": {"denial": "permission-rule"}}),
    ),
    "not denied: stopped before it ran": (
        [
            user_event(
                tool_result("bake", "x", is_error=True),
                tool_result_meta=[{"id": "bake", "non_execution_kind": "interrupted"}],
            )
        ],
        InterruptedOutput("aborted", "x", provider_metadata={"anthropic": {"denial": "interrupted"}}),
    ),
    "as only the result of the turn states": (
        [
            user_event(tool_result("bake", "use rye", is_error=True)),
            result(permission_denials=[{"tool_name": "Oven", "tool_use_id": "bake"}]),
        ],
        ExecutionDeniedOutput("use rye", provider_metadata={"anthropic": {"denial": "permission"}}),
    ),
    "as only the result of the turn states, without a tool result": (
        [result(permission_denials=[{"tool_name": "Oven", "tool_use_id": "bake"}])],
        ExecutionDeniedOutput(),
    ),
}


@each_row(("events", "output"), DENIED.values(), ids=DENIED)
def test_a_denial_has_its_reason(events: list[Json], output: ToolOutput) -> None:
    call = folded([assistant_event("m1", BAKE), *events]).parts[1]
    assert isinstance(call, ToolCallPart)
    assert call.output == output
    assert call.state == state_after(output)


OPEN: dict[str, tuple[list[Json], ToolOutput | None]] = {
    "the stream ends": ([], LOST),
    "the turn ends": ([result()], LOST),
    "the user stopped the text": ([user_event(text("[Request interrupted by user]"))], ABORTED),
    "the user stopped the turn": (
        [{"type": "control_request", "request": {"subtype": "interrupt"}}],
        ABORTED,
    ),
    "the result states it": ([result(terminal_reason="aborted_tools")], ABORTED),
    "the approval request got no response": ([approval_request("r", "bake")], LOST),
    "the host executes it": ([result(deferred_tool_use={"id": "bake"})], None),
    "a late output": ([result(), user_event(tool_result("bake", "done"))], DONE),
}


@each_row(("events", "output"), OPEN.values(), ids=OPEN)
def test_a_call_without_an_output_ends_with_its_cause(events: list[Json], output: ToolOutput | None) -> None:
    call = folded([assistant_event("m1", BAKE), *events]).parts[1]
    assert isinstance(call, ToolCallPart)
    assert call.output == output


# Approval requests


def test_an_approval_request_and_its_response() -> None:
    events = [
        assistant_event("m1", BAKE),
        approval_request("r", "bake", decision_reason="it is hot", title="Bake?", permission_suggestions=[]),
        approval_response("r", behavior="allow", updatedInput={"heat": 2}),
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
    asked = tool_use("bake", input={"heat": 1}, caller={"type": "direct"})
    call = folded(
        [
            assistant_event("m1", asked),
            approval_request("r", "bake"),
            approval_response("r", behavior="allow", updatedInput={}),
        ]
    ).parts[1]
    assert isinstance(call, ToolCallPart)
    assert call.call_provider_metadata == {
        "anthropic": {"caller": {"type": "direct"}},
        "claudeCode": {"updatedInput": {}},
    }


def test_a_call_with_an_approval_request_is_not_emitted_twice() -> None:
    events = [
        message_start("m1"),
        *streamed_call(0, BAKE, '{"heat":1}'),
        approval_request("r", "bake"),
        assistant_event("m1", tool_use("bake")),
    ]
    chunk_types = [type(chunk) for chunk in decode(events, finish=False)]
    assert chunk_types.count(ToolInputAvailable) == 1


def test_an_approval_request_belongs_to_one_call() -> None:
    again = approval_request("r", "cool")
    chunks = decode(
        [assistant_event("m1", BAKE, tool_use("cool")), approval_request("r", "bake"), again], finish=False
    )
    assert chunks[-1] == DataChunk("data-claude-permission-request", again["request"])


QUESTIONS: dict[str, tuple[list[Json], str, Approval]] = {
    "while the input is still coming": (
        [message_start("m1"), *streamed_call(0, BAKE, '{"heat":1}')[:-1], approval_request("r", "bake")],
        "bake",
        Approval("r"),
    ),
    "about an unknown call": ([approval_request("r", "new")], "new", Approval("r")),
    "without the id of the call": (
        [assistant_event("m1", tool_use("other"), BAKE), approval_request("r", None)],
        "bake",
        Approval("r"),
    ),
    "without the id of an unknown call": ([approval_request("r", None)], "r", Approval("r")),
    "with another input": (
        [assistant_event("m1", tool_use("bake", input={"heat": 9})), approval_request("r", "bake")],
        "bake",
        Approval("r", descriptor={"input": {"heat": 1}}),
    ),
    "requested twice": (
        [
            assistant_event("m1", BAKE),
            approval_request("r", "bake"),
            approval_request("q", "bake"),
            approval_response("r", behavior="allow"),
        ],
        "bake",
        Approval("q"),
    ),
    "answered by an error": (
        [
            assistant_event("m1", BAKE),
            approval_request("r", "bake"),
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
