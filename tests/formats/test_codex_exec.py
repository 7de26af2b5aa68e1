"""`codex exec --json`, old and new, and the app server: events → chunks → a message."""

from partita.formats.codex.exec import CodexExecDecoder
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageStart, ToolOutputChunk
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import (
    Approval,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.tables import each_row


def chunks_of(events: list[JsonObject]) -> list[Chunk]:
    decoder = CodexExecDecoder()
    return [*[chunk for event in events for chunk in decoder.feed(event)], *decoder.finish()]


def accumulated(events: list[JsonObject]) -> Accumulator:
    accumulator = Accumulator(id="answer")
    for chunk in chunks_of(events):
        accumulator.feed(chunk)
    assert not accumulator.diagnostics
    return accumulator


def message_of(events: list[JsonObject]) -> AssistantMessage:
    return accumulated(events).snapshot()


def parts_of(events: list[JsonObject]) -> tuple[AssistantPart, ...]:
    return tuple(part for part in message_of(events).parts if not isinstance(part, StepStartPart))


def item(type_: str, id: str = "i1", **fields: Json) -> JsonObject:
    return {"id": id, "type": type_, **fields}


def started(it: JsonObject) -> JsonObject:
    return {"type": "item.started", "item": it}


def updated(it: JsonObject) -> JsonObject:
    return {"type": "item.updated", "item": it}


def done(it: JsonObject) -> JsonObject:
    return {"type": "item.completed", "item": it}


USAGE: JsonObject = {"input_tokens": 90, "cached_input_tokens": 50, "output_tokens": 10}


def test_a_whole_turn() -> None:
    events: list[JsonObject] = [
        {"type": "thread.started", "thread_id": "th"},
        {"type": "turn.started"},
        done(item("reasoning", "i0", text="Look first.")),
        started(item("command_execution", "i1", command="ls", aggregated_output="", status="in_progress")),
        done(
            item(
                "command_execution",
                "i1",
                command="ls",
                aggregated_output="beds",
                exit_code=0,
                status="completed",
            )
        ),
        done(item("agent_message", "i2", text="There are beds.")),
        {"type": "turn.completed", "usage": USAGE},
    ]
    accumulator = accumulated(events)
    message = accumulator.snapshot()
    assert message.parts == (
        StepStartPart(),
        ReasoningPart("Look first.", id="i0", state="done"),
        ToolCallPart(
            "i1",
            "command_execution",
            "output-available",
            input={"command": "ls"},
            output=TextOutput("beds"),
            tool_metadata={"codex": {"exitCode": 0}},
        ),
        TextPart("There are beds.", state="done"),
    )
    assert message.content.metadata == {
        "sessionId": "th",
        "usage": {"inputTokens": 90, "outputTokens": 10, "cachedInputTokens": 50, "raw": USAGE},
    }
    assert accumulator.finish_reason == "stop"


WORKS: dict[str, tuple[JsonObject, str, Json, ToolOutput]] = {
    "a command that failed": (
        item("command_execution", command="ls", aggregated_output="no", exit_code=2, status="failed"),
        "command_execution",
        {"command": "ls"},
        ErrorTextOutput("no"),
    ),
    "a declined command": (
        item("command_execution", command="rm", aggregated_output="", exit_code=None, status="declined"),
        "command_execution",
        {"command": "rm"},
        ExecutionDeniedOutput(),
    ),
    "changes of files": (
        item("file_change", changes=[{"path": "a", "kind": "add"}], status="completed"),
        "file_change",
        {"changes": [{"path": "a", "kind": "add"}]},
        JsonOutput({"status": "completed"}),
    ),
    "changes that failed": (
        item("file_change", changes=[], status="failed"),
        "file_change",
        {"changes": []},
        ErrorJsonOutput({"status": "failed"}),
    ),
    "declined changes": (
        item("file_change", changes=[], status="declined"),
        "file_change",
        {"changes": []},
        ExecutionDeniedOutput(),
    ),
    "a server's call": (
        item("mcp_tool_call", server="s", tool="plant", arguments={"n": 1}, status="completed")
        | {"result": {"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]}},
        "plant",
        {"n": 1},
        ContentOutput((ImagePart("data:image/png;base64,AA==", "image/png"),)),
    ),
    "a server's call with structure": (
        item("mcp_tool_call", server="s", tool="plant", arguments=None, status="completed")
        | {"result": {"content": [], "structured_content": {"n": 1}}},
        "plant",
        None,
        JsonOutput({"n": 1}),
    ),
    "a server's call that failed": (
        item("mcp_tool_call", server="s", tool="plant", error={"message": "no soil"}, status="failed"),
        "plant",
        None,
        ErrorTextOutput("no soil"),
    ),
    "an agent that is started": (
        item("collab_tool_call", tool="spawn_agent", prompt="Dig.", status="completed")
        | {"agents_states": {"a": {"status": "running"}}, "receiver_thread_ids": ["a"]},
        "spawn_agent",
        {"prompt": "Dig.", "receiver_thread_ids": ["a"]},
        JsonOutput({"status": "completed", "agents": {"a": {"status": "running"}}}),
    ),
    "a tool of the client's": (
        item("dynamicToolCall", tool="rake", arguments={"n": 1}, status="completed", success=True)
        | {"contentItems": [{"type": "inputText", "text": "raked"}]},
        "rake",
        {"n": 1},
        ContentOutput((TextPart("raked"),)),
    ),
    "a picture to look at": (
        item("imageView", path="/a.png"),
        "view_image",
        {"path": "/a.png"},
        JsonOutput({"path": "/a.png"}),
    ),
}


@each_row(("work", "name", "input", "output"), WORKS.values(), ids=WORKS)
def test_tool_items(work: JsonObject, name: str, input: Json, output: ToolOutput) -> None:
    (part,) = parts_of([done(work)])
    assert isinstance(part, ToolCallPart)
    assert (part.id, part.name, part.input, part.output) == ("i1", name, input, output)


def test_a_search_has_its_sources() -> None:
    action = {"type": "open_page", "url": "https://example.org"}
    call, source = parts_of([done(item("web_search", query="", action=action))])
    assert isinstance(call, ToolCallPart)
    assert (call.input, call.provider_executed) == (action, True)
    assert source == SourceUrlPart("https://example.org", "https://example.org")


def test_the_input_of_a_call_may_be_known_at_its_end() -> None:
    events = [
        started(item("web_search", query="", status="in_progress")),
        done(item("web_search", query="roses", action={"type": "search", "query": "roses"})),
    ]
    (call,) = parts_of(events)
    assert isinstance(call, ToolCallPart)
    assert call.input == {"type": "search", "query": "roses"}


def test_outputs_grow_while_a_command_runs() -> None:
    running = item("command_execution", command="ls", aggregated_output="be", status="in_progress")
    events = [
        started({**running, "aggregated_output": ""}),
        updated({**running, "status": "", "exit_code": 0}),
    ]
    outputs = [chunk for chunk in chunks_of(events) if isinstance(chunk, ToolOutputChunk)]
    assert [(chunk.output, chunk.preliminary) for chunk in outputs] == [
        (TextOutput("be"), True),
        (InterruptedOutput("lost"), None),
    ]


def test_a_to_do_list_is_data_that_is_replaced() -> None:
    steps = [[{"text": "dig", "completed": flag}] for flag in (False, True)]
    events = [started(item("todo_list", items=steps[0])), updated(item("todo_list", items=steps[1]))]
    assert parts_of(events) == (DataPart("codex-todo-list", item("todo_list", items=steps[1]), "i1"),)


FAILURES: dict[str, tuple[list[JsonObject], tuple[str, ...], str | None]] = {
    "a turn that failed": ([{"type": "turn.failed", "error": {"message": "no rain"}}], ("no rain",), "error"),
    "an error of the stream": ([{"type": "error", "message": "no rain"}], ("no rain",), None),
    "an error as an item": ([done(item("error", message="no rain"))], ("no rain",), None),
    "an old error": ([{"id": "1", "msg": {"type": "error", "message": "no rain"}}], ("no rain",), None),
    "an error of the server": (
        [{"method": "error", "params": {"error": {"message": "no rain"}, "willRetry": False}}],
        ("no rain",),
        None,
    ),
    "a failed turn of the server": (
        [
            {
                "method": "turn/completed",
                "params": {"turn": {"status": "failed", "error": {"message": "no rain"}}},
            }
        ],
        ("no rain",),
        "error",
    ),
    "an error that is tried again": (
        [{"method": "error", "params": {"error": {"message": "no rain"}, "willRetry": True}}],
        (),
        None,
    ),
}


@each_row(("events", "errors", "reason"), FAILURES.values(), ids=FAILURES)
def test_failures(events: list[JsonObject], errors: tuple[str, ...], reason: str | None) -> None:
    accumulator = accumulated(events)
    assert (accumulator.errors, accumulator.finish_reason) == (errors, reason)


INTERRUPTIONS: dict[str, list[JsonObject]] = {
    "old": [{"id": "1", "msg": {"type": "turn_aborted", "reason": "interrupted"}}],
    "of the server": [{"method": "turn/completed", "params": {"turn": {"status": "interrupted"}}}],
}


@each_row("events", INTERRUPTIONS.values(), ids=INTERRUPTIONS)
def test_an_interruption_stops_calls(events: list[JsonObject]) -> None:
    (call,) = parts_of([started(item("command_execution", command="ls", status="in_progress")), *events])
    assert isinstance(call, ToolCallPart)
    assert call.output == InterruptedOutput("aborted")


def test_a_stream_that_breaks_off_leaves_nothing_open() -> None:
    events = [
        started(item("command_execution", command="ls", status="in_progress")),
        {"method": "item/agentMessage/delta", "params": {"itemId": "m", "delta": "Bu"}},
    ]
    call, words = parts_of(events)
    assert isinstance(call, ToolCallPart)
    assert call.output == InterruptedOutput("lost")
    assert words == TextPart("Bu", state="done")


def test_each_turn_is_a_message() -> None:
    events: list[JsonObject] = [
        {"method": "turn/started", "params": {"turn": {"id": "t1"}}},
        {"method": "turn/completed", "params": {"turn": {"id": "t1", "status": "completed"}}},
        {"method": "turn/started", "params": {"turn": {"id": "t2"}}},
    ]
    starts = [chunk.message_id for chunk in chunks_of(events) if isinstance(chunk, MessageStart)]
    assert starts == ["t1", "t2"]


# The app server


def delta(method: str, words: str, name: str = "m") -> JsonObject:
    return {"method": f"item/{method}", "params": {"itemId": name, "delta": words}}


def server(phase: str, it: JsonObject) -> JsonObject:
    return {"method": f"item/{phase}", "params": {"item": it}}


GROWING: dict[str, tuple[list[JsonObject], AssistantPart]] = {
    "a text": (
        [
            server("started", item("agentMessage", "m", text="")),
            delta("agentMessage/delta", "Be"),
            delta("agentMessage/delta", "ds."),
            server("completed", item("agentMessage", "m", text="Beds.", phase="final_answer")),
        ],
        TextPart("Beds.", state="done", provider_metadata={"codex": {"phase": "final_answer"}}),
    ),
    "a text that is completed after one delta": (
        [delta("agentMessage/delta", "Be"), server("completed", item("agentMessage", "m", text="Beds."))],
        TextPart("Beds.", state="done"),
    ),
    "a text that differs from its deltas": (
        [delta("plan/delta", "Be"), server("completed", item("plan", "m", text="Dig."))],
        TextPart("Be", state="done", provider_metadata={"codex": {"final": "Dig."}}),
    ),
    "a reasoning in sections": (
        [
            {"method": "item/reasoning/summaryPartAdded", "params": {"itemId": "m"}},
            delta("reasoning/summaryTextDelta", "One."),
            {"method": "item/reasoning/summaryPartAdded", "params": {"itemId": "m"}},
            delta("reasoning/summaryTextDelta", "Two."),
            server("completed", item("reasoning", "m", summary=["One.", "Two."], content=[])),
        ],
        ReasoningPart("One.\n\nTwo.", id="m", state="done"),
    ),
}


@each_row(("events", "part"), GROWING.values(), ids=GROWING)
def test_texts_are_streamed(events: list[JsonObject], part: AssistantPart) -> None:
    assert parts_of(events) == (part,)


def test_user_messages_during_a_turn_steer_it() -> None:
    words = [[{"type": "text", "text": text}] for text in ("Dig.", "Deeper.")]
    events = [
        server("completed", item("userMessage", f"u{index}", content=texts))
        for index, texts in enumerate(words)
    ]
    prompt, steering = parts_of(events)
    assert isinstance(prompt, DataPart)
    assert steering == SteeringMessagePart("u1", (TextPart("Deeper."),))


def test_deltas_of_outputs_are_transient() -> None:
    running = item("commandExecution", "c", command="ls", status="inProgress")
    events = [server("started", running), delta("commandExecution/outputDelta", "be", "c")]
    shown = [chunk for chunk in chunks_of(events) if isinstance(chunk, DataChunk)]
    assert [(chunk.data, chunk.transient) for chunk in shown] == [({"id": "c", "delta": "be"}, True)]


DECISIONS: dict[str, tuple[Json, bool]] = {
    "yes": ("accept", True),
    "yes, always": ({"acceptWithExecpolicyAmendment": {}}, True),
    "no": ("decline", False),
    "nothing": (None, False),
}


@each_row(("decision", "approved"), DECISIONS.values(), ids=DECISIONS)
def test_approval_requests_and_responses(decision: Json, approved: bool) -> None:
    ask = {
        "method": "item/commandExecution/requestApproval",
        "id": 5,
        "params": {"itemId": "c", "reason": "risky"},
    }
    running = item("commandExecution", "c", command="rm", status="inProgress")
    decoder, accumulator = CodexExecDecoder(), Accumulator(id="answer")
    for event in [server("started", running), ask, {"id": 5, "result": {"decision": decision}}]:
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    call = accumulator.snapshot().parts[-1]
    assert isinstance(call, ToolCallPart)
    assert call.approval == Approval("5", approved, request_reason="risky")


def test_an_approval_request_begins_its_call() -> None:
    ask = {"type": "exec_approval_request", "call_id": "c", "command": ["rm"], "cwd": "/"}
    decoder = CodexExecDecoder()
    accumulator = Accumulator(id="answer")
    for chunk in decoder.feed({"id": "1", "msg": ask}):
        accumulator.feed(chunk)
    call = accumulator.snapshot().parts[-1]
    assert isinstance(call, ToolCallPart)
    assert (call.input, call.state) == ({"command": ["rm"], "cwd": "/"}, "approval-requested")


def test_the_usage_of_a_turn_is_the_sum_of_its_model_calls() -> None:
    def count(total: int, last: int) -> JsonObject:
        usages = {"total": {"totalTokens": total}, "last": {"totalTokens": last}}
        return {"method": "thread/tokenUsage/updated", "params": {"tokenUsage": usages}}

    end: JsonObject = {"method": "turn/completed", "params": {"turn": {"status": "completed"}}}
    events = [count(10, 10), count(10, 10), count(30, 20), end, count(35, 5), end]
    finishes = [chunk.message_metadata for chunk in chunks_of(events) if isinstance(chunk, MessageFinish)]
    assert finishes == [
        {"usage": {"totalTokens": 30, "raw": {"total_tokens": 30}}},
        {"usage": {"totalTokens": 5, "raw": {"total_tokens": 5}}},
    ]


def test_facts_of_the_thread_are_in_the_metadata() -> None:
    response = {"id": 2, "result": {"thread": {"id": "th"}, "model": "gpt-test", "cwd": "/home/ada"}}
    begin: JsonObject = {"method": "turn/started", "params": {"turn": {"id": "t1"}}}
    assert message_of([response, begin]).content.metadata == {
        "sessionId": "th",
        "model": "gpt-test",
        "cwd": "/home/ada",
    }


def test_notices_of_the_server_are_not_kept() -> None:
    begin: JsonObject = {"method": "turn/started", "params": {"turn": {"id": "t1"}}}
    notice: JsonObject = {"method": "mcpServer/startupStatus/updated", "params": {}}
    assert [type(chunk) for chunk in chunks_of([notice])] == []
    assert parts_of([begin, notice]) == ()


UNKNOWN: dict[str, Json] = {
    "an event": {"type": "rain.started", "amount": 3},
    "a method": {"method": "rain/started", "params": {}},
    "an old message": {"id": "1", "msg": {"type": "rain_started"}},
    "an object": {"rain": True},
    "no object": 7,
}


@each_row("event", UNKNOWN.values(), ids=UNKNOWN)
@each_row("before", [[], [{"type": "turn.started"}]], ids=["first", "later"])
def test_unknown_events_are_kept(event: Json, before: list[JsonObject]) -> None:
    (part,) = parts_of([*before, event])
    assert isinstance(part, DataPart)
    assert part.data == event


def test_an_unknown_item_is_kept() -> None:
    assert parts_of([done(item("smell", strength=3))]) == (
        DataPart("codex-smell", item("smell", strength=3), "i1"),
    )


# The first shape


def old(type_: str, **fields: Json) -> JsonObject:
    return {"id": "0", "msg": {"type": type_, **fields}}


def test_the_first_version() -> None:
    events = [
        {"model": "gpt-test", "workdir": "/home/ada", "provider": "openai"},
        {"prompt": "What is here?"},
        old("task_started", model_context_window=1000),
        old("agent_reasoning_delta", delta="Look "),
        old("agent_reasoning_delta", delta="first."),
        old("agent_reasoning", text="Look first."),
        old("exec_command_begin", call_id="c", command=["ls"], cwd="/home/ada"),
        old("exec_command_output_delta", call_id="c", chunk="YmVkcw=="),
        old(
            "exec_command_end",
            call_id="c",
            stdout="beds",
            stderr="",
            exit_code=1,
            duration={"secs": 1, "nanos": 0},
        ),
        old("agent_message", message="Beds."),
        old("token_count", input_tokens=9, output_tokens=1, total_tokens=10),
        old("task_complete", last_agent_message="Beds."),
    ]
    accumulator = accumulated(events)
    prompt, reasoning, call, words = [
        p for p in accumulator.snapshot().parts if not isinstance(p, StepStartPart)
    ]
    assert prompt == DataPart("codex-user-message", {"prompt": "What is here?"})
    assert reasoning == ReasoningPart("Look first.", id="item-1", state="done")
    assert isinstance(call, ToolCallPart)
    assert (call.id, call.name, call.output) == ("c", "command_execution", ErrorTextOutput("beds"))
    assert call.tool_metadata == {"codex": {"exitCode": 1, "durationSeconds": 1.0}}
    assert words == TextPart("Beds.", state="done")
    assert accumulator.snapshot().content.metadata == {
        "model": "gpt-test",
        "cwd": "/home/ada",
        "usage": {
            "inputTokens": 9,
            "outputTokens": 1,
            "totalTokens": 10,
            "raw": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10},
        },
    }
    assert accumulator.finish_reason == "stop"


def test_sections_of_an_old_reasoning() -> None:
    events = [
        old("agent_reasoning_delta", delta="One."),
        old("agent_reasoning_section_break"),
        old("agent_reasoning_delta", delta="Two."),
    ]
    assert parts_of(events) == (ReasoningPart("One.\n\nTwo.", id="item-1", state="done"),)


def test_an_old_session_has_its_thread() -> None:
    events = [old("session_configured", session_id="th", model="gpt-test"), old("task_started")]
    assert message_of(events).content.metadata == {"sessionId": "th", "model": "gpt-test"}
