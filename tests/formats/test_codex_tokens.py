"""The token counts of Codex are counted once, for the right response."""

from datetime import timedelta

from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage
from tests.formats.codex_counts import own
from tests.formats.codex_examples import FORK, THREAD, Reading, Script, read, turn_id, usage
from tests.tables import each_row


def totals(reading: Reading) -> list[int | None]:
    """The total tokens of each response."""
    usages = [answer.content.usage for answer in reading.responses]
    return [None if used is None else used.total_tokens for used in usages]


ORDERS: dict[str, Script] = {
    "before the items (2025)": Script()
    .prompt("Dig.")
    .context()
    .event("agent_reasoning", text="hm")
    .count(10)
    .add_reasoning("hm")
    .call("a")
    .output("a")
    .context()
    .count(30)
    .add_reasoning()
    .call("b")
    .output("b")
    .context()
    .event("agent_message", message="Dug.")
    .count(60)
    .add_message("assistant", "Dug."),
    "after the items": Script()
    .prompt("Dig.")
    .add_reasoning("hm")
    .call("a")
    .count(10)
    .output("a")
    .call("b")
    .count(30)
    .output("b")
    .answer("Dug.")
    .count(60),
    "after the outputs (2026)": Script()
    .prompt("Dig.")
    .add_reasoning("hm")
    .call("a")
    .output("a")
    .count(10)
    .call("b")
    .output("b")
    .count(30)
    .answer("Dug.")
    .count(60),
    "without calls between the responses": Script()
    .add_reasoning()
    .count(10)
    .add_reasoning()
    .count(30)
    .answer("Dug.")
    .count(60),
}


@each_row("script", ORDERS.values(), ids=ORDERS)
@each_row("live", [False, True])
def test_each_response_has_its_count_wherever_the_count_is(script: Script, live: bool) -> None:
    reading = read(script.records, live=live)
    assert totals(reading) == [10, 20, 30]
    assert all(len(answer.parts) > 1 for answer in reading.responses)


def test_a_search_does_not_end_a_response() -> None:
    action = {"type": "search", "query": "roses"}
    script = (
        Script()
        .add_reasoning()
        .item("web_search_call", action=action)
        .add_reasoning()
        .answer("Roses.")
        .count(10)
    )
    assert totals(read(script.records)) == [10]


COUNTS: dict[str, tuple[Script, list[int]]] = {
    "a repeated total": (
        Script().answer("a").count(10).count(10, last=10).answer("b").count(15),
        [10, 5],
    ),
    "a total that goes down": (Script().answer("a").count(100).answer("b").count(20, last=20), [100, 20]),
    "no usage of the last call": (
        Script()
        .answer("a")
        .event("token_count", info={"total_token_usage": usage(10)})
        .answer("b")
        .event("token_count", info={"total_token_usage": usage(30)}),
        [10, 20],
    ),
    "no usage of the last call, and a total that goes down": (
        Script()
        .answer("a")
        .event("token_count", info={"total_token_usage": usage(30)})
        .answer("b")
        .event("token_count", info={"total_token_usage": usage(10)}),
        [30, 10],
    ),
    "no total": (Script().answer("a").event("token_count", info={"last_token_usage": usage(10)}), [10]),
    "limits alone": (Script().answer("a").event("token_count", info=None, rate_limits={}).count(10), [10]),
}


@each_row(("script", "counts"), COUNTS.values(), ids=COUNTS)
def test_only_new_tokens_are_counted(script: Script, counts: list[int]) -> None:
    reading = read(script.records)
    assert totals(reading) == counts
    assert [consumption.usage.total_tokens for consumption in reading.ledger] == counts


def test_a_count_without_a_response_gets_a_hidden_message() -> None:
    script = Script().meta().start("t1").add("compacted", {"message": ""}).count(10).end("t1")
    reading = read(script.records)
    assert [(answer.internal, answer.content.usage) for answer in reading.responses] == [
        (True, reading.ledger[0].usage)
    ]


def test_usage_separates_cached_and_reasoning_tokens() -> None:
    raw = usage(200) | {"cache_write_input_tokens": 7}
    script = Script().meta().context("t1", model="gpt-other").answer("a")
    reading = read(
        script.event("token_count", info={"total_token_usage": raw, "last_token_usage": raw}).records
    )
    (consumption,) = reading.ledger
    counted = consumption.usage
    assert (counted.input_tokens, counted.cached_input_tokens, counted.cache_write_tokens) == (180, 100, 7)
    assert (counted.output_tokens, counted.reasoning_tokens, counted.total_tokens) == (20, 10, 200)
    assert counted.raw == raw
    assert (consumption.model, consumption.provider) == ("gpt-other", "openai")
    assert consumption.message_id == reading.responses[0].id


# Forks: the parent's history is copied into the file, and is counted in the parent's file


def parent(*, named: bool = True) -> Script:
    script = Script().meta()
    for number in (1, 2):
        turn = turn_id(number, after=False)
        if named:
            script.turn(turn, f"Dig {number}.", "Dug.", number * 10)
        else:
            script.context().prompt(f"Dig {number}.").answer("Dug.").count(number * 10)
    return script


def copied(original: Script, **fields: Json) -> Script:
    """A fork right after the copy: all records have the time of the fork."""
    script = Script(original.time, step=0.001).meta(FORK, **{"forked_from_id": THREAD, **fields})
    for record in original.records:
        script.add(record["type"], record["payload"])
    script.total = original.total
    return script


def own_turn(script: Script, *, named: bool = True) -> Script:
    script.step = timedelta(seconds=5)
    if named:
        return script.turn(turn_id(3), "Water.", "Watered.", 50)
    return script.context().prompt("Water.").answer("Watered.").count(50)


FORKS: dict[str, Script] = {
    "turns that are older than the thread": own_turn(copied(parent())),
    "an agent's": own_turn(
        copied(
            parent(), source={"subagent": {"thread_spawn": {"parent_thread_id": THREAD}}}, forked_from_id=None
        )
    ),
    "a pause after the copy": own_turn(copied(parent(named=False)), named=False),
}


@each_row("script", FORKS.values(), ids=FORKS)
def test_copied_history_is_marked_and_not_counted_again(script: Script) -> None:
    reading = read(script.records)
    assert [consumption.usage.total_tokens for consumption in reading.ledger] == [30]
    assert [copy_of(answer) for answer in reading.responses] == [(True, 10), (True, 10), (False, None)]
    assert [own(prompt.content.metadata).get("copied", False) for prompt in reading.prompts] == [
        True,
        True,
        False,
    ]
    assert reading.builder.facts["sessionId"] == FORK


def copy_of(answer: AssistantMessage) -> tuple[bool, int | None]:
    metadata = own(answer.content.metadata)
    raw: JsonObject = metadata.get("copiedUsage", {})
    return metadata.get("copied", False), raw.get("total_tokens")


def test_a_guessed_end_of_a_copy_is_reported() -> None:
    guess = "the end of the copied history is a guess"
    assert read(FORKS["a pause after the copy"].records).unknown_records == {guess: 1}
    assert not read(FORKS["turns that are older than the thread"].records).unknown_records


def test_ordinals_mark_the_end_of_inherited_history() -> None:
    original = parent(named=False)
    first_own = len(original.records)
    script = Script(step=0.001).meta(FORK, parent_thread_id=THREAD, subagent_history_start_ordinal=first_own)
    for record in original.records[1:]:
        script.add(record["type"], record["payload"])
    script.total = original.total
    script.context().prompt("Water.").answer("Watered.").count(50)
    numbered: list[JsonObject] = [
        {**record, "ordinal": number} for number, record in enumerate(script.records)
    ]
    assert [consumption.usage.total_tokens for consumption in read(numbered).ledger] == [30]


def test_turns_without_useful_ids_are_distinguished_by_their_start_time() -> None:
    script = Script().meta("fork", forked_from_id="old", timestamp="2026-03-01T08:59:00.000Z")
    began = 1772355540  # 08:59:00
    script.start("1", started_at=began - 60).prompt("Dig.").answer("Dug.").count(10).end("1")
    script.start("2", started_at=began).prompt("Water.").answer("Watered.").count(30).end("2")
    assert [consumption.usage.total_tokens for consumption in read(script.records).ledger] == [20]


def test_a_response_has_the_same_key_in_the_fork_that_copied_it() -> None:
    original = parent()
    keys = [consumption.key for consumption in read(original.records).ledger]
    taken_for_own = [record for record in copied(original).records if record["type"] != "session_meta"]
    assert [consumption.key for consumption in read(taken_for_own).ledger] == keys


def test_without_turns_the_key_of_a_response_contains_its_thread() -> None:
    keys = [consumption.key for consumption in read(parent(named=False).records).ledger]
    assert keys[0].startswith(f"codex:{THREAD}:")
    assert len(set(keys)) == 2


def test_a_repeated_header_is_not_a_copy() -> None:
    script = parent().meta(THREAD, memory_mode="enabled").turn(turn_id(3), "Water.", "Watered.", 50)
    assert [consumption.usage.total_tokens for consumption in read(script.records).ledger] == [10, 10, 30]


def test_a_second_thread_in_a_file_starts_at_the_root() -> None:
    script = parent().meta(FORK).turn(turn_id(3), "Water.", "Watered.", 50)
    reading = read(script.records)
    (start,) = [message for message in reading.messages if message.id == f"{FORK}:{FORK}"]
    assert (start.parent_id, start.internal) == ("", True)
    assert reading.prompts[-1].id.startswith(FORK)
    assert [consumption.usage.total_tokens for consumption in reading.ledger] == [10, 10, 30]


def test_messages_of_a_thread_and_of_its_fork_have_different_ids() -> None:
    original = parent()
    ids = {message.id for message in read(original.records).messages}
    forked = {message.id for message in read(copied(original).records).messages}
    assert not [name for name in ids & forked if not name.startswith("notes-")]
