"""Stored rows of networks as pages and models get them, through the public functions alone."""

import json
from typing import Any

import pytest

from partita import MessageList, PartitaError, convert
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
    """A row with a network in the field of its own."""
    parts = [{"type": "text", "text": text} for text in texts]
    return row({"parts": parts, "networkExecution": {"isNetwork": True, **network}, **content})


def in_text(network: dict[str, Any], **content: Any) -> dict[str, Any]:
    """A row with a network as JSON in a text."""
    text = json.dumps({"isNetwork": True, **network}, separators=(",", ":"))
    return row({"parts": [{"type": "text", "text": text}], **content})


def ran(kind: str, **result: Any) -> dict[str, Any]:
    return {"primitiveType": kind, "primitiveId": "chosen", "selectionReason": "fits", "finalResult": result}


def shown(payload: Any, version: Any = 5) -> list[dict[str, Any]]:
    """The parts of the last UI message; the format of the rows is not named."""
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
    "in both, with its result in the list": (nested(SAME), [("tc1", "output-available")]),
}


@each_row(("messages", "expected"), LISTED.values(), ids=LISTED)
def test_every_listed_call_is_shown_once(
    messages: list[dict[str, Any]], expected: list[tuple[str, str]]
) -> None:
    part = network_part(in_text(ran("agent", text="Result", toolCalls=[CALL], messages=messages)))
    calls = [part for child in part["childMessages"] for part in child["parts"]]
    assert [(call["toolCallId"], call["state"]) for call in calls] == expected


@each_row("kind", ["tool", "workflow"])
@each_row("form", [in_text, in_field])
def test_the_result_of_a_tool_or_workflow_is_the_output(kind: str, form: Any) -> None:
    rows = [form(ran(kind, result=SUM))]
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
        in_text(ran("tool", result=SUM, toolCallId="k1")),
    ]
    sent = json.dumps(convert(rows, "mastra-v2", target).payload)
    assert '{\\"sum\\":3}' in sent


def test_a_workflow_run_is_the_output() -> None:
    run = {"status": "failed", "steps": {}, "error": {"message": "no oven"}}
    part = network_part(in_text(ran("workflow", runId="r", runResult=run, chunks=[], runSuccess=False)))
    assert part["output"] == run


def test_a_page_of_version_4_shows_networks() -> None:
    (message,) = convert([in_text(ran("tool", result=SUM))], None, "ai-sdk-ui-v4").payload
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


# --- recognition -----------------------------------------------------------------------------------------


def test_a_row_with_a_network_in_its_field_is_recognised() -> None:
    rows = [in_field(ran("agent", text="Result", toolCalls=[CALL]), "Result")]
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


def test_the_error_is_that_of_the_first_guess_when_all_refuse() -> None:
    with pytest.raises(PartitaError, match="unknown role"):
        convert([{"id": "m", "role": "judge", "parts": [{"type": "text", "text": "?"}]}])
