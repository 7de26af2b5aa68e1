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


def use(call: str, name: str = "Oven", input: Json = None, **more: Json) -> JsonObject:
    return {"type": "tool_use", "id": call, "name": name, "input": {} if input is None else input, **more}


def answered(call: str, content: Json, **more: Json) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def event(type: str, **fields: Json) -> JsonObject:
    return {"type": type, "uuid": f"uuid-{next(_uuids)}", "session_id": "session-1", **fields}


def init(**more: Json) -> JsonObject:
    fields = {"cwd": "/kitchen", "tools": ["Oven"], "model": "claude-baker", "claude_code_version": "2.1.0"}
    return event("system", subtype="init", **fields, **more)


def system(subtype: str, **fields: Json) -> JsonObject:
    return event("system", subtype=subtype, **fields)


def whole(id: str | None, *blocks: Json, under: str | None = None, **more: Json) -> JsonObject:
    message = {"id": id, "role": "assistant", "model": "claude-baker", "content": list(blocks)}
    return event("assistant", message=message, parent_tool_use_id=under, **more)


def user(*blocks: Json, under: str | None = None, **more: Json) -> JsonObject:
    return event("user", message={"role": "user", "content": list(blocks)}, parent_tool_use_id=under, **more)


def live(kind: str, under: str | None = None, **fields: Json) -> JsonObject:
    return event("stream_event", event={"type": kind, **fields}, parent_tool_use_id=under)


def begun(id: str, under: str | None = None, **more: Json) -> JsonObject:
    message: JsonObject = {"id": id, "model": "claude-baker", "content": [], **more}
    return live("message_start", under, message=message)


def stopped(reason: str = "end_turn", under: str | None = None) -> list[JsonObject]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        live("message_delta", under, delta=delta, usage={"output_tokens": 9}),
        live("message_stop", under),
    ]


def opened(index: int, block: JsonObject, under: str | None = None) -> JsonObject:
    return live("content_block_start", under, index=index, content_block=block)


def piece(index: int, kind: str, words: Json, under: str | None = None) -> JsonObject:
    field = {"input_json": "partial_json", "citations": "citation"}.get(kind, kind)
    return live("content_block_delta", under, index=index, delta={"type": f"{kind}_delta", field: words})


def closed(index: int, under: str | None = None) -> JsonObject:
    return live("content_block_stop", under, index=index)


def written(index: int, kind: str, *pieces: str, under: str | None = None) -> list[JsonObject]:
    """A text or a thought that streams in."""
    block = text("") if kind == "text" else thinking("")
    pieces_told = [piece(index, kind, words, under) for words in pieces]
    return [opened(index, block, under), *pieces_told, closed(index, under)]


def called(index: int, block: JsonObject, *pieces: str, under: str | None = None) -> list[JsonObject]:
    """A call that streams in."""
    pieces_told = [piece(index, "input_json", words, under) for words in pieces]
    return [opened(index, block | {"input": {}}, under), *pieces_told, closed(index, under)]


def ask(request: str, call: str | None, **more: Json) -> JsonObject:
    fields = {
        "subtype": "can_use_tool",
        "tool_name": "Oven",
        "input": {"heat": 1},
        "tool_use_id": call,
        **more,
    }
    return {"type": "control_request", "request_id": request, "request": fields}


def reply(request: str, **answer: Json) -> JsonObject:
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


BAKE = use("bake", input={"heat": 1})
TASK = use("task", "Task", {"prompt": "weigh it"})

TURNS: dict[str, list[Json]] = {
    "both forms of everything": [
        init(),
        begun("m1"),
        *written(0, "thinking", "First ", "knead."),
        whole("m1", thinking("First knead.", "S1")),
        *written(1, "text", "I will ", "bake."),
        whole("m1", text("I will bake.")),
        *called(2, BAKE, '{"he', 'at":1}'),
        whole("m1", BAKE),
        *stopped("tool_use"),
        user(answered("bake", "done"), tool_use_result={"loaves": 2}),
        begun("m2"),
        *written(0, "text", "Two loaves."),
        whole("m2", text("Two loaves.")),
        *stopped(),
        result(result="Two loaves."),
    ],
    "sub-agents in sub-agents": [
        init(),
        whole("m1", TASK),
        user(text("weigh it"), under="task"),
        begun("c1", "task"),
        *written(0, "text", "Let me ", "see.", under="task"),
        *called(1, use("deeper", "Task"), "{}", under="task"),
        *stopped("tool_use", "task"),
        user(text("look closer"), under="deeper"),
        whole("d1", use("scale", "Scale"), under="deeper", subagent_type="weigher"),
        user(answered("scale", "1 kg"), under="deeper"),
        whole("d2", text("It is 1 kg."), under="deeper"),
        user(answered("deeper", "1 kg"), under="task"),
        whole("c2", text("One."), under="task"),
        user(answered("task", [text("One kilo.")]), tool_use_result={"status": "completed"}),
        whole("m2", text("Done.")),
        result(),
    ],
    "questions": [
        init(),
        whole("m1", BAKE, use("cool", "Fridge")),
        ask("r1", "bake", decision_reason="it is hot"),
        reply("r1", behavior="allow", updatedInput={"heat": 2}),
        user(answered("bake", "done")),
        ask("r2", "cool", tool_name="Fridge", input={}),
        reply("r2", behavior="deny", message="eat it warm"),
        user(answered("cool", "eat it warm", is_error=True)),
        result("error_during_execution", is_error=True, errors=["burnt"], stop_reason=None),
    ],
    "a try that broke off": [
        init(),
        begun("m1"),
        *written(0, "text", "Half a"),
        *called(1, BAKE, '{"heat'),
        system("api_retry", attempt=1),
        begun("m2"),
        *written(0, "text", "A whole answer."),
        *stopped(),
        result(),
    ],
    "all kinds of notices": [
        system("hook_started", hook_id="h"),
        init(),
        system("hook_response", hook_id="h", stdout="hi"),
        user(text("bake"), isReplay=True),
        begun("m1"),
        opened(0, {"type": "redacted_thinking", "data": "ENC"}),
        closed(0),
        opened(1, {"type": "compaction", "content": None}),
        piece(1, "compaction", None) | {"event": {"type": "ping"}},
        closed(1),
        opened(2, {"type": "fallback", "from": {}, "to": {}}),
        closed(2),
        *stopped(),
        user(text("<system-reminder>be brief</system-reminder>"), isSynthetic=True),
        user(text("and salt"), {"type": "image", "source": {"type": "url", "url": "https://x.example"}}),
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
"""Turns for rules that hold at every point of every turn."""


def decode(events: Iterable[Json], *, finish: bool = True) -> list[Chunk]:
    decoder = ClaudeStreamDecoder()
    chunks = [chunk for event in events for chunk in decoder.feed(event)]
    return [*chunks, *decoder.finish()] if finish else chunks


def folded(events: Iterable[Json]) -> AssistantMessage:
    accumulator = Accumulator(id="message")
    for chunk in decode(events):
        accumulator.feed(chunk)
    return accumulator.snapshot()


def said(words: str, **more: Json) -> TextPart:
    return TextPart(words, state="done", **more)


def thought(id: str, words: str, signature: str | None = None) -> ReasoningPart:
    metadata = None if signature is None else {"anthropic": {"signature": signature}}
    return ReasoningPart(words, id=id, state="done", provider_metadata=metadata)


def state_after(output: ToolOutput) -> ToolState:
    if isinstance(output, ExecutionDeniedOutput):
        return "output-denied"
    good = isinstance(output, TextOutput | JsonOutput | ContentOutput)
    return "output-available" if good else "output-error"


def made(call: str, output: ToolOutput, name: str = "Oven", input: Json = None, **more: Json) -> ToolCallPart:
    given = {"heat": 1} if call == "bake" and input is None else {} if input is None else input
    return ToolCallPart(call, name, state_after(output), given, output=output, **more)


STEP = StepStartPart()
LOST = InterruptedOutput("lost")
ABORTED = InterruptedOutput("aborted")
DONE = TextOutput("done")
