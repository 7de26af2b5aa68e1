"""The lines of messages of other formats in a session file."""

from collections.abc import Sequence
from typing import get_args

from partita.formats.claude_code.format import dump, dump_agents, load, write_session
from partita.formats.log.session_file import SessionFacts
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    Interruption,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from partita.types.usage import Usage
from tests.tables import each_row

from .claude_sessions import LATER, NOON, answer, asked, blocks, call, check, lost, records

ROLL = "data:image/png;base64,aGk="
THREAD = "0b5a1f0e-7d5c-4c1e-9a51-2f6a8f1f6f10"


def test_a_response_has_a_line_for_each_block_followed_by_results() -> None:
    turn = answer(
        StepStartPart(),
        TextPart("Heating."),
        call("c1", TextOutput("hot")),
        call("c2", ErrorTextOutput("burnt")),
        StepStartPart(),
        TextPart("Done."),
    )
    session = records(asked(), turn)
    check(session)
    assert [(record["type"], blocks(record)[0]["type"]) for record in session] == [
        ("user", "text"),
        ("assistant", "text"),
        ("assistant", "tool_use"),
        ("assistant", "tool_use"),
        ("user", "tool_result"),
        ("user", "tool_result"),
        ("assistant", "text"),
    ]
    assert [record["parentUuid"] for record in session] == [
        None,
        *(record["uuid"] for record in session[:-1]),
    ]
    ids = [record["message"]["id"] for record in session if record["type"] == "assistant"]
    assert ids[0] == ids[1] == ids[2] != ids[3]
    stops = [record["message"]["stop_reason"] for record in session if record["type"] == "assistant"]
    assert stops == ["tool_use", "tool_use", "tool_use", "end_turn"]
    assert session[1]["message"]["model"] == "baker"


def test_usage_is_written_once_with_the_names_of_the_api() -> None:
    used = Usage(
        input_tokens=100, cached_input_tokens=60, cache_write_tokens=30, output_tokens=7, reasoning_tokens=2
    )
    parts = (TextPart("a"), StepStartPart(), TextPart("b"))
    message = AssistantMessage(id="a", content=AssistantContent(parts=parts, usage=used))
    first, second = (record["message"]["usage"] for record in records(message))
    assert first == {"input_tokens": 0, "output_tokens": 0}
    assert second == {
        "input_tokens": 10,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    usages = [
        one.content.usage for one in load(records(message)).messages if isinstance(one, AssistantMessage)
    ]
    assert usages[1] is not None
    assert (usages[1].input_tokens, usages[1].cached_input_tokens) == (100, 60)


OUTPUTS: dict[str, tuple[ToolOutput, Json, bool]] = {
    "text": (TextOutput("hot"), "hot", False),
    "empty text": (TextOutput(""), "", False),
    "a value": (JsonOutput({"heat": 220}), '{"heat":220}', False),
    "an error": (ErrorTextOutput("burnt"), "burnt", True),
    "an error without text": (ErrorTextOutput(" "), "The tool failed without a message.", True),
    "an error that is a value": (ErrorJsonOutput(["x"]), '["x"]', True),
    "content": (
        ContentOutput((TextPart("a"), TextPart(" "), ImagePart(ROLL), ForeignPart("x", 1))),
        [
            {"type": "text", "text": "a"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        ],
        False,
    ),
    "empty content": (ContentOutput(()), "", False),
    "a refusal": (ExecutionDeniedOutput(), "The user doesn't want to proceed with this tool use.", True),
    "an interruption": (InterruptedOutput("aborted"), "[Request interrupted by user for tool use]", True),
    "an interruption with a text": (InterruptedOutput("aborted", "no gas"), "no gas", True),
}


@each_row(("output", "content", "is_error"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_is_a_result_that_the_api_accepts(
    output: ToolOutput, content: Json, is_error: bool
) -> None:
    session = records(answer(call(output=output)))
    check(session)
    (block,) = blocks(session[1])
    assert block["content"] == content
    assert block.get("is_error", False) is is_error


SAME: tuple[ToolOutput, ...] = (
    TextOutput("hot"),
    ErrorTextOutput("burnt"),
    ExecutionDeniedOutput("use the other oven"),
    InterruptedOutput("aborted", "no gas"),
)


@each_row("output", SAME, ids=lambda output: type(output).__name__)
def test_outputs_are_read_back_with_their_types(output: ToolOutput) -> None:
    (message,) = load(records(answer(call(output=output)))).messages
    (part,) = (part for part in message.content.parts if isinstance(part, ToolCallPart))
    assert part.output is not None
    assert {
        name: getattr(part.output, name) for name in output.__struct_fields__ if name != "provider_metadata"
    } == {name: getattr(output, name) for name in output.__struct_fields__ if name != "provider_metadata"}


OPEN = {
    "input-streaming": {"state": "input-streaming"},
    "input-available": {"state": "input-available"},
    "approval-requested": {"state": "approval-requested"},
    "still running": {"preliminary": True, "output": TextOutput("so far")},
}


@each_row("fields", OPEN.values(), ids=OPEN)
def test_a_call_without_an_output_was_interrupted(fields: JsonObject) -> None:
    session = records(answer(call(**fields)), asked())
    check(session)
    assert blocks(session[1])[0]["content"] == "[Request interrupted by user for tool use]"


@each_row("why", [why for why in get_args(Interruption) if why != "aborted"])
def test_why_a_call_was_interrupted_is_lost(why: Interruption) -> None:
    dumped = dump([answer(call(output=InterruptedOutput(why)))])
    assert "$[0].content.parts[0].output.reason" in lost(dumped)


INPUTS: dict[str, tuple[JsonObject, JsonObject]] = {
    "an object": ({"input": {"heat": 220}}, {"heat": 220}),
    "no object": ({"input": "*** Begin Patch"}, {"input": "*** Begin Patch"}),
    "null": ({"input": None}, {"input": None}),
    "an invalid input": ({"raw_input": '{"he'}, {"input": '{"he'}),
    "none": ({}, {}),
}


@each_row(("fields", "input_"), INPUTS.values(), ids=INPUTS)
def test_an_input_is_an_object(fields: JsonObject, input_: JsonObject) -> None:
    part = ToolCallPart("c1", "Oven", "output-error", output=ErrorTextOutput("x"), **fields)
    assert blocks(records(answer(part))[0])[0]["input"] == input_


IDS: dict[str, tuple[str, bool]] = {
    "an id of the API": ("toolu_01AbC-d", True),
    "spaces": ("call 1", False),
    "another script": ("вызов", False),
    "too long": ("x" * 65, False),
    "the maximum length": ("x" * 64, True),
    "empty": ("", False),
}


@each_row(("id_", "stays"), IDS.values(), ids=IDS)
def test_the_id_of_a_call_is_one_that_the_api_accepts(id_: str, stays: bool) -> None:
    session = records(answer(call(id_, TextOutput("x"))))
    check(session)
    assert (blocks(session[0])[0]["id"] == id_) is stays
    assert session == records(answer(call(id_, TextOutput("x"))))


def test_two_calls_with_the_same_id_get_different_ids() -> None:
    session = records(answer(call("c1", TextOutput("a"))), answer(call("c1", TextOutput("b"))))
    check(session)
    outputs = [
        part.output.value
        for message in load(session).messages
        for part in message.content.parts
        if isinstance(part, ToolCallPart) and isinstance(part.output, TextOutput)
    ]
    assert outputs == ["a", "b"]


SIGNED: dict[str, tuple[JsonObject, JsonObject | None]] = {
    "signed": (
        {"anthropic": {"signature": "sealed"}},
        {"type": "thinking", "thinking": "hm", "signature": "sealed"},
    ),
    "sealed": ({"anthropic": {"redactedData": "xyz"}}, {"type": "redacted_thinking", "data": "xyz"}),
    "of another provider": ({"openai": {"reasoningEncryptedContent": "x"}}, None),
    "with a signature that is empty": ({"anthropic": {"signature": ""}}, None),
    "with a signature that is none": ({"anthropic": {"signature": 5}}, None),
}


@each_row(("metadata", "block"), SIGNED.values(), ids=SIGNED)
def test_signed_reasoning_is_written(metadata: JsonObject, block: JsonObject | None) -> None:
    dumped = dump([answer(ReasoningPart("hm", provider_metadata=metadata), TextPart("Yes"))])
    kinds = [blocks(record)[0] for record in dumped.payload]
    assert kinds == [*([] if block is None else [block]), {"type": "text", "text": "Yes"}]
    assert ("$[0].content.parts[0]" in lost(dumped)) is (block is None)


FILES: dict[str, tuple[ImagePart | FilePart, JsonObject | None]] = {
    "a picture": (
        ImagePart(ROLL),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ),
    "a picture that is a file": (
        FilePart(ROLL, "image/png", "roll.png"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ),
    "a picture with a URL": (
        ImagePart("https://example.com/a.png"),
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
    ),
    "a document": (
        FilePart("data:application/pdf;base64,aGk=", "application/pdf", "bread.pdf"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
            "title": "bread.pdf",
        },
    ),
    "a document with a URL": (
        FilePart("https://example.com/a.pdf", "application/pdf"),
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
    ),
    "words": (
        FilePart("data:text/markdown;charset=utf-8;base64,S25lYWQ=", "text/markdown", "bread.md"),
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "Knead"},
            "title": "bread.md",
        },
    ),
    "a file of the provider": (
        FilePart("", "application/pdf", provider_reference={"anthropic": "f1", "openai": "f2"}),
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
    ),
    "text that is percent-encoded": (
        FilePart("data:text/plain,hi", "text/plain"),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
    ),
    "an audio file": (FilePart("data:audio/wav;base64,aGk=", "audio/wav"), None),
    "an SVG image": (ImagePart("data:image/svg+xml;base64,aGk="), None),
    "text with a URL": (FilePart("https://example.com/a.md", "text/markdown"), None),
    "text that is not UTF-8": (FilePart("data:text/plain;base64,/w==", "text/plain"), None),
    "a file in a store": (FilePart("blob:sha256:00", "image/png"), None),
    "a file on a disk": (FilePart("file:///a", "image/png"), None),
}


@each_row(("part", "block"), FILES.values(), ids=FILES)
def test_files_that_the_api_accepts_are_written(part: ImagePart | FilePart, block: JsonObject | None) -> None:
    dumped = dump([UserMessage(id="u", content=[TextPart("Look"), part])])
    check(dumped.payload)
    found = blocks(dumped.payload[0])[1:]
    assert found == ([] if block is None else [block])
    assert ("$[0].content.parts[1]" in lost(dumped)) is (block is None)


NOWHERE = {
    "data": DataPart("weather", {"sun": True}),
    "a source": SourceUrlPart("s1", "https://example.com"),
    "a file in a response": FilePart(ROLL, "image/png"),
    "a part of another format": ForeignPart("x", {}),
    "blank text": TextPart(" \n"),
}


@each_row("part", NOWHERE.values(), ids=NOWHERE)
def test_parts_that_cannot_be_written_are_reported(
    part: TextPart | DataPart | SourceUrlPart | FilePart | ForeignPart,
) -> None:
    dumped = dump([answer(part)])
    assert dumped.payload == []
    assert any(path.startswith("$[0].content.parts[0]") for path in lost(dumped))


def test_notices_are_shown_and_instructions_too() -> None:
    notice = SystemMessage(id="n", type="event", content="The oven is on", created_at=NOON)
    instructions = SystemMessage(id="s", content="You bake.")
    dumped = dump([notice, instructions])
    check(dumped.payload)
    assert [record["content"] for record in dumped.payload] == ["The oven is on", "You bake."]
    assert lost(dumped)["$[1].role"] == "it is not for the model"
    assert "$[0].role" not in lost(dumped)


def test_texts_of_programs_are_marked() -> None:
    session = records(asked(internal=True), asked(type="event"), asked())
    assert [record.get("isMeta") for record in session] == [True, True, None]
    assert [message.internal for message in load(session).messages] == [True, True, False]


def test_one_text_is_a_string_and_more_are_blocks() -> None:
    two = UserMessage(id="u", content=[TextPart("a"), TextPart("b")])
    contents = [record["message"]["content"] for record in records(asked("a"), two)]
    assert contents == ["a", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]]


def test_separate_results_are_merged_into_their_calls() -> None:
    apart = ToolMessage(id="t", content=[ToolResultPart("c1", "Oven", TextOutput("hot"))])
    orphan = ToolMessage(id="o", content=[ToolResultPart("c9", "Oven", TextOutput("cold"))])
    dumped = dump([asked(), answer(call(state="input-available")), apart, orphan])
    check(dumped.payload)
    assert blocks(dumped.payload[2])[0]["content"] == "hot"
    assert lost(dumped)["$[2].content.parts[0]"] == "the result has no call right before it"


def test_steering_messages_are_between_responses() -> None:
    steering = SteeringMessagePart("s", (TextPart("Not so hot"),))
    session = records(
        answer(TextPart("Heating."), call(output=TextOutput("hot")), steering, TextPart("Cooling."))
    )
    check(session)
    assert [record["type"] for record in session] == ["assistant", "assistant", "user", "user", "assistant"]
    assert session[3]["message"]["content"] == "Not so hot"


def test_a_message_without_a_time_has_that_of_the_previous_one() -> None:
    session = records(asked("a"), asked("b", created_at=LATER), asked("c"))
    assert [record["timestamp"] for record in session] == [
        "1970-01-01T00:00:00.000Z",
        "2026-04-01T12:30:15.250Z",
        "2026-04-01T12:30:15.250Z",
    ]


def test_branches_follow_their_parents() -> None:
    first, second = UserMessage(id="1", content="Bread"), UserMessage(id="2", content="Rolls")
    third = UserMessage(id="3", content="Cake", parent_id="1")
    root = UserMessage(id="4", content="Soup", parent_id="")
    session = records(first, second, third, root)
    uuids = [record["uuid"] for record in session]
    assert [record["parentUuid"] for record in session] == [None, uuids[0], uuids[0], None]


def test_a_message_after_a_lost_one_follows_the_previous_one() -> None:
    data = UserMessage(id="2", content=[DataPart("x", 1)], parent_id="1")
    session = records(UserMessage(id="1", content="a"), data, UserMessage(id="3", content="b", parent_id="2"))
    assert session[1]["parentUuid"] == session[0]["uuid"]


def test_the_given_facts_of_the_session_are_written() -> None:
    (record,) = write_session(
        [asked()], session_id=THREAD, cwd="/kitchen", version="9.9.9", git_branch="yeast"
    ).payload
    found = {name: record[name] for name in ("sessionId", "cwd", "version", "gitBranch")}
    assert found == {"sessionId": THREAD, "cwd": "/kitchen", "version": "9.9.9", "gitBranch": "yeast"}


THREADS: dict[str, tuple[str | None, bool]] = {
    "a UUID": (THREAD, True),
    "another name": ("thread-1", False),
    "none": (None, False),
}


@each_row(("thread", "stays"), THREADS.values(), ids=THREADS)
def test_a_session_is_named_after_its_thread(thread: str | None, stays: bool) -> None:
    (record,) = records(asked(thread_id=thread))
    check([record])
    assert (record["sessionId"] == thread) is stays


def test_members_that_are_not_written_are_reported() -> None:
    message = asked(run_id="r", seq=5, resource_id="me")
    assert lost(dump([message])).keys() == {"$[0].id", "$[0].runId", "$[0].seq", "$[0].resourceId"}


def test_sub_agents_of_other_formats_have_separate_files() -> None:
    child: Sequence[Message] = (asked("Bake rolls"), answer(TextPart("Rolling")))
    thread: list[Message] = [asked(), answer(call(output=TextOutput("rolls"), children=tuple(child)))]
    assert "$[1].content.parts[0].children" in lost(dump(thread))
    ((path, session),) = dump_agents(thread, SessionFacts()).items()
    name = path.removeprefix("subagents/agent-").removesuffix(".jsonl")
    assert [record["type"] for record in session] == ["user", "assistant"]
    assert {(record["isSidechain"], record["agentId"]) for record in session} == {(True, name)}
    assert {record["sessionId"] for record in session} == {
        record["sessionId"] for record in dump(thread).payload
    }
