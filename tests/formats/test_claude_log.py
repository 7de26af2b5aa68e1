"""Responses in session files of Claude Code: one response is several lines with others between them."""

from partita.formats.claude_code.envelope import RECORD
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, SystemMessage, ToolCallPart, text_of
from partita.types.parts import DataPart, ReasoningPart, SourceUrlPart, StepStartPart, TextPart
from partita.types.usage import Usage
from tests.logs.claude_session import MODEL, Reading, Session, read, stamp, text, thinking, usage, use
from tests.tables import each_row


def kinds(message: AssistantMessage) -> list[str]:
    """The kind or text of each part of a response."""
    found: list[str] = []
    for part in message.parts:
        match part:
            case StepStartPart():
                found.append("step")
            case TextPart() | ReasoningPart():
                found.append(part.text)
            case ToolCallPart():
                found.append(f"call {part.id}")
            case DataPart(name=name):
                found += [] if name == RECORD else [name]
            case _:
                found.append(type(part).__name__)
    return found


def between(*steps: str) -> Session:
    """A response in three lines with the given steps between them."""
    session = Session().prompt("Bake").piece("m", thinking("hm")).piece("m", use("c1"))
    for step in steps:
        match step:
            case "result":
                session.result("c1", "warm")
            case "hook":
                session.progress("c1", "hook_progress", hookName="PreToolUse:Oven")
            case "progress":
                session.progress("c1", "bash_progress", output="w", fullOutput="wa")
            case "queued":
                session.attachment("queued_command", prompt="and rolls", commandMode="prompt")
            case "attachment":
                session.attachment("hook_success", hookName="PostToolUse:Oven", toolUseID="c1")
            case "system":
                session.system("stop_hook_summary", hookCount=1)
            case "snapshot":
                session.about("file-history-snapshot", messageId="x", snapshot={})
            case _:
                session.add("assistant", isSidechain=True, agentId="a", message={"id": "s", "content": []})
    return session.piece("m", use("c2")).result("c2")


BETWEEN = ("result", "hook", "progress", "queued", "attachment", "system", "snapshot", "sidechain")


@each_row("live", [False, True], ids=["at once", "live"])
@each_row("steps", [(step,) for step in BETWEEN] + [BETWEEN], ids="+".join)
def test_a_response_is_one_message_whatever_is_between_its_lines(steps: tuple[str, ...], live: bool) -> None:
    reading = read(between(*steps), live=live)
    (response,) = [response for response in reading.responses if response.id == "m"]
    assert kinds(response) == ["step", "hm", "call c1", "call c2"]
    assert [one.key for one in reading.ledger if one.message_id == "m"] == ["m:req-m"]
    assert not reading.unknown_records


LINES: dict[str, tuple[list[JsonObject], JsonObject]] = {
    "the one with the most output": ([usage(1), usage(40), usage(9)], usage(40)),
    "the later one on a tie": ([usage(5, fresh=1), usage(5, fresh=2)], usage(5, fresh=2)),
    "the first one, when later ones are smaller": ([usage(5), usage(4), usage(3)], usage(5)),
    "whole, not the most of each kind": (
        [usage(1, fresh=900, read=900, written=900), usage(8, fresh=1, read=2, written=3)],
        usage(8, fresh=1, read=2, written=3),
    ),
    "unchanged": (
        [usage(3, service_tier="standard", cache_creation={"ephemeral_1h_input_tokens": 20})],
        usage(3, service_tier="standard", cache_creation={"ephemeral_1h_input_tokens": 20}),
    ),
}


@each_row(("lines", "chosen"), LINES.values(), ids=LINES)
def test_the_usage_of_a_response_is_that_of_one_line(lines: list[JsonObject], chosen: JsonObject) -> None:
    session = Session().prompt("Bake")
    for number, found in enumerate(lines):
        session.piece("m", text(str(number)), usage=found)
    reading = read(session)
    (response,) = reading.responses
    (consumed,) = reading.ledger
    assert consumed.usage == response.content.usage
    assert consumed.usage.raw == chosen
    assert (consumed.key, consumed.message_id, consumed.model) == ("m:req-m", "m", MODEL)


def test_the_three_counters_of_input_are_added_up() -> None:
    found = usage(30, fresh=7, read=100, written=20, output_tokens_details={"thinking_tokens": 12})
    (consumed,) = read(Session().piece("m", text("a"), usage=found)).ledger
    assert consumed.usage == Usage(
        input_tokens=127,
        output_tokens=30,
        total_tokens=157,
        reasoning_tokens=12,
        cached_input_tokens=100,
        cache_write_tokens=20,
        raw=found,
    )


KEYS: dict[str, tuple[list[tuple[str, Json]], list[str]]] = {
    "a message and a request": ([("m", "r"), ("m", "r")], ["m:r"]),
    "no request: the message alone": ([("m", None), ("m", None)], ["m"]),
    "two requests of one message": ([("m", "r1"), ("m", "r2"), ("m", "r1")], ["m:r1", "m:r2"]),
    "two messages": ([("m1", "r"), ("m2", "r")], ["m1:r", "m2:r"]),
}


@each_row(("lines", "keys"), KEYS.values(), ids=KEYS)
def test_lines_are_one_response_by_message_and_request(
    lines: list[tuple[str, Json]], keys: list[str]
) -> None:
    session = Session().prompt("Bake")
    for number, (id_, request) in enumerate(lines):
        session.piece(id_, text(str(number)), requestId=request)
    reading = read(session)
    assert [one.key for one in reading.ledger] == keys
    assert len(reading.responses) == len(keys)
    assert sorted("".join(map(text_of, reading.responses))) == [str(number) for number in range(len(lines))]


def test_a_response_in_two_files_has_the_same_key() -> None:
    """A fork copies all lines under a new session; an SDK fork gives the lines new uuids too."""
    session = Session().work("Bake", "c1").turn("More?")
    fork = [{**record, "sessionId": "fork"} for record in session.records]
    sdk = [
        {
            **record,
            "uuid": f"new-{record['uuid']}",
            "parentUuid": record["parentUuid"] and f"new-{record['parentUuid']}",
            "forkedFrom": {"sessionId": session.id},
        }
        for record in session.records
    ]
    first = read(session)
    for records in (fork, sdk):
        other = Session()
        other.records = records
        reading = read(other)
        assert [one.key for one in reading.ledger] == [one.key for one in first.ledger]
        assert [one.usage for one in reading.ledger] == [one.usage for one in first.ledger]
        assert not reading.unknown_records


def test_blocks_of_one_line_keep_their_order() -> None:
    session = Session().piece("m", thinking("hm"), text("a"), use("c1"), text("b"), use("c2"))
    (response,) = read(session).responses
    assert kinds(response) == ["step", "hm", "a", "call c1", "b", "call c2"]


REASONINGS: dict[str, tuple[JsonObject, str, JsonObject]] = {
    "a signature is kept unchanged": (thinking("hm", "c2ln+/="), "hm", {"signature": "c2ln+/="}),
    "only a signature": (thinking("", "sealed"), "", {"signature": "sealed"}),
    "redacted": ({"type": "redacted_thinking", "data": "b64+/="}, "", {"redactedData": "b64+/="}),
}


@each_row(("block", "words", "metadata"), REASONINGS.values(), ids=REASONINGS)
def test_reasoning_is_kept_even_where_it_cannot_be_read(
    block: JsonObject, words: str, metadata: JsonObject
) -> None:
    reading = read(Session().piece("m", block).piece("m", text("a")))
    (response,) = reading.responses
    part = response.parts[1]
    assert isinstance(part, ReasoningPart)
    assert part.text == words
    assert (part.provider_metadata or {})["anthropic"] == metadata
    assert not reading.unknown_records


def test_server_tools_run_inside_of_the_response() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "rye"}}
    found = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"type": "web_search_result", "url": "https://rye.example", "title": "Rye"}],
    }
    reading = read(Session().piece("m", search).piece("m", found).piece("m", text("rye it is")))
    (response,) = reading.responses
    call = reading.calls["s1"]
    assert (call.state, call.provider_executed) == ("output-available", True)
    assert [(part.url, part.title) for part in response.parts if isinstance(part, SourceUrlPart)] == [
        ("https://rye.example", "Rye")
    ]
    assert not reading.unknown_records


def test_a_fallback_to_another_model_is_a_part() -> None:
    fallback = {"type": "fallback", "from": {"model": MODEL}, "to": {"model": "claude-helper"}}
    session = Session().piece("m", text("I"), usage=usage(3))
    session.piece("m", fallback, model="claude-helper", usage=usage(9))
    session.piece("m", text("am"), model="claude-helper", usage=usage(9))
    reading = read(session)
    (response,) = reading.responses
    assert kinds(response) == ["step", "I", "claude-fallback", "am"]
    assert [(one.model, one.usage.output_tokens) for one in reading.ledger] == [("claude-helper", 9)]
    assert not reading.unknown_records


def test_pages_that_a_search_found_are_sources() -> None:
    result: JsonObject = {
        "query": "rye",
        "results": [
            "words",
            {"tool_use_id": "s", "content": [{"title": "Rye", "url": "https://rye.example"}]},
        ],
        "searchCount": 1,
    }
    page: JsonObject = {"url": "https://oat.example", "code": 200, "codeText": "OK", "result": "oats"}
    session = Session().answer(calls=[use("c1", "WebSearch"), use("c2", "WebFetch")])
    session.result("c1", toolUseResult=result).result("c2", toolUseResult=page)
    reading = read(session)
    (response,) = reading.responses
    urls = [part.url for part in response.parts if isinstance(part, SourceUrlPart)]
    assert urls == ["https://rye.example", "https://oat.example"]
    assert (reading.calls["c1"].tool_metadata or {})["claudeCode"]["toolUseResult"] == result


def synthetic(words: str, **fields: Json) -> Session:
    session = Session().prompt("Bake")
    return session.piece("gen-1", text(words), model="<synthetic>", usage=usage(0, 0, 0, 0), **fields)


def test_the_text_of_an_aborted_response_is_kept() -> None:
    reading = read(synthetic("First you"))
    (response,) = reading.responses
    assert text_of(response) == "First you"
    assert response.content.metadata is not None
    metadata: Json = response.content.metadata
    assert (metadata["model"], metadata["aborted"], response.internal) == ("<synthetic>", True, False)
    assert not reading.ledger  # it is synthetic


def test_a_synthetic_response_is_hidden() -> None:
    (response,) = read(synthetic("No response requested.")).responses
    assert response.internal


ERRORS: dict[str, tuple[list[Json], JsonObject]] = {
    "a limit": ([text("You have hit your limit")], {"error": "rate_limit", "apiErrorStatus": 429}),
    "of an older version": ([text("API Error: 500")], {}),
    "in two blocks": ([text("API Error"), text("try later")], {"error": "overloaded"}),
}


@each_row(("blocks", "fields"), ERRORS.values(), ids=ERRORS)
def test_an_error_of_the_api_is_a_notice_and_ends_the_turn(blocks: list[Json], fields: JsonObject) -> None:
    session = Session().prompt("Bake")
    session.piece("gen-1", *blocks, model="<synthetic>", isApiErrorMessage=True, **fields).turn("Again")
    reading = read(session)
    (notice,) = reading.notices
    assert isinstance(notice, SystemMessage)
    data, words = notice.parts
    assert isinstance(data, DataPart)
    assert isinstance(words, TextPart)
    assert data.data == {"error": fields.get("error"), "status": fields.get("apiErrorStatus")}
    assert words.text == blocks[0]["text"]
    assert (reading.turns[0].end, reading.turns[0].error) == ("failed", words.text)
    assert [one.message_id for one in reading.ledger] == [reading.responses[0].id]
    metadata: Json = notice.content.metadata
    assert metadata["claudeCode"]["message"]["content"] == blocks


def test_a_message_is_dated_by_its_first_line_and_the_thread_by_all() -> None:
    session = Session().prompt("Bake").piece("m", text("a")).piece("m", text("b"))
    session.records[2]["timestamp"] = stamp(session.time.replace(year=2020))  # clocks can be set back
    reading = read(session)
    response = reading.responses[0]
    assert response.created_at is not None
    assert stamp(response.created_at) == session.records[1]["timestamp"]
    builder = reading.log.builder
    assert builder.first_time is not None
    assert builder.last_time is not None
    assert stamp(builder.first_time) == session.records[2]["timestamp"]
    assert stamp(builder.last_time) == session.records[1]["timestamp"]
    assert [message.id for message in reading.messages] == ["u-1", "m"]  # the order of the file


def answer_without(*names: str) -> Reading:
    session = Session().prompt("Bake").piece("m", text("a"))
    for name in names:
        session.records[1].pop(name, None)
        session.records[1]["message"].pop(name, None)
    return read(session)


@each_row("name", ["uuid", "parentUuid", "requestId", "timestamp", "id", "model", "usage"])
def test_a_response_without_one_of_its_fields_is_read(name: str) -> None:
    reading = answer_without(name)
    (response,) = reading.responses
    assert text_of(response) == "a"
    assert reading.parents == {"u-1": "", response.id: "u-1"}
    assert response.id == answer_without(name).responses[0].id


def test_a_response_without_an_id_gets_one_from_its_position() -> None:
    (response,) = answer_without("uuid", "id", "requestId").responses
    first_line = len(Session().prompt("Bake").data)
    assert response.id == f"line-{first_line}"
