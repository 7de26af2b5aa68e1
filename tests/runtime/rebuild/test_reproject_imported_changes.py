"""`reproject` of imported sessions: which stored data is kept, added and deleted."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from partita.formats.claude_code.log import ClaudeLogDecoder
from partita.runtime.rebuild.reproject import reproject
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage, text_of
from partita.types.parts import ReasoningPart, TextPart
from partita.types.threads import Thread
from tests.logs.claude_session import SESSION, Session, task
from tests.runtime.rebuild.example_sessions import (
    bake,
    import_sessions,
    messages_of,
    skipped_for,
    stored_state,
    untimed,
    with_calls,
    with_unclaimed_agent,
    without,
    write,
)


@pytest.fixture
async def memory() -> AsyncIterator[Store]:
    """A store in memory, for tests that need one engine only."""
    async with open_store("memory:") as store:
        yield store


# Data that is not in the log is kept


async def test_later_changes_are_kept(store: Store, tmp_path: Path) -> None:
    await bake(store, tmp_path)
    await store.threads.set_title(SESSION, "My bread")
    await store.threads.update_metadata(SESSION, {"shelf": 3})
    forked = await store.threads.fork(SESSION, (await messages_of(store))[-1].id)
    own = await store.runs.open(SESSION)
    last = (await messages_of(store))[-1]
    later: list[Message] = [
        UserMessage(id="later", content="And cake?"),
        AssistantMessage(id="cake", content="Yes."),
    ]
    await store.messages.save([replace(one, run_id=own.id) for one in later], thread_id=SESSION)
    await store.runs.finish(own.id)
    response = next(one for one in await messages_of(store) if isinstance(one, AssistantMessage))
    stored = response.content.metadata
    assert is_object(stored)
    rated = replace(response, content=replace(response.content, metadata={**stored, "rating": 5}))
    await store.messages.save([without(ReasoningPart)(rated)])
    before = untimed(await stored_state(store))
    report = await reproject(store)
    assert report.counts == {"changed": 1, "unchanged": 1, "skipped": 1}
    assert report.imported == 2
    after = untimed(await stored_state(store))
    (changed,) = [number for number, one in enumerate(after) if one != before[number]]
    assert after[changed]["id"] == response.id
    assert after[changed]["content"]["metadata"]["rating"] == 5
    assert [text_of(one) for one in (await store.messages.list(SESSION)).items][-2:] == ["And cake?", "Yes."]
    assert (await store.messages.get(SESSION, "later")) == replace(
        later[0], run_id=own.id, thread_id=SESSION, parent_id=last.id, seq=(last.seq or 0) + 1,
        created_at=(await messages_of(store))[-2].created_at,
    )  # fmt: skip
    assert len(await messages_of(store, forked.id)) == len(await messages_of(store)) - 2


async def test_an_edited_message_is_changed_only_with_force(store: Store, tmp_path: Path) -> None:
    await bake(store, tmp_path)
    before = await messages_of(store)
    first, *_, last = [one for one in before if isinstance(one, AssistantMessage)]
    await store.messages.save([without(ReasoningPart)(first)])
    parts = (*last.parts, TextPart("Mine."))
    await store.messages.save([replace(last, content=replace(last.content, parts=parts))])
    report = await reproject(store)
    assert report.of(first.run_id or "").written
    left = report.of(last.run_id or "")
    assert (left.outcome, left.written) == ("would-lose", False)
    assert left.messages[0].lost == (f"$.content.parts[{len(last.parts)}]: text 'Mine.'",)
    assert await store.messages.get(SESSION, first.id) == first
    forced = (await reproject(store, force=True)).of(last.run_id or "")
    assert (forced.outcome, forced.written) == ("would-lose", True)
    assert await messages_of(store) == before


async def test_a_message_that_another_run_continued_is_not_changed(store: Store, tmp_path: Path) -> None:
    await bake(store, tmp_path)
    last = (await messages_of(store))[-1]
    assert isinstance(last, AssistantMessage)
    own = await store.runs.open(SESSION)
    content = replace(last.content, parts=(*last.parts, TextPart("And more.")))
    (longer,) = await store.messages.save([replace(last, run_id=own.id, content=content)])
    await store.runs.finish(own.id)
    report = await reproject(store, force=True)
    assert report.counts == {"unchanged": 2, "skipped": 1}
    assert await store.messages.get(SESSION, last.id) == longer


async def test_a_concurrent_change_is_not_overwritten(
    memory: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_unclaimed_agent(tmp_path)
    await import_sessions(memory, tmp_path)
    response = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    await memory.messages.save([without(ReasoningPart)(response)])
    look_up = memory.threads.get

    async def slowly(thread_id: str) -> Thread | None:
        if thread_id.endswith("/x"):  # the last read before the write
            await memory.messages.save([with_calls(name="Stove")(response)])
        return await look_up(thread_id)

    monkeypatch.setattr(memory.threads, "get", slowly)
    assert all("was changed meanwhile" in why for why in skipped_for(await reproject(memory)))
    assert await memory.messages.get(SESSION, response.id) == with_calls(name="Stove")(response)


NAMED: dict[str, tuple[bool, list[str]]] = {
    "where the log names them": (True, ["I have seen it.", "Nothing there."]),
    "where they are stored": (False, ["Nothing there.", "I have seen it."]),
}


@pytest.mark.parametrize(("named", "texts"), NAMED.values(), ids=NAMED)
async def test_sub_agents_are_nested_in_their_calls(
    memory: Store, tmp_path: Path, named: bool, texts: list[str]
) -> None:
    main = Session().prompt("Bake").answer(calls=[task("t1", "look"), task("t2", "look")])
    for call, name in (("t1", "a1"), ("t2", "a2")):
        extra: JsonObject = {"toolUseResult": {"agentId": name}} if named else {}
        main.result(call, "done", **extra)
    write(tmp_path / f"{SESSION}.jsonl", main.data)
    for name, result in (("a1", "I have seen it."), ("a2", "Nothing there.")):
        agent = Session(mark=name, agent=name).prompt("look", parent=None).answer(text=result)
        write(tmp_path / SESSION / "subagents" / f"agent-{name}.jsonl", agent.data)
    await import_sessions(memory, tmp_path)
    response = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    first, second = [part for part in response.parts if isinstance(part, ToolCallPart)]
    swapped = {first.id: second.children, second.id: first.children}
    parts = tuple(
        replace(part, children=swapped[part.id]) if isinstance(part, ToolCallPart) else part
        for part in response.parts
    )
    await memory.messages.save([replace(response, content=replace(response.content, parts=parts))])
    report = await reproject(memory)
    assert ("changed" in report.counts) == named
    now = await memory.messages.get(SESSION, response.id)
    assert now is not None
    calls = [part for part in now.content.parts if isinstance(part, ToolCallPart)]
    assert [text_of(call.children[-1]) for call in calls] == texts


# Added and deleted messages


@pytest.mark.parametrize("number", [0, 1, 3, 5])
async def test_a_missing_message_is_added_at_its_position(store: Store, tmp_path: Path, number: int) -> None:
    await bake(store, tmp_path)
    before = await messages_of(store)
    await store.messages.delete(SESSION, [before[number].id])
    report = await reproject(store)
    (new,) = [
        one.message_id
        for run in report.runs
        for one in run.messages
        if one.differences[0].path == "$.content"
    ]
    assert new == before[number].id
    assert await messages_of(store) == before
    shown = (await store.messages.list(SESSION, MessageFilter(internal=None), limit=None)).items
    assert [one.id for one in shown] == [one.id for one in before]


class IgnoresPrompts(ClaudeLogDecoder):
    """A decoder that misses every prompt after the first."""

    def feed(self, record: JsonObject) -> None:
        message = record.get("message")
        if not (is_object(message) and message.get("content") == "And rolls"):
            super().feed(record)


async def test_new_messages_belong_to_the_stored_runs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr("partita.formats.claude_code.log.ClaudeLogDecoder", IgnoresPrompts)
        await bake(store, tmp_path)
    before = await messages_of(store)
    (run,) = (await store.runs.list(RunFilter(thread_id=SESSION))).items
    report = await reproject(store)
    assert (report.of(run.id).outcome, report.of(run.id).written) == ("changed", True)
    shown = (await store.messages.list(SESSION, limit=None)).items
    (new,) = [one for one in shown if one.id not in {known.id for known in before}]
    assert (text_of(new), new.run_id) == ("And rolls", run.id)
    (after,) = [one for one in shown if one.parent_id == new.id]
    assert {one.seq for one in before} | {new.seq} == {one.seq for one in shown}
    changed = {one.message_id: [str(some) for some in one.differences] for one in report.of(run.id).messages}
    assert changed[after.id] == [f'$.parentId: "{new.parent_id}" → "{new.id}"']
    thread = await store.threads.get(SESSION)
    assert (await reproject(store)).counts == {"unchanged": 1}
    assert thread == await store.threads.get(SESSION)


async def test_a_message_that_is_no_longer_decoded_is_deleted_only_if_no_content_is_lost(
    store: Store, tmp_path: Path
) -> None:
    await bake(store, tmp_path)
    before = await messages_of(store)
    run_id = before[0].run_id
    double = UserMessage(id="double", content="Bake bread", run_id=run_id)
    single = UserMessage(id="single", content="Something else", run_id=before[-1].run_id)
    await store.messages.save([double, single], thread_id=SESSION)
    report = await reproject(store)
    assert report.of(run_id or "").outcome == "changed"
    assert report.of(single.run_id or "").messages[0].lost == ("$.content.parts[0]: text 'Something else'",)
    assert {one.id for one in await messages_of(store)} == {*(one.id for one in before), "single"}
    await reproject(store, force=True)
    assert await messages_of(store) == before
