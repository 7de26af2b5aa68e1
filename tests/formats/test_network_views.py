"""Stored rows of networks as UI messages and model messages, through the public functions only."""

import json
from typing import Any

import pytest

from partita import PartitaError, convert
from partita.agents import MessageList
from tests.tables import each_row

CALL: dict[str, Any] = {
    "toolCallId": "tc1",
    "toolName": "search",
    "args": {"query": "test"},
    "result": {"data": "found"},
}
SUM = {"sum": 3}


def row(content: dict[str, Any], id: str = "1") -> dict[str, Any]:
    return {
        "id": id,
        "role": "assistant",
        "createdAt": "2026-01-05T10:00:00.000Z",
        "content": {"format": 2, **content},
    }


def in_field(network: dict[str, Any], *texts: str, **content: Any) -> dict[str, Any]:
    """Return a row with a network in its field."""
    parts = [{"type": "text", "text": text} for text in texts]
    return row({"parts": parts, "networkExecution": {"isNetwork": True, **network}, **content})


def in_text(network: dict[str, Any], **content: Any) -> dict[str, Any]:
    """Return a row with a network as JSON in a text."""
    text = json.dumps({"isNetwork": True, **network}, separators=(",", ":"))
    return row({"parts": [{"type": "text", "text": text}], **content})


def execution(kind: str, **result: Any) -> dict[str, Any]:
    return {"primitiveType": kind, "primitiveId": "chosen", "selectionReason": "fits", "finalResult": result}


def shown(payload: Any, version: Any = 5) -> list[dict[str, Any]]:
    """Return the parts of the last UI message; the format of the rows is detected."""
    messages = MessageList()
    messages.add(payload)
    parts: list[dict[str, Any]] = messages.ui(version)[-1]["parts"]
    return parts


def network_part(payload: Any, version: Any = 5) -> dict[str, Any]:
    (part,) = [part for part in shown(payload, version) if part["type"] == "dynamic-tool"]
    return part


def test_an_execution_becomes_a_dynamic_tool_with_its_calls_as_child_messages() -> None:
    network = {
        "primitiveType": "agent",
        "primitiveId": "my-agent",
        "finalResult": {"text": "Result", "toolCalls": [CALL]},
    }
    text, part = shown(in_field(network, "Result"))
    assert text == {"type": "text", "text": "Result"}
    assert (part["type"], part["toolName"], part["state"]) == ("dynamic-tool", "agent", "output-available")
    assert part["input"] == {"primitiveId": "my-agent", "selectionReason": None}
    assert part["output"] == "Result"
    (child,) = part["childMessages"]
    assert child["role"] == "assistant"
    assert child["parts"] == [
        {
            "type": "dynamic-tool",
            "toolName": "search",
            "toolCallId": "tc1",
            "state": "output-available",
            "input": {"query": "test"},
            "output": {"data": "found"},
        }
    ]


def test_an_execution_in_a_json_string_becomes_a_dynamic_tool() -> None:
    part = network_part(in_text({"primitiveType": "workflow", "finalResult": {"text": "Done"}}))
    assert (part["toolName"], part["state"], part["output"]) == ("workflow", "output-available", "Done")


def nested(*content: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": "n1", "role": "assistant", "type": "tool-call", "content": list(content)}]


OTHER = {"type": "tool-call", "toolCallId": "tc0", "toolName": "look", "args": {}}
SAME = {"type": "tool-call", "toolCallId": "tc1", "toolName": "search", "args": {"query": "test"}}

LISTED: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "only in the list": ([], [("tc1", "output-available")]),
    "in the list, another in the messages": (
        nested(OTHER),
        [("tc1", "output-available"), ("tc0", "input-available")],
    ),
    "in both, with a result in the list": (nested(SAME), [("tc1", "output-available")]),
}


@each_row(("messages", "expected"), LISTED.values(), ids=LISTED)
def test_every_listed_call_is_shown_once(
    messages: list[dict[str, Any]], expected: list[tuple[str, str]]
) -> None:
    part = network_part(in_text(execution("agent", text="Result", toolCalls=[CALL], messages=messages)))
    calls = [part for child in part["childMessages"] for part in child["parts"]]
    assert [(call["toolCallId"], call["state"]) for call in calls] == expected


@each_row("kind", ["tool", "workflow"])
@each_row("form", [in_text, in_field])
def test_the_result_of_a_tool_or_workflow_is_the_output(kind: str, form: Any) -> None:
    rows = [form(execution(kind, result=SUM))]
    for version in (5, 6, 7):
        assert network_part(rows, version)["output"] == SUM
    for version in (5, 6, 7):
        result = convert(rows, None, f"ai-sdk-model-v{version}").payload[-1]["content"][0]
        assert result["output"] == {"type": "json", "value": SUM}
    (core,) = convert(rows, None, "ai-sdk-model-v4").payload[-1]["content"]
    assert core["result"] == SUM


REQUESTS = (
    *("openai-chat", "openai-responses", "anthropic", "gemini", "openai-agents"),
    *("openai-chat-mistral", "openai-chat-deepseek", "pydantic-ai", "langchain", "otel-genai"),
)


@each_row("target", REQUESTS)
def test_the_result_of_a_tool_is_in_the_request_of_every_provider(target: str) -> None:
    rows = [
        {"id": "u", "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "Add."}]}},
        in_text(execution("tool", result=SUM, toolCallId="k1")),
    ]
    sent = json.dumps(convert(rows, "mastra-v2", target).payload)
    assert '{\\"sum\\":3}' in sent


def test_a_workflow_run_is_the_output_or_the_error() -> None:
    run: dict[str, Any] = {"status": "success", "steps": {}, "result": SUM}
    done = network_part(in_text(execution("workflow", runId="r", runResult=run, chunks=[], runSuccess=True)))
    assert (done["state"], done["output"]) == ("output-available", run)
    run = {"status": "failed", "steps": {}, "error": {"message": "no oven"}}
    failed = network_part(
        in_text(execution("workflow", runId="r", runResult=run, chunks=[], runSuccess=False))
    )
    assert (failed["state"], failed["errorText"]) == ("output-error", "no oven")


def test_networks_are_shown_in_version_4() -> None:
    (message,) = convert([in_text(execution("tool", result=SUM))], None, "ai-sdk-ui-v4").payload
    invocation = {
        "state": "result",
        "step": 0,
        "toolCallId": "1:network",
        "toolName": "tool",
        "args": {"primitiveId": "chosen", "selectionReason": "fits"},
        "result": SUM,
    }
    assert message["parts"] == [{"type": "tool-invocation", "toolInvocation": invocation}]
    assert message["toolInvocations"] == [invocation]


# --- detection -------------------------------------------------------------------------------------


def test_a_row_with_a_network_field_is_detected() -> None:
    rows = [in_field(execution("agent", text="Result", toolCalls=[CALL]), "Result")]
    converted = convert(rows, None, "ai-sdk-ui-v7")
    assert converted.source == "mastra-v2"
    assert converted.payload[0]["parts"][-1]["toolName"] == "agent"


def test_the_next_format_is_tried_when_the_first_guess_refuses_a_payload() -> None:
    rows = [row({"parts": [], "networkExecution": {"primitiveType": "agent", "rounds": 3}})]
    converted = convert(rows, None, "ai-sdk-ui-v7")
    assert converted.source == "mastra-v2"
    assert converted.guess is not None
    assert "canonical refuses it" in converted.guess.why
    assert len(MessageList().add(rows)) == 1


def test_if_all_formats_refuse_the_error_is_that_of_the_first_guess() -> None:
    with pytest.raises(PartitaError, match="unknown role"):
        convert([{"id": "m", "role": "judge", "parts": [{"type": "text", "text": "?"}]}])


# --- calls outside the parts, and pending calls ------------------------------------------------------


def invocation(id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"toolCallId": id, "toolName": "look", "args": {"at": 1}, **more}


def part(**more: Any) -> dict[str, Any]:
    return {"type": "tool-invocation", "toolInvocation": invocation(**more)}


TEXT = {"type": "text", "text": "Hm."}
ENDED = {"state": "result", "result": {"n": 1}}
ENTRY = {"toolCallId": "c1", "toolName": "look", "args": {"at": 1}, "type": "approval", "runId": "r1"}

CALLS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "only in toolInvocations": (
        {"parts": [TEXT], "toolInvocations": [invocation(**ENDED)]},
        [("tool-look", "output-available"), ("text", "")],
    ),
    "in toolInvocations next to another": (
        {
            "parts": [part(**ENDED), TEXT],
            "toolInvocations": [invocation(**ENDED), invocation("c2", state="call")],
        },
        [("tool-look", "output-available"), ("tool-look", "input-available"), ("text", "")],
    ),
    "in both": (
        {"parts": [part(**ENDED), TEXT], "toolInvocations": [invocation(**ENDED)]},
        [("tool-look", "output-available"), ("text", "")],
    ),
    "no state, a result": ({"parts": [part(result=3)]}, [("tool-look", "output-available")]),
    "no state, no output": ({"parts": [part()]}, [("tool-look", "input-available")]),
    "no state, an error": ({"parts": [part(errorText="no")]}, [("tool-look", "output-error")]),
    "no state, a failed result": (
        {"parts": [part(result="no", isError=True)]},
        [("tool-look", "output-error")],
    ),
    "a state that is older than the result": (
        {"parts": [part(state="call", result=3)]},
        [("tool-look", "output-available")],
    ),
    "a dynamic tool without a state": (
        {"parts": [{"type": "dynamic-tool", "toolCallId": "c1", "toolName": "x", "input": {}, "output": 1}]},
        [("dynamic-tool", "output-available")],
    ),
    "pending in its part": (
        {"parts": [part(state="approval-requested", approval={"id": "a1"})]},
        [("tool-look", "approval-requested")],
    ),
    "pending in the metadata": (
        {"parts": [part(state="call")], "metadata": {"pendingToolApprovals": {"look": ENTRY}}},
        [("tool-look", "approval-requested")],
    ),
    "pending in the metadata only": (
        {"parts": [TEXT], "metadata": {"pendingToolApprovals": {"look": ENTRY}}},
        [("text", ""), ("tool-look", "approval-requested")],
    ),
}


@each_row(("content", "expected"), CALLS.values(), ids=CALLS)
def test_every_call_of_a_row_is_shown_with_its_state(
    content: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    stored = row(content)
    parts = convert([stored], "mastra-v2", "ai-sdk-ui-v7").payload[0]["parts"]
    assert [(part["type"], part.get("state", "")) for part in parts] == expected
    written = convert([stored], "mastra-v2", "mastra-v2").payload[0]
    again = convert([written], "mastra-v2", "ai-sdk-ui-v7").payload[0]["parts"]
    assert [(part["type"], part.get("state", "")) for part in again] == expected


@each_row("content", [CALLS["only in toolInvocations"][0], CALLS["pending in the metadata only"][0]])
def test_a_row_with_calls_outside_its_parts_round_trips(content: dict[str, Any]) -> None:
    converted = convert([row(content)], "mastra-v2", "mastra-v2")
    assert converted.payload == [row(content)]
    assert converted.lossless


@each_row("version", ["v4", "v5", "v6", "v7"])
def test_ui_parts_without_a_state_get_the_implied_one(version: str) -> None:
    call: dict[str, Any] = {"type": "tool-look", "toolCallId": "c1", "input": {}, "output": 3}
    if version == "v4":
        call = part(result=3)
    (message,) = convert(
        [{"id": "m", "role": "assistant", "parts": [call]}], f"ai-sdk-ui-{version}", "ai-sdk-ui-v7"
    ).payload
    assert message["parts"][0]["state"] == "output-available"
    assert message["parts"][0]["output"] == 3


@each_row("form", [in_text, in_field])
def test_a_network_that_waits_for_approval_is_shown_as_pending(form: Any) -> None:
    entry = {**ENTRY, "primitiveType": "tool", "primitiveId": "chosen"}
    metadata = {"mode": "network", "requireApprovalMetadata": {"look": entry}}
    stored = form(execution("tool", result="", toolCallId="c1"), metadata=metadata)
    shown_part = network_part(stored, 7)
    assert (shown_part["state"], shown_part["approval"]) == ("approval-requested", {"id": "r1::c1"})
    assert "output" not in shown_part
    (child,) = shown_part["childMessages"]
    assert child["parts"][0]["state"] == "approval-requested"
    assert network_part(stored, 5)["state"] == "input-available"
    (older,) = convert([stored], "mastra-v2", "ai-sdk-ui-v4").payload
    assert older["toolInvocations"][0]["state"] == "call"


# --- the forms of a network in a row ---------------------------------------------------------------

INNER = [
    {"id": "n1", "role": "user", "type": "text", "content": "When?"},
    {
        "id": "n2",
        "role": "assistant",
        "type": "tool-call",
        "content": [{"type": "tool-call", "toolCallId": "k1", "toolName": "hours", "args": {"day": "mon"}}],
    },
    {
        "id": "n3",
        "role": "tool",
        "type": "tool-result",
        "content": [
            {"type": "tool-result", "toolCallId": "k1", "toolName": "hours", "result": {"until": 18}}
        ],
    },
    {"id": "n4", "role": "assistant", "type": "text", "content": "Till six."},
]
FAILED_RUN = {"status": "failed", "steps": {}, "error": {"message": "no oven"}}
RUNS: dict[str, dict[str, Any]] = {
    "an agent": execution("agent", text="Till six.", messages=INNER),
    "an agent with calls in a list": execution("agent", text="Result", toolCalls=[CALL]),
    "a tool": execution("tool", result=SUM, toolCallId="k1"),
    "a workflow": execution(
        "workflow", runId="r", runResult={"status": "success"}, chunks=[], runSuccess=True
    ),
    "a workflow with an error": execution(
        "workflow", runId="r", runResult=FAILED_RUN, chunks=[], runSuccess=False
    ),
}


def written(payload: dict[str, Any], form: str | None) -> dict[str, Any]:
    """Return the content of a row with that network, read and written in a form."""
    messages = MessageList()
    messages.add(in_text(payload), format="mastra-v2")
    (stored,) = messages.to("mastra-v2", network=form).payload
    content: dict[str, Any] = stored["content"]
    return content


def json_in_texts(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a reader finds that looks for JSON in text parts."""
    texts = [part["text"] for part in content["parts"] if part["type"] == "text"]
    return [json.loads(text) for text in texts if '"isNetwork":true' in text]


@each_row("payload", RUNS.values(), ids=RUNS)
@each_row("form", ["string", "both"])
def test_old_readers_find_the_network(form: str, payload: dict[str, Any]) -> None:
    (found,) = json_in_texts(written(payload, form))
    result = found.pop("finalResult")
    assert {**found, "finalResult": {key: result[key] for key in payload["finalResult"]}} == {
        "isNetwork": True,
        **payload,
    }
    if payload is RUNS["an agent"]:  # readers of 2025 take the calls from the list
        (listed,) = result["toolCalls"]
        assert (listed["toolCallId"], listed["toolName"], listed["result"]) == ("k1", "hours", {"until": 18})


@each_row("payload", RUNS.values(), ids=RUNS)
@each_row("form", ["part", "field", "string", "both"])
def test_every_form_is_read_and_shown_once(form: str, payload: dict[str, Any]) -> None:
    content = written(payload, form)
    assert ("networkExecution" in content) == (form in ("field", "both"))
    parts = shown(row(content))
    expected = network_part(in_text(payload))
    (found,) = [part for part in parts if part["type"] == "dynamic-tool"]
    assert {key: found.get(key) for key in ("state", "input", "output", "errorText", "childMessages")} == {
        key: expected.get(key) for key in ("state", "input", "output", "errorText", "childMessages")
    }
    assert not any('"isNetwork"' in part.get("text", "") for part in parts)


def test_the_network_field_is_next_to_the_text_of_the_result() -> None:
    content = written(execution("agent", text="Till six.", messages=INNER), "field")
    assert content["parts"] == [{"type": "text", "text": "Till six."}]
    network = content["networkExecution"]
    assert (network["isNetwork"], network["primitiveId"]) == (True, "chosen")
    assert [message["content"]["format"] for message in network["finalResult"]["messages"]] == [2, 2, 2]
    assert written(execution("tool", result=SUM), "field")["parts"] == []


def test_a_message_with_legacy_network_metadata_has_both_forms() -> None:
    messages = MessageList()
    messages.add(in_text(RUNS["a tool"], metadata={"legacyNetwork": True}))
    content = messages.to("mastra-v2").payload[0]["content"]
    assert json_in_texts(content) == [content["networkExecution"]]
    assert content["networkExecution"]["finalResult"] == {"result": SUM, "toolCallId": "k1"}
    parts = shown(row(content), 7)
    assert [part["type"] for part in parts] == ["dynamic-tool"]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(PartitaError, match="no form 'column'"):
        written(RUNS["a tool"], "column")
