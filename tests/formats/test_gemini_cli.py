"""Chats of Gemini CLI: the effect of each record."""

from collections.abc import Sequence

from msgspec import UNSET

from partita.formats.gemini_cli.chat import records_of
from partita.formats.log.thread_builder import LogBuilder
from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.usage import Usage
from tests.formats.gemini_counts import counts, read
from tests.tables import each_row

HEADER: JsonObject = {
    "sessionId": "s-1",
    "projectHash": "9f",
    "startTime": "2026-05-01T08:00:00.000Z",
    "lastUpdated": "2026-05-01T08:00:00.000Z",
    "kind": "main",
}


def message(id: str, type_: str, content: Json = "", second: int = 0, **fields: Json) -> JsonObject:
    return {
        "id": id,
        "timestamp": f"2026-05-01T08:00:{second:02}.000Z",
        "type": type_,
        "content": content,
        **fields,
    }


def asked(id: str, text: str, second: int = 0) -> JsonObject:
    return message(id, "user", [{"text": text}], second)


def answered(id: str, text: str = "", second: int = 0, **fields: Json) -> JsonObject:
    return message(id, "gemini", text, second, model="gemini-test", **fields)


def called(call_id: str, status: str = "success", **fields: Json) -> JsonObject:
    return {"id": call_id, "name": "read_file", "args": {"path": "a.txt"}, "status": status, **fields}


def responded(call_id: str, **response: Json) -> JsonObject:
    return {"functionResponse": {"id": call_id, "name": "read_file", "response": response}}


def call_in(messages: dict[str, Message], id: str) -> ToolCallPart:
    (call,) = [part for part in messages[id].parts if isinstance(part, ToolCallPart)]
    return call


def unknown_records(builder: LogBuilder) -> list[str]:
    return [finding.what for finding in builder.unknown_records]


def test_a_conversation() -> None:
    thought = {"subject": "Weather", "description": "It may rain.", "timestamp": "2026-05-01T08:00:02.000Z"}
    tokens = {"input": 100, "output": 7, "cached": 40, "thoughts": 11, "tool": 2, "total": 120}
    messages, builder = read(
        [HEADER, asked("u1", "Rain?", 1), answered("g1", "Yes.", 3, thoughts=[thought], tokens=tokens)]
    )
    assert list(messages) == ["header-s-1", "u1", "g1"]
    answer = messages["g1"]
    assert isinstance(answer, AssistantMessage)
    own = {"geminiCli": {"subject": "Weather", "timestamp": "2026-05-01T08:00:02.000Z"}}
    assert answer.parts == (
        StepStartPart(),
        ReasoningPart("**Weather**\nIt may rain.", id="0", state="done", provider_metadata=own),
        TextPart("Yes.", state="done"),
    )
    assert answer.content.metadata == {"model": "gemini-test"}
    assert answer.content.usage == Usage(102, 18, 120, 11, 40, raw=tokens)
    assert (answer.parent_id, answer.thread_id, answer.run_id) == ("u1", "t", "t@1")
    assert builder.facts == {"sessionId": "s-1", "model": "gemini-test", "prompt": "Rain?"}
    (turn,) = builder.take_turns()
    assert (turn.end, turn.ended_at) == ("completed", answer.created_at)
    (consumption,) = builder.take_ledger()
    assert (consumption.key, consumption.message_id) == ("gemini:g1", "g1")
    assert (consumption.model, consumption.provider) == ("gemini-test", "google")
    assert not unknown_records(builder)


def test_a_document_is_read_like_its_records() -> None:
    records = [asked("u1", "Rain?", 1), answered("g1", "Yes.", 3)]
    document = {**HEADER, "summary": "Rain", "messages": records}
    messages, builder = read(records_of(document))
    plain, _ = read([HEADER, *records])
    assert [messages["u1"], messages["g1"]] == [plain["u1"], plain["g1"]]
    assert builder.facts["summary"] == "Rain"
    assert list(records_of({"messages": [1]})) == [{}, {"message": 1}]
    assert list(records_of({"messages": None})) == [{"messages": None}]


CONTENTS: dict[str, tuple[Json, Sequence[object]]] = {
    "text alone": ("Hello", [TextPart("Hello")]),
    "nothing": ("", []),
    "one part": ({"text": "Hello"}, [TextPart("Hello")]),
    "texts": ([{"text": "a"}, "b"], [TextPart("a"), TextPart("b")]),
    "a picture": (
        [{"inlineData": {"mimeType": "image/png", "data": "AA==", "displayName": "x.png"}}],
        [ImagePart("data:image/png;base64,AA==", "image/png", "x.png")],
    ),
    "a file elsewhere": (
        [{"fileData": {"mimeType": "text/csv", "fileUri": "gs://bucket/x"}}],
        [FilePart("gs://bucket/x", "text/csv")],
    ),
    "an unknown part": ([{"hologram": 1}], [DataPart("gemini-part", {"hologram": 1})]),
    "a part with more members": (
        [{"text": "a", "thoughtSignature": "x"}],
        [TextPart("a", provider_metadata={"geminiCli": {"thoughtSignature": "x"}})],
    ),
}


@each_row(("content", "parts"), CONTENTS.values(), ids=CONTENTS)
def test_content_of_a_prompt(content: Json, parts: Sequence[object]) -> None:
    messages, _ = read([message("u1", "user", content)])
    assert messages["u1"].parts == tuple(parts)


def test_the_displayed_text_of_a_prompt_is_kept() -> None:
    record = message("u1", "user", [{"text": "Look at @a: long"}], displayContent=[{"text": "Look at @a"}])
    messages, _ = read([record])
    assert messages["u1"].content.metadata == {"geminiCli": {"displayContent": [{"text": "Look at @a"}]}}


OUTPUTS: dict[str, tuple[JsonObject, ToolOutput | None]] = {
    "success": (called("c", result=[responded("c", output="text")]), TextOutput("text")),
    "success with a value": (called("c", result=[responded("c", rows=[1])]), JsonOutput({"rows": [1]})),
    "success with an error inside": (
        called("c", result=[responded("c", error="bad")]),
        ErrorTextOutput("bad"),
    ),
    "an error that is not text": (
        called("c", "error", result=[responded("c", error={"code": 1})]),
        ErrorJsonOutput({"error": {"code": 1}}),
    ),
    "error": (called("c", "error", result=[responded("c", output="no")]), ErrorTextOutput("no")),
    "error without a result": (called("c", "error", resultDisplay="no"), ErrorTextOutput("no")),
    "success without a result": (called("c"), TextOutput("")),
    "a result as text": (called("c", result="plain"), ContentOutput((TextPart("plain"),))),
    "stopped": (
        called(
            "c",
            "cancelled",
            result=[responded("c", error="[Operation Cancelled] Reason: Operation cancelled")],
        ),
        InterruptedOutput("aborted", "Operation cancelled"),
    ),
    "stopped without a text": (called("c", "cancelled"), InterruptedOutput("aborted")),
    "refused": (
        called(
            "c",
            "cancelled",
            result=[responded("c", error="[Operation Cancelled] Reason: User denied execution.")],
        ),
        ExecutionDeniedOutput("User denied execution."),
    ),
    "a picture to look at": (
        called(
            "c",
            result=[responded("c", output="see"), {"inlineData": {"mimeType": "image/gif", "data": "AA=="}}],
        ),
        ContentOutput((TextPart("see"), ImagePart("data:image/gif;base64,AA==", "image/gif"))),
    ),
    "running": (called("c", "executing"), InterruptedOutput("lost")),
    "a question to the user": (called("c", "awaiting_approval"), None),
}


@each_row(("call", "output"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_output_of_a_call(call: JsonObject, output: ToolOutput | None) -> None:
    messages, builder = read([asked("u1", "Go"), answered("g1", toolCalls=[call])])
    assert call_in(messages, "g1").output == output
    assert not unknown_records(builder)


def test_a_call_keeps_its_metadata_and_times() -> None:
    call = {
        "id": "c",
        "name": "run_shell_command",
        "args": {"command": "false"},
        "displayName": "Shell",
        "description": "Fails",
        "status": "success",
        "timestamp": "2026-05-01T08:00:09.000Z",
        "result": [responded("c", output="Output: (empty)\nExit Code: 1\nProcess Group PGID: 7")],
        "resultDisplay": {"fileDiff": "-a +b"},
        "agentId": "helper-1",
    }
    messages, builder = read([asked("u1", "Go", 1), answered("g1", second=2, toolCalls=[call])])
    part = call_in(messages, "g1")
    assert (part.name, part.input, part.title) == ("run_shell_command", {"command": "false"}, "Shell")
    assert part.tool_metadata == {
        "geminiCli": {
            "status": "success",
            "description": "Fails",
            "timestamp": "2026-05-01T08:00:09.000Z",
            "agentId": "helper-1",
            "resultDisplay": {"fileDiff": "-a +b"},
            "exitCode": 1,
        }
    }
    began, ended = builder.take_call_times()["c"]
    assert began is not None
    assert ended is not None
    assert (ended - began).total_seconds() == 7


def test_a_repeated_result_is_hidden() -> None:
    results = message("u2", "user", [responded("c", output="text")], 4)
    call = called("c", result=[responded("c", output="text")])
    messages, builder = read([asked("u1", "Go"), answered("g1", toolCalls=[call]), results])
    again = messages["u2"]
    assert isinstance(again, UserMessage)
    assert (again.internal, again.type) == (True, "event")
    assert again.parts == (DataPart("gemini-result", {"id": "c", "name": "read_file"}),)
    assert len(builder.take_turns()) == 1


def test_a_separate_result_is_joined_to_its_call_by_id() -> None:
    running = answered("g1", toolCalls=[called("c", "executing")])
    results = message("u2", "user", [responded("c", output="late")])
    for records in (
        [running, results],
        [running, answered("g2", "Meanwhile"), results],
        [running, asked("u3", "Still there?"), results],
        [running, results, answered("g1", "More", toolCalls=[called("c", "executing")])],
    ):
        messages, _ = read([asked("u1", "Go"), *records])
        assert call_in(messages, "g1").output == TextOutput("late")


def test_a_result_without_a_call_is_kept() -> None:
    messages, builder = read([message("u2", "user", [responded("x", output="lost")])])
    kept = [part for message in messages.values() for part in message.parts]
    assert DataPart("gemini-result", responded("x", output="lost")["functionResponse"]) in kept
    assert unknown_records(builder) == ["the result has no call right before it"]


def test_context_is_hidden() -> None:
    context = "<session_context>\n- **Workspace Directories:**\n  - /home/me/work\n</session_context>"
    messages, builder = read([asked("u0", context), asked("u1", "Hello")])
    assert (messages["u0"].internal, messages["u0"].type) == (True, "event")
    assert builder.facts["cwd"] == "/home/me/work"
    assert builder.facts["prompt"] == "Hello"


NOTICES: dict[str, tuple[JsonObject, str | None, bool]] = {
    "an error ends the turn": (message("n", "error", "[API Error: quota]"), "failed", False),
    "a stop": (message("n", "info", "Request cancelled."), "interrupted", False),
    "something else": (message("n", "warning", "Low disk"), None, False),
    "a notice without text": (message("n", "info", ""), None, True),
}


@each_row(("notice", "end", "internal"), NOTICES.values(), ids=NOTICES)
def test_notices(notice: JsonObject, end: str | None, internal: bool) -> None:
    messages, builder = read([asked("u1", "Go"), notice])
    (turn,) = builder.take_turns()
    assert turn.end == end
    assert turn.error == (notice["content"] if end else None)
    event = messages["n"]
    assert (event.type, event.internal) == ("event", internal)
    assert [part.name for part in event.parts if isinstance(part, DataPart)] == [f"gemini-{notice['type']}"]
    words = [notice["content"]] if notice["content"] else []
    assert [part.text for part in event.parts if isinstance(part, TextPart)] == words


def test_an_error_after_the_response_does_not_fail_the_turn() -> None:
    _, builder = read([asked("u1", "Go"), answered("g1", "Done."), message("n", "error", "editor is gone")])
    (turn,) = builder.take_turns()
    assert turn.end == "completed"


# Messages that are written repeatedly

GROWING: dict[str, list[JsonObject]] = {
    "calls are added": [answered("g1", "I look."), answered("g1", "I look.", toolCalls=[called("c")])],
    "a call ends": [
        answered("g1", toolCalls=[called("c", "executing")]),
        answered("g1", toolCalls=[called("c", result=[responded("c", output="x")])]),
    ],
    "one more call": [
        answered("g1", toolCalls=[called("c")]),
        answered("g1", toolCalls=[called("c"), called("d")]),
    ],
    "tokens are added": [
        answered("g1", "Hi"),
        answered("g1", "Hi", tokens={"input": 1, "output": 2, "total": 3}),
    ],
}


@each_row("versions", GROWING.values(), ids=GROWING)
def test_the_last_version_of_a_growing_response_is_used(versions: list[JsonObject]) -> None:
    messages, builder = read([asked("u1", "Go"), *versions])
    fresh, _ = read([asked("u1", "Go"), versions[-1]])
    assert messages == fresh
    assert not unknown_records(builder)


def test_a_rewritten_message_keeps_its_position_and_its_run() -> None:
    records = [
        asked("u1", "One", 1),
        answered("g1", "Draft", 2),
        asked("u2", "Two", 3),
        answered("g2", "Fine", 4),
    ]
    again = [answered("g1", "Better", 2), asked("u1", "One!", 1), answered("g3", "More", 5)]
    messages, _ = read([*records, *again])
    assert [
        (one.id, one.parent_id, one.run_id) for one in sorted(messages.values(), key=lambda one: one.id)
    ] == [
        ("g1", "u1", "t@0"),
        ("g2", "u2", "t@2"),
        ("g3", "g2", "t@2"),
        ("u1", "", "t@0"),
        ("u2", "g1", "t@2"),
    ]
    assert messages["g1"].parts == (StepStartPart(), TextPart("Better", state="done"))
    assert messages["u1"].parts == (TextPart("One!"),)


def test_a_repeated_record_changes_nothing() -> None:
    tokens = {"input": 5, "output": 1, "total": 6}
    records = [HEADER, asked("u1", "Go"), answered("g1", "Yes", tokens=tokens, toolCalls=[called("c")])]
    once, _ = read(records)
    twice, builder = read([*records, *records])
    assert once == twice
    assert len(builder.take_ledger()) == len(builder.take_turns()) == 1


# Branches


def path_to(messages: dict[str, Message], leaf: Json) -> list[str]:
    path: list[str] = []
    while leaf:
        path.insert(0, leaf)
        leaf = messages[leaf].parent_id
    return path


def test_rewound_messages_remain_as_a_branch() -> None:
    records = [HEADER, asked("u1", "One"), answered("g1", "1"), asked("u2", "Two"), answered("g2", "2")]
    messages, builder = read([*records, {"$rewindTo": "u2"}, asked("u3", "Three"), answered("g3", "3")])
    assert messages["u3"].parent_id == messages["u2"].parent_id == "g1"
    assert path_to(messages, builder.facts["leaf"]) == ["header-s-1", "u1", "g1", "u3", "g3"]
    assert path_to(messages, "gemini-rewind-2") == ["header-s-1", "u1", "g1", "u2", "g2", "gemini-rewind-2"]
    assert counts(messages.values(), builder)["messages_by_type"] == {"user": 2, "gemini": 2}


def test_a_rewind_alone_moves_the_leaf() -> None:
    messages, builder = read(
        [asked("u1", "One"), answered("g1", "1"), asked("u2", "Two"), {"$rewindTo": "u2"}]
    )
    assert builder.facts["leaf"] == "g1"
    assert counts(messages.values(), builder)["messages_after_replay"] == 2


def test_a_rewind_to_a_missing_message_drops_all() -> None:
    messages, builder = read([HEADER, asked("u1", "One"), {"$rewindTo": "who"}, asked("u2", "Two")])
    assert messages["u2"].parent_id == messages["u1"].parent_id == "header-s-1"
    assert path_to(messages, builder.facts["leaf"]) == ["header-s-1", "u2"]


def test_messages_that_a_compaction_removed_are_kept_before_it() -> None:
    summary, copy = (
        asked("u2", "<state_snapshot>One was asked.</state_snapshot>"),
        message("g2", "gemini", "Got it."),
    )
    compaction = {"$set": {"messages": [asked("u0", "<session_context>"), summary, copy]}}
    messages, builder = read(
        [
            asked("u0", "<session_context>"),
            asked("u1", "One"),
            answered("g1", "1"),
            compaction,
            asked("u3", "On"),
        ]
    )
    assert path_to(messages, "u3") == ["u0", "u1", "g1", "gemini-compaction-1", "u2", "g2", "u3"]
    notice = messages["gemini-compaction-1"]
    assert (notice.type, notice.internal) == ("event", False)
    assert notice.parts == (DataPart("gemini-compaction", {"dropped": ["u1", "g1"]}),)
    assert messages["u2"].internal
    assert messages["g2"].internal
    assert not messages["u3"].internal
    assert counts(messages.values(), builder)["messages_by_type"] == {"user": 3, "gemini": 1}


def test_a_shorter_list_of_messages_is_a_rewind() -> None:
    shorter = {"$set": {"messages": [asked("u1", "One")]}}
    messages, builder = read([asked("u1", "One"), answered("g1", "1"), shorter, asked("u2", "Two")])
    assert messages["u2"].parent_id == messages["g1"].parent_id == "u1"
    assert path_to(messages, builder.facts["leaf"]) == ["u1", "u2"]


def test_an_equal_list_of_messages_changes_nothing() -> None:
    records = [asked("u1", "One"), answered("g1", "1")]
    messages, builder = read([*records, {"$set": {"messages": records}}, asked("u2", "Two")])
    assert list(messages) == ["u1", "g1", "u2"]
    assert messages["u2"].parent_id == "g1"
    assert "leaf" not in builder.facts


def test_a_dropped_message_can_be_restored() -> None:
    records = [
        asked("u1", "One"),
        answered("g1", "1"),
        {"$rewindTo": "u1"},
        asked("u1", "One"),
        answered("g2", "2"),
    ]
    messages, builder = read(records)
    assert messages["g2"].parent_id == "u1"
    assert path_to(messages, builder.facts["leaf"]) == ["u1", "g2"]


def test_a_second_session_in_a_file_starts_a_new_root() -> None:
    second = {**HEADER, "sessionId": "s-2"}
    messages, builder = read([HEADER, asked("u1", "One"), second, asked("u1", "Uno"), answered("g1", "1")])
    assert path_to(messages, builder.facts["leaf"]) == ["header-s-2", "s-2/u1", "s-2/g1"]
    assert messages["u1"].parts == (TextPart("One"),)
    assert builder.facts["sessionId"] == "s-2"


# Unknown records and fields


def test_the_fields_of_a_chat() -> None:
    changes = {
        "lastUpdated": "2026-05-01T09:00:00.000Z",
        "summary": "About rain",
        "memoryScratchpad": {"a": 1},
    }
    messages, builder = read([HEADER, {"$set": changes}, {"$set": {"mood": "good"}}])
    assert builder.facts["summary"] == "About rain"
    assert builder.last_time is not None
    assert builder.last_time.hour == 9
    kept = [
        part.data for message in messages.values() for part in message.parts if isinstance(part, DataPart)
    ]
    assert kept[1:] == [{"memoryScratchpad": {"a": 1}}, {"mood": "good"}]
    assert unknown_records(builder) == ["unknown field 'mood' of a chat"]


STRANGE: dict[str, tuple[JsonObject, str]] = {
    "a record": ({"what": 1}, "unknown record type"),
    "a type": (message("x", "telepathy"), "unknown message type 'telepathy'"),
    "a field": (answered("x", "a", mood="good"), "unknown field 'mood' of a message"),
    "thoughts that are not a list": (answered("x", "a", thoughts=1), "unknown field 'thoughts' of a message"),
    "calls that are not objects": (
        answered("x", "a", toolCalls=[1]),
        "unknown field 'toolCalls' of a message",
    ),
    "a status": (answered("x", toolCalls=[called("c", "dreaming")]), "unknown status 'dreaming' of a call"),
    "a time": ({**asked("x", "a"), "timestamp": "yesterday"}, "a time that cannot be read"),
    "a list that is not a list": ({"$set": {"messages": 1}}, "a message without an id"),
}


@each_row(("record", "what"), STRANGE.values(), ids=STRANGE)
def test_unknown_records_are_reported_and_do_not_stop_the_rest(record: JsonObject, what: str) -> None:
    messages, builder = read([asked("u1", "One"), record, asked("u2", "Two")])
    assert what in unknown_records(builder)
    assert messages["u1"].parts == (TextPart("One"),)
    assert messages["u2"].parts == (TextPart("Two"),)


def test_strange_fields_are_kept() -> None:
    messages, _ = read([answered("g1", "a", mood="good", toolCalls=3)])
    assert messages["g1"].content.metadata == {
        "model": "gemini-test",
        "geminiCli": {"mood": "good", "toolCalls": 3},
    }


def test_a_message_that_is_nested_too_deeply_is_skipped() -> None:
    deep: Json = "x"
    for _ in range(100_000):
        deep = [deep]
    messages, builder = read([asked("u1", "One"), message("x", "user", deep)])
    assert list(messages) == ["u1"]
    assert unknown_records(builder) == ["a message that is nested too deeply"]
    while is_array(deep):  # destroyed level by level: the interpreter cannot free such a deep list
        deep = deep.pop()


def test_two_calls_with_the_same_id_get_different_ids() -> None:
    messages, _ = read([answered("g1", toolCalls=[called("c"), called("c"), {"name": "ls", "args": {}}])])
    calls = [part.id for part in messages["g1"].parts if isinstance(part, ToolCallPart)]
    assert calls == ["c", "g1-call-0", "g1-call-1"]


def test_a_call_in_the_content_is_a_call() -> None:
    content = [{"text": "I look."}, {"functionCall": {"id": "c", "name": "ls", "args": {"path": "."}}}]
    messages, _ = read([answered("g1") | {"content": content}])
    call = call_in(messages, "g1")
    assert (call.id, call.name, call.input) == ("c", "ls", {"path": "."})
    known, _ = read([answered("g1", toolCalls=[called("c")]) | {"content": content}])
    assert call_in(known, "g1").name == "read_file"


def test_content_without_metadata_has_none() -> None:
    messages, _ = read([asked("u1", "One")])
    assert messages["u1"].content.metadata is UNSET
