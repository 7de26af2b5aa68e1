"""The messages that a model gets of a stored conversation: one step per message, a result for every call."""

from hypothesis import given

from partita.formats.ai_sdk.ui.format import load
from partita.formats.core.tool_text import CUT_OFF, UNANSWERED, WAITS
from partita.formats.model_view import NO_CALL, model_view
from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    NetworkResult,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    Approval,
    DataPart,
    ExecutionDeniedOutput,
    InterruptedOutput,
    ReasoningPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    ToolState,
)
from tests.strategies import ui_messages
from tests.tables import each_row


def call(state: ToolState, **fields: object) -> ToolCallPart:
    return ToolCallPart(id="c", name="look", state=state, **{"input": {}, **fields})  # type: ignore[arg-type] # by name


def answer(*parts: AssistantPart, id: str = "a") -> AssistantMessage:
    return AssistantMessage(id=id, content=parts)


def outputs(view: tuple[Message, ...]) -> list[ToolOutput]:
    return [
        part.output
        for message in view
        if isinstance(message, ToolMessage)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]


CALLS: dict[str, tuple[ToolCallPart, ToolOutput, list[str]]] = {
    "an output follows its call": (
        call("output-available", output=TextOutput("seen")),
        TextOutput("seen"),
        [],
    ),
    "a call without a result": (
        call("input-available"),
        InterruptedOutput("lost", UNANSWERED),
        [UNANSWERED],
    ),
    "a call that waits for approval": (
        call("approval-requested", approval=Approval("p")),
        InterruptedOutput("lost", WAITS),
        [WAITS],
    ),
    "a denial keeps its reason": (
        call("output-denied", approval=Approval("p", approved=False, reason="too dear")),
        ExecutionDeniedOutput("too dear"),
        [],
    ),
    "a denied approval is a denial": (
        call("approval-responded", approval=Approval("p", approved=False, reason="no")),
        ExecutionDeniedOutput("no"),
        [],
    ),
    "an approved call without a result": (
        call("approval-responded", approval=Approval("p", approved=True)),
        InterruptedOutput("lost", UNANSWERED),
        [UNANSWERED],
    ),
    "an interruption stays an interruption": (
        call("output-error", output=InterruptedOutput("timeout")),
        InterruptedOutput("timeout"),
        [],
    ),
}


@each_row(("part", "output", "repairs"), CALLS.values(), ids=CALLS)
def test_every_call_gets_a_result(part: ToolCallPart, output: ToolOutput, repairs: list[str]) -> None:
    view = model_view([answer(part)])
    assert outputs(view.messages) == [output]
    assert [repair.why for repair in view.repairs] == repairs


def test_unfinished_calls_are_dropped() -> None:
    cut = ToolCallPart(id="c", name="look", state="input-streaming", raw_input='{"a')
    closed = ToolCallPart(
        id="d", name="look", state="output-error", raw_input='{"a', output=InterruptedOutput("lost")
    )
    view = model_view([answer(TextPart("Let me look."), cut, closed)])
    assert [message.content.parts for message in view.messages] == [(TextPart("Let me look."),)]
    assert [repair.why for repair in view.repairs] == [CUT_OFF, CUT_OFF]


def test_steps_become_messages_in_order() -> None:
    view = model_view(
        [
            answer(
                StepStartPart(),
                ReasoningPart("hm", provider_metadata={"x": {"signature": "s"}}),
                call("output-available", output=TextOutput("seen")),
                StepStartPart(),
                TextPart("Done."),
                SourceUrlPart("s", "https://example.org"),
            )
        ]
    )
    first, results, last = view.messages
    assert isinstance(first, AssistantMessage)
    assert first.parts[0] == ReasoningPart("hm", provider_metadata={"x": {"signature": "s"}})
    assert isinstance(results, ToolMessage)
    assert last.content.parts == (TextPart("Done."),)


def test_a_provider_executed_call_keeps_its_output() -> None:
    part = call("output-available", output=TextOutput("found"), provider_executed=True)
    view = model_view([answer(part)])
    assert [message.content.parts for message in view.messages] == [(part,)]


def test_only_conversation_is_sent() -> None:
    view = model_view(
        [
            SystemMessage(id="s", content="Be brief."),
            UserMessage(id="u", content=[TextPart("Hi"), DataPart(name="cursor", data=1)]),
            AssistantMessage(id="i", content="routing", internal=True),
            AssistantMessage(id="e", content="compacted", type="event"),
            UserMessage(id="v", content=[DataPart(name="cursor", data=2)]),
        ]
    )
    assert [(message.id, message.content.parts) for message in view.messages] == [
        ("s", (TextPart("Be brief."),)),
        ("u", (TextPart("Hi"),)),
    ]


def test_a_steering_message_keeps_its_position() -> None:
    steering = SteeringMessagePart("w", (TextPart("Faster!"),))
    view = model_view([answer(TextPart("One."), steering, TextPart("Two."))])
    assert [type(message) for message in view.messages] == [AssistantMessage, UserMessage, AssistantMessage]


def test_a_network_message_becomes_its_result() -> None:
    execution = NetworkExecution("agent", "poet", final_result=NetworkResult("A poem."))
    content = AssistantContent(parts=(), network_execution=execution)
    view = model_view([AssistantMessage(id="n", content=content)])
    assert view.messages[0].content.parts == (TextPart("A poem."),)


def test_a_result_without_a_call_is_dropped() -> None:
    lonely = ToolMessage(id="t", content=[ToolResultPart("x", "look", TextOutput("?"))])
    view = model_view([UserMessage(id="u", content="Hi"), lonely])
    assert [message.id for message in view.messages] == ["u"]
    assert [repair.why for repair in view.repairs] == [NO_CALL]


@given(ui_messages(7, valid=True))
def test_every_call_of_any_conversation_has_a_result(payload: Json) -> None:
    view = model_view(load(payload).messages).messages
    for place, seen in enumerate(view):
        asked = [
            part.id
            for part in seen.content.parts
            if isinstance(part, ToolCallPart) and not part.provider_executed
        ]
        if asked:
            following = view[place + 1]
            assert isinstance(following, ToolMessage)
            assert [part.id for part in following.parts if isinstance(part, ToolResultPart)] == asked
