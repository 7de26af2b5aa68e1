"""Sessions of OpenCode: messages and parts."""

from collections.abc import Sequence

from partita.formats.log.thread_builder import LogBuilder
from partita.formats.opencode.session import OpenCodeDecoder, records_of
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    Interruption,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.usage import Usage
from tests.formats.opencode_counts import own_of, read
from tests.tables import each_row

SESSION: JsonObject = {
    "id": "ses_1",
    "slug": "quiet-river",
    "projectID": "p1",
    "directory": "/home/ada/project",
    "title": "Repair the fence",
    "version": "1.2.20",
    "time": {"created": 1_000, "updated": 9_000},
}
TOKENS: JsonObject = {
    "total": 160,
    "input": 100,
    "output": 30,
    "reasoning": 12,
    "cache": {"read": 20, "write": 10},
}


def asked(id: str, *parts: JsonObject, at: int = 1_000, **fields: Json) -> JsonObject:
    own = {"id": id, "sessionID": "ses_1", "role": "user", "time": {"created": at}, "agent": "build"}
    model = {"providerID": "acme", "modelID": "acme-1"}
    return {"info": {**own, "model": model, **fields}, "parts": list(parts)}


def answered(id: str, *parts: JsonObject, at: int = 2_000, **fields: Json) -> JsonObject:
    own = {"id": id, "sessionID": "ses_1", "role": "assistant", "parentID": "u1", "time": {"created": at}}
    model = {"providerID": "acme", "modelID": "acme-1", "agent": "build", "mode": "build"}
    return {"info": {**own, **model, **fields}, "parts": list(parts)}


def part(type_: str, **fields: Json) -> JsonObject:
    return {"type": type_, "messageID": "m", "sessionID": "ses_1", **fields}


def text(words: str, **fields: Json) -> JsonObject:
    return part("text", text=words, **fields)


def tool(name: str = "bash", call_id: str = "c1", **state: Json) -> JsonObject:
    state.setdefault("status", "completed")
    state.setdefault("input", {"command": "ls"})
    return part("tool", tool=name, callID=call_id, state=state)


GO = asked("u1", text("Go"))


def call_in(messages: dict[str, Message], id: str) -> ToolCallPart:
    (call,) = [part for part in messages[id].parts if isinstance(part, ToolCallPart)]
    return call


def unknown_records(builder: LogBuilder) -> list[str]:
    return [finding.what for finding in builder.unknown_records]


def test_a_conversation() -> None:
    time = {"created": 2_000, "completed": 5_000}
    thought = part(
        "reasoning", text="Hm.", metadata={"acme": {"signature": "x"}}, time={"start": 1, "end": 2}
    )
    finish = part("step-finish", reason="stop", cost=0.5, tokens=TOKENS)
    response = answered(
        "a1",
        part("step-start", snapshot="f00"),
        thought,
        text("Done."),
        finish,
        time=time,
        tokens=TOKENS,
        cost=0.5,
        finish="stop",
    )
    messages, builder = read([SESSION, GO, response])
    assert list(messages) == ["ses_1", "u1", "a1"]
    response = messages["a1"]
    assert isinstance(response, AssistantMessage)
    metadata = {"acme": {"signature": "x"}, "openCode": {"time": {"start": 1, "end": 2}}}
    assert response.parts == (
        StepStartPart(),
        ReasoningPart("Hm.", id="1", state="done", provider_metadata=metadata),
        TextPart("Done.", state="done"),
    )
    assert response.content.usage == Usage(130, 30, 160, 12, 20, 10, raw=TOKENS)
    own = own_of(response)
    assert (own["cost"], own["finish"], own["time"]) == (0.5, "stop", time)
    assert [step["type"] for step in own["steps"]] == ["step-start", "step-finish"]
    assert (response.parent_id, response.thread_id, response.run_id) == ("u1", "t", "t@1")
    assert builder.facts == {
        "sessionId": "ses_1",
        "cwd": "/home/ada/project",
        "version": "1.2.20",
        "title": "Repair the fence",
        "prompt": "Go",
        "model": "acme-1",
        "provider": "acme",
        "agentName": "build",
    }
    (turn,) = builder.take_turns()
    assert turn.end == "completed"
    assert turn.ended_at is not None
    assert turn.ended_at.timestamp() == 5
    (consumption,) = builder.take_ledger()
    assert (consumption.message_id, consumption.provider, consumption.cost) == ("a1", "acme", 0.5)
    assert not unknown_records(builder)


def test_a_document_is_read_like_its_records() -> None:
    document = {"info": SESSION, "messages": [GO, answered("a1", text("Done."))]}
    assert list(records_of(document)) == [SESSION, *document["messages"]]
    assert list(records_of({"info": SESSION, "messages": [1]})) == [SESSION, {"message": 1}]
    whole, records = LogBuilder("t"), LogBuilder("t")
    OpenCodeDecoder(whole).feed(document)
    decoder = OpenCodeDecoder(records)
    for record in records_of(document):
        decoder.feed(record)
    assert whole.finish() == records.finish()


# Prompts

PROMPTS: dict[str, tuple[list[JsonObject], Sequence[object], bool]] = {
    "text": ([text("Go")], [TextPart("Go")], False),
    "a picture": (
        [part("file", mime="image/png", filename="x.png", url="data:image/png;base64,AA==")],
        [ImagePart("data:image/png;base64,AA==", "image/png", "x.png")],
        False,
    ),
    "a file and its source": (
        [text("See"), part("file", mime="text/plain", url="file:///a", source={"type": "file", "path": "a"})],
        [
            TextPart("See"),
            FilePart(
                "file:///a",
                "text/plain",
                provider_metadata={"openCode": {"source": {"type": "file", "path": "a"}}},
            ),
        ],
        False,
    ),
    "text that OpenCode inserted": (
        [text("Go on", synthetic=True)],
        [TextPart("Go on", provider_metadata={"openCode": {"synthetic": True}})],
        True,
    ),
    "text of both": (
        [text("Look at @a"), text("a says x", synthetic=True)],
        [TextPart("Look at @a"), TextPart("a says x", provider_metadata={"openCode": {"synthetic": True}})],
        False,
    ),
    "a subtask": (
        [part("subtask", id="p1", prompt="Review", agent="build")],
        [DataPart("opencode-subtask", {"prompt": "Review", "agent": "build"}, "p1")],
        False,
    ),
    "an agent": ([part("agent", name="plan")], [DataPart("opencode-agent", {"name": "plan"})], False),
}


@each_row(("parts", "expected", "internal"), PROMPTS.values(), ids=PROMPTS)
def test_prompts(parts: list[JsonObject], expected: Sequence[object], internal: bool) -> None:
    messages, builder = read([asked("u1", *parts)])
    prompt = messages["u1"]
    assert isinstance(prompt, UserMessage)
    assert prompt.parts == tuple(expected)
    assert (prompt.internal, prompt.type == "event") == (internal, internal)
    assert len(builder.take_turns()) == (0 if internal else 1)


def test_a_compaction_is_a_notice() -> None:
    messages, builder = read(
        [
            GO,
            answered("a1", text("1")),
            asked("u2", part("compaction", auto=True)),
            answered("a2", text("Sum"), summary=True),
        ]
    )
    assert (messages["u2"].type, messages["u2"].internal) == ("event", False)
    assert messages["u2"].parts == (DataPart("opencode-compaction", {"auto": True}),)
    assert len(builder.take_turns()) == 1


# Calls

OUTPUTS: dict[str, tuple[JsonObject, ToolOutput]] = {
    "completed": (tool(output="a b", metadata={"exit": 0}), TextOutput("a b")),
    "a command that failed": (
        tool(output="no such file", metadata={"exit": 2}),
        ErrorTextOutput("no such file"),
    ),
    "a command that took too long": (
        tool(output="…\nbash tool terminated command after exceeding timeout 9 ms", metadata={"exit": None}),
        InterruptedOutput("timeout", "…\nbash tool terminated command after exceeding timeout 9 ms"),
    ),
    "a command that was stopped": (
        tool(output="…\nUser aborted the command", metadata={"exit": None}),
        InterruptedOutput("aborted", "…\nUser aborted the command"),
    ),
    "an invalid tool": (
        tool("invalid", input={"tool": "bash", "error": "no"}, output="The arguments are invalid"),
        ErrorTextOutput("The arguments are invalid"),
    ),
    "error": (tool(status="error", error="File not found"), ErrorTextOutput("File not found")),
    "stopped": (
        tool(status="error", error="Tool execution aborted"),
        InterruptedOutput("aborted", "Tool execution aborted"),
    ),
    "refused": (
        tool(status="error", error="Error: The user rejected permission to use this specific tool call."),
        ExecutionDeniedOutput("Error: The user rejected permission to use this specific tool call."),
    ),
    "attachments": (
        tool(
            "read",
            output="Image read",
            attachments=[part("file", mime="image/png", url="data:image/png;base64,AA==")],
        ),
        ContentOutput((TextPart("Image read"), ImagePart("data:image/png;base64,AA==", "image/png"))),
    ),
    "running": (tool(status="running"), InterruptedOutput("lost")),
    "pending": (tool(status="pending", raw="{"), InterruptedOutput("lost")),
}


@each_row(("call", "output"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_output_of_a_call(call: JsonObject, output: ToolOutput) -> None:
    messages, builder = read([GO, answered("a1", call)])
    assert call_in(messages, "a1").output == output
    assert not unknown_records(builder)


def test_a_call_keeps_its_title_metadata_and_times() -> None:
    call = tool(
        title="Lists files",
        output="a b",
        metadata={"exit": 0, "output": "a b", "truncated": False},
        time={"start": 3_000, "end": 8_000, "compacted": 9_000},
    )
    messages, builder = read(
        [GO, answered("a1", {**call, "id": "p1", "metadata": {"acme": {"itemId": "i"}}})]
    )
    result = call_in(messages, "a1")
    assert (result.id, result.name, result.input, result.title) == (
        "c1",
        "bash",
        {"command": "ls"},
        "Lists files",
    )
    assert result.call_provider_metadata == {"acme": {"itemId": "i"}}
    assert result.tool_metadata == {
        "openCode": {
            "status": "completed",
            "time": {"start": 3_000, "end": 8_000, "compacted": 9_000},
            "metadata": {"exit": 0, "truncated": False},
            "partId": "p1",
        }
    }
    began, ended = builder.take_call_times()["c1"]
    assert began is not None
    assert ended is not None
    assert (began.timestamp(), ended.timestamp()) == (3, 8)


@each_row("field", ["sessionId", "sessionID"])
def test_a_task_names_its_child(field: str) -> None:
    messages, _ = read([GO, answered("a1", tool("task", output="done", metadata={field: "ses_2"}))])
    metadata = call_in(messages, "a1").tool_metadata
    assert metadata is not None
    assert metadata["openCode"]["childSessionId"] == "ses_2"


def test_other_parts_are_data() -> None:
    parts = [
        part("patch", id="p1", hash="f00", files=["a"]),
        part("snapshot", snapshot="f00"),
        part("retry", attempt=1, error={"name": "APIError"}),
        part("file", mime="text/csv", filename="x.csv", url="data:text/csv,1"),
    ]
    messages, builder = read([answered("a1", *parts)])
    assert messages["a1"].parts == (
        DataPart("opencode-patch", {"hash": "f00", "files": ["a"]}, "p1"),
        DataPart("opencode-snapshot", {"snapshot": "f00"}),
        DataPart("opencode-retry", {"attempt": 1, "error": {"name": "APIError"}}),
        FilePart("data:text/csv,1", "text/csv", provider_metadata={"openCode": {"filename": "x.csv"}}),
    )
    assert not unknown_records(builder)


# Ends of turns

ERRORS: dict[str, tuple[JsonObject, str, str]] = {
    "stopped": (
        {"name": "MessageAbortedError", "data": {"message": "stop"}},
        "interrupted",
        "MessageAbortedError: stop",
    ),
    "failed": ({"name": "APIError", "data": {"message": "overloaded"}}, "failed", "APIError: overloaded"),
    "no message": ({"name": "MessageOutputLengthError", "data": {}}, "failed", "MessageOutputLengthError"),
}


@each_row(("error", "end", "words"), ERRORS.values(), ids=ERRORS)
def test_errors(error: JsonObject, end: str, words: str) -> None:
    messages, builder = read(
        [GO, answered("a1", tool(status="running"), error=error), asked("u2", text("Again"))]
    )
    notice = messages["a1-error"]
    assert (notice.type, notice.internal, notice.parent_id) == ("event", False, "a1")
    assert notice.parts == (TextPart(words), DataPart("opencode-error", error))
    turn = builder.take_turns()[0]
    assert (turn.end, turn.error) == (end, words)
    why: Interruption = "aborted" if end == "interrupted" else "lost"
    assert call_in(messages, "a1").output == InterruptedOutput(why)
    assert messages["u2"].parent_id == "a1-error"


FINISHES = {"stop": "completed", "length": "completed", "tool-calls": None, None: None}


@each_row(("finish", "end"), FINISHES.items(), ids=map(str, FINISHES))
def test_how_a_turn_ends(finish: str | None, end: str | None) -> None:
    _, builder = read([GO, answered("a1", text("x"), finish=finish)])
    (turn,) = builder.take_turns()
    assert turn.end == end


# Tokens

COUNTERS: dict[str, tuple[JsonObject, tuple[int | None, ...]]] = {
    "reasoning inside": (TOKENS, (130, 30, 160, 12)),
    "reasoning beside": ({**TOKENS, "total": 172}, (130, 42, 172, 12)),
    "an old version": ({key: TOKENS[key] for key in TOKENS if key != "total"}, (130, 30, 160, 12)),
    "more reasoning than output, no total": (
        {"input": 5, "output": 1, "reasoning": 9, "cache": {"read": 0, "write": 0}},
        (5, 10, 15, 9),
    ),
}


@each_row(("tokens", "wanted"), COUNTERS.values(), ids=COUNTERS)
def test_tokens(tokens: JsonObject, wanted: tuple[int | None, ...]) -> None:
    _, builder = read([answered("a1", text("x"), tokens=tokens)])
    (consumption,) = builder.take_ledger()
    usage = consumption.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.reasoning_tokens) == wanted
    assert usage.raw == tokens


def test_steps_are_counted_if_the_message_has_no_tokens() -> None:
    steps = [part("step-finish", reason="stop", cost=0.25, tokens=TOKENS) for _ in range(2)]
    _, builder = read([answered("a1", *steps, tokens={"input": 0, "output": 0, "reasoning": 0, "cache": {}})])
    (consumption,) = builder.take_ledger()
    assert (consumption.usage.input_tokens, consumption.usage.output_tokens, consumption.cost) == (
        260,
        60,
        0.5,
    )


def test_the_usage_of_a_growing_response_is_counted_once() -> None:
    steps = [part("step-finish", id=f"p{number}", cost=1, tokens=TOKENS) for number in range(3)]
    versions = [answered("a1", *steps[:count]) for count in range(4)]
    for after in ([], [answered("a2", text("x"))], [asked("u2", text("On"))]):
        messages, builder = read([GO, *versions, *after], looks=range(9))
        (consumption,) = builder.take_ledger()
        assert consumption.usage.input_tokens == 390
        message = messages["a1"]
        assert isinstance(message, AssistantMessage)
        assert message.content.usage == consumption.usage


def test_a_message_without_a_response_has_no_usage() -> None:
    _, builder = read(
        [answered("a1", tokens={"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}})]
    )
    assert builder.take_ledger() == []


def test_a_copy_in_a_fork_has_the_same_key() -> None:
    _, builder = read(
        [
            answered("a1", tokens=TOKENS),
            answered("a9", tokens=TOKENS),
            answered("a2", tokens=TOKENS, at=3_000),
        ]
    )
    assert len(builder.take_ledger()) == 2


# Messages that are written repeatedly

OPEN = {"start": 1}
CLOSED = {"start": 1, "end": 2}
GROWING: dict[str, list[list[JsonObject]]] = {
    "one more part": [[text("a", id="p1")], [text("a", id="p1"), tool()]],
    "a call ends": [[tool(status="running")], [tool(output="x")]],
    "a call has more metadata": [
        [tool(status="running", metadata={"output": "1"})],
        [tool(status="running", metadata={"output": "12"})],
    ],
    "a text grows": [
        [text("", id="p1", time=OPEN)],
        [text("Hel", id="p1", time=OPEN)],
        [text("Hello", id="p1", time=CLOSED)],
    ],
    "reasoning grows": [
        [part("reasoning", text="H", id="p1", time=OPEN)],
        [part("reasoning", text="Hm", id="p1", time=CLOSED), text("a")],
    ],
    "data changes": [[part("retry", id="p1", attempt=1)], [part("retry", id="p1", attempt=2)]],
    "a step ends": [
        [part("step-start"), part("step-finish", cost=0)],
        [part("step-start"), part("step-finish", cost=1)],
    ],
}


@each_row("versions", GROWING.values(), ids=GROWING)
def test_the_last_version_of_a_growing_response_is_used(versions: list[list[JsonObject]]) -> None:
    messages, builder = read([GO, *(answered("a1", *parts) for parts in versions)])
    fresh, _ = read([GO, answered("a1", *versions[-1])])
    assert messages == fresh
    assert not unknown_records(builder)


CHANGED: dict[str, list[list[JsonObject]]] = {
    "a text becomes another": [[text("a", id="p1")], [text("b", id="p1")]],
    "a part is removed": [[text("a"), text("b")], [text("a")]],
    "a part becomes another": [[text("a")], [tool(output="x")]],
}


@each_row("versions", CHANGED.values(), ids=CHANGED)
def test_the_last_version_of_a_changed_response_is_used(versions: list[list[JsonObject]]) -> None:
    messages, _ = read([GO, *(answered("a1", *parts) for parts in versions)])
    fresh, _ = read([GO, answered("a1", *versions[-1])])
    assert messages == fresh


def test_a_rewritten_message_keeps_its_position_and_its_run() -> None:
    records = [GO, answered("a1", text("x")), asked("u2", text("On")), answered("a2", text("y"))]
    messages, _ = read([*records, answered("a1", text("z")), answered("a3", text("more"))])
    assert [
        (one.id, one.parent_id, one.run_id) for one in sorted(messages.values(), key=lambda one: one.id)
    ] == [
        ("a1", "u1", "t@0"),
        ("a2", "u2", "t@2"),
        ("a3", "a2", "t@2"),
        ("u1", "", "t@0"),
        ("u2", "a1", "t@2"),
    ]


def test_a_session_read_twice_is_the_same() -> None:
    records = [SESSION, GO, answered("a1", tool(output="x"), tokens=TOKENS)]
    once, _ = read(records)
    twice, builder = read([*records, *records])
    assert once == twice
    assert len(builder.take_ledger()) == len(builder.take_turns()) == 1


def test_a_response_that_was_completed_may_still_change() -> None:
    time = {"created": 2_000, "completed": 3_000}
    versions = [
        answered("a1", text("x"), time=time),
        answered("a1", text("x"), part("patch", hash="f00"), time=time),
    ]
    messages, builder = read([GO, *versions], looks={1})
    assert [type(one) for one in messages["a1"].parts] == [TextPart, DataPart]
    assert not unknown_records(builder)


# Reverts


def path_to(messages: dict[str, Message], leaf: Json) -> list[str]:
    path: list[str] = []
    while leaf:
        path.insert(0, leaf)
        leaf = messages[leaf].parent_id
    return path


CONVERSATION = [GO, answered("a1", text("1")), asked("u2", text("Two")), answered("a2", text("2"))]

REVERTS: dict[str, tuple[JsonObject, list[str], list[str]]] = {
    "from a message on": (
        {"messageID": "u2"},
        ["ses_1", "u1", "a1", "u2-revert"],
        ["ses_1", "u1", "a1", "u2", "a2"],
    ),
    "from inside a message on": (
        {"messageID": "u2", "partID": "p1"},
        ["ses_1", "u1", "a1", "u2", "u2-revert"],
        ["ses_1", "u1", "a1", "u2", "a2"],
    ),
}


@each_row(("revert", "active", "undone"), REVERTS.values(), ids=REVERTS)
def test_reverted_messages_remain_as_a_branch(
    revert: JsonObject, active: list[str], undone: list[str]
) -> None:
    messages, builder = read([{**SESSION, "revert": revert}, *CONVERSATION])
    assert path_to(messages, builder.facts["leaf"]) == active
    assert path_to(messages, "a2") == undone


def test_a_revert_can_be_undone() -> None:
    messages, builder = read([{**SESSION, "revert": {"messageID": "u2"}}, *CONVERSATION, SESSION])
    assert path_to(messages, builder.facts["leaf"]) == ["ses_1", "u1", "a1", "u2", "a2"]


# Unknown records and fields

STRANGE: dict[str, tuple[JsonObject, str]] = {
    "a record": ({"what": 1}, "unknown record type"),
    "a role": ({"info": {"id": "x", "role": "ghost"}, "parts": []}, "unknown message role 'ghost'"),
    "no id": ({"info": {"role": "user"}, "parts": []}, "a message without an id"),
    "a field": (answered("x", mood="good"), "unknown field 'mood' of a message"),
    "a part": (answered("x", part("hologram")), "unknown part type 'hologram'"),
    "a text part without a text": (answered("x", part("text")), "unknown part type 'text'"),
    "a state": (answered("x", tool(status="dreaming")), "unknown state 'dreaming' of a call"),
    "parts that are not a list": ({**answered("x"), "parts": 1}, "parts that are not a list"),
}


@each_row(("record", "what"), STRANGE.values(), ids=STRANGE)
def test_unknown_records_are_reported_and_do_not_stop_the_rest(record: JsonObject, what: str) -> None:
    messages, builder = read([GO, record, asked("u2", text("Two"))])
    assert what in unknown_records(builder)
    assert messages["u1"].parts == (TextPart("Go"),)
    assert messages["u2"].parts == (TextPart("Two"),)


def test_an_unknown_part_is_kept_unchanged() -> None:
    strange = part("hologram", id="p1", light=3)
    messages, _ = read([answered("a1", strange), asked("u1", strange)])
    assert messages["a1"].parts == messages["u1"].parts == (DataPart("opencode-hologram", strange, "p1"),)


def test_two_calls_with_the_same_id_get_different_ids() -> None:
    messages, _ = read([answered("a1", tool(output="x"), tool(output="y"), part("tool", tool="ls"))])
    calls = [one.id for one in messages["a1"].parts if isinstance(one, ToolCallPart)]
    assert calls == ["c1", "c1-1", "a1-2"]


def test_default_titles_are_ignored() -> None:
    _, builder = read([{**SESSION, "title": "New session - 2026-05-01T08:00:00.000Z"}])
    assert "title" not in builder.facts


# Rows of parts


def row(type_: str, role: str, at: int, **fields: Json) -> JsonObject:
    return {"type": type_, **fields, "_role": role, "_ts": at, "_cwd": "/work", "_model": None}


def test_rows_of_a_database_dump() -> None:
    step = {"reason": "stop", "cost": 0, "tokens": TOKENS}
    rows = [
        {**row("text", "user", 1_000, text="One"), "_model": "acme-1"},
        row("step-start", "assistant", 2_000),
        row("tool", "assistant", 2_100, tool="ls", callID="c1", state={"status": "completed", "output": "x"}),
        row("step-finish", "assistant", 2_200, **{**step, "reason": "tool-calls"}),
        row("patch", "assistant", 2_300, hash="f00"),
        row("step-start", "assistant", 3_000),
        row("text", "assistant", 3_100, text="Done."),
        row("step-finish", "assistant", 3_200, **step),
        row("text", "user", 4_000, text="Two"),
        row("text", "user", 4_000, text="for you", synthetic=True),
        row("text", "user", 5_000, text="Three"),
    ]
    messages, builder = read(rows)
    assert list(messages) == ["row-1", "row-2", "row-6", "row-9", "row-11"]
    assert [type(one) for one in messages["row-2"].parts] == [StepStartPart, ToolCallPart, DataPart]
    assert [one.text for one in messages["row-9"].parts if isinstance(one, TextPart)] == ["Two", "for you"]
    assert builder.facts == {"cwd": "/work", "prompt": "One", "model": "acme-1"}
    assert [consumption.message_id for consumption in builder.take_ledger()] == ["row-2", "row-6"]
    assert [turn.end for turn in builder.take_turns()] == ["completed", None, None]
    assert not unknown_records(builder)


def test_rows_of_the_database() -> None:
    def of(message: str, id: str, type_: str, **fields: Json) -> JsonObject:
        return {"id": id, "messageID": message, "sessionID": "ses_1", "type": type_, **fields}

    running = of("m2", "p3", "tool", tool="ls", callID="c1", state={"status": "running", "input": {}})
    ended: JsonObject = {**running, "state": {"status": "completed", "input": {}, "output": "x"}}
    start = of("m2", "p2", "step-start")
    messages, builder = read([of("m1", "p1", "text", text="Go"), start, running, ended])
    assert list(messages) == ["m1", "m2"]
    assert isinstance(messages["m1"], UserMessage)
    assert call_in(messages, "m2").output == TextOutput("x")
    assert builder.facts["sessionId"] == "ses_1"
