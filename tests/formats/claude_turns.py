"""Builds events and turns of the stream of Claude Code, and decodes them."""

from collections.abc import Iterable
from itertools import count

from partita.formats.claude_code.stream import ClaudeStreamDecoder
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolState,
)

_uuids = count()


def text(words: str, **more: Json) -> JsonObject:
    return {"type": "text", "text": words, **more}


def thinking(words: str, signature: str = "") -> JsonObject:
    return {"type": "thinking", "thinking": words, "signature": signature}


def tool_use(call: str, name: str = "Oven", input: Json = None, **more: Json) -> JsonObject:
    return {"type": "tool_use", "id": call, "name": name, "input": {} if input is None else input, **more}


def tool_result(call: str, content: Json, **more: Json) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def event(type: str, **fields: Json) -> JsonObject:
    return {"type": type, "uuid": f"uuid-{next(_uuids)}", "session_id": "session-1", **fields}


def init(**more: Json) -> JsonObject:
    fields = {"cwd": "/kitchen", "tools": ["Oven"], "model": "claude-baker", "claude_code_version": "2.1.0"}
    return event("system", subtype="init", **fields, **more)


def system(subtype: str, **fields: Json) -> JsonObject:
    return event("system", subtype=subtype, **fields)


def assistant_event(id: str | None, *blocks: Json, under: str | None = None, **more: Json) -> JsonObject:
    message = {"id": id, "role": "assistant", "model": "claude-baker", "content": list(blocks)}
    return event("assistant", message=message, parent_tool_use_id=under, **more)


def user_event(*blocks: Json, under: str | None = None, **more: Json) -> JsonObject:
    return event("user", message={"role": "user", "content": list(blocks)}, parent_tool_use_id=under, **more)


def stream_event(kind: str, under: str | None = None, **fields: Json) -> JsonObject:
    return event("stream_event", event={"type": kind, **fields}, parent_tool_use_id=under)


def message_start(id: str, under: str | None = None, **more: Json) -> JsonObject:
    message: JsonObject = {"id": id, "model": "claude-baker", "content": [], **more}
    return stream_event("message_start", under, message=message)


def message_end(reason: str = "end_turn", under: str | None = None) -> list[JsonObject]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        stream_event("message_delta", under, delta=delta, usage={"output_tokens": 9}),
        stream_event("message_stop", under),
    ]


def block_start(index: int, block: JsonObject, under: str | None = None) -> JsonObject:
    return stream_event("content_block_start", under, index=index, content_block=block)


def block_delta(index: int, kind: str, words: Json, under: str | None = None) -> JsonObject:
    field = {"input_json": "partial_json", "citations": "citation"}.get(kind, kind)
    return stream_event(
        "content_block_delta", under, index=index, delta={"type": f"{kind}_delta", field: words}
    )


def block_stop(index: int, under: str | None = None) -> JsonObject:
    return stream_event("content_block_stop", under, index=index)


def streamed_text(index: int, kind: str, *pieces: str, under: str | None = None) -> list[JsonObject]:
    """The events of a streamed text or reasoning block."""
    block = text("") if kind == "text" else thinking("")
    deltas = [block_delta(index, kind, words, under) for words in pieces]
    return [block_start(index, block, under), *deltas, block_stop(index, under)]


def streamed_call(index: int, block: JsonObject, *pieces: str, under: str | None = None) -> list[JsonObject]:
    """The events of a streamed call."""
    deltas = [block_delta(index, "input_json", words, under) for words in pieces]
    return [block_start(index, block | {"input": {}}, under), *deltas, block_stop(index, under)]


def approval_request(request: str, call: str | None, **more: Json) -> JsonObject:
    fields = {
        "subtype": "can_use_tool",
        "tool_name": "Oven",
        "input": {"heat": 1},
        "tool_use_id": call,
        **more,
    }
    return {"type": "control_request", "request_id": request, "request": fields}


def approval_response(request: str, **answer: Json) -> JsonObject:
    response = {"subtype": "success", "request_id": request, "response": answer}
    return {"type": "control_response", "response": response}


USAGE = {
    "input_tokens": 10,
    "output_tokens": 7,
    "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 20,
}


def result(subtype: str = "success", **more: Json) -> JsonObject:
    fields: JsonObject = {
        "is_error": False,
        "num_turns": 1,
        "total_cost_usd": 0.5,
        "usage": USAGE,
        "permission_denials": [],
    }
    return event("result", subtype=subtype, **{**fields, "stop_reason": "end_turn", **more})


BAKE = tool_use("bake", input={"heat": 1})
TASK = tool_use("task", "Task", {"prompt": "weigh it"})

TURNS: dict[str, list[Json]] = {
    "both forms of everything": [
        init(),
        message_start("m1"),
        *streamed_text(0, "thinking", "First ", "knead."),
        assistant_event("m1", thinking("First knead.", "S1")),
        *streamed_text(1, "text", "I will ", "bake."),
        assistant_event("m1", text("I will bake.")),
        *streamed_call(2, BAKE, '{"he', 'at":1}'),
        assistant_event("m1", BAKE),
        *message_end("tool_use"),
        user_event(tool_result("bake", "done"), tool_use_result={"loaves": 2}),
        message_start("m2"),
        *streamed_text(0, "text", "Two loaves."),
        assistant_event("m2", text("Two loaves.")),
        *message_end(),
        result(result="Two loaves."),
    ],
    "sub-agents in sub-agents": [
        init(),
        assistant_event("m1", TASK),
        user_event(text("weigh it"), under="task"),
        message_start("c1", "task"),
        *streamed_text(0, "text", "Let me ", "see.", under="task"),
        *streamed_call(1, tool_use("deeper", "Task"), "{}", under="task"),
        *message_end("tool_use", "task"),
        user_event(text("look closer"), under="deeper"),
        assistant_event("d1", tool_use("scale", "Scale"), under="deeper", subagent_type="weigher"),
        user_event(tool_result("scale", "1 kg"), under="deeper"),
        assistant_event("d2", text("It is 1 kg."), under="deeper"),
        user_event(tool_result("deeper", "1 kg"), under="task"),
        assistant_event("c2", text("One."), under="task"),
        user_event(tool_result("task", [text("One kilo.")]), tool_use_result={"status": "completed"}),
        assistant_event("m2", text("Done.")),
        result(),
    ],
    "approval requests": [
        init(),
        assistant_event("m1", BAKE, tool_use("cool", "Fridge")),
        approval_request("r1", "bake", decision_reason="it is hot"),
        approval_response("r1", behavior="allow", updatedInput={"heat": 2}),
        user_event(tool_result("bake", "done")),
        approval_request("r2", "cool", tool_name="Fridge", input={}),
        approval_response("r2", behavior="deny", message="eat it warm"),
        user_event(tool_result("cool", "eat it warm", is_error=True)),
        result("error_during_execution", is_error=True, errors=["burnt"], stop_reason=None),
    ],
    "an interrupted attempt": [
        init(),
        message_start("m1"),
        *streamed_text(0, "text", "Half a"),
        *streamed_call(1, BAKE, '{"heat'),
        system("api_retry", attempt=1),
        message_start("m2"),
        *streamed_text(0, "text", "A whole response."),
        *message_end(),
        result(),
    ],
    "all kinds of notices": [
        system("hook_started", hook_id="h"),
        init(),
        system("hook_response", hook_id="h", stdout="hi"),
        user_event(text("bake"), isReplay=True),
        message_start("m1"),
        block_start(0, {"type": "redacted_thinking", "data": "ENC"}),
        block_stop(0),
        block_start(1, {"type": "compaction", "content": None}),
        block_delta(1, "compaction", None) | {"event": {"type": "ping"}},
        block_stop(1),
        block_start(2, {"type": "fallback", "from": {}, "to": {}}),
        block_stop(2),
        *message_end(),
        user_event(text("<system-reminder>be brief</system-reminder>"), isSynthetic=True),
        user_event(
            text("and salt"), {"type": "image", "source": {"type": "url", "url": "https://x.example"}}
        ),
        system("compact_boundary", compact_metadata={"trigger": "auto"}),
        system("task_progress", task_id="t1", summary="half"),
        system("task_progress", task_id="t1", summary="nearly"),
        {"type": "tool_progress", "tool_use_id": "bake", "elapsed_time_seconds": 3},
        {"type": "keep_alive"},
        {"type": "smell", "of": "bread"},
        ["no", "event"],
        result(structured_output={"loaves": 2}),
        {"type": "prompt_suggestion", "suggestion": "eat"},
    ],
}
"""Turns for properties that hold at every point of every turn."""


def decode(events: Iterable[Json], *, finish: bool = True) -> list[Chunk]:
    decoder = ClaudeStreamDecoder()
    chunks = [chunk for event in events for chunk in decoder.feed(event)]
    return [*chunks, *decoder.finish()] if finish else chunks


def folded(events: Iterable[Json]) -> AssistantMessage:
    accumulator = Accumulator(id="message")
    for chunk in decode(events):
        accumulator.feed(chunk)
    return accumulator.snapshot()


def text_part(words: str, **more: Json) -> TextPart:
    return TextPart(words, state="done", **more)


def reasoning_part(id: str, words: str, signature: str | None = None) -> ReasoningPart:
    metadata = None if signature is None else {"anthropic": {"signature": signature}}
    return ReasoningPart(words, id=id, state="done", provider_metadata=metadata)


def state_after(output: ToolOutput) -> ToolState:
    if isinstance(output, ExecutionDeniedOutput):
        return "output-denied"
    good = isinstance(output, TextOutput | JsonOutput | ContentOutput)
    return "output-available" if good else "output-error"


def call_part(
    call: str, output: ToolOutput, name: str = "Oven", input: Json = None, **more: Json
) -> ToolCallPart:
    given = {"heat": 1} if call == "bake" and input is None else {} if input is None else input
    return ToolCallPart(call, name, state_after(output), given, output=output, **more)


STEP = StepStartPart()
LOST = InterruptedOutput("lost")
ABORTED = InterruptedOutput("aborted")
DONE = TextOutput("done")
