"""Messages as a rollout of Codex: its records, what is read back, and the losses."""

import json
from pathlib import Path

from msgspec.structs import replace

from partita import convert
from partita.formats.log.session_file import SessionFacts
from partita.formats.registry import get_format
from partita.logs import parse_log_file
from partita.types import text_of
from partita.types.codec import encode
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.usage import Usage
from tests.logs.claude_session import SESSION, Session, use
from tests.tables import each_row

FIXTURES = Path(__file__).parents[1] / "fixtures" / "agent-logs"


def records_of(messages: list[Message], facts: SessionFacts | None = None) -> list[JsonObject]:
    dump_session = get_format("codex").dump_session
    assert dump_session is not None
    payload = dump_session(messages, facts or SessionFacts()).payload
    assert isinstance(payload, list)
    return payload


def round_trip(messages: list[Message]) -> tuple[list[Message], dict[str, str]]:
    """The visible messages that are read back, and the losses of writing them."""
    writing = get_format("codex")
    assert writing.dump is not None
    assert writing.load is not None
    dumped = writing.dump(messages)
    loaded = writing.load(dumped.payload)
    assert not loaded.losses
    return [one for one in loaded.messages if not one.internal], {one.path: one.why for one in dumped.losses}


def call(output: ToolOutput | None, state: str = "output-available", **more: Json) -> ToolCallPart:
    return ToolCallPart("c1", "Oven", state, {"heat": 220}, output=output, **more)  # type: ignore[arg-type] # a state


def shape(records: list[JsonObject]) -> list[str]:
    return [f"{one['type']}/{one['payload'].get('type', '')}".rstrip("/") for one in records]


# The records


def test_a_turn_is_written_in_the_order_of_codex() -> None:
    session = Session().prompt("Bake").answer(thinking="hm", text="I look.", calls=[use("c1"), use("c2")])
    session.result("c2", "cold").result("c1", "warm").answer(text="Done.")
    converted = convert(session.records, "claude-code-log", "codex")
    records = converted.payload
    assert isinstance(records, list)
    assert shape(records) == [
        "session_meta",
        "event_msg/task_started",
        "turn_context",
        "response_item/message",
        "event_msg/user_message",
        "event_msg/agent_reasoning",
        "event_msg/agent_message",
        "response_item/message",
        "response_item/function_call",
        "response_item/function_call",
        "response_item/function_call_output",
        "response_item/function_call_output",
        "event_msg/token_count",
        "event_msg/agent_message",
        "response_item/message",
        "event_msg/token_count",
        "event_msg/task_complete",
    ]
    meta, _, context = (record["payload"] for record in records[:3])
    assert (meta["id"], meta["source"]) == (SESSION, "cli")
    assert context["model"] == "claude-baker"
    assert {record["payload"].get("turn_id") for record in records if "turn_id" in record["payload"]} == {
        context["turn_id"]
    }
    counts = [
        record["payload"]["info"] for record in records if record["payload"].get("type") == "token_count"
    ]
    assert [one["total_token_usage"]["output_tokens"] for one in counts] == [10, 20]
    assert counts[0]["last_token_usage"]["cached_input_tokens"] == 100
    assert records[8]["payload"]["arguments"] == "{}"


def test_the_known_folder_and_repository_are_in_the_header_and_in_every_turn() -> None:
    message = UserMessage(id="a", content="Bake")
    records = records_of([message], SessionFacts(cwd="/kitchen", git_branch="main", git_commit="c0ffee"))
    assert records[0]["payload"]["cwd"] == "/kitchen"
    assert records[0]["payload"]["git"] == {"branch": "main", "commit_hash": "c0ffee"}
    assert [one["payload"]["cwd"] for one in records if one["type"] == "turn_context"] == ["/kitchen"]


def test_a_session_of_codex_keeps_its_header_turns_and_ids() -> None:
    path = next(FIXTURES.glob("codex/sessions/**/*.jsonl"))
    first = parse_log_file(path, agents=False)
    records = records_of(list(first.messages))
    before = [json.loads(line)["payload"] for line in path.read_text().splitlines()]
    assert records[0]["payload"] == before[0]
    turns = {payload["turn_id"] for payload in before if "turn_id" in payload}
    assert {one["payload"]["turn_id"] for one in records if "turn_id" in one["payload"]} == turns
    loads = get_format("codex").load
    assert loads is not None
    ids = [message.id for message in loads(records).messages if not message.internal]
    assert ids == [message.id for message in first.messages if not message.internal]


def test_no_messages_give_no_records() -> None:
    assert records_of([]) == []
    assert records_of([AssistantMessage(id="a", content=[])]) == []


def test_members_beside_a_payload_are_kept_and_not_reported() -> None:
    loads = get_format("codex").load
    assert loads is not None
    records = records_of([UserMessage(id="a", content="Bake")])
    records[3]["metadata"] = {"history_sequence": 3}
    loaded = loads(records)
    assert not loaded.losses
    assert any("history_sequence" in encode(message).decode() for message in loaded.messages)


# Reading back

OUTPUTS: dict[str, ToolOutput] = {
    "text": TextOutput("warm"),
    "empty text": TextOutput(""),
    "text that looks like an exit code": TextOutput('{"output": "x"}'),
    "an error": ErrorTextOutput("no gas"),
    "an error with an exit code": ErrorTextOutput("Exit code: 2\nOutput:\nno gas"),
    "a refusal with the text of Codex": ExecutionDeniedOutput("rejected by user"),
    "a timeout": InterruptedOutput("timeout", "command timed out after 10 s"),
    "an interruption": InterruptedOutput("aborted", "aborted by user after 3 s"),
    "never ended": InterruptedOutput("lost"),
    "several items": ContentOutput((TextPart("warm"), ImagePart("data:image/png;base64,aGk=", "image/png"))),
}


@each_row("output", OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_is_read_back_as_it_was(output: ToolOutput) -> None:
    is_error = isinstance(output, ErrorTextOutput | InterruptedOutput)
    state = "output-denied" if isinstance(output, ExecutionDeniedOutput) else "output-error"
    part = call(output, state if is_error or state == "output-denied" else "output-available")
    (response,), losses = round_trip([AssistantMessage(id="a", content=[part])])
    assert isinstance(response, AssistantMessage)
    (found,) = [one for one in response.parts if isinstance(one, ToolCallPart)]
    assert replace(found, tool_metadata=None) == part
    assert not [path for path in losses if "parts" in path]


CHANGED: dict[str, tuple[ToolOutput, ToolOutput, str]] = {
    "JSON is text": (JsonOutput({"a": 1}), TextOutput('{"a":1}'), ".type"),
    "an error that is JSON is text": (ErrorJsonOutput([1]), ErrorTextOutput("[1]"), ".type"),
    "a refusal gets a prefix": (
        ExecutionDeniedOutput("no"),
        ExecutionDeniedOutput("rejected by user: no"),
        "",
    ),
    "an interruption without text": (
        InterruptedOutput("aborted"),
        InterruptedOutput("aborted", "aborted"),
        "",
    ),
    "text that Codex reads as a failure": (TextOutput("err: none"), ErrorTextOutput("err: none"), ""),
}


@each_row(("output", "expected", "member"), CHANGED.values(), ids=CHANGED)
def test_an_output_that_changes_is_a_loss(output: ToolOutput, expected: ToolOutput, member: str) -> None:
    (response,), losses = round_trip([AssistantMessage(id="a", content=[call(output)])])
    assert isinstance(response, AssistantMessage)
    (found,) = [one for one in response.parts if isinstance(one, ToolCallPart)]
    assert found.output == expected
    assert f"$[0].content.parts[0].output{member}" in losses


def test_reasoning_of_other_models_is_shown_and_not_sent_to_the_model() -> None:
    signed = ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "sealed"}})
    parts: list[AssistantPart] = [signed, call(TextOutput("warm"))]
    (response,), losses = round_trip([AssistantMessage(id="a", content=parts)])
    assert [type(part).__name__ for part in response.content.parts] == [
        "StepStartPart",
        "ReasoningPart",
        "ToolCallPart",
    ]
    assert "$[0].content.parts[0].providerMetadata.anthropic" in losses
    records = records_of([AssistantMessage(id="a", content=parts)])
    assert "response_item/reasoning" not in shape(records)


def test_reasoning_of_codex_is_sent_back_to_the_model() -> None:
    own = ReasoningPart("hm", provider_metadata={"codex": {"id": "rs_1", "encryptedContent": "gAAA"}})
    records = records_of([AssistantMessage(id="a", content=[own])])
    (item,) = [record["payload"] for record in records if record["type"] == "response_item"]
    assert (item["id"], item["encrypted_content"]) == ("rs_1", "gAAA")


def test_two_consecutive_responses_remain_two() -> None:
    responses: list[Message] = [AssistantMessage(id=name, content=name) for name in ("one", "two")]
    found, _ = round_trip([UserMessage(id="a", content="Bake"), *responses])
    assert [text_of(message) for message in found] == ["Bake", "one", "two"]


def test_hidden_messages_stay_hidden_and_steps_become_messages() -> None:
    parts: list[AssistantPart] = [TextPart("one"), StepStartPart(), TextPart("two")]
    messages: list[Message] = [
        SystemMessage(id="s", content="Be brief."),
        UserMessage(id="u", content="Bake"),
        UserMessage(id="h", content="It is late.", internal=True, type="event"),
        AssistantMessage(id="a", content=parts),
    ]
    found, losses = round_trip(messages)
    assert [text_of(message) for message in found] == ["Bake", "one", "two"]
    assert losses["$[3].content.parts[1]"] == "steps begin at other places in the format"
    roles = [one["payload"].get("role") for one in records_of(messages) if one["type"] == "response_item"]
    assert roles == ["developer", "user", "user", "assistant", "assistant"]


NO_PLACE: dict[str, AssistantPart] = {
    "a file": FilePart("https://example.com/a.pdf", "application/pdf"),
    "a source": SourceUrlPart("s1", "https://example.com"),
}


@each_row("part", NO_PLACE.values(), ids=NO_PLACE)
def test_parts_that_are_not_written_are_losses(part: AssistantPart) -> None:
    _, losses = round_trip([AssistantMessage(id="a", content=[TextPart("Done"), part])])
    assert "$[0].content.parts[1]" in losses


def test_usage_is_read_back() -> None:
    usage = Usage(12, 40, 52, 4, 2, raw={"theirs": 1})
    message = AssistantMessage(id="a", content=AssistantContent(parts=(TextPart("Done"),), usage=usage))
    (response,), losses = round_trip([message])
    assert isinstance(response, AssistantMessage)
    assert response.content.usage is not None
    assert replace(response.content.usage, raw=None) == replace(usage, raw=None)
    assert "$[0].content.usage.raw" in losses


SESSIONS = sorted(
    path
    for pattern in ("claude-code/[!m]*/**/[!a]*.jsonl", "codex/s*/**/*.jsonl")
    for path in FIXTURES.glob(pattern)
    if "stream-json" not in path.parts
)


@each_row("path", SESSIONS, ids=[path.stem for path in SESSIONS])
def test_recordings_are_written_and_read_back(path: Path) -> None:
    log = parse_log_file(path, agents=False)
    shown = [message for message in log.messages if not message.internal and message.type != "event"]
    loads = get_format("codex").load
    assert loads is not None
    again = loads(records_of(shown))
    assert not [loss for loss in again.losses if "not JSON" not in loss.what]
    found = [message for message in again.messages if not message.internal and message.type != "event"]
    assert list(map(text_of, found)) == list(map(text_of, shown))
    assert list(map(calls_of, found)) == list(map(calls_of, shown))


def calls_of(message: Message) -> list[tuple[str, str, str]]:
    calls = [part for part in message.content.parts if isinstance(part, ToolCallPart)]
    return [(part.id, part.name, part.state) for part in calls]


@each_row("name", ["codex", "claude-code"])
def test_empty_citations_are_reported(name: str) -> None:
    dump = get_format(name).dump
    assert dump is not None
    response = AssistantMessage(id="a1", content=AssistantContent(parts=(TextPart("Tall.", citations=()),)))
    losses = dump([UserMessage(id="u1", content="How tall?"), response]).losses
    assert [one.path for one in losses if "citations" in one.path] == ["$[1].content.parts[0].citations"]


def test_messages_with_the_same_id_are_separate_turns() -> None:
    messages: list[Message] = [UserMessage(id="a", content=text) for text in ("", "")]
    records = records_of(messages)
    turns = [one["payload"]["turn_id"] for one in records if one["payload"].get("type") == "task_started"]
    assert len(turns) == len(set(turns)) == 2
    read, _ = round_trip(messages)
    assert len(read) == 2
