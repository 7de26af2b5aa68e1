"""The copied history of a sub-agent of Codex is not shown under its call."""

from collections.abc import Callable
from datetime import timedelta

from partita.formats.codex.rollout import CodexRolloutDecoder
from partita.formats.log.sink import Consumption
from partita.formats.log.thread_builder import LogBuilder
from partita.types.json import JsonObject
from partita.types.messages import Message, text_of
from tests.formats.codex_examples import FORK, THREAD, Script, turn_id
from tests.tables import each_row


def read_sub_agent(records: list[JsonObject]) -> tuple[list[Message], list[Consumption], LogBuilder]:
    """The messages, ledger and builder of the records of a sub-agent."""
    builder = LogBuilder("thread")
    agent = builder.agent("gardener")
    decoder = CodexRolloutDecoder(agent)
    for number, record in enumerate(records):
        builder.line, builder.offset = number + 1, number * 100
        decoder.feed(record)
    decoder.finish()
    return agent.own_messages("lost"), builder.take_ledger(), builder


def copy(*, named: bool, **fields: int) -> Script:
    """The copied part of a sub-agent's file, which ends in the middle of a turn."""
    spawn: JsonObject = {"thread_spawn": {"parent_thread_id": THREAD}}
    script = Script(step=0.001).meta(FORK, source={"subagent": spawn}, **fields).meta(THREAD)
    if named:
        script.start(turn_id(1, after=False))
    script.context(turn_id(1, after=False) if named else None)
    script.prompt("Dig.").answer("Dug.").count(10)
    script.call("c0").call("c1", "spawn_agent").count(30)
    return script


ENDS: dict[str, Callable[[Script], Script]] = {
    "a count without its response": lambda script: script.count(40),
    "text that only an event has": lambda script: script.event("agent_message", message="Digging."),
    "an item without its event": lambda script: script.add_message("user", "Dig more."),
    "a response": lambda script: script.answer("Digging."),
}


def own(script: Script, *, named: bool) -> list[JsonObject]:
    script.step = timedelta(seconds=5)
    if named:
        script.start(turn_id(2))
    script.context(turn_id(2) if named else None).prompt("Water.").answer("Watered.").count(70, 30)
    return script.records


@each_row("end", ENDS.values(), ids=ENDS)
@each_row("way", ["turns", "pause", "ordinals"])
def test_only_messages_after_the_copy_are_shown_if_it_ends_with(
    end: Callable[[Script], Script], way: str
) -> None:
    first_own = len(end(copy(named=False)).records)
    fields = {"subagent_history_start_ordinal": first_own} if way == "ordinals" else {}
    script = end(copy(named=way == "turns", **fields))
    records = own(script, named=way == "turns")
    if way == "ordinals":
        records = [{**record, "ordinal": number} for number, record in enumerate(records)]
    messages, ledger, builder = read_sub_agent(records)
    assert [text_of(message) for message in messages if text_of(message)] == ["Water.", "Watered."]
    assert [one.usage.total_tokens for one in ledger] == [30]
    assert builder.facts == {}
    guessed = ["the end of the copied history is a guess"] if way == "pause" else []
    assert [finding.what for finding in builder.unknown_records] == guessed


def test_a_sub_agent_without_a_copy_is_shown_completely() -> None:
    script = Script().meta(FORK, source={"subagent": {"thread_spawn": {"parent_thread_id": THREAD}}})
    messages, ledger, _ = read_sub_agent(script.turn(turn_id(1), "Water.", "Watered.", 20).records)
    assert [text_of(message) for message in messages if text_of(message)] == ["Water.", "Watered."]
    assert len(ledger) == 1
