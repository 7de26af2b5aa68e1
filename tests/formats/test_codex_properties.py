"""Damaged rollouts: other records are read as before."""

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.codex.exec import CodexExecDecoder
from partita.formats.codex.rollout import CodexRolloutDecoder
from partita.formats.log.thread_builder import LogBuilder
from partita.stream.accumulator import Accumulator
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import Message
from partita.types.usage import Usage
from tests.formats.codex_counts import own
from tests.formats.codex_examples import Reading, Script, read, turn_id
from tests.strategies_json import json_values, texts

EMPTY: tuple[Json, ...] = ([], {}, [[]], [{}])
VERBS = ("plant", "water", "dig", "prune")
WORDS = st.sampled_from(VERBS)
OUTPUTS: st.SearchStrategy[Json] = st.sampled_from(
    [
        "Exit code: 0\nWall time: 0.2 seconds\nOutput:\nok",
        "Exit code: 3\nWall time: 0.2 seconds\nOutput:\nno",
        '{"output": "fine", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}',
        [
            {"type": "input_text", "text": "seen"},
            {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        ],
    ]
)


@st.composite
def scripts(draw: st.DrawFn) -> list[JsonObject]:
    """Rollouts of a few turns, each with a few responses."""
    script = Script().meta()
    total = 0
    for number in range(1, draw(st.integers(1, 3)) + 1):
        turn = turn_id(number)
        script.start(turn).context(turn).prompt(f"{draw(WORDS)} {number}")
        for step in range(draw(st.integers(1, 3))):
            total += draw(st.integers(10, 500))
            calls = [f"call-{number}-{step}-{index}" for index in range(draw(st.integers(0, 2)))]
            if draw(st.booleans()):
                script.event("agent_reasoning", text="hm").add_reasoning("hm", sealed=f"seal-{number}-{step}")
            script.answer(f"{draw(WORDS)} {number}.{step}")
            for call in calls:
                script.call(call, cmd=draw(WORDS))
            if draw(st.booleans()):
                script.count(total)
            for call in draw(st.permutations(calls)):
                script.output(call, draw(OUTPUTS))
            if script.total != total:
                script.count(total)
        script.end(turn)
    return script.records


def contents(reading: Reading) -> dict[str, Json]:
    """The content of each message by id, without notes, which depend on their position."""
    return {
        message.id: content_of(message) for message in reading.messages if not message.id.startswith("notes-")
    }


def content_of(message: Message) -> Json:
    value: JsonObject = to_json(message)
    return {name: item for name, item in value.items() if name not in ("parentId", "runId")}


def turn_of(record: JsonObject, records: list[JsonObject]) -> Json:
    """The turn that a record is in."""
    turn: Json = None
    for other in records:
        turn = other["payload"].get("turn_id", turn)
        if other is record:
            break
    return turn


def usage_by_key(reading: Reading) -> list[tuple[str, Usage]]:
    """The usage of each response with its key."""
    return [(consumption.key, consumption.usage) for consumption in reading.ledger]


def outside(reading: Reading, turn: Json) -> dict[str, Json]:
    """The messages of all turns but one."""
    kept = {message.id for message in reading.messages if own(message.content.metadata).get("turnId") != turn}
    return {name: value for name, value in contents(reading).items() if name in kept}


def places(value: Json) -> list[tuple[Json, Json]]:
    """Every value inside a record that can be damaged, except its time: the container and the key."""
    found: list[tuple[Json, Json]] = []
    inside = [value]
    for holder in inside:
        names: list[Json] = list(holder) if is_object(holder) else list(range(len(holder)))
        found += [(holder, name) for name in names if name != "timestamp"]
        inside += [holder[name] for name in names if isinstance(holder[name], (dict, list))]
    return found


@given(scripts())
def test_reading_again_gives_the_same(records: list[JsonObject]) -> None:
    first, again = read(records), read(records)
    assert [to_json(message) for message in first.messages] == [
        to_json(message) for message in again.messages
    ]
    assert first.ledger == again.ledger


@given(scripts())
def test_reading_live_gives_the_messages_of_reading_at_once(records: list[JsonObject]) -> None:
    assert contents(read(records, live=True)) == contents(read(records))


@given(scripts(), st.data())
def test_a_longer_log_keeps_the_ids_of_a_shorter_one(records: list[JsonObject], data: st.DataObject) -> None:
    whole = {message.id for message in read(records).messages}
    cut = data.draw(st.integers(0, len(records)))
    assert {message.id for message in read(records[:cut]).messages} <= whole


@given(scripts())
def test_reading_continues_from_the_start_of_any_turn(records: list[JsonObject]) -> None:
    builder = LogBuilder("thread")
    decoder = CodexRolloutDecoder(builder)
    places: list[tuple[int, str | None, JsonObject]] = []
    fed = 0
    builder.on_turn = lambda: places.append((fed, builder.tail, decoder.mark()))
    for record in records:
        decoder.feed(record)
        fed += 1
    whole = contents(read(records))
    for at, tail, mark in places:
        later = LogBuilder("thread", tail=tail)
        further = CodexRolloutDecoder(later)
        further.restore(loads(dumps(decoder.state(mark))))
        for record in records[at:]:
            further.feed(record)
        rest = {m.id: content_of(m) for m in later.finish() if not m.id.startswith("notes-")}
        assert list(rest.items()) == list(whole.items())[-len(rest) :]
        assert next(iter(rest.values()))["content"]["parts"][0]["text"].split()[0] in VERBS
    assert len(places) == len({turn_of(record, records) for record in records[1:]})


@given(scripts(), st.data())
def test_a_dropped_record_changes_no_other_turn(records: list[JsonObject], data: st.DataObject) -> None:
    index = data.draw(st.integers(1, len(records) - 1))
    turn = turn_of(records[index], records)
    assert outside(read(records[:index] + records[index + 1 :]), turn) == outside(read(records), turn)


@given(scripts(), st.data())
def test_a_repeated_record_is_counted_once(records: list[JsonObject], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(records) - 1))
    twice = read(records[: index + 1] + records[index:])
    assert contents(twice) == contents(read(records))
    assert usage_by_key(twice) == usage_by_key(read(records))
    assert twice.unknown_records == {"a record twice in a row": 1}


@given(scripts(), st.data())
def test_a_damaged_record_changes_no_other_turn(records: list[JsonObject], data: st.DataObject) -> None:
    index = data.draw(st.integers(1, len(records) - 1))
    turn = turn_of(records[index], records)
    record = loads(dumps(records[index]))
    holder, place = data.draw(st.sampled_from(places(record)))
    if data.draw(st.booleans()):
        holder[place] = data.draw(json_values() | st.sampled_from(EMPTY))
    else:
        del holder[place]
    damaged = [*records[:index], record, *records[index + 1 :]]
    before = outside(read(records), turn)
    after = contents(read(damaged))
    assert {name: after.get(name) for name in before} == before


@given(scripts().flatmap(st.permutations))
def test_records_in_any_order_lose_no_call(records: list[JsonObject]) -> None:
    calls = [record["payload"]["call_id"] for record in records if record["payload"].get("name")]
    assert sorted(part.id for part in read(records).calls) == sorted(calls)


NAMES = st.sampled_from(
    [
        *(
            "id",
            "type",
            "role",
            "content",
            "text",
            "message",
            "call_id",
            "name",
            "arguments",
            "input",
            "output",
        ),
        *(
            "summary",
            "encrypted_content",
            "info",
            "total_token_usage",
            "last_token_usage",
            "rate_limits",
            "turn_id",
        ),
        *("action", "query", "url", "status", "item", "changes", "invocation", "result", "duration", "error"),
        *(
            "num_turns",
            "source",
            "subagent",
            "forked_from_id",
            "git",
            "history_base",
            "tools",
            "images",
            "model",
        ),
        *(
            "subagent_history_start_ordinal",
            "started_at",
            "reason",
            "exit_code",
            "aggregated_output",
            "phase",
        ),
    ]
)
KINDS = st.sampled_from(
    [
        *(
            "session_meta",
            "turn_context",
            "response_item",
            "event_msg",
            "compacted",
            "world_state",
            "message",
        ),
        *(
            "reasoning",
            "function_call",
            "function_call_output",
            "custom_tool_call",
            "custom_tool_call_output",
        ),
        *(
            "web_search_call",
            "image_generation_call",
            "tool_search_call",
            "tool_search_output",
            "local_shell_call",
        ),
        *("agent_message", "user_message", "agent_reasoning", "token_count", "task_started", "task_complete"),
        *("turn_aborted", "thread_rolled_back", "item_completed", "patch_apply_end", "mcp_tool_call_end"),
        *("web_search_end", "exec_command_end", "context_compacted", "thread_settings_applied", "error"),
        *(
            "CommandExecution",
            "FileChange",
            "McpToolCall",
            "UserMessage",
            "AgentMessage",
            "WebSearch",
            "Plan",
        ),
        *(
            "thread.started",
            "turn.started",
            "turn.completed",
            "turn.failed",
            "item.started",
            "item.completed",
        ),
        *("item/started", "item/completed", "turn/completed", "item/agentMessage/delta", "todo_list"),
        *(
            "item/commandExecution/requestApproval",
            "exec_command_begin",
            "agent_message_delta",
            "ghost_snapshot",
        ),
    ]
)
LEAVES: st.SearchStrategy[Json] = st.one_of(
    json_values(), texts(), KINDS, st.integers(-5, 99), st.sampled_from(["user", "assistant", "call"])
)
OBJECTS: st.SearchStrategy[Json] = st.recursive(
    st.dictionaries(NAMES, LEAVES, max_size=4),
    lambda inner: st.dictionaries(NAMES, inner | LEAVES | st.lists(inner | LEAVES, max_size=2), max_size=5),
    max_leaves=8,
)


@st.composite
def random_records(draw: st.DrawFn) -> JsonObject:
    """Any objects, most of them similar to records."""
    payload = draw(OBJECTS)
    if draw(st.booleans()):
        payload["type"] = draw(KINDS)
    record: JsonObject = {"type": draw(KINDS | LEAVES), "payload": payload}
    record |= draw(
        st.sampled_from(
            [
                {"timestamp": "2026-03-01T09:00:00.000Z"},
                {"timestamp": "never"},
                {"timestamp": "0001-01-01T00:00:00+14:00"},
                {"ordinal": 4},
                {},
            ]
        )
    )
    return draw(
        st.sampled_from(
            [record, payload, {**payload, "msg": payload}, {"method": payload.get("type"), "params": payload}]
        )
    )


@given(st.lists(random_records(), max_size=8))
def test_any_objects_can_be_read(records: list[JsonObject]) -> None:
    reading = read(records)
    assert all(is_object(loads(dumps(to_json(message)))) for message in reading.messages)


@given(st.lists(random_records() | json_values(), max_size=8))
def test_any_events_give_chunks_that_the_accumulator_accepts(events: list[Json]) -> None:
    decoder, accumulator = CodexExecDecoder(), Accumulator(id="answer")
    for event in events:
        for chunk in decoder.feed(event):
            accumulator.feed(chunk)
    for chunk in decoder.finish():
        accumulator.feed(chunk)
    assert not accumulator.diagnostics
