"""The import of logs: everything is stored once, even if files are renamed, rewritten or deleted."""

import json
import os
from collections.abc import Iterable
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from random import Random

import pytest

import partita
from partita.importers.logs.importer import import_logs
from partita.importers.logs.plan import LogImportReport, Progress
from partita.importers.logs.watch import sessions_of
from partita.importers.logs.workers import Workers
from partita.logs.files import find_logs
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import MessageFilter, PartFilter, RunFilter, SearchFilter
from partita.types.codec import to_json
from partita.types.json import Json, dumps, loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage, text_of
from partita.types.parts import TextOutput
from tests.logs.codex_family import Rollout, under
from tests.logs.codex_family import session as codex_session
from tests.runtime.agent.models import Model, reply
from tests.store.emptying import in_empty_store, new_folder
from tests.tables import each_row

from .log_files import SESSION, ClaudeLog, gardening, just_now

OTHER = "77c1a1b6-55b1-4a4c-8c57-0f5f3b0f1c22"


async def import_paths(store: Store, *paths: Path) -> LogImportReport:
    return await import_logs(store, find_logs(paths).files, workers=Workers(1))


async def messages_of(store: Store, thread_id: str = SESSION) -> list[Message]:
    return list((await store.messages.list(thread_id, limit=None)).items)


async def raw_lines_of(store: Store, thread_id: str = SESSION) -> bytes:
    """The raw lines of all runs of a thread."""
    found = (await store.runs.list(RunFilter(thread_id=thread_id), limit=100)).items
    runs = sorted(found, key=lambda run: int(run.id.rpartition("@")[2].rpartition(":")[2]))
    entries = [record for run in runs for record in await store.logs.read(run.id)]
    return b"".join((record.raw or b"") + b"\n" for record in entries)


def without_seq(messages: Iterable[Message]) -> list[Json]:
    """Messages as JSON without `seq`, which the store assigns."""
    plain: list[Json] = [to_json(message) for message in messages]
    for message in plain:
        message.pop("seq", None)
    return plain


def set_old_mtime(path: Path) -> None:
    """Set an old modification time, as of a session that is not running."""
    os.utime(path, (path.stat().st_atime, 1_700_000_000))


async def test_a_session_becomes_a_thread_with_messages_runs_and_costs(store: Store, tmp_path: Path) -> None:
    path = gardening().write(tmp_path)
    set_old_mtime(path)
    report = await import_paths(store, path)
    assert (report.files, report.read, report.counts.new_threads, report.failed) == (1, 1, 1, False)
    thread = await store.threads.get(SESSION)
    assert thread is not None
    assert (thread.title, thread.agent, thread.project) == (
        "Which beds need water?",
        "claude-code",
        "/home/ada/garden",
    )
    assert thread.metadata == {"sessionId": SESSION, "agentVersion": "2.1.98", "gitBranch": "main"}
    messages = await messages_of(store)
    assert [text_of(message) for message in messages] == [
        "Which beds need water?",
        "I look.",
        "The north and the south bed.",
        "Water them.",
        "",
        "They are watered.",
    ]
    runs = (await store.runs.list(RunFilter(thread_id=SESSION))).items
    assert [(run.status, run.model) for run in runs] == [("completed", "claude-sonnet-4-5-20250929")] * 2
    assert all(run.cost is not None and run.cost > 0 for run in runs)
    assert {message.run_id for message in messages} == {run.id for run in runs}
    usage = await store.usage.of_thread(SESSION)
    assert (usage.responses, usage.output_tokens, usage.input_tokens) == (4, 20, 4 * 1110)
    assert await raw_lines_of(store) == gardening().lines()


async def test_a_run_ends_with_its_last_message(store: Store, tmp_path: Path) -> None:
    log = gardening()
    later = (log.began + timedelta(hours=3)).isoformat().replace("+00:00", ".000Z")
    log.raw(type="queue-operation", operation="enqueue", sessionId=SESSION, timestamp=later)
    path = log.write(tmp_path)
    set_old_mtime(path)
    await import_paths(store, path)
    ends = [run.finished_at for run in (await store.runs.list(RunFilter(thread_id=SESSION))).items]
    last = (await messages_of(store))[-1].created_at
    assert last is not None
    assert all(end is not None and end - last < timedelta(seconds=5) for end in ends)


async def test_calls_have_their_times(store: Store, tmp_path: Path) -> None:
    await import_paths(store, gardening().write(tmp_path))
    calls = (await store.messages.find_parts(PartFilter(tool="Bash"))).items
    assert sorted(call.duration.total_seconds() for call in calls if call.duration) == [1, 1]


async def test_importing_again_reads_nothing(store: Store, tmp_path: Path) -> None:
    path = gardening().write(tmp_path)
    set_old_mtime(path)
    await import_paths(store, path)
    before = without_seq(await messages_of(store))
    report = await import_paths(store, path)
    assert (report.files, report.read, tuple(report.counts)) == (1, 0, (0, 0, 0, 0))
    assert without_seq(await messages_of(store)) == before


@each_row("known", range(1, 8))
@in_empty_store
async def test_only_new_lines_are_read_with_the_same_result(store: Store, tmp_path: Path, known: int) -> None:
    folder = new_folder(tmp_path)
    log = gardening()
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(log.lines()[: len(log.lines())].splitlines(keepends=True)[:known]))
    set_old_mtime(path)
    await import_paths(store, path)
    log.append(path, known)
    os.utime(path, (1_700_000_100, 1_700_000_100))
    report = await import_paths(store, path)
    assert report.read == 1
    assert report.bytes <= len(log.lines())
    assert await raw_lines_of(store) == log.lines()
    stored = without_seq(await messages_of(store))
    once = folder / "once"
    await import_paths(store, renamed_copy(once, log))
    again = without_seq(await messages_of(store, OTHER))
    assert _without_ids(stored) == _without_ids(again)
    usage, other = await store.usage.of_thread(SESSION), await store.usage.of_thread(OTHER)
    assert usage.output_tokens == other.output_tokens


def renamed_copy(folder: Path, log: ClaudeLog) -> Path:
    """Write the same log under another session id, as a session that is not running."""
    path = folder / f"{OTHER}.jsonl"
    folder.mkdir()
    path.write_bytes(log.lines().replace(SESSION.encode(), OTHER.encode()))
    set_old_mtime(path)
    return path


def _without_ids(messages: list[Json]) -> list[Json]:
    text = repr(messages)
    return [text.replace(OTHER, "T").replace(SESSION, "T")]


async def test_many_small_imports_have_the_same_result(tmp_path: Path) -> None:
    data = gardening().lines()
    path = tmp_path / f"{SESSION}.jsonl"
    async with open_store("memory:") as store:
        for end in range(1, len(data), 97):
            path.write_bytes(data[:end])
            await import_paths(store, path)
        path.write_bytes(data)
        set_old_mtime(path)
        await import_paths(store, path)
        piecewise = without_seq(await messages_of(store))
    async with open_store("memory:") as store:
        await import_paths(store, path)
        assert without_seq(await messages_of(store)) == piecewise


async def test_an_incomplete_line_is_imported_later(store: Store, tmp_path: Path) -> None:
    log = gardening()
    data = log.lines()
    cut = data.rindex(b'"They are') + 5
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(data[:cut])
    set_old_mtime(path)
    report = await import_paths(store, path)
    assert [finding.what for finding in report.unknown_records[str(path)]] == ["cut last line"]
    path.write_bytes(data)
    os.utime(path, (1_700_000_100, 1_700_000_100))
    await import_paths(store, path)
    assert text_of((await messages_of(store))[-1]) == "They are watered."
    assert await raw_lines_of(store) == data


async def test_open_calls_of_a_running_agent_are_completed_later(store: Store, tmp_path: Path) -> None:
    log = ClaudeLog(began=just_now()).prompt("Look.")
    path = log.answer(call={"id": "toolu_9", "name": "Bash", "input": {"command": "ls"}}).write(tmp_path)
    await import_paths(store, path)
    assert await _state(store) == "input-available"
    assert [run.status for run in (await store.runs.list(RunFilter(thread_id=SESSION))).items] == ["running"]
    set_old_mtime(path)
    assert (await import_paths(store, path)).read == 1
    assert await _state(store) == "output-error"
    assert (await import_paths(store, path)).read == 0


async def test_a_new_log_without_times_may_be_a_copy_until_it_grows(store: Store, tmp_path: Path) -> None:
    path = gardening().write(tmp_path)
    lines = [{**loads(line), "timestamp": None} for line in path.read_bytes().splitlines()]
    path.write_bytes(b"".join(dumps(line) + b"\n" for line in lines[:-2]))
    await import_paths(store, path)
    assert {run.status for run in (await store.runs.list()).items} == {"completed"}
    path.write_bytes(b"".join(dumps(line) + b"\n" for line in lines))
    await import_paths(store, path)
    assert "running" in {run.status for run in (await store.runs.list()).items}


async def test_a_log_is_found_again_from_another_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = gardening().write(tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    await import_paths(store, path.relative_to(tmp_path))
    monkeypatch.chdir(tmp_path / "logs")
    report = await import_paths(store, Path(path.name))
    assert (report.read, report.gone) == (0, 0)


async def test_a_session_that_was_imported_just_now_is_continued_at_once(
    store: Store, tmp_path: Path
) -> None:
    await import_paths(store, gardening(began=just_now()).write(tmp_path))
    first, *_ = (await store.runs.list(RunFilter(thread_id=SESSION))).items
    assert first.status == "running"
    async with partita.Session(store) as session:
        agent = partita.Agent(Model(reply("They grow."), reply("They bloom.")), session=session)
        await agent.start(SESSION, "And now?")
        assert text_of(await agent.run(SESSION, "And then?", busy="queue")) == "They bloom."
    texts = [text_of(message) for message in await messages_of(store)]
    assert texts[-4:] == ["And now?", "They grow.", "And then?", "They bloom."]


async def _state(store: Store) -> str:
    part = (await messages_of(store))[-1].content.parts[-1]
    assert isinstance(part, ToolCallPart)
    return part.state


async def test_a_renamed_file_is_the_same_session(store: Store, tmp_path: Path) -> None:
    path = gardening().write(tmp_path / "a")
    set_old_mtime(path)
    await import_paths(store, path)
    (tmp_path / "b").mkdir()
    moved = path.rename(tmp_path / "b" / path.name)
    report = await import_paths(store, tmp_path)
    assert (report.read, tuple(report.counts)) == (0, (0, 0, 0, 0))
    assert [source.path for source in await store.sources.list()] == [str(moved)]
    assert await store.threads.count() == 1


async def test_a_deleted_file_leaves_its_thread(store: Store, tmp_path: Path) -> None:
    path = gardening().write(tmp_path)
    other = gardening(OTHER).write(tmp_path)
    await import_paths(store, tmp_path)
    path.unlink()
    report = await import_paths(store, tmp_path)
    assert report.gone == 1
    assert len(await messages_of(store)) == 6
    assert other.exists()


async def test_the_earlier_content_of_a_rewritten_file_is_kept(store: Store, tmp_path: Path) -> None:
    path = gardening().write(tmp_path)
    set_old_mtime(path)
    await import_paths(store, path)
    path.write_bytes(ClaudeLog().prompt("Which beds need water?").answer("None, it has rained.").lines())
    os.utime(path, (1_700_000_100, 1_700_000_100))
    await import_paths(store, path)
    everything = (await store.messages.list(SESSION, MessageFilter(branch="all"), limit=None)).items
    assert {text_of(message) for message in everything} >= {"None, it has rained.", "They are watered."}
    assert gardening().lines() in await raw_lines_of(store)


async def test_a_broken_file_does_not_stop_the_others(store: Store, tmp_path: Path) -> None:
    data = gardening().lines().splitlines(keepends=True)
    broken = tmp_path / f"{SESSION}.jsonl"
    broken.write_bytes(b"".join([*data[:2], b'{"type": "user", "mess\n', *data[2:]]))
    gardening(OTHER).write(tmp_path)
    (tmp_path / "not-there").symlink_to(tmp_path / "nowhere.jsonl")
    report = await import_paths(store, tmp_path)
    assert report.counts.new_threads == 2
    (findings,) = report.unknown_records.values()
    assert [place.line for finding in findings for place in finding.positions] == [3]
    assert len(await messages_of(store)) == len(await messages_of(store, OTHER)) == 6


@pytest.mark.parametrize("named", ["the folder", "the session"])
async def test_sub_agents_are_nested_under_their_calls(store: Store, tmp_path: Path, named: str) -> None:
    main = ClaudeLog().prompt("Find the slugs.")
    main.answer(call={"id": "toolu_5", "name": "Task", "input": {"prompt": "Look under the leaves."}})
    main.result("toolu_5", "Seven.", toolUseResult={"agentId": "a1", "status": "completed"})
    main.answer("There are seven slugs.")
    inner = ClaudeLog(agent="a1").prompt("Look under the leaves.")
    inner.answer(call={"id": "toolu_6", "name": "Grep", "input": {"pattern": "slug"}})
    inner.result("toolu_6", "7").answer("Seven.", output=40)
    path = main.write(tmp_path)
    inner.write(tmp_path / SESSION / "subagents", "agent-a1.jsonl")
    await import_paths(store, path if named == "the session" else tmp_path)
    call = next(
        part
        for message in await messages_of(store)
        for part in message.content.parts
        if isinstance(part, ToolCallPart)
    )
    assert [type(child).__name__ for child in call.children] == [
        "UserMessage",
        "AssistantMessage",
        "AssistantMessage",
    ]
    assert (await store.usage.of_thread(SESSION)).output_tokens == 55
    assert len((await store.messages.find_parts(PartFilter(tool="Grep"))).items) == 1
    runs = (await store.runs.list(RunFilter(thread_id=SESSION))).items
    assert {run.id.partition("@")[0] for run in runs} == {SESSION, f"{SESSION}/a1"}
    assert path.exists()


async def test_the_time_of_a_sub_agent_is_part_of_that_of_its_thread(store: Store, tmp_path: Path) -> None:
    main = ClaudeLog().prompt("Find the slugs.")
    main.answer(call={"id": "toolu_5", "name": "Task", "input": {"prompt": "Look under the leaves."}})
    main.result("toolu_5", "Seven.", toolUseResult={"agentId": "a1", "status": "completed"})
    inner = ClaudeLog(agent="a1").prompt("Look under the leaves.").answer("Seven.", output=40)
    main.write(tmp_path)
    inner.write(tmp_path / SESSION / "subagents", "agent-a1.jsonl")
    await import_paths(store, tmp_path)
    runs = (await store.runs.list(RunFilter(thread_id=SESSION))).items
    times = {
        run.id.partition("@")[0]: (run.finished_at - run.started_at).total_seconds()
        for run in runs
        if run.started_at and run.finished_at
    }
    assert times[f"{SESSION}/a1"] > 0
    assert (await store.threads.summary(SESSION)).seconds == times[SESSION]
    assert [stat.seconds for stat in await store.stats.totals()] == [times[SESSION]]
    assert [stat.seconds for stat in await store.stats.threads()] == [times[SESSION]]
    by_model = await store.stats.totals(by="model")
    assert sum(stat.seconds for stat in by_model) == sum(times.values())


async def test_forks_are_counted_once(store: Store, tmp_path: Path) -> None:
    gardening().write(tmp_path)
    fork = tmp_path / f"{OTHER}.jsonl"
    fork.write_bytes(
        gardening().lines().replace(b'"sessionId": "' + SESSION.encode(), b'"sessionId": "' + OTHER.encode())
    )
    await import_paths(store, tmp_path)
    assert await store.threads.count() == 2
    (total,) = await store.stats.totals(by=("total",))
    assert (total.responses, total.output_tokens) == (4, 20)
    assert (await store.usage.of_thread(OTHER)).output_tokens == 20


async def test_imported_messages_can_be_searched(store: Store, tmp_path: Path) -> None:
    await import_paths(store, gardening().write(tmp_path))
    assert [hit.title for hit in (await store.search("watered")).items] == ["Which beds need water?"]
    assert (await store.search("north south", SearchFilter(tool="Bash"))).items


async def test_each_owner_has_separate_threads(store: Store, tmp_path: Path) -> None:
    path = gardening().write(tmp_path)
    await import_logs(store, find_logs([path]).files, resource_id="ada", workers=Workers(1))
    assert await store.scoped("ada").threads.count() == 1
    assert await store.scoped("eve").threads.count() == 0
    message = (await store.scoped("ada").messages.list(SESSION)).items[1]
    assert isinstance(message, AssistantMessage)


async def test_progress_is_reported(store: Store, tmp_path: Path) -> None:
    for number in range(5):
        gardening(f"{number}0f6f0e-2f8e-4b52-9d3b-1a52ad1fb6a1").write(tmp_path)
    seen: list[Progress] = []
    await import_logs(store, find_logs([tmp_path]).files, workers=Workers(1), on_progress=seen.append)
    assert (seen[-1].files, seen[-1].all_files, seen[-1].bytes) == (5, 5, seen[-1].all_bytes)


async def test_several_processes_import_the_same(tmp_path: Path, store: Store) -> None:
    big = ClaudeLog()
    for number in range(300):
        big.prompt(f"Question {number}?").answer("x" * 20_000)
    big.write(tmp_path)
    gardening(OTHER).write(tmp_path)
    with Workers(2) as workers:
        report = await import_logs(store, find_logs([tmp_path]).files, workers=workers)
    assert (report.counts.new_threads, report.failed) == (2, False)
    assert len(await messages_of(store)) == 600
    assert await raw_lines_of(store, OTHER) == gardening(OTHER).lines()


async def test_invalid_usage_does_not_stop_the_import(store: Store, tmp_path: Path) -> None:
    log = gardening()
    log.records[1]["message"]["usage"] = {"input_tokens": -5, "output_tokens": 2**70}
    log.records[3]["message"]["usage"] = {"input_tokens": "many", "output_tokens": None}
    report = await import_paths(store, log.write(tmp_path))
    assert (report.counts.new_threads, report.failed) == (1, False)


async def test_sub_agents_of_gemini_are_nested_under_their_calls(store: Store, tmp_path: Path) -> None:
    chats = tmp_path / "tmp" / "garden" / "chats"
    session, agent = "0a1b2c3d-1111-4222-8333-444455556666", "slug-hunter-1"
    time = "2026-06-11T10:00:00.000Z"
    call = {
        "id": "call-1",
        "name": "hunter",
        "args": {"task": "slugs"},
        "status": "success",
        "agentId": agent,
    }
    write_lines(
        chats / f"session-2026-06-11T10-00-{session[:8]}.jsonl",
        {"sessionId": session, "projectHash": "p", "startTime": time, "lastUpdated": time, "kind": "main"},
        {"id": "g1", "timestamp": time, "type": "user", "content": "Find the slugs."},
        {
            "id": "g2",
            "timestamp": time,
            "type": "gemini",
            "content": "",
            "model": "gemini-3",
            "toolCalls": [call],
        },
    )
    write_lines(
        chats / session / f"{agent}.jsonl",
        {"sessionId": agent, "projectHash": "p", "startTime": time, "lastUpdated": time, "kind": "subagent"},
        {"id": "h1", "timestamp": time, "type": "user", "content": "Look under the leaves."},
        {"id": "h2", "timestamp": time, "type": "gemini", "content": "Seven.", "model": "gemini-3"},
    )
    report = await import_paths(store, tmp_path)
    assert (report.counts.new_threads, report.failed) == (1, False)
    parts = [part for message in await messages_of(store, session) for part in message.content.parts]
    (found,) = [part for part in parts if isinstance(part, ToolCallPart)]
    assert [text_of(child) for child in found.children if not child.internal] == [
        "Look under the leaves.",
        "Seven.",
    ]


def family(home: Path) -> tuple[Rollout, Rollout]:
    """A session of Codex that has started an agent; neither is running."""
    parent = codex_session().add_turn("Dig.", "Dug.")
    parent.begin("Find the slugs.")
    child = parent.agent(2)
    parent.spawn(child, "c1")
    parent.answer("Seven slugs.").count(40)
    child.time += timedelta(seconds=3)
    child.add_turn("Look under the leaves.", "Seven.", 5)
    set_old_mtime(parent.write(home))
    set_old_mtime(child.write(home))
    return parent, child


async def state_of(store: Store, thread_id: str) -> tuple[object, ...]:
    """Everything that a store has of a session, for comparison."""
    usage = await store.usage.of_thread(thread_id)
    runs = (await store.runs.list(RunFilter(thread_id=thread_id), limit=100)).items
    lines = {run.id: [record.raw for record in await store.logs.read(run.id)] for run in runs}
    messages = without_seq(await messages_of(store, thread_id))
    return messages, usage, lines, await responses(store), await store.threads.count()


async def responses(store: Store) -> int:
    """The number of responses in all threads."""
    return sum(stat.responses for stat in await store.stats.totals())


async def test_sub_agents_of_codex_are_nested_under_their_calls(store: Store, tmp_path: Path) -> None:
    parent, child = family(tmp_path)
    report = await import_paths(store, tmp_path)
    assert (report.files, report.read, report.counts.new_threads, report.failed) == (2, 1, 1, False)
    assert under(await messages_of(store, parent.thread), "c1") == ["Look under the leaves.", "Seven."]
    usage = await store.usage.of_thread(parent.thread)
    assert (usage.responses, usage.output_tokens) == (3, 1 + 3 + 0)
    runs = (await store.runs.list(RunFilter(thread_id=parent.thread))).items
    (run,) = [run.id for run in runs if "/" in run.id]
    raw = b"".join((record.raw or b"") + b"\n" for record in await store.logs.read(run))
    assert (run, raw) == (f"{parent.thread}/{child.thread}@0", child.lines())
    before = await state_of(store, parent.thread)
    report = await import_paths(store, tmp_path)
    assert (report.files, report.read) == (2, 0)
    assert await state_of(store, parent.thread) == before


async def test_a_sub_agent_that_continues_after_its_session_is_a_change_of_it(
    store: Store, tmp_path: Path
) -> None:
    parent, child = family(tmp_path)
    await import_paths(store, tmp_path)
    child.add_turn("And under the pots.", "Two more.")
    child.write(tmp_path)
    report = await import_paths(store, tmp_path)
    assert (report.read, report.counts.new_threads) == (1, 0)
    assert under(await messages_of(store, parent.thread), "c1")[2:] == ["And under the pots.", "Two more."]
    assert (await store.usage.of_thread(parent.thread)).responses == 4
    assert await store.threads.count() == 1


ORDERS = {
    "the sub-agent alone, then both": (("child",), ("child", "parent")),
    "each alone, then both": (("child",), ("parent",), ("child", "parent")),
    "the session alone, then both": (("parent",), ("child", "parent")),
}


@each_row("order", ORDERS.values(), ids=ORDERS)
@in_empty_store
async def test_the_order_of_files_does_not_change_the_result(
    store: Store, tmp_path: Path, order: tuple[tuple[str, ...], ...]
) -> None:
    folder = new_folder(tmp_path)
    parent, child = family(folder)
    paths = {"parent": path_of(folder, parent), "child": path_of(folder, child)}
    for names in order:
        await import_paths(store, *(paths[name] for name in names))
    async with open_store("memory:") as other:
        await import_paths(other, folder)
        assert await state_of(store, parent.thread) == await state_of(other, parent.thread)
    assert (await import_paths(store, *paths.values())).read == 0


def path_of(home: Path, rollout: Rollout) -> Path:
    return next(home.rglob(f"*{rollout.thread}.jsonl"))


@pytest.mark.parametrize("seed", range(4))
async def test_following_a_session_and_its_sub_agent_has_the_same_result(tmp_path: Path, seed: int) -> None:
    parent, child = family(tmp_path)
    child.add_turn("And under the pots.", "Two more.")
    parent.add_turn("Thank you.", "You are welcome.")
    child.add_turn("And in the shed.", "None.")
    set_old_mtime(parent.write(tmp_path))
    set_old_mtime(child.write(tmp_path))
    chance = Random(seed)
    live = tmp_path / "live"
    order = [(str(record["timestamp"]), one, record) for one in (parent, child) for record in one.records]
    grown = {one.thread: Rollout(0) for one in (parent, child)}
    async with open_store("memory:") as store, open_store("memory:") as other:
        for _, one, record in sorted(order, key=itemgetter(0)):
            growing = grown[one.thread]
            growing.thread = one.thread
            growing.records.append(record)
            path = growing.write(live)
            if chance.random() < 0.4:
                await import_logs(store, sessions_of([path]), workers=Workers(1))
        for one in grown.values():
            set_old_mtime(one.write(live))
        await import_paths(store, live)
        await import_paths(
            other, path_of(tmp_path / "sessions", parent), path_of(tmp_path / "sessions", child)
        )
        assert await state_of(store, parent.thread) == await state_of(other, parent.thread)
        assert len(under(await messages_of(store, parent.thread), "c1")) == 6


async def test_a_thread_that_was_continued_here_is_kept(store: Store, tmp_path: Path) -> None:
    parent, child = family(tmp_path)
    await import_paths(store, path_of(tmp_path, child))
    await store.messages.save([UserMessage(id="mine", thread_id=child.thread, content="Mine.")])
    await import_paths(store, tmp_path)
    assert under(await messages_of(store, parent.thread), "c1") == ["Look under the leaves.", "Seven."]
    assert await store.threads.get(child.thread) is not None
    assert await responses(store) == 3


async def test_a_sub_agent_of_codex_that_no_call_claims_is_a_thread_beside_its_session(
    store: Store, tmp_path: Path
) -> None:
    parent = codex_session()
    parent.time = just_now()
    parent.add_turn("Dig.", "Dug.")
    child = parent.agent(2)
    child.time += timedelta(seconds=3)
    child.begin("Look under the leaves.").answer("Seven.")
    paths = (parent.write(tmp_path), child.write(tmp_path))
    for path in paths:
        await import_paths(store, tmp_path)
        assert await store.threads.count() == 1  # a call may still claim it while either is running
        set_old_mtime(path)
    await import_paths(store, tmp_path)
    beside = f"{parent.thread}/{child.thread}"
    thread = await store.threads.get(beside)
    assert thread is not None
    assert (thread.metadata or {})["parentThreadId"] == parent.thread
    log = [text_of(message) for message in await messages_of(store, beside) if not message.internal]
    assert log == ["Look under the leaves.", "Seven."]


async def test_a_sub_agents_file_that_appears_in_a_later_turn_is_nested_under_its_call(
    store: Store, tmp_path: Path
) -> None:
    parent, child = family(tmp_path)
    path_of(tmp_path, child).unlink()
    parent.add_turn("Thank you.", "You are welcome.")
    set_old_mtime(parent.write(tmp_path))
    await import_paths(store, tmp_path)
    parent.add_turn("Rest now.", "I rest.")
    set_old_mtime(parent.write(tmp_path))
    set_old_mtime(child.write(tmp_path))
    await import_paths(store, tmp_path)
    assert under(await messages_of(store, parent.thread), "c1") == ["Look under the leaves.", "Seven."]
    assert await store.threads.count() == 1


def write_lines(path: Path, *records: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


async def test_a_late_result_of_an_earlier_turn_is_added_to_its_call(store: Store, tmp_path: Path) -> None:
    log = (
        ClaudeLog().prompt("Dig.").answer(call={"id": "toolu_7", "name": "Bash", "input": {"command": "dig"}})
    )
    log.prompt("And sow.").answer("Sown.")
    path = log.write(tmp_path)
    set_old_mtime(path)
    await import_paths(store, path)
    known = len(log.records)
    log.result("toolu_7", "dug")
    log.append(path, known)
    os.utime(path, (1_700_000_100, 1_700_000_100))
    report = await import_paths(store, path)
    assert not report.unknown_records
    (call,) = [
        part
        for message in await messages_of(store)
        for part in message.content.parts
        if isinstance(part, ToolCallPart)
    ]
    assert (call.state, call.output) == ("output-available", TextOutput("dug"))
    assert await raw_lines_of(store) == log.lines()
