"""A session file that was read is written back line for line."""

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.claude_code.format import dump, dump_agents, load, write_session
from partita.formats.log.session_file import SessionFacts
from partita.logs.parsed_log import parse_log_file
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import TextOutput, TextPart
from tests.logs.claude_session import Session, lines_of, task, use
from tests.tables import each_row

from .claude_records import ALL, any_records, called, session
from .claude_sessions import blocks, lost


def written(records: Sequence[Json]) -> list[Json]:
    payload: list[Json] = dump(load(records).messages).payload
    return payload


def kept(records: Sequence[Json]) -> list[str]:
    """The records without progress, in a form that distinguishes true from 1."""
    others = [record for record in records if not is_object(record) or record.get("type") != "progress"]
    return [json.dumps(record, sort_keys=True) for record in others]


def assert_chained(records: Sequence[Json]) -> None:
    """Raise unless every parent is there, and no line is its own ancestor."""
    parents = {record["uuid"]: record["parentUuid"] for record in records if "uuid" in record}
    for parent in parents.values():
        above, seen = parent, set[str]()
        while above is not None and above not in seen:
            seen.add(above)
            above = parents[above]
        assert above is None


@each_row("make", ALL.values(), ids=ALL)
def test_records_are_written_back_unchanged(make: Callable[[], Session]) -> None:
    records = make().records
    assert written(records) == records


@given(records=st.lists(any_records(), max_size=8))
def test_any_records_are_written_back(records: list[Json]) -> None:
    before = deepcopy(records)
    once = written(records)
    assert kept(once) == kept(before)
    assert records == before
    assert written(once) == once


# Progress


def working() -> Session:
    """A session whose lines follow records of progress."""
    made = called().progress("c1", "bash_progress", fullOutput="warm", output="warm")
    made.progress("c1", "hook_progress", hookEvent="Stop").result("c1").answer(text="Done")
    return made.progress("c1", "hook_progress", hookEvent="Stop").prompt("Cake")


def test_an_empty_record_replaces_progress() -> None:
    made = working()
    once = written(made.records)
    assert kept(once) == kept(made.records)
    assert_chained(once)
    assert [record["uuid"] for record in once if record["type"] == "progress"] == ["u-4", "u-7"]
    assert written(once) == once
    losses = dump(load(made.records).messages).losses
    assert [loss.what for loss in losses] == ['"u-4"', '"u-7"']


def test_an_empty_record_is_on_the_same_branch() -> None:
    made = session().answer(text="Yes").progress("c1", "hook_progress")
    made.prompt("Cake", parent="u-2").answer(text="No").prompt("Pie", parent="u-3")
    (placeholder,) = [record for record in written(made.records) if record["type"] == "progress"]
    assert (placeholder["uuid"], placeholder["parentUuid"]) == ("u-3", "u-2")


# Sub-agents


def helped(agent: str) -> Session:
    return session().piece("m1", task("t1", "Bake rolls")).result("t1", toolUseResult={"agentId": agent})


def test_sub_agents_with_separate_files_are_returned_separately(tmp_path: Path) -> None:
    main, side = helped("a1"), Session(mark="s", agent="a1")
    side.prompt("Bake rolls", parent=None).attachment("todo_reminder").answer(text="x", calls=[use("s1")])
    side.result("s1").answer(text="Done")
    file = tmp_path / f"{main.id}.jsonl"
    own = tmp_path / main.id / "subagents" / "agent-a1.jsonl"
    own.parent.mkdir(parents=True)
    file.write_bytes(main.data)
    own.write_bytes(side.data)
    messages = parse_log_file(file).messages
    dumped = dump(messages)
    assert dumped.payload == main.records
    assert lost(dumped) == {"$[1].content.parts[1].children": "a sub-agent has a file of its own"}
    assert dump_agents(messages, SessionFacts()) == {"subagents/agent-a1.jsonl": side.records}


def test_sub_agents_in_progress_are_returned_separately() -> None:
    side = Session(mark="s").prompt("Bake rolls", parent=None).answer(text="Rolling", calls=[use("s1")])
    side.result("s1").answer(text="Done")
    main = session().piece("m1", task("t1", "Bake rolls"))
    for record in side.records:
        main.progress("t1", "agent_progress", agentId="a1", message=record)
    main.result("t1", toolUseResult={"agentId": "a1"})
    messages = load(main.records).messages
    assert kept(dump(messages).payload) == kept(main.records)
    assert dump_agents(messages, SessionFacts()) == {"subagents/agent-a1.jsonl": side.records}


# Edited threads


def edited(made: Session, *changes: Callable[[list[Message]], list[Message]]) -> list[JsonObject]:
    messages = list(load(made.records).messages)
    for change in changes:
        messages = change(messages)
    payload: list[JsonObject] = dump(messages).payload
    return payload


def long_session() -> Session:
    return session().work("Bake rolls", "c1", "c2").turn("Cake").turn("Pie")


@each_row("gone", range(7))
def test_removing_a_message_keeps_the_chain(gone: int) -> None:
    made = long_session()
    records = edited(made, lambda messages: messages[:gone] + messages[gone + 1 :])
    assert_chained(records)
    assert set(kept(records)) < set(kept(made.records))


def test_a_new_message_follows_the_last_one() -> None:
    made = long_session()
    *before, new = edited(made, lambda messages: [*messages, UserMessage(id="new", content="And soup?")])
    assert before == made.records
    assert new["parentUuid"] == before[-1]["uuid"]
    around = ("sessionId", "cwd", "version", "gitBranch")
    assert {name: new[name] for name in around} == {name: before[-1][name] for name in around}


def test_a_new_message_is_written_in_its_position() -> None:
    made = long_session()
    new = UserMessage(id="new", content="Wait")
    records = edited(made, lambda messages: [*messages[:2], new, *messages[2:]])
    at = [record["message"]["content"] for record in records].index("Wait")
    assert records[:at] + records[at + 1 :] == made.records
    assert records[at]["parentUuid"] == made.records[at - 1]["uuid"]


def test_open_calls_stay_open_until_a_new_message() -> None:
    made = called()
    assert written(made.records) == made.records
    records = edited(made, lambda messages: [*messages, UserMessage(id="new", content="Go on")])
    assert records[:2] == made.records
    assert blocks(records[2])[0] == {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": "[Request interrupted by user for tool use]",
        "is_error": True,
    }
    assert records[2]["sourceToolAssistantUUID"] == records[1]["uuid"]
    assert records[3]["parentUuid"] == records[2]["uuid"]


def _with_output(messages: list[Message]) -> list[Message]:
    *before, last = messages
    assert isinstance(last, AssistantMessage)
    parts = tuple(
        replace(part, output=TextOutput("hot"), state="output-available")
        if isinstance(part, ToolCallPart)
        else part
        for part in last.parts
    )
    return [*before, replace(last, content=replace(last.content, parts=parts))]


def test_an_output_that_was_added_is_a_new_line() -> None:
    made = called()
    *before, new = edited(made, _with_output)
    assert before == made.records
    assert blocks(new)[0] == {"type": "tool_result", "tool_use_id": "c1", "content": "hot"}


def _reworded(messages: list[Message]) -> list[Message]:
    first, *rest = messages
    assert isinstance(first, UserMessage)
    return [replace(first, content=replace(first.content, parts=(TextPart("Bake rye"),))), *rest]


def test_changed_texts_are_written() -> None:
    made = session().answer(text="Yes")
    records = edited(made, _reworded)
    assert records[0] == {**made.records[0], "message": {"role": "user", "content": "Bake rye"}}
    assert records[1:] == made.records[1:]


def test_a_fork_has_the_lines_with_another_session_id() -> None:
    made = long_session().about("custom-title", customTitle="Bread")
    records = write_session(load(made.records).messages, session_id="fork").payload
    assert records == [{**record, "sessionId": "fork"} for record in made.records]


def test_the_lines_of_two_files_keep_their_order() -> None:
    one, two = long_session(), Session(mark="v").work("Bake rye", "c8", "c9")
    messages = [*load(one.records).messages, *load(two.records).messages]
    assert dump(messages).payload == one.records + two.records


def test_a_file_is_written_from_its_bytes_as_from_its_records(tmp_path: Path) -> None:
    made = working().about("mode", mode="plan")
    file = tmp_path / f"{made.id}.jsonl"
    file.write_bytes(lines_of(made.records) + b"\n5\n")
    assert dump(parse_log_file(file).messages).payload == [*written(made.records), 5]
