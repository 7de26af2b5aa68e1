"""Every UI message that we write is valid in the real packages."""

import json
from typing import Any

from hypothesis import given, settings

from partita import AssistantMessage, ToolCallPart, convert
from partita.agents import MessageList
from partita.types.messages import Message
from tests import canonical
from tests.conformance.bridge import RealPackage
from tests.tables import each_row

VERSIONS = (5, 6, 7)


def row(*parts: dict[str, Any], **content: Any) -> dict[str, Any]:
    return {"id": "m1", "role": "assistant", "content": {"format": 2, "parts": list(parts), **content}}


def call(**more: Any) -> dict[str, Any]:
    invocation = {"toolCallId": "c1", "toolName": "look", "args": {}, **more}
    return {"type": "tool-invocation", "toolInvocation": invocation}


def network(**result: Any) -> dict[str, Any]:
    payload = {"isNetwork": True, "primitiveType": "agent", "primitiveId": "clerk", "finalResult": result}
    return {"type": "text", "text": json.dumps(payload)}


LISTED = {"toolCallId": "c1", "toolName": "look", "args": {}}
ENTRY = {**LISTED, "type": "approval", "runId": "r1"}

ROWS: dict[str, dict[str, Any]] = {
    "an error without a text": row(call(state="output-error")),
    "an error whose text is null": row(call(state="output-error", errorText=None)),
    "a result without a value": row(call(state="result")),
    "no state": row(call(result=1)),
    "a pending approval without an approval": row(call(state="approval-requested")),
    "an approval response without an approval": row(call(state="approval-responded")),
    "an approval response without a decision": row(call(state="approval-responded", approval={"id": "a1"})),
    "a denial without an approval": row(call(state="output-denied")),
    "an error after a denial": row(
        call(state="output-error", errorText="no", approval={"id": "a1", "approved": False})
    ),
    "a result after an open question": row(call(state="result", result=1, approval={"id": "a1"})),
    "a pending call": row(call(state="call"), metadata={"pendingToolApprovals": {"c1": ENTRY}}),
    "a network": row(
        network(text="Done", toolCalls=[{**LISTED, "result": None}, {**LISTED, "toolCallId": "c2"}])
    ),
    "a network with a failed call": row(network(toolCalls=[{**LISTED, "state": "output-error"}])),
    "invalid provider metadata": row(
        {"type": "text", "text": "Hm.", "providerMetadata": {"note": 1, "openai": {"itemId": "i"}}}
    ),
    "nothing": row(),
}


@each_row("stored", ROWS.values(), ids=ROWS)
@each_row("version", VERSIONS)
def test_rows_become_valid_messages(real: RealPackage, version: int, stored: dict[str, Any]) -> None:
    messages = convert([stored], "mastra-v2", f"ai-sdk-ui-v{version}").payload
    answer = real.ask({"op": "validate", "version": version, "messages": messages})
    assert answer["success"], answer["error"]


def test_an_error_without_a_text_gets_one() -> None:
    failed = AssistantMessage(id="m1", content=[ToolCallPart("c1", "look", "output-error", {})])
    dumped = MessageList([failed]).to("ai-sdk-ui-v7")
    assert dumped.payload[0]["parts"][0]["errorText"] == "Tool call failed."
    assert [loss.severity for loss in dumped.losses] == ["repaired"]
    assert MessageList([failed]).ui() == dumped.payload


@settings(max_examples=20)
@given(message=canonical.messages(canonical.KNOWN))
def test_canonical_messages_become_valid_messages(real: RealPackage, message: Message) -> None:
    for version in VERSIONS:
        messages = MessageList([message]).to(f"ai-sdk-ui-v{version}").payload
        if messages:
            answer = real.ask({"op": "validate", "version": version, "messages": messages})
            assert answer["success"], answer["error"]
