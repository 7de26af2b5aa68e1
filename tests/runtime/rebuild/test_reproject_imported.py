"""Imported sessions made again from the lines that the store keeps of their logs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from partita.importers.logs.importer import import_logs
from partita.importers.logs.workers import Workers
from partita.runtime.rebuild.reproject import reproject
from partita.store.connection import open_store
from partita.store.logs.maintenance import Retention
from partita.store.store import Store
from partita.store.values import PartFilter, RunFilter
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import ReasoningPart
from tests.logs.claude_session import SESSION, Session, rich
from tests.recordings import ROOTS
from tests.recordings import sessions as recorded_sessions
from tests.runtime.rebuild.example_sessions import (
    LEFT,
    at_work,
    bake,
    baking,
    bring_in,
    bring_in_and_delete,
    cut_off,
    document,
    family,
    messages_of,
    of_codex,
    of_gemini,
    plain,
    skipped_for,
    stored_state,
    untimed,
    with_agents,
    with_an_agent_alone,
    with_broken_lines,
    with_calls,
    without,
    without_usage,
    write,
)
from tests.sampling import FULL


@pytest.fixture
async def memory() -> AsyncIterator[Store]:
    """A store for what is the same in all."""
    async with open_store("memory:") as store:
        yield store


# What a poorer reader would have stored


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
    before = await stored_state(store)
    answer = next(one for one in await messages_of(store) if isinstance(one, AssistantMessage))
    await store.messages.save([poorer(answer)])
    assert untimed(await stored_state(store)) != untimed(before)
    dry = await reproject(store, dry_run=True)
    report = await reproject(store)
    assert report.counts == dry.counts == {"unchanged": 1, "changed": 1}
    (changed,) = report.of(answer.run_id or "").messages
    assert changed.message_id == answer.id
    assert {difference.path for difference in changed.differences} == paths
    assert changed.lost == ()
    assert untimed(await stored_state(store)) == untimed(before)
    assert (await reproject(store)).counts == {"unchanged": 2}


async def test_a_renamed_tool_is_all_that_is_told(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    answer = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    await memory.messages.save([with_calls(name="Stove")(answer)])
    thread = await memory.threads.get(SESSION)
    report = await reproject(memory)
    told = [one.to_json() for one in report.of(answer.run_id or "").messages[0].differences]
    assert told == [
        {"path": "$.content.parts[3].name", "old": "Stove", "new": "Oven"},
        {"path": "$.content.parts[4].name", "old": "Stove", "new": "Oven"},
    ]
    assert report.imported == 2
    assert await memory.threads.get(SESSION) == thread
    assert len((await memory.messages.find_parts(PartFilter(tool="Oven"))).items) == 3


async def test_the_rollouts_of_codex_are_read_anew_with_their_agents(memory: Store, tmp_path: Path) -> None:
    parent, child = family()
    parent.write(tmp_path)
    child.write(tmp_path)
    await bring_in(memory, tmp_path)
    before = await messages_of(memory, parent.thread)
    holders = [one for one in before if isinstance(one, AssistantMessage) and "children" in repr(one)]
    for message in holders:
        await memory.messages.save([with_calls(name="unknown", children=())(message)])
    assert holders
    assert any(part.children for one in holders for part in one.parts if isinstance(part, ToolCallPart))
    for path in [*tmp_path.rglob("*.jsonl")]:
        path.unlink()
    report = await reproject(memory)
    assert set(report.counts) == {"changed", "unchanged"}
    assert await messages_of(memory, parent.thread) == before


async def test_what_was_consumed_is_known_again(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    before = (await memory.runs.list(RunFilter(thread_id=SESSION))).items
    answer = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    await memory.messages.save([without_usage(answer)])
    run = next(run for run in before if run.id == answer.run_id)
    await memory.runs.save(replace(run, usage=None, model=None))
    await reproject(memory)
    assert (await memory.runs.list(RunFilter(thread_id=SESSION))).items == before


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_whatever_parts_are_missing_come_back(data: st.DataObject) -> None:
    async def check(folder: Path) -> None:
        async with open_store("memory:") as store:
            await bring_in(store, folder)
            before = await messages_of(store)
            await store.messages.save(
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


SAME: dict[str, Callable[[Path], None]] = {
    "a bit of stored_state": plain,
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
    before = await stored_state(memory)
    report = await reproject(memory, force=True)
    assert set(report.counts) == {"unchanged"}
    assert report.imported == len(report.runs) > 0
    assert await stored_state(memory) == before


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
        assert any("@2:" in run.id for run in (await store.runs.list(RunFilter(thread_id=SESSION))).items)
        before = untimed(await stored_state(store))
        assert set((await reproject(store)).counts) == {"unchanged"}
        for message in await messages_of(store):
            if isinstance(message, AssistantMessage):
                await store.messages.save([without(ReasoningPart)(message)])
        assert "changed" in (await reproject(store)).counts
        assert untimed(await stored_state(store)) == before


OWN_ODD = {
    "18ce37ef-eca1-59a5-a5be-dae81650f8f0": "blank lines",
    "ad2b1c15-fc93-5d9e-8a5e-baa9f936d87d": "several records on one line",
}
"""Our own sessions that cannot be read again, and a word of why."""
ODD = {
    "130d7b7e-5801-4345-9bd6-f32fd9b8429b": "overlap",  # several records on one line
    "93a9705e-bc6a-406d-8dce-8acc014dedbd": "several files",
    "ses_33aaae2d8ffe5Tuk6JJpuCnCOc": "anew",  # in a database and in files, and not the same in both
}
"""The shared sessions that cannot be read again, where they are chosen."""


async def test_recorded_sessions_come_out_as_they_are(tmp_path: Path) -> None:
    async with open_store("memory:") as store:
        read = await import_logs(store, recorded_sessions(tmp_path / "logs", 4), workers=Workers(1))
        assert not read.problems
        report = await reproject(store, dry_run=True)
    assert set(report.counts) == {"unchanged", "skipped"}
    why = {one.thread_id: one.why or "" for one in report.runs if one.outcome == "skipped"}
    known = OWN_ODD | ODD
    assert why.keys() <= known.keys()
    assert why.keys() >= (OWN_ODD | (ODD if FULL and ROOTS[1:] else {})).keys()
    assert all(known[thread_id] in told for thread_id, told in why.items())


# What cannot be done


async def test_a_document_that_differs_is_left_alone(memory: Store, tmp_path: Path) -> None:
    document(tmp_path)
    await bring_in(memory, tmp_path)
    document(tmp_path, "Seven, or eight.")
    await bring_in(memory, tmp_path)
    before = await stored_state(memory)
    report = await reproject(memory, force=True)
    assert {one.why for one in report.runs} == {
        "gemini-cli rewrites its records: the stored ones may be older than the messages"
    }
    assert await stored_state(memory) == before


def glued(lines: Sequence[bytes], at: int) -> Iterable[bytes]:
    return (*lines[:at], lines[at].rstrip(), *lines[at + 1 :])


def spaced(lines: Sequence[bytes], at: int) -> Iterable[bytes]:
    return (*lines[:at], b"\n\n", *lines[at:])


@pytest.mark.parametrize("at", [2, -2], ids=["in the first run", "in the last run"])
@pytest.mark.parametrize("odd", [glued, spaced])
async def test_lines_that_are_not_where_they_stood_are_a_reason_to_skip(
    memory: Store, tmp_path: Path, odd: Callable[[Sequence[bytes], int], Iterable[bytes]], at: int
) -> None:
    lines = baking().data.splitlines(keepends=True)
    write(tmp_path / f"{SESSION}.jsonl", b"".join(odd(lines, at)))
    await bring_in(memory, tmp_path)
    before = await stored_state(memory)
    assert all("several records" in why for why in skipped_for(await reproject(memory)))
    assert await stored_state(memory) == before


async def test_two_files_of_one_session_are_a_reason_to_skip(memory: Store, tmp_path: Path) -> None:
    write(tmp_path / "a" / f"{SESSION}.jsonl", Session().turn("Bake bread").turn("Cake").data)
    write(tmp_path / "b" / f"{SESSION}.jsonl", Session().turn("Bake buns").data)
    await bring_in(memory, tmp_path)
    assert skipped_for(await reproject(memory)) == {
        "several files were read into its thread, and it is not stored which line was in which file"
    }


async def test_lines_that_were_dropped_are_a_reason_to_skip(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    await memory.logs.drop(Retention(max_bytes=0))
    (why, *_) = skipped_for(await reproject(memory))
    assert "was dropped on" in why
