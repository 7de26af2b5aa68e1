"""Ids of calls that are used again: every call is kept, with its own input and output.

Some models and gateways number the calls of each response from 0, so that an id names another call later.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import partita
import partita.logs
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import InterruptedOutput, StepStartPart, TextOutput
from tests.importers.log_files import SESSION, ClaudeLog
from tests.tables import each_row

THREAD = "019a2b3c-4d5e-7f80-9a1b-2c3d4e5f6071"
TURNS = range(3)


def stamped(records: Sequence[JsonObject]) -> bytes:
    times = [f"2026-03-02T09:00:{number:02}.000Z" for number in range(len(records))]
    lines = [{"timestamp": time, **record} for time, record in zip(times, records, strict=True)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def claude_code() -> bytes:
    log = ClaudeLog()
    for turn in TURNS:
        log.prompt(f"Look {turn}")
        log.answer(call={"id": "call_0", "name": "ls", "input": {"path": str(turn)}})
        if turn != 1:  # one that was cut off
            log.result("call_0", f"found {turn}")
        log.answer(f"Done {turn}")
    return log.lines()


def codex(*, events: bool) -> bytes:
    records: list[JsonObject] = [{"type": "session_meta", "payload": {"id": THREAD, "cwd": "/garden"}}]
    for turn in TURNS:
        prompt = {"type": "input_text", "text": f"Look {turn}"}
        given = json.dumps({"path": str(turn)})
        items: list[JsonObject] = [
            {"type": "message", "role": "user", "content": [prompt]},
            {"type": "function_call", "name": "ls", "arguments": given, "call_id": "call_0"},
            {"type": "function_call_output", "call_id": "call_0", "output": f"found {turn}"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]},
        ]
        if turn == 1:
            del items[2]
        records += [{"type": "response_item", "payload": item} for item in items]
        if events:
            texts = {"type": "user_message", "message": f"Look {turn}"}
            records.insert(-len(items) + 1, {"type": "event_msg", "payload": texts})
    return stamped(records)


def gemini_cli() -> bytes:
    messages: list[JsonObject] = []
    for turn in TURNS:
        call: JsonObject = {"id": "call_0", "name": "ls", "args": {"path": str(turn)}, "status": "cancelled"}
        if turn != 1:
            response = {"id": "call_0", "name": "ls", "response": {"output": f"found {turn}"}}
            call |= {"status": "success", "result": [{"functionResponse": response}]}
        messages += [
            {"id": f"u{turn}", "type": "user", "content": f"Look {turn}"},
            {"id": f"g{turn}", "type": "gemini", "content": "Done", "model": "g", "toolCalls": [call]},
        ]
    for number, message in enumerate(messages):
        message["timestamp"] = f"2026-03-02T09:00:{number:02}.000Z"
    head = {"sessionId": THREAD, "projectHash": "garden", "startTime": "2026-03-02T09:00:00.000Z"}
    return json.dumps({**head, "messages": messages}).encode()


LOGS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "Claude Code": (f"{SESSION}.jsonl", claude_code),
    "Codex": (f"rollout-2026-03-02T09-00-00-{THREAD}.jsonl", lambda: codex(events=True)),
    "Codex without events": (f"rollout-2026-03-02T09-00-00-{THREAD}.jsonl", lambda: codex(events=False)),
    "Gemini CLI": ("session-2026-03-02T09-00-019a2b3c.json", gemini_cli),
}


def calls_of(messages: Sequence[Message]) -> list[tuple[Json, str | None]]:
    """The calls with their inputs and outputs; `None` for one that was cut off."""
    found: list[tuple[Json, str | None]] = []
    for message in messages:
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                output = part.output
                assert output is None or isinstance(output, TextOutput | InterruptedOutput)
                found.append((part.input, output.value if isinstance(output, TextOutput) else None))
    return found


@each_row(("name", "make"), LOGS.values(), ids=LOGS)
def test_a_log_keeps_every_call(name: str, make: Callable[[], bytes]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(make())
        messages = partita.logs.parse_log_file(path).messages
    assert calls_of(messages) == [
        ({"path": "0"}, "found 0"),
        ({"path": "1"}, None),
        ({"path": "2"}, "found 2"),
    ]


def claude_stream(*, partial: bool, ids: bool) -> list[JsonObject]:
    events: list[JsonObject] = [{"type": "system", "subtype": "init", "model": "m", "tools": []}]
    for turn in TURNS:
        about = {"id": f"msg_{turn}"} if ids else {}
        use = {"type": "tool_use", "id": "call_0", "name": "ls", "input": {"path": str(turn)}}
        if partial:
            inner: list[JsonObject] = [
                {"type": "message_start", "message": {**about, "role": "assistant", "content": []}},
                {"type": "content_block_start", "index": 0, "content_block": {**use, "input": {}}},
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": json.dumps(use["input"])},
                },
                {"type": "content_block_stop", "index": 0},
            ]
            events += [{"type": "stream_event", "event": event} for event in inner]
        result = {"type": "tool_result", "tool_use_id": "call_0", "content": f"found {turn}"}
        message = {**about, "role": "assistant", "model": "m", "content": [use]}
        events += [
            {"type": "assistant", "message": message},
            {"type": "user", "message": {"role": "user", "content": [result]}},
        ]
    return [*events, {"type": "result", "subtype": "success", "result": "", "is_error": False}]


def gemini_stream() -> list[JsonObject]:
    events: list[JsonObject] = []
    for turn in TURNS:
        given = {"path": str(turn)}
        done = {"status": "success", "output": f"found {turn}"}
        events += [
            {"type": "tool_use", "tool_name": "ls", "tool_id": "call_0", "parameters": given},
            {"type": "tool_result", "tool_id": "call_0", **done},
        ]
    return events


STREAMS: dict[str, tuple[str, list[JsonObject]]] = {
    "Claude Code, whole messages": ("claude-code-stream", claude_stream(partial=False, ids=True)),
    "Claude Code, events": ("claude-code-stream", claude_stream(partial=True, ids=True)),
    "Claude Code, without message ids": ("claude-code-stream", claude_stream(partial=False, ids=False)),
    "Claude Code, events without message ids": ("claude-code-stream", claude_stream(partial=True, ids=False)),
    "Gemini CLI": ("gemini-cli-stream", gemini_stream()),
}


@each_row(("format_", "events"), STREAMS.values(), ids=STREAMS)
def test_a_stream_keeps_every_call_in_a_step_of_its_own(format_: str, events: list[JsonObject]) -> None:
    make = partita.get_format(format_).decoder
    assert make is not None
    decoder, fold = make(), partita.Accumulator(id="m")
    for event in events:
        for chunk in decoder.feed(event):
            fold.feed(chunk)
    for chunk in decoder.finish():
        fold.feed(chunk)
    message = fold.snapshot()
    assert calls_of([message]) == [({"path": str(turn)}, f"found {turn}") for turn in TURNS]
    assert sum(isinstance(part, StepStartPart) for part in message.parts) == len(TURNS)
    assert len({part.id for part in message.parts if isinstance(part, ToolCallPart)}) == len(TURNS)


def loaded(format_: str, payload: Json) -> Sequence[Message]:
    load = partita.get_format(format_).load
    assert load is not None
    return load(payload).messages


def cherry_row(turn: int) -> JsonObject:
    part = {
        "type": "tool-ls",
        "toolCallId": "call_0",
        "state": "output-available",
        "input": {"path": str(turn)},
        "output": f"found {turn}",
    }
    return {"id": f"m{turn}", "sessionId": "s", "role": "assistant", "data": {"parts": [part]}}


def test_messages_of_cherry_studio_keep_every_call() -> None:
    messages = loaded("cherry", [cherry_row(turn) for turn in TURNS])
    assert calls_of(messages) == [({"path": str(turn)}, f"found {turn}") for turn in TURNS]


async def test_messages_of_the_ai_sdk_keep_every_call_in_the_store() -> None:
    parts: list[JsonObject] = [
        {
            "type": "tool-ls",
            "toolCallId": "call_0",
            "state": "output-available",
            "input": {"path": str(turn)},
            "output": f"found {turn}",
        }
        for turn in TURNS
    ]
    raw: list[Json] = [
        {"id": f"m{turn}", "role": "assistant", "parts": [part]} for turn, part in enumerate(parts)
    ]
    messages = loaded("ai-sdk-ui-v7", raw)
    async with await partita.open_store("memory:") as store:
        await store.threads.create("t")
        await store.messages.save(messages, thread_id="t")
        stored = (await store.messages.list("t")).items
    assert calls_of(stored) == [({"path": str(turn)}, f"found {turn}") for turn in TURNS]


TEXTS: dict[str, list[str | None]] = {
    "after a result": ["Look", None, "Done"],
    "after two": ["Look", None, "Again", None, "Done"],
}


@each_row("texts", TEXTS.values(), ids=TEXTS)
def test_a_response_without_an_id_begins_a_step_after_a_result(texts: list[str | None]) -> None:
    events: list[JsonObject] = []
    for number, text in enumerate(texts):
        blocks: list[JsonObject] = [{"type": "text", "text": text}]
        if text is None:
            blocks = [{"type": "tool_use", "id": f"c{number}", "name": "ls", "input": {}}]
        events.append({"type": "assistant", "message": {"role": "assistant", "content": blocks}})
        if text is None:
            result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "found"}
            events.append({"type": "user", "message": {"role": "user", "content": [result]}})
    make = partita.get_format("claude-code-stream").decoder
    assert make is not None
    decoder, fold = make(), partita.Accumulator(id="m")
    for event in events:
        for chunk in decoder.feed(event):
            fold.feed(chunk)
    steps = [part for part in fold.snapshot().parts if isinstance(part, StepStartPart)]
    assert len(steps) == texts.count(None) + 1
