"""Networks stored as text: executions of every generation, routing decisions and feedback."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.mastra.network import EXECUTION, ROUTING, structured
from partita.types.codec import decode_message, encode, to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    UserMessage,
    text_of,
)
from partita.types.parts import DataPart, JsonOutput, StepStartPart, TextOutput, TextPart, ToolOutput
from partita.types.value import Extra
from tests import canonical
from tests.leaves import changes
from tests.tables import each_row

ASKED: JsonObject = {"role": "user", "id": "n1", "type": "text", "content": "Is the library open?"}
CALL: JsonObject = {
    "role": "assistant",
    "id": "n2",
    "createdAt": "2025-11-03T09:00:00.000Z",
    "type": "tool-call",
    "content": [{"type": "tool-call", "toolCallId": "k1", "toolName": "hours", "args": {"day": "mon"}}],
}
RESULT: JsonObject = {
    "role": "tool",
    "id": "n3",
    "type": "tool-result",
    "content": [{"type": "tool-result", "toolCallId": "k1", "toolName": "hours", "result": {"until": 18}}],
}
ANSWER: JsonObject = {"role": "assistant", "id": "n4", "type": "text", "content": "Until six."}
CHUNK: JsonObject = {
    "type": "tool-call",
    "runId": "r",
    "from": "AGENT",
    "payload": {"toolCallId": "k1", "toolName": "hours", "args": {"day": "mon"}},
}
RUN: JsonObject = {"status": "success", "steps": {"look": {"status": "success", "output": 2}}, "result": 2}
DECISION: JsonObject = {
    "primitiveId": "clerk",
    "primitiveType": "agent",
    "prompt": "Is the library open?",
    "selectionReason": "knows the hours",
}


def payload(**members: Json) -> JsonObject:
    return {"isNetwork": True, "selectionReason": "knows the hours", **members}


def text(value: Json) -> str:
    return dumps(value).decode()


def hours(output: ToolOutput | None) -> ToolCallPart:
    state: Any = "input-available" if output is None else "output-available"
    return ToolCallPart("k1", "hours", state, {"day": "mon"}, output=output)


OPEN = JsonOutput({"until": 18})


def execution_in(content: str) -> NetworkExecution | None:
    """Return the network execution in a text."""
    message = structured(AssistantMessage(id="m", content=content))
    return message.content.network_execution if isinstance(message, AssistantMessage) else None


def network_result(body: JsonObject) -> NetworkResult:
    execution = execution_in(text(payload(**AGENT, finalResult=body)))
    assert execution is not None
    assert execution.final_result is not None
    return execution.final_result


# --- executions --------------------------------------------------------------------------------------

AGENT = {"primitiveType": "agent", "primitiveId": "clerk"}
EXECUTIONS: dict[str, tuple[JsonObject, NetworkExecution]] = {
    "an agent of the first version": (
        payload(resourceType="agent", resourceId="clerk", finalResult={"text": "Until six."}),
        NetworkExecution(
            "agent",
            "clerk",
            "knows the hours",
            final_result=NetworkResult("Until six."),
            extra=Extra({"mastra:note": {"names": "resource"}}),
        ),
    ),
    "a tool of the first version": (
        payload(resourceType="tool", resourceId="hours", args={"day": "mon"}, result=None, toolCallId="k1"),
        NetworkExecution(
            "tool",
            "hours",
            "knows the hours",
            {"day": "mon"},
            NetworkResult(value=None, extra=Extra({"toolCallId": "k1"})),
            extra=Extra({"mastra:note": {"names": "resource", "body": "flat", "input": "args"}}),
        ),
    ),
    "an agent": (
        payload(**AGENT, input="Open?", finalResult={"text": ""}),
        NetworkExecution("agent", "clerk", "knows the hours", "Open?", NetworkResult("")),
    ),
    "a tool": (
        payload(
            primitiveType="tool",
            primitiveId="hours",
            input={"day": "mon"},
            finalResult={"result": "till six", "toolCallId": "k1"},
        ),
        NetworkExecution(
            "tool",
            "hours",
            "knows the hours",
            {"day": "mon"},
            NetworkResult(value="till six", extra=Extra({"toolCallId": "k1"})),
        ),
    ),
    "a workflow with another type": (
        payload(
            **AGENT, input=1, finalResult={"runId": "r", "runResult": RUN, "chunks": [], "runSuccess": True}
        ),
        NetworkExecution(
            "workflow",
            "clerk",
            "knows the hours",
            1,
            NetworkResult(value=RUN, extra=Extra({"runId": "r", "chunks": [], "runSuccess": True})),
            extra=Extra({"foreign:primitiveType": "agent"}),
        ),
    ),
    "a workflow with a plain result": (
        payload(primitiveType="workflow", primitiveId="w", finalResult={"result": 3}),
        NetworkExecution(
            "workflow",
            "w",
            "knows the hours",
            final_result=NetworkResult(value=3, extra=Extra({"mastra:note": {"value": "result"}})),
        ),
    ),
    "an agent without a type": (
        payload(primitiveId="clerk", finalResult={"text": "Hm."}),
        NetworkExecution("agent", "clerk", "knows the hours", final_result=NetworkResult("Hm.")),
    ),
    "unknown and invalid members": (
        {
            "isNetwork": True,
            **AGENT,
            "selectionReason": None,
            "iteration": 2,
            "mood": "calm",
            "resourceId": "room-1",
            "finalResult": {"text": 5, "messages": "none", "depth": 1},
        },
        NetworkExecution(
            "agent",
            "clerk",
            iteration=2,
            final_result=NetworkResult(
                extra=Extra({"foreign:text": 5, "foreign:messages": "none", "depth": 1})
            ),
            extra=Extra({"foreign:selectionReason": None, "mood": "calm", "resourceId": "room-1"}),
        ),
    ),
    "a result that is not an object": (
        payload(**AGENT, finalResult="broke"),
        NetworkExecution("agent", "clerk", "knows the hours", extra=Extra({"foreign:finalResult": "broke"})),
    ),
}


@each_row(("raw", "execution"), EXECUTIONS.values(), ids=EXECUTIONS)
def test_an_execution_is_read(raw: JsonObject, execution: NetworkExecution) -> None:
    assert execution_in(text(raw)) == execution


OTHER_TEXTS: dict[str, str] = {
    "prose": 'A row with "isNetwork":true is no talk.',
    "a code fence": "```json\n" + text(payload(**AGENT)) + "\n```",
    "JSON of another type": text({"isNetwork": False, **AGENT}),
    "a string instead of true": text({"isNetwork": "true", **AGENT}),
    "incomplete JSON": text(payload(**AGENT))[:-1],
    "no primitive": text({"isNetwork": True}),
    "an array": text([payload(**AGENT)]),
    "an array in the text of an object": text({"text": text(payload(**AGENT))}),
    "nothing": "",
    "too deep": '{"isNetwork":true,"input":' + "[" * 100_000,
}


@each_row("content", OTHER_TEXTS.values(), ids=OTHER_TEXTS)
def test_other_texts_stay_texts(content: str) -> None:
    assert structured(AssistantMessage(id="m", content=content)) is None


def test_whitespace_around_the_json_is_ignored() -> None:
    assert execution_in(f"\n {text(payload(**AGENT))} ") == execution_in(text(payload(**AGENT)))


# --- calls and messages of an execution ----------------------------------------------------------------

CALLS: dict[str, tuple[JsonObject, list[ToolCallPart]]] = {
    "calls and results in the messages": (
        {"messages": [ASKED, CALL, RESULT, ANSWER]},
        [hours(OPEN)],
    ),
    "chunks that repeat the messages": (
        {"toolCalls": [CHUNK], "messages": [ASKED, CALL, RESULT, ANSWER]},
        [hours(OPEN)],
    ),
    "a call without a result": ({"messages": [CALL]}, [hours(None)]),
    "only chunks": ({"toolCalls": [CHUNK], "messages": [ANSWER]}, [hours(None)]),
    "chunks, and results in the messages": ({"toolCalls": [CHUNK], "messages": [RESULT]}, [hours(OPEN)]),
    "calls with their results": (
        {"toolCalls": [{**CHUNK["payload"], "result": "six"}]},
        [hours(TextOutput("six"))],
    ),
    "values that are not calls": ({"toolCalls": [1, {"payload": 2}, {"toolName": "hours"}]}, []),
}


@each_row(("body", "calls"), CALLS.values(), ids=CALLS)
def test_calls_are_read_with_their_results(body: JsonObject, calls: list[ToolCallPart]) -> None:
    assert list(network_result(body).tool_calls) == calls


def test_messages_of_an_execution_are_canonical_messages() -> None:
    result = network_result({"messages": [ASKED, CALL, RESULT, ANSWER]})
    asked, called, answered = result.messages
    assert (asked.id, called.id, answered.id) == ("n1", "n2", "n4")
    (call,) = called.parts
    assert isinstance(call, ToolCallPart)
    assert call.output == OPEN
    assert call.result_message is not None
    assert call.result_message.id == "n3"
    assert text_of(answered) == "Until six."
    assert not result.extra


def test_unreadable_messages_are_kept() -> None:
    broken = [ASKED, {"role": "judge", "content": "?"}]
    result = network_result({"messages": broken})
    assert result.messages == ()
    assert result.extra == Extra({"foreign:messages": broken})


def test_a_nested_network_is_read() -> None:
    inner = {**ANSWER, "content": PAYLOAD}
    result = network_result({"messages": [inner]})
    (message,) = result.messages
    assert isinstance(message, AssistantMessage)
    assert message.content.network_execution == execution_in(PAYLOAD)
    assert message.content.content is None


# --- messages --------------------------------------------------------------------------------------------

PAYLOAD = text(payload(**AGENT, finalResult={"text": "Until six."}))


def assistant(*parts: AssistantPart, **content: Any) -> AssistantMessage:
    return AssistantMessage(id="m", content=AssistantContent(parts=parts, **content))


def structured_message(message: AssistantMessage) -> AssistantMessage:
    found = structured(message)
    assert isinstance(found, AssistantMessage)
    return found


def test_a_message_gets_its_execution_instead_of_the_text() -> None:
    found = structured_message(assistant(TextPart(PAYLOAD), metadata={"mode": "network"}))
    assert found == assistant(network_execution=execution_in(PAYLOAD), metadata={"mode": "network"})


def test_other_members_of_the_text_are_kept_as_notes() -> None:
    around = TextPart(PAYLOAD, provider_metadata={"p": {"q": 1}}, extra=Extra({"createdAt": 5}))
    found = structured_message(assistant(StepStartPart(), around, TextPart("bye")))
    assert found.parts == (StepStartPart(), TextPart("bye"))
    part = {"providerMetadata": {"p": {"q": 1}}, "createdAt": 5}
    assert found.content.provider_metadata == {"mastra-v2": {"network": {"index": 1, "fields": part}}}


@each_row(
    ("content", "left", "note"),
    [
        (PAYLOAD, None, {"network": {"index": 0}, "text": 0}),
        (f"{PAYLOAD}\nbye", None, {"network": {"index": 0}, "text": "lines"}),
        ("bye", "bye", {"network": {"index": 0}}),
    ],
)
def test_the_content_string_does_not_repeat_the_json(content: str, left: str | None, note: Json) -> None:
    found = structured_message(assistant(TextPart(PAYLOAD), TextPart("bye"), content=content))
    assert found.content.content == left
    assert found.content.provider_metadata == {"mastra-v2": note}


def test_a_second_execution_in_a_message_becomes_data() -> None:
    other = text(payload(primitiveType="tool", primitiveId="hours", finalResult={"result": 1}))
    found = structured_message(assistant(TextPart(PAYLOAD), TextPart(other, extra=Extra({"createdAt": 5}))))
    assert found.content.network_execution == execution_in(PAYLOAD)
    data = to_json(execution_in(other))
    assert found.parts == (DataPart(EXECUTION, data, extra=Extra({"createdAt": 5})),)


@each_row(
    "decision",
    [
        DECISION,
        {**DECISION, "isComplete": False, "finalResult": ""},
        {**DECISION, "primitiveType": "none", "primitiveId": "none"},
        {"resourceId": "clerk", "resourceType": "agent", "prompt": "?", "selectionReason": "first"},
    ],
)
def test_a_routing_decision_is_an_internal_event(decision: JsonObject) -> None:
    found = structured_message(assistant(TextPart(text(decision), provider_metadata={"p": {"q": 1}})))
    assert (found.type, found.internal) == ("event", True)
    assert found.parts == (DataPart(ROUTING, decision, provider_metadata={"p": {"q": 1}}),)


def test_a_message_with_a_decision_and_a_text_is_not_internal() -> None:
    found = structured_message(assistant(TextPart("Let me see."), TextPart(text(DECISION))))
    assert (found.type, found.internal) == ("text", False)


def test_an_incomplete_decision_stays_text() -> None:
    short = {key: value for key, value in DECISION.items() if key != "prompt"}
    assert structured(assistant(TextPart(text(short)))) is None


@each_row("name", ["completionResult", "isTaskCompleteResult"])
def test_feedback_of_a_completion_check_is_internal(name: str) -> None:
    message = assistant(TextPart("Not done."), metadata={name: {"passed": False, "suppressFeedback": True}})
    assert structured(message) == replace(message, internal=True)
    assert structured(assistant(TextPart("Not done."), metadata={name: None})) is None


@each_row("content", [PAYLOAD, text(DECISION)])
def test_user_messages_stay_text(content: str) -> None:
    assert structured(UserMessage(id="m", content=content)) is None


def test_a_network_execution_field_is_read_and_the_text_is_kept() -> None:
    field = payload(**AGENT, finalResult={"text": "Until six."})
    message = assistant(TextPart("Until six."), extra=Extra({"foreign:networkExecution": field}))
    found = structured_message(message)
    assert found.content.network_execution == execution_in(PAYLOAD)
    assert found.parts == message.parts
    assert found.content.provider_metadata == {"mastra-v2": {"network": {"field": True}}}


# --- properties ------------------------------------------------------------------------------------------


@st.composite
def payloads(draw: st.DrawFn) -> JsonObject:
    """A payload of any generation, with unknown members."""
    raw = dict(draw(st.sampled_from([case[0] for case in EXECUTIONS.values()])))
    if draw(st.booleans()):
        raw["finalResult"] = draw(st.sampled_from([case[0] for case in CALLS.values()]))
    if draw(st.booleans()):
        raw[draw(st.sampled_from(["mood", "chunks"]))] = draw(canonical.json_values())
    return raw


@given(data=st.data())
def test_every_leaf_of_a_payload_is_read(data: st.DataObject) -> None:
    raw = data.draw(payloads())
    _, other = data.draw(changes(raw))
    before, after = execution_in(text(raw)), execution_in(text(other))
    assert dumps(to_json(before)) != dumps(to_json(after))


TEXTS = st.one_of(
    payloads().map(text), st.just(text(DECISION)), st.sampled_from([*OTHER_TEXTS.values()][:-1]), st.text()
)


@given(message=canonical.assistant_messages(), texts=st.lists(TEXTS, max_size=3), feedback=st.booleans())
def test_structuring_is_idempotent(message: AssistantMessage, texts: list[str], feedback: bool) -> None:
    content = replace(message.content, parts=(*message.parts, *map(TextPart, texts)))
    if feedback:
        content = replace(content, metadata={"completionResult": {}})
    given_message = replace(message, content=content)
    found = structured(given_message)
    assert found != given_message
    assert structured(found or given_message) is None
    assert decode_message(encode(found or given_message)) == (found or given_message)
