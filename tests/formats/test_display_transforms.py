"""Display transforms of a Mastra server hide payloads in UI messages; stored rows and models keep them."""

import json
from typing import Any

from partita import convert
from partita.agents import MessageList
from partita.formats.losses import DISPLAY
from tests.tables import each_row

HIDDEN = "sk-hidden"
SHOWN = "shown"
RAW: dict[str, Any] = {"key": HIDDEN}


def transform(*phases: str, name: str = "toolPayloadTransform", value: str = "transformed") -> dict[str, Any]:
    display = {phase: {value: {"note": SHOWN}} for phase in phases}
    return {"mastra": {name: {"display": display}}}


def call(state: str = "result", **more: Any) -> dict[str, Any]:
    return {"state": state, "toolCallId": "c1", "toolName": "look", "args": RAW, **more}


def invocation(metadata: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "tool-invocation", "toolInvocation": call(**more), "providerMetadata": metadata}


def row(*parts: dict[str, Any], **content: Any) -> dict[str, Any]:
    return {"id": "m1", "role": "assistant", "content": {"format": 2, "parts": list(parts), **content}}


BOTH = transform("input-available", "output-available")
ERROR = transform("input-available", "error")
ENTRY = {"toolCallId": "c1", "toolName": "look", "args": RAW, "runId": "r1"}
SUSPENDED = {**ENTRY, "type": "suspension", "suspendPayload": RAW}
NETWORK = {
    "isNetwork": True,
    "primitiveType": "agent",
    "primitiveId": "clerk",
    "finalResult": {
        "text": "Done",
        "toolCalls": [
            {
                "type": "tool-call",
                "payload": {
                    "toolCallId": "c1",
                    "toolName": "look",
                    "args": RAW,
                    "result": RAW,
                    "providerMetadata": BOTH,
                },
            }
        ],
    },
}

ROWS: dict[str, dict[str, Any]] = {
    "a result": row(invocation(BOTH, result=RAW)),
    "a result and its copy in toolInvocations": row(
        invocation(BOTH, result=RAW), toolInvocations=[call(result=RAW)]
    ),
    "former member names": row(
        invocation(
            transform("input-available", "output-available", name="toolPayloadProjection", value="projected"),
            result=RAW,
        )
    ),
    "an open call": row(invocation(transform("input-available"), state="call")),
    "an error": row(invocation(ERROR, state="output-error", errorText=f"no {HIDDEN}", rawInput=HIDDEN)),
    "an error result": row(invocation(ERROR, result=HIDDEN, isError=True)),
    "a call that waits for approval": row(
        invocation(transform("input-available"), state="call"),
        metadata={"pendingToolApprovals": {"c1": {**ENTRY, "metadata": transform("approval")}}},
    ),
    "a suspended call": row(
        {"type": "tool-invocation", "toolInvocation": call("call")},
        metadata={
            "suspendedTools": {"c1": {**SUSPENDED, "metadata": transform("input-available", "suspend")}}
        },
    ),
    "data of a call that waits for approval": row(
        {"type": "data-tool-call-approval", "data": {**ENTRY, "metadata": transform("approval")}},
        {"type": "data-tool-call-suspended", "data": {**SUSPENDED, "providerMetadata": transform("suspend")}},
    ),
    "a call of a network": row({"type": "text", "text": json.dumps(NETWORK)}),
}


@each_row("stored", ROWS.values(), ids=ROWS)
@each_row("version", [4, 5, 6, 7])
def test_ui_messages_show_the_transformed_payload(version: int, stored: dict[str, Any]) -> None:
    converted = convert([stored], "mastra-v2", f"ai-sdk-ui-v{version}")
    sent = json.dumps(converted.payload)
    assert HIDDEN not in sent
    nested = stored is ROWS["a call of a network"]  # version 4 has the network, but not its nested calls
    assert SHOWN in sent or (version == 4 and nested)
    assert any(loss.why == DISPLAY for loss in converted.losses)


@each_row("stored", ROWS.values(), ids=ROWS)
def test_message_lists_hide_payloads_and_stored_rows_keep_them(stored: dict[str, Any]) -> None:
    messages = MessageList()
    messages.add([stored])
    assert HIDDEN not in json.dumps(messages.ui())
    assert HIDDEN in json.dumps(messages.to("mastra-v2").payload)


def test_models_get_the_raw_values() -> None:
    sent = convert([row(invocation(BOTH, result=RAW))], "mastra-v2", "ai-sdk-model-v7").payload
    assert sent[0]["content"][0]["input"] == RAW
    assert sent[1]["content"][0]["output"] == {"type": "json", "value": RAW}


def test_null_hides_a_payload_and_errors_stay_text() -> None:
    nothing = {"mastra": {"toolPayloadTransform": {"display": {"error": {"transformed": None}}}}}
    stored = row(invocation(nothing, state="output-error", errorText=HIDDEN))
    (part,) = convert([stored], "mastra-v2", "ai-sdk-ui-v7").payload[0]["parts"]
    assert (part["state"], part["errorText"], part["input"]) == ("output-error", "", RAW)


def test_payloads_without_a_transform_are_shown() -> None:
    transcript = {
        "mastra": {"toolPayloadTransform": {"transcript": {"output-available": {"transformed": 1}}}}
    }
    for metadata in (transform("output-available"), transcript):
        stored = row(invocation(metadata, result=RAW))
        (part,) = convert([stored], "mastra-v2", "ai-sdk-ui-v7").payload[0]["parts"]
        assert part["input"] == RAW
        assert part["output"] == ({"note": SHOWN} if metadata is not transcript else RAW)


def test_a_stream_hides_payloads() -> None:
    around = {"runId": "r1", "from": "AGENT"}
    named = {"toolCallId": "c1", "toolName": "look"}
    events = [
        {"type": "start", **around, "payload": {"messageId": "m1"}},
        {"type": "tool-call-input-streaming-start", **around, "payload": named},
        {"type": "tool-call-delta", **around, "payload": {**named, "argsTextDelta": '{"key": "sk-hidden"}'}},
        {
            "type": "tool-call",
            **around,
            "payload": {**named, "args": RAW},
            "metadata": transform("input-available"),
        },
        {
            "type": "tool-result",
            **around,
            "payload": {**named, "result": RAW},
            "metadata": transform("output-available"),
        },
        {"type": "finish", **around, "payload": {"stepResult": {"reason": "stop"}}},
    ]
    (message,) = convert(events, "mastra-stream", "ai-sdk-ui-v7").payload
    assert HIDDEN not in json.dumps(message)
    (part,) = [part for part in message["parts"] if part["type"] == "tool-look"]
    assert part["input"] == part["output"] == {"note": SHOWN}
