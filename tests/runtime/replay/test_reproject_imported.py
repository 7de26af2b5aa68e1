"""Imported sessions made again from the lines that the store keeps of their logs."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.formats.claude_code.log.decoder import ClaudeLogDecoder
from partita.logs.formats import log_format
from partita.logs.importing import work
from partita.logs.importing.runner import import_logs
from partita.logs.importing.workers import Workers
from partita.logs.log_format import LogFormat
from partita.logs.places.finding import find_logs
from partita.runtime.replay.reproject import reproject
from partita.runtime.replay.reprojection import ReprojectReport
from partita.store.facade.store import Store
from partita.store.log.retention import Retention
from partita.store.opening import open_store
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage, text_of
from partita.types.parts import ReasoningPart, TextPart
from tests.logs.claude_session import SESSION, Session, rich, task, use
from tests.logs.codex_family import Rollout
from tests.logs.codex_family import session as codex_session

CORPUS = Path(__file__).parents[4] / "shared" / "corpora" / "agent-logs"
LEFT = 1_700_000_000
"""When agents left their files: long ago, so that they are not at work."""


@pytest.fixture
async def memory() -> AsyncIterator[Store]:
    """A store for what is the same in all."""
    async with open_store("memory:") as store:
        yield store


def write(path: Path, data: bytes, time: int = LEFT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time, time))
    return path


def baking() -> Session:
    """Two turns, with thoughts and calls."""
    return Session().work("Bake bread", "c1", "c2").work("And rolls", "c3")


async def bring_in(store: Store, folder: Path) -> None:
    report = await import_logs(store, find_logs([folder]).files, workers=Workers(1))
    assert not report.problems


async def bring_in_and_delete(store: Store, folder: Path) -> None:
    """Read all files there are, after which there are none."""
    await bring_in(store, folder)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()


async def bake(store: Store, folder: Path) -> None:
    """A session in the store, and no file of it."""
    write(folder / f"{SESSION}.jsonl", baking().data)
    await bring_in_and_delete(store, folder)


async def messages_of(store: Store, thread_id: str = SESSION) -> list[Message]:
    return list(await store.list_messages(thread_id, limit=None, branch="all", internal=None))


async def everything(store: Store) -> list[Json]:
    """All threads, messages, runs, and what they consumed."""
    threads = (await store.list_threads(limit=100)).items
    told: list[Json] = []
    for thread in sorted(threads, key=lambda thread: thread.id):
        runs = (await store.list_runs(thread_id=thread.id, limit=100)).items
        told += [to_json(thread), *map(to_json, sorted(runs, key=lambda run: run.id))]
        told += map(to_json, await messages_of(store, thread.id))
        told.append(to_json(await store.usage_of_thread(thread.id)))
    return told


# What a poorer reader would have stored


def without(kind: type) -> Callable[[AssistantMessage], AssistantMessage]:
    def change(message: AssistantMessage) -> AssistantMessage:
        parts = tuple(part for part in message.parts if not isinstance(part, kind))
        return replace(message, content=replace(message.content, parts=parts))

    return change


def with_calls(**changes: Json) -> Callable[[AssistantMessage], AssistantMessage]:
    def change(message: AssistantMessage) -> AssistantMessage:
        parts = tuple(
            replace(part, **changes) if isinstance(part, ToolCallPart) else part for part in message.parts
        )
        return replace(message, content=replace(message.content, parts=parts))

    return change


def without_usage(message: AssistantMessage) -> AssistantMessage:
    return replace(message, content=replace(message.content, usage=None))


POORER: dict[str, tuple[Callable[[AssistantMessage], AssistantMessage], set[str]]] = {
    "no thoughts": (without(ReasoningPart), {"$.content.parts[1]"}),
    "another name of a tool": (
        with_calls(name="Stove"),
        {"$.content.parts[3].name", "$.content.parts[4].name"},
    ),
    "no outputs": (
        with_calls(output=None, state="input-available"),
        {f"$.content.parts[{number}].{name}" for number in (3, 4) for name in ("output", "state")},
    ),
    "no usage": (without_usage, {"$.content.usage"}),
}


@pytest.mark.parametrize(("poorer", "paths"), POORER.values(), ids=POORER)
async def test_what_a_poorer_reader_missed_is_there(
    store: Store,
    tmp_path: Path,
    poorer: Callable[[AssistantMessage], AssistantMessage],
    paths: set[str],
) -> None:
    await bake(store, tmp_path)
    before = await everything(store)
    answer = next(one for one in await messages_of(store) if isinstance(one, AssistantMessage))
    await store.save_messages([poorer(answer)])
    assert _untimed(await everything(store)) != _untimed(before)
    dry = await reproject(store, dry_run=True)
    report = await reproject(store)
    assert report.counts == dry.counts == {"unchanged": 1, "changed": 1}
    (changed,) = report.of(answer.run_id or "").messages
    assert changed.message_id == answer.id
    assert {difference.path for difference in changed.differences} == paths
    assert changed.lost == ()
    assert _untimed(await everything(store)) == _untimed(before)
    assert (await reproject(store)).counts == {"unchanged": 2}


def _untimed(told: list[Json]) -> list[Json]:
    """Without the time of the last change: the test itself made one."""
    return [{key: value for key, value in one.items() if key != "updatedAt"} for one in told]


async def test_a_renamed_tool_is_all_that_is_told(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    answer = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    await memory.save_messages([with_calls(name="Stove")(answer)])
    thread = await memory.get_thread_by_id(SESSION)
    report = await reproject(memory)
    told = [one.to_json() for one in report.of(answer.run_id or "").messages[0].differences]
    assert told == [
        {"path": "$.content.parts[3].name", "old": "Stove", "new": "Oven"},
        {"path": "$.content.parts[4].name", "old": "Stove", "new": "Oven"},
    ]
    assert report.imported == 2
    assert await memory.get_thread_by_id(SESSION) == thread
    assert len((await memory.find_parts(tool="Oven")).items) == 3


async def test_the_rollouts_of_codex_are_read_anew_with_their_agents(memory: Store, tmp_path: Path) -> None:
    parent, child = family()
    parent.write(tmp_path)
    child.write(tmp_path)
    await bring_in(memory, tmp_path)
    before = await messages_of(memory, parent.thread)
    holders = [one for one in before if isinstance(one, AssistantMessage) and "children" in repr(one)]
    for message in holders:
        await memory.save_messages([with_calls(name="unknown", children=())(message)])
    assert holders
    assert any(part.children for one in holders for part in one.parts if isinstance(part, ToolCallPart))
    for path in [*tmp_path.rglob("*.jsonl")]:
        path.unlink()
    report = await reproject(memory)
    assert set(report.counts) == {"changed", "unchanged"}
    assert await messages_of(memory, parent.thread) == before


def family() -> tuple[Rollout, Rollout]:
    parent = codex_session()
    parent.begin("Find the slugs.").thinks("Where are they?")
    child = parent.agent(2)
    parent.spawns(child, "call-1")
    parent.answer("Seven.").count(20)
    child.talk("Look under the leaves.", "There are seven.")
    return parent, child


async def test_what_was_consumed_is_known_again(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    before = (await memory.list_runs(thread_id=SESSION)).items
    answer = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    await memory.save_messages([without_usage(answer)])
    run = next(run for run in before if run.id == answer.run_id)
    await memory.save_run(replace(run, usage=None, model=None))
    await reproject(memory)
    assert (await memory.list_runs(thread_id=SESSION)).items == before


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_whatever_parts_are_missing_come_back(data: st.DataObject) -> None:
    async def check(folder: Path) -> None:
        async with open_store("memory:") as store:
            await bring_in(store, folder)
            before = await messages_of(store)
            await store.save_messages(
                [replace(one, content=replace(one.content, parts=data.draw(_some(one)))) for one in before]
            )
            await reproject(store)
            assert await messages_of(store) == before

    with TemporaryDirectory() as folder:
        write(Path(folder) / f"{SESSION}.jsonl", rich().data)
        asyncio.run(check(Path(folder)))


def _some(message: Message) -> st.SearchStrategy[tuple[object, ...]]:
    parts = message.content.parts
    kept = st.lists(st.booleans(), min_size=len(parts), max_size=len(parts))
    return kept.map(lambda keep: tuple(part for part, wanted in zip(parts, keep, strict=True) if wanted))


# What comes out as it is


def plain(folder: Path) -> None:
    write(folder / f"{SESSION}.jsonl", rich().data)


def cut_off(folder: Path) -> None:
    write(folder / f"{SESSION}.jsonl", rich().data[:-20])


def at_work(folder: Path) -> None:
    data = Session().prompt("Bake").answer(calls=[use("c1")]).data
    (folder / f"{SESSION}.jsonl").write_bytes(data)


def with_broken_lines(folder: Path) -> None:
    first, *others = baking().data.splitlines(keepends=True)
    write(folder / f"{SESSION}.jsonl", b"".join([first, b'{"type": "user", "mess\n', *others, b"[1]\n"]))


def with_agents(folder: Path) -> None:
    """Two sub-agents that were asked the same; only what stands beside their files tells which is whose."""
    main = Session().prompt("Bake").answer(calls=[task("t1", "look"), task("t2", "look")])
    main.result("t1", "seen").result("t2", "nothing").answer(text="Done.")
    write(folder / f"{SESSION}.jsonl", main.data)
    for name, call, words in (("a1", "t2", "Nothing there."), ("a2", "t1", "I have seen it.")):
        agent = Session(mark=name, agent=name).prompt("look", parent=None).answer(text=words)
        path = folder / SESSION / "subagents" / f"agent-{name}.jsonl"
        write(path, agent.data)
        write(path.with_suffix(".meta.json"), dumps({"toolUseId": call}))


def with_an_agent_alone(folder: Path) -> None:
    """A sub-agent that no call claims has a thread of its own."""
    write(folder / f"{SESSION}.jsonl", baking().data)
    agent = Session(mark="x", agent="x").prompt("Warm the oven", parent=None).answer(text="It is warm.")
    write(folder / SESSION / "subagents" / "agent-x.jsonl", agent.data)


def of_codex(folder: Path) -> None:
    for rollout in family():
        path = rollout.write(folder)
        os.utime(path, (LEFT, LEFT))


def of_gemini(folder: Path) -> None:
    time = "2026-06-11T10:00:00.000Z"
    head: JsonObject = {"sessionId": "0a1b2c3d-1111-4222-8333-444455556666", "projectHash": "p"}
    records: list[JsonObject] = [
        {**head, "startTime": time, "lastUpdated": time, "kind": "main"},
        {"id": "g1", "timestamp": time, "type": "user", "content": "Find the slugs."},
        {"id": "g2", "timestamp": time, "type": "gemini", "content": "Seven.", "model": "gemini-3"},
    ]
    data = b"".join(dumps(record) + b"\n" for record in records)
    write(folder / "tmp" / "p" / "chats" / "session-2026-06-11T10-00-0a1b2c3d.jsonl", data)


def document(folder: Path, words: str = "Seven.") -> None:
    """A chat of Gemini CLI that is one document."""
    time = "2026-06-11T10:00:00.000Z"
    messages: list[JsonObject] = [
        {"id": "g1", "timestamp": time, "type": "user", "content": "Find the slugs."},
        {"id": "g2", "timestamp": time, "type": "gemini", "content": words, "model": "gemini-3"},
    ]
    session = "0a1b2c3d-1111-4222-8333-444455556666"
    chat: JsonObject = {"sessionId": session, "projectHash": "p", "startTime": time, "lastUpdated": time}
    path = folder / "tmp" / "p" / "chats" / "session-2026-06-11T10-00-0a1b2c3d.json"
    write(path, dumps({**chat, "messages": messages}), LEFT + len(words))


SAME: dict[str, Callable[[Path], None]] = {
    "a bit of everything": plain,
    "a line without an end": cut_off,
    "an agent at work": at_work,
    "lines that are broken": with_broken_lines,
    "sub-agents that are told apart by what is gone": with_agents,
    "a sub-agent that no call claims": with_an_agent_alone,
    "Codex, with a sub-agent": of_codex,
    "Gemini CLI, line by line": of_gemini,
    "Gemini CLI, as a document": document,
}


@pytest.mark.parametrize("files", SAME.values(), ids=SAME)
async def test_what_was_read_well_comes_out_as_it_is(
    memory: Store, tmp_path: Path, files: Callable[[Path], None]
) -> None:
    files(tmp_path)
    await bring_in_and_delete(memory, tmp_path)
    before = await everything(memory)
    report = await reproject(memory, force=True)
    assert set(report.counts) == {"unchanged"}
    assert report.imported == len(report.runs) > 0
    assert await everything(memory) == before


@pytest.mark.parametrize("lines", [1, 4, 7])
async def test_a_session_that_was_read_in_pieces_comes_out_as_it_is(tmp_path: Path, lines: int) -> None:
    data = rich().data.splitlines(keepends=True)
    async with open_store("memory:") as store:
        for end in range(lines, len(data) + lines, lines):
            write(tmp_path / f"{SESSION}.jsonl", b"".join(data[:end]), LEFT + end)
            await bring_in(store, tmp_path)
        report = await reproject(store, dry_run=True)
        assert set(report.counts) == {"unchanged"}


async def test_a_file_that_was_written_anew_is_read_as_it_was_and_as_it_is(tmp_path: Path) -> None:
    async with open_store("memory:") as store:
        write(tmp_path / f"{SESSION}.jsonl", baking().data)
        await bring_in(store, tmp_path)
        anew = Session().work("Bake bread", "c1").turn("Cake", "No.")
        write(tmp_path / f"{SESSION}.jsonl", anew.data, LEFT + 100)
        await bring_in_and_delete(store, tmp_path)
        assert any("@2:" in run.id for run in (await store.list_runs(thread_id=SESSION)).items)
        before = await messages_of(store)
        assert set((await reproject(store)).counts) == {"unchanged"}
        for message in before:
            if isinstance(message, AssistantMessage):
                await store.save_messages([without(ReasoningPart)(message)])
        assert "changed" in (await reproject(store)).counts
        assert await messages_of(store) == before


ODD = {
    "130d7b7e-5801-4345-9bd6-f32fd9b8429b": "overlap",  # several records on one line
    "93a9705e-bc6a-406d-8dce-8acc014dedbd": "several files",
    "ses_33aaae2d8ffe5Tuk6JJpuCnCOc": "anew",  # in a database and in files, and not the same in both
}
"""Real sessions that cannot be read anew, and a word of why."""


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpora are not here")
async def test_real_sessions_come_out_as_they_are() -> None:
    async with open_store("memory:") as store:
        await bring_in(store, CORPUS)
        report = await reproject(store, dry_run=True)
    assert set(report.counts) == {"unchanged", "skipped"}
    why = {one.thread_id: one.why or "" for one in report.runs if one.outcome == "skipped"}
    assert why.keys() == ODD.keys()
    assert all(word in why[thread_id] for thread_id, word in ODD.items())


# What the log does not tell stays


async def test_what_came_later_stays(store: Store, tmp_path: Path) -> None:
    await bake(store, tmp_path)
    await store.set_title(SESSION, "My bread")
    await store.update_metadata(SESSION, {"shelf": 3})
    forked = await store.fork_thread(SESSION, (await messages_of(store))[-1].id)
    own = await store.open_run(SESSION)
    last = (await messages_of(store))[-1]
    later: list[Message] = [
        UserMessage(id="later", content="And cake?"),
        AssistantMessage(id="cake", content="Yes."),
    ]
    await store.save_messages([replace(one, run_id=own.id) for one in later], thread_id=SESSION)
    await store.finish_run(own.id)
    answer = next(one for one in await messages_of(store) if isinstance(one, AssistantMessage))
    said = answer.content.metadata
    assert is_object(said)
    rated = replace(answer, content=replace(answer.content, metadata={**said, "rating": 5}))
    await store.save_messages([without(ReasoningPart)(rated)])
    before = _untimed(await everything(store))
    report = await reproject(store)
    assert report.counts == {"changed": 1, "unchanged": 1, "skipped": 1}
    assert report.imported == 2
    after = _untimed(await everything(store))
    (changed,) = [number for number, one in enumerate(after) if one != before[number]]
    assert after[changed]["id"] == answer.id
    assert after[changed]["content"]["metadata"]["rating"] == 5
    assert [text_of(one) for one in (await store.list_messages(SESSION)).items][-2:] == ["And cake?", "Yes."]
    assert (await store.get_message(SESSION, "later")) == replace(
        later[0], run_id=own.id, thread_id=SESSION, parent_id=last.id, seq=(last.seq or 0) + 1,
        created_at=(await messages_of(store))[-2].created_at,
    )  # fmt: skip
    assert len(await messages_of(store, forked.id)) == len(await messages_of(store)) - 2


async def test_a_message_that_somebody_wrote_into_is_left_alone_unless_forced(
    store: Store, tmp_path: Path
) -> None:
    await bake(store, tmp_path)
    before = await messages_of(store)
    first, *_, last = [one for one in before if isinstance(one, AssistantMessage)]
    await store.save_messages([without(ReasoningPart)(first)])
    parts = (*last.parts, TextPart("Mine."))
    await store.save_messages([replace(last, content=replace(last.content, parts=parts))])
    report = await reproject(store)
    assert report.of(first.run_id or "").written
    left = report.of(last.run_id or "")
    assert (left.outcome, left.written) == ("would-lose", False)
    assert left.messages[0].lost == (f"$.content.parts[{len(last.parts)}]: text 'Mine.'",)
    assert await store.get_message(SESSION, first.id) == first
    forced = (await reproject(store, force=True)).of(last.run_id or "")
    assert (forced.outcome, forced.written) == ("would-lose", True)
    assert await messages_of(store) == before


# Messages that come, and that go


@pytest.mark.parametrize("number", [0, 1, 3, 5])
async def test_a_message_that_was_missing_comes_to_its_place(
    store: Store, tmp_path: Path, number: int
) -> None:
    await bake(store, tmp_path)
    before = await messages_of(store)
    await store.delete_messages(SESSION, [before[number].id])
    report = await reproject(store)
    (new,) = [
        one.message_id
        for run in report.runs
        for one in run.messages
        if one.differences[0].path == "$.content"
    ]
    assert new == before[number].id
    assert await messages_of(store) == before
    shown = (await store.list_messages(SESSION, limit=None, internal=None)).items
    assert [one.id for one in shown] == [one.id for one in before]


class Deaf(ClaudeLogDecoder):
    """A reader that misses whatever a person says after the first prompt."""

    def feed(self, record: JsonObject) -> None:
        message = record.get("message")
        if not (is_object(message) and message.get("content") == "And rolls"):
            super().feed(record)


def deaf(name: str) -> LogFormat:
    known = log_format(name)
    return LogFormat(name, known.agent, Deaf, has_agents=True, tells_agents=True, agent_sign=known.agent_sign)


async def test_messages_that_nobody_had_heard_of_come_into_the_runs_there_are(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "log_format", deaf)
    await bake(store, tmp_path)
    before = await messages_of(store)
    (run,) = (await store.list_runs(thread_id=SESSION)).items
    report = await reproject(store)
    assert (report.of(run.id).outcome, report.of(run.id).written) == ("changed", True)
    shown = (await store.list_messages(SESSION, limit=None)).items
    (new,) = [one for one in shown if one.id not in {known.id for known in before}]
    assert (text_of(new), new.run_id) == ("And rolls", run.id)
    (after,) = [one for one in shown if one.parent_id == new.id]
    assert {one.seq for one in before} | {new.seq} == {one.seq for one in shown}
    changed = {one.message_id: [str(some) for some in one.differences] for one in report.of(run.id).messages}
    assert changed[after.id] == [f'$.parentId: "{new.parent_id}" → "{new.id}"']
    thread = await store.get_thread_by_id(SESSION)
    assert (await reproject(store)).counts == {"unchanged": 1}
    assert thread == await store.get_thread_by_id(SESSION)


async def test_a_message_that_is_told_no_more_goes_only_if_nothing_goes_with_it(
    store: Store, tmp_path: Path
) -> None:
    await bake(store, tmp_path)
    before = await messages_of(store)
    run_id = before[0].run_id
    double = UserMessage(id="double", content="Bake bread", run_id=run_id)
    single = UserMessage(id="single", content="Something else", run_id=before[-1].run_id)
    await store.save_messages([double, single], thread_id=SESSION)
    report = await reproject(store)
    assert report.of(run_id or "").outcome == "changed"
    assert report.of(single.run_id or "").messages[0].lost == ("$.content.parts[0]: text 'Something else'",)
    assert {one.id for one in await messages_of(store)} == {*(one.id for one in before), "single"}
    await reproject(store, force=True)
    assert await messages_of(store) == before


# What cannot be done


async def test_a_document_that_differs_is_left_alone(memory: Store, tmp_path: Path) -> None:
    document(tmp_path)
    await bring_in(memory, tmp_path)
    document(tmp_path, "Seven, or eight.")
    await bring_in(memory, tmp_path)
    before = await everything(memory)
    report = await reproject(memory, force=True)
    assert {one.why for one in report.runs} == {
        "gemini-cli writes its records anew: the kept ones may be older than the messages"
    }
    assert await everything(memory) == before


def glued(lines: Sequence[bytes]) -> Iterable[bytes]:
    return (*lines[:2], lines[2].rstrip(), *lines[3:])


def spaced(lines: Sequence[bytes]) -> Iterable[bytes]:
    return (*lines[:2], b"\n\n", *lines[2:])


@pytest.mark.parametrize("odd", [glued, spaced])
async def test_lines_that_are_not_where_they_stood_are_a_reason_to_skip(
    memory: Store, tmp_path: Path, odd: Callable[[Sequence[bytes]], Iterable[bytes]]
) -> None:
    lines = baking().data.splitlines(keepends=True)
    write(tmp_path / f"{SESSION}.jsonl", b"".join(odd(lines)))
    await bring_in(memory, tmp_path)
    before = await everything(memory)
    report = await reproject(memory)
    assert report.counts == {"skipped": 2}
    assert all("several records" in (one.why or "") for one in report.runs)
    assert await everything(memory) == before


async def test_two_files_of_one_session_are_a_reason_to_skip(memory: Store, tmp_path: Path) -> None:
    write(tmp_path / "a" / f"{SESSION}.jsonl", Session().turn("Bake bread").turn("Cake").data)
    write(tmp_path / "b" / f"{SESSION}.jsonl", Session().turn("Bake buns").data)
    await bring_in(memory, tmp_path)
    assert _whys(await reproject(memory)) == {
        "several files were read into its thread, and which line was whose is not kept"
    }


async def test_lines_that_were_dropped_are_a_reason_to_skip(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    await memory.drop_logs(Retention(max_bytes=0))
    (why, *_) = _whys(await reproject(memory))
    assert "was dropped on" in why


def _whys(report: ReprojectReport) -> set[str]:
    assert set(report.counts) == {"skipped"}
    return {one.why or "" for one in report.runs}
