"""Damaged session files: other lines are read as before, and the damage is reported."""

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from partita.logs.lines.blocks import open_log
from partita.logs.lines.line import HALVES, NOT_UTF8
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import Message, text_of
from partita.types.parts import TextOutput
from tests.logs.claude_session import Reading, Session, lines_of, read, rich, use
from tests.logs.claude_strategies import any_record
from tests.recordings import files
from tests.sampling import HUGE
from tests.strategies_json import json_values
from tests.tables import each_row

Records: TypeAlias = list[JsonObject]


def content_of(message: Message) -> Json:
    """The content of a message, without its position."""
    return _without_place(to_json(message))


def _without_place(value: Json) -> Json:
    if is_array(value):
        return [_without_place(item) for item in value if not _is_notes(item)]
    if not is_object(value):
        return value
    is_data = value.get("type") == "data"  # its id is the number of a line
    return {
        name: _without_place(item)
        for name, item in value.items()
        if name not in ("$line", "parentId", "runId") and not (is_data and name == "id")
    }


def _is_notes(value: Json) -> bool:
    return is_object(value) and str(value.get("id")).startswith("notes-")


def conversation(reading: Reading) -> dict[str, Json]:
    """The content of all messages except notes, whose ids are positions."""
    return {
        id_: content_of(message) for id_, message in reading.by_id.items() if not id_.startswith("notes-")
    }


def everything_read(reading: Reading) -> bytes:
    """All messages that were read, including orphans, as bytes."""
    orphans = [message for messages in reading.log.builder.orphans().values() for message in messages]
    return dumps([to_json(message) for message in (*reading.messages, *orphans)])


def assert_sound(data: bytes) -> Reading:
    """All ways to read a log give the same messages, and their parents form no cycles."""
    reading = read(data)
    live = read(data, live=True)
    assert live.by_id == reading.by_id
    assert live.log.unknown_records == reading.log.unknown_records
    above = {message.id: message.parent_id for message in reading.messages}
    for id_ in above:
        walked: set[str] = set()
        here: str | None = id_
        while here:
            assert here not in walked
            walked.add(here)
            here = above.get(here)
    return reading


# Lines that are missing, repeated, reordered or damaged


def touched(records: Records, number: int) -> set[str]:
    """The messages that say anything of a record, by their ids."""
    calls = {
        block["id"]: record["message"]["id"]
        for record in records
        if record["type"] == "assistant"
        for block in record["message"]["content"]
        if block["type"] == "tool_use"
    }
    record = records[number]
    if record.get("isSidechain"):
        return {calls["u-t1"]}
    if record["type"] == "assistant":
        return {record["message"]["id"]}
    ids = {str(record.get("uuid"))}
    if record["type"] == "user" and is_array(record["message"]["content"]):
        ids |= {
            calls[block["tool_use_id"]] for block in record["message"]["content"] if "tool_use_id" in block
        }
    return ids


LINES = len(rich().records)


@each_row("number", range(LINES))
def test_a_missing_line_loses_only_its_own_messages(number: int) -> None:
    records = rich().records
    wanted = conversation(read(lines_of(records)))
    own = touched(records, number)
    found = conversation(assert_sound(lines_of(records[:number] + records[number + 1 :])))
    assert {id_: it for id_, it in found.items() if id_ not in own} == {
        id_: it for id_, it in wanted.items() if id_ not in own
    }


@each_row("number", range(LINES))
def test_a_repeated_line_changes_nothing(number: int) -> None:
    records = rich().records
    twice = assert_sound(lines_of([*records[: number + 1], *records[number:]]))
    assert conversation(twice) == conversation(read(lines_of(records)))
    assert len(twice.ledger) == len(read(lines_of(records)).ledger)


def cut(line: bytes) -> bytes:
    return line[: len(line) // 2]


def without_the_end(line: bytes) -> bytes:
    return line[:-1]


def overwritten(line: bytes) -> bytes:
    return b"\0" * len(line)


def spilled(line: bytes) -> bytes:
    return line[:1] + b"}{" + line[1:]


def split(line: bytes) -> bytes:
    return line[:60] + b'"\n' + line[60:]


GARBLED: dict[str, Callable[[bytes], bytes]] = {
    "cut in the middle": cut,
    "without its last bracket": without_the_end,
    "overwritten": overwritten,
    "brackets in it": spilled,
    "over two lines": split,
}


@each_row("damage", GARBLED.values(), ids=GARBLED)
@each_row("number", range(LINES))
def test_a_damaged_line_is_reported_and_changes_no_other(
    number: int, damage: Callable[[bytes], bytes]
) -> None:
    records = rich().records
    lines = [dumps(record) for record in records]
    wanted, own = conversation(read(lines_of(records))), touched(records, number)
    lines[number] = damage(lines[number])
    reading = assert_sound(b"".join(line + b"\n" for line in lines))
    found = conversation(reading)
    assert {id_: found.get(id_) for id_ in wanted if id_ not in own} == {
        id_: it for id_, it in wanted.items() if id_ not in own
    }
    assert {id_ for id_ in found if id_ not in wanted} <= own
    bad = [
        what
        for what, places in reading.unknown_records.items()
        if number + 1 in places or number + 2 in places
    ]
    assert set(bad) - {"unknown record type 'telepathy'"} or reading.log.unfinished


@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_lines_in_another_order_are_read(chance: random.Random, swaps: int) -> None:
    records = rich().records
    for _ in range(swaps):
        one, other = chance.randrange(LINES), chance.randrange(LINES)
        records[one], records[other] = records[other], records[one]
    reading = assert_sound(lines_of(records))
    prompts = {record["uuid"] for record in records if record.get("message", {}).get("role") == "user"}
    assert {prompt.id for prompt in reading.prompts} <= prompts | {
        record["uuid"] for record in records if record["type"] == "attachment"
    }
    assert len({response.id for response in reading.responses}) == len(reading.responses)


@given(st.integers(0, len(rich().data)))
def test_a_file_that_is_cut_at_any_byte_is_read_up_to_there(cut: int) -> None:
    data = rich().data
    reading = assert_sound(data[:cut])
    whole = read(data)
    assert set(reading.by_id) <= set(whole.by_id)
    assert reading.log.unfinished is (
        data[:cut].rpartition(b"\n")[2].strip() not in (b"", *_last_values(cut))
    )
    done = [turn.id for turn in reading.turns[:-1]]
    for message in reading.messages:
        if message.run_id in done and not _has_open_agent(message):
            assert content_of(message) == content_of(whole.by_id[message.id])


def _last_values(cut: int) -> Iterable[bytes]:
    """A cut before a line feed leaves a whole value."""
    data = rich().data
    return [data[:cut].rpartition(b"\n")[2]] if data[cut : cut + 1] == b"\n" else []


def _has_open_agent(message: Message) -> bool:
    return any(getattr(part, "children", ()) for part in message.content.parts)


# Invalid ids


@given(st.data())
def test_swapped_ids_make_no_cycles_and_lose_nothing(data: st.DataObject) -> None:
    records = [record for record in rich().records if record.get("uuid")]
    for name in ("parentUuid", "uuid", "logicalParentUuid"):
        if data.draw(st.booleans(), label=f"mix up {name}"):
            values = data.draw(st.permutations([record.get(name) for record in records]))
            for record, value in zip(records, values, strict=True):
                record[name] = value
    for number, record in enumerate(records):
        record["slug"] = f"kept-{number}-"
    everything = everything_read(assert_sound(lines_of(records)))
    for number, record in enumerate(records):
        if record["type"] != "progress":
            assert f"kept-{number}-".encode() in everything


@given(st.lists(st.sampled_from(["u-1", "u-2", "u-3"]), min_size=24, max_size=24))
def test_repeated_ids_make_no_cycles(ids: list[str]) -> None:
    records = [record for record in rich().records if record.get("uuid")]
    for record, uuid, parent in zip(records, ids, ids[12:] + ids[:12], strict=False):
        record["uuid"], record["parentUuid"] = uuid, parent
    assert_sound(lines_of(records))


# Bytes that are not text


def test_invalid_utf_8_is_replaced_and_reported() -> None:
    data = Session().prompt("caf\u00e9!").answer(text="Yes.").data
    reading = read(data.replace("\u00e9".encode(), b"\xe9"))
    assert text_of(reading.messages[0]) == "caf\ufffd!"
    assert reading.unknown_records == {NOT_UTF8: [1]}
    assert everything_read(reading)


def test_a_lone_surrogate_is_replaced_and_reported() -> None:
    data = Session().answer(calls=[use("c1")]).result("c1", "cut HERE").answer(text="Yes.").data
    reading = read(data.replace(b"HERE", rb"\ud83d"))
    assert reading.calls["c1"].output == TextOutput("cut \ufffd")
    assert reading.unknown_records == {HALVES: [2]}
    assert everything_read(reading)


def test_a_huge_line_is_a_line() -> None:
    big = "bread " * (HUGE // 6)
    session = Session().answer(calls=[use("c1")]).result("c1", big).turn("More")
    reading = read(session)
    assert reading.calls["c1"].output == TextOutput(big)
    assert not reading.unknown_records


# Records that are anything


@given(st.lists(any_record(), max_size=12))
def test_any_records_are_read_and_none_is_lost(records: Records) -> None:
    for number, record in enumerate(records):
        record["slug"] = f"kept-{number}-"
    reading = assert_sound(lines_of(records))
    everything = everything_read(reading)
    for number, record in enumerate(records):
        if record.get("type") != "progress":
            assert f"kept-{number}-".encode() in everything, record


@given(st.lists(st.one_of(any_record(), json_values()), max_size=6))
def test_values_between_records_do_not_change_the_conversation(values: list[Json]) -> None:
    """Records of another session with different ids are inserted; the messages do not change."""
    records: list[Json] = list(rich("v").records)
    wanted = conversation(read(lines_of(records)))
    for number, value in enumerate(values):
        records.insert(number * 5 + 2, value if not is_object(value) else {**value, "isSidechain": False})
    found = conversation(assert_sound(lines_of(records)))
    assert wanted.items() <= found.items()


# Recorded files

SAMPLES = (
    "scenarios/rewind.jsonl",
    "scenarios/compaction.jsonl",
    "single/v1.0.70-inline-sidechain.jsonl",
    "single/v2.1.140-denied-interrupted-errors.jsonl",
    "single/v2.1.140-every-record.jsonl",
    "scenarios/v2.1.143-1-6-checkpoint-rewind.jsonl",
    "scenarios/v2.1.143-2-10-mid-turn-message-queued.jsonl",
    "single/v1.0.71-task-websearch-inline-sidechain.jsonl",
    "single/v2.1.38-denied-interrupted.jsonl",
    "single/v2.1.217-tool-denial-kind.jsonl",
)


@each_row("path", files("agent-logs/claude-code", *SAMPLES))
def test_recorded_files_that_were_damaged_are_read(path: Path) -> None:
    chance = random.Random(path.name)
    lines = b"".join(open_log(path)).splitlines(keepends=True)
    assert_sound(b"".join(lines))
    for _ in range(12):
        damaged = list(lines)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(damaged))
            match chance.randrange(5):
                case 0:
                    del damaged[place]
                case 1:
                    damaged.insert(chance.randrange(len(damaged)), damaged[place])
                case 2:
                    damaged[place] = damaged[place][: chance.randrange(len(damaged[place]))]
                case 3:
                    other = chance.randrange(len(damaged))
                    damaged[place], damaged[other] = damaged[other], damaged[place]
                case _:
                    line = bytearray(damaged[place])
                    for _ in range(5):
                        line[chance.randrange(len(line))] = chance.randrange(256)
                    damaged[place] = bytes(line)
        assert_sound(b"".join(damaged))
