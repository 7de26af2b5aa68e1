"""Samples of Mastra streams: an agent, a workflow, and a network that runs everything."""

from partita.types.json import Json, JsonObject

RUN = "run-7"
STEP = "step-run"


def chunk(type_: str, run: str = RUN, sender: str = "AGENT", **payload: Json) -> JsonObject:
    return {"type": type_, "runId": run, "from": sender, "payload": payload}


def text(id_: str, *deltas: str, **members: str) -> list[JsonObject]:
    return [
        chunk("text-start", **members, id=id_),
        *(chunk("text-delta", **members, id=id_, text=delta) for delta in deltas),
        chunk("text-end", **members, id=id_),
    ]


def tool_output(call: str, inner: Json) -> JsonObject:
    return chunk("tool-output", toolCallId=call, toolName="agent-keeper", output=inner)


USAGE: JsonObject = {"inputTokens": 20, "outputTokens": 8, "totalTokens": 28, "reasoningTokens": 3}

AGENT: list[JsonObject] = [
    chunk("start", messageId="answer-1", id="harbour-agent"),
    chunk("step-start", messageId="answer-1", request={"body": "asked"}, warnings=[]),
    chunk("reasoning-start", id="r1", providerMetadata={"openai": {"itemId": "rs_1"}}),
    chunk("reasoning-delta", id="r1", text="The register "),
    chunk("reasoning-delta", id="r1", text="will know."),
    chunk("reasoning-signature", id="r1", signature="SIG"),
    chunk("reasoning-end", id="r1"),
    chunk("redacted-reasoning", id="r2", data="BLOB"),
    *text("t1", "I look ", "it up."),
    chunk("tool-call-input-streaming-start", toolCallId="c1", toolName="look_up", dynamic=True),
    chunk("tool-call-delta", toolCallId="c1", toolName="look_up", argsTextDelta='{"tower": '),
    chunk("tool-call-delta", toolCallId="c1", toolName="look_up", argsTextDelta='"Slettnes"}'),
    chunk("tool-call-input-streaming-end", toolCallId="c1"),
    chunk("tool-call", toolCallId="c1", toolName="look_up", args={"tower": "Slettnes"}, dynamic=True),
    chunk(
        "tool-result", toolCallId="c1", toolName="look_up", args={"tower": "Slettnes"}, result={"metres": 39}
    ),
    chunk("tool-call", toolCallId="c2", toolName="agent-keeper", args={"prompt": "Measure it."}),
    tool_output("c2", chunk("start", "sub-run", id="keeper")),
    tool_output("c2", chunk("step-start", "sub-run", messageId="sub-1", request={})),
    *(tool_output("c2", one) for one in text("t1", "It is ", "39 metres.", run="sub-run")),
    tool_output("c2", chunk("tool-call", "sub-run", toolCallId="s1", toolName="tape", args={})),
    tool_output(
        "c2", chunk("tool-error", "sub-run", toolCallId="s1", toolName="tape", error={"message": "torn"})
    ),
    tool_output("c2", chunk("finish", "sub-run", stepResult={"reason": "stop"}, output={"usage": USAGE})),
    chunk("tool-result", toolCallId="c2", toolName="agent-keeper", result="39 metres", isError=False),
    chunk("tool-call", toolCallId="c3", toolName="write", args={"text": "39"}),
    chunk("tool-call-approval", toolCallId="c3", toolName="write", args={"text": "39"}, resumeSchema="{}"),
    chunk(
        "tool-output-denied", toolCallId="c3", approval={"id": "run-7::c3", "approved": False, "reason": "no"}
    ),
    chunk(
        "tool-call-suspended", toolCallId="c4", toolName="ask", args={}, suspendPayload={"question": "Why?"}
    ),
    chunk("tool-result", toolCallId="c5", toolName="gone", result="lost at sea", isError=True),
    chunk("source", id="s1", sourceType="url", url="https://example.com/page", title="A page"),
    chunk("source", id="s2", sourceType="document", mimeType="text/plain", title="A log", filename="log.txt"),
    chunk("file", mimeType="image/png", data="iVBO", filename="tower.png"),
    {"type": "data-progress", "id": "p1", "data": {"done": 1}, "runId": RUN},
    {"type": "data-progress", "id": "p1", "data": {"done": 2}, "runId": RUN},
    {"type": "data-blink", "data": {"on": True}, "transient": True},
    {
        "type": "data-user-message",
        "data": {"id": "u2", "type": "user", "contents": "In feet, too."},
        "runId": RUN,
    },
    {"type": "object", "runId": RUN, "from": "AGENT", "object": {"metres": 3}},
    {"type": "object-result", "runId": RUN, "from": "AGENT", "object": {"metres": 39}},
    chunk("hologram", beam="green"),
    chunk("error", error={"message": "the lamp is out", "code": 5}),
    chunk(
        "step-finish",
        messageId="answer-1",
        stepResult={"reason": "stop", "warnings": []},
        output={"usage": USAGE},
        metadata={"modelId": "m-1"},
    ),
    chunk("finish", stepResult={"reason": "stop"}, output={"usage": USAGE}, messages={"all": []}),
]

WORKFLOW: list[JsonObject] = [
    chunk("workflow-start", sender="WORKFLOW", workflowId="paint"),
    chunk(
        "workflow-step-start",
        sender="WORKFLOW",
        id="mix",
        stepCallId="w1",
        payload={"red": 2},
        status="running",
    ),
    chunk(
        "workflow-step-output",
        sender="WORKFLOW",
        stepCallId="w1",
        output=chunk("text-delta", id="t", text="Hm."),
    ),
    chunk(
        "workflow-step-result",
        sender="WORKFLOW",
        id="mix",
        stepCallId="w1",
        status="success",
        output={"tin": 1},
    ),
    chunk("workflow-step-start", sender="WORKFLOW", id="dry", payload={}, startedAt=1),
    chunk("workflow-step-suspended", sender="WORKFLOW", id="dry", suspendPayload={"until": "noon"}),
    chunk("workflow-step-result", sender="WORKFLOW", id="dry", status="failed", error="rain", endedAt=2),
    chunk("workflow-step-progress", sender="WORKFLOW", id="dry", completedCount=1, totalCount=2),
    chunk(
        "workflow-finish", sender="WORKFLOW", workflowStatus="failed", output={"usage": USAGE}, metadata={}
    ),
]


def network(type_: str, **payload: Json) -> JsonObject:
    return chunk(type_, "net-run", "NETWORK", **payload)


def decision(type_: str, id_: str, prompt: str, iteration: int, **more: Json) -> JsonObject:
    return {
        "task": "Paint the tower.",
        "primitiveId": id_,
        "primitiveType": type_,
        "prompt": prompt,
        "result": "",
        "isComplete": False,
        "selectionReason": f"why {id_}",
        "iteration": iteration,
        "runId": f"route-{iteration}",
        **more,
    }


def routing(type_: str, id_: str, prompt: str, iteration: int) -> list[JsonObject]:
    asked = {"task": "Paint the tower.", "iteration": iteration, "isOneOff": False}
    return [
        network(
            "routing-agent-start",
            agentId="router",
            networkId="n",
            runId=f"route-{iteration}",
            inputData=asked,
        ),
        network("routing-agent-text-start", runId=f"route-{iteration}"),
        network("routing-agent-end", **decision(type_, id_, prompt, iteration), usage=USAGE),
    ]


def event(kind: str, inner: JsonObject) -> JsonObject:
    return {
        "type": f"{kind}-execution-event-{inner['type']}",
        "runId": "net-run",
        "from": "NETWORK",
        "payload": inner,
    }


ASK_PAINTER = decision("agent", "painter", "Which red?", 0)
MIX_PAINT = decision("workflow", "paint", '{"red":2}', 1)
SEND_BILL = decision("tool", "bill", '{"tins":1}', 2, args={"tins": 1}, toolName="bill", toolCallId="bill-1")
ANSWER = "The tower is red."

NETWORK: list[JsonObject] = [
    *routing("agent", "painter", "Which red?", 0),
    network("agent-execution-start", agentId="painter", args=ASK_PAINTER, runId=STEP),
    event("agent", chunk("start", STEP, id="painter")),
    event("agent", chunk("step-start", STEP, messageId="sub-1", request={})),
    *(event("agent", one) for one in text("t1", "Signal ", "red.", run=STEP)),
    event("agent", chunk("tool-call", STEP, toolCallId="k1", toolName="chart", args={"of": "reds"})),
    event("agent", {"type": "data-swatch", "data": {"red": 255}, "runId": STEP}),
    event("agent", chunk("tool-result", STEP, toolCallId="k1", toolName="chart", result=["signal"])),
    event("agent", chunk("finish", STEP, stepResult={"reason": "stop"}, output={"usage": USAGE})),
    network(
        "agent-execution-end",
        **{**ASK_PAINTER, "agentId": "painter", "result": "Signal red.", "runId": STEP, "usage": USAGE},
    ),
    *routing("workflow", "paint", '{"red":2}', 1),
    network("workflow-execution-start", workflowId="paint", args=MIX_PAINT, runId="flow-run"),
    event("workflow", chunk("workflow-start", "flow-run", "WORKFLOW", workflowId="paint")),
    event("workflow", chunk("workflow-step-start", "flow-run", "WORKFLOW", id="mix", payload={"red": 2})),
    event(
        "workflow",
        chunk("workflow-step-result", "flow-run", "WORKFLOW", id="mix", status="success", output=1),
    ),
    network(
        "workflow-execution-end",
        **{**MIX_PAINT, "name": "paint", "result": {"status": "success", "steps": {}}, "runId": "flow-run"},
    ),
    network("network-validation-end", runId="net-run", iteration=1, passed=False, results=[]),
    *routing("tool", "bill", '{"tins":1}', 2),
    network("tool-execution-start", args=SEND_BILL, runId="net-run"),
    network("tool-execution-end", **{**SEND_BILL, "result": {"paid": True}}),
    network(
        "routing-agent-start", agentId="router", networkId="n", runId="route-3", inputData={"iteration": 3}
    ),
    network("routing-agent-text-start", runId="route-3"),
    network("routing-agent-text-delta", runId="route-3", text="The tower "),
    network("routing-agent-text-delta", runId="route-3", text="is red."),
    network("routing-agent-end", **{**decision("none", "", "", 3), "result": ANSWER, "isComplete": True}),
    network("network-execution-event-step-finish", task="Paint the tower.", result=ANSWER, isComplete=True),
    network("network-execution-event-finish", task="Paint the tower.", result=ANSWER, usage=USAGE),
]

STREAMS: dict[str, list[JsonObject]] = {"agent": AGENT, "workflow": WORKFLOW, "network": NETWORK}
