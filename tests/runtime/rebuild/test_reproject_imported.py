"""`reproject` of imported sessions: rebuilt from the log lines that the store keeps."""

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
    WRITTEN,
    bake,
    baking,
    cut_off,
    family,
    gemini_document,
    import_and_delete,
    import_sessions,
    messages_of,
    of_codex,
    of_gemini,
    plain,
    running,
    skipped_for,
    stored_state,
    untimed,
    with_agents,
    with_broken_lines,
    with_calls,
    with_unclaimed_agent,
    without,
    without_usage,
    write,
)
from tests.sampling import FULL


@pytest.fixture
async def memory() -> AsyncIterator[Store]:
    """A store in memory, for tests that need one engine only."""
    async with open_store("memory:") as store:
        yield store


# What an older decoder would have stored


OLDER_DECODERS: dict[str, tuple[Callable[[AssistantMessage], AssistantMessage], set[str]]] = {
    "no reasoning": (without(ReasoningPart), {"$.content.parts[1]"}),
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


@pytest.mark.parametrize(("change", "paths"), OLDER_DECODERS.values(), ids=OLDER_DECODERS)
async def test_what_an_older_decoder_missed_is_added(
    store: Store,
    tmp_path: Path,
    change: Callable[[AssistantMessage], AssistantMessage],
    paths: set[str],
) -> None:
    await bake(store, tmp_path)
    before = await stored_state(store)
    response = next(one for one in await messages_of(store) if isinstance(one, AssistantMessage))
    await store.messages.save([change(response)])
    assert untimed(await stored_state(store)) != untimed(before)
    dry = await reproject(store, dry_run=True)
    report = await reproject(store)
    assert report.counts == dry.counts == {"unchanged": 1, "changed": 1}
    (changed,) = report.of(response.run_id or "").messages
    assert changed.message_id == response.id
    assert {difference.path for difference in changed.differences} == paths
    assert changed.lost == ()
    assert untimed(await stored_state(store)) == untimed(before)
    assert (await reproject(store)).counts == {"unchanged": 2}


async def test_the_report_has_only_the_changed_values(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    response = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    await memory.messages.save([with_calls(name="Stove")(response)])
    thread = await memory.threads.get(SESSION)
    report = await reproject(memory)
    found = [one.to_json() for one in report.of(response.run_id or "").messages[0].differences]
    assert found == [
        {"path": "$.content.parts[3].name", "old": "Stove", "new": "Oven"},
        {"path": "$.content.parts[4].name", "old": "Stove", "new": "Oven"},
    ]
    assert report.imported == 2
    assert await memory.threads.get(SESSION) == thread
    assert len((await memory.messages.find_parts(PartFilter(tool="Oven"))).items) == 3


async def test_rollouts_of_codex_are_rebuilt_with_their_sub_agents(memory: Store, tmp_path: Path) -> None:
    parent, child = family()
    parent.write(tmp_path)
    child.write(tmp_path)
    await import_sessions(memory, tmp_path)
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


async def test_usage_is_rebuilt(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    before = (await memory.runs.list(RunFilter(thread_id=SESSION))).items
    response = next(one for one in await messages_of(memory) if isinstance(one, AssistantMessage))
    await memory.messages.save([without_usage(response)])
    run = next(run for run in before if run.id == response.run_id)
    await memory.runs.save(replace(run, usage=None, model=None))
    await reproject(memory)
    assert (await memory.runs.list(RunFilter(thread_id=SESSION))).items == before


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_any_missing_parts_are_restored(data: st.DataObject) -> None:
    async def check(folder: Path) -> None:
        async with open_store("memory:") as store:
            await import_sessions(store, folder)
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


# Sessions that are unchanged


SAME: dict[str, Callable[[Path], None]] = {
    "a bit of everything": plain,
    "an incomplete last line": cut_off,
    "a running agent": running,
    "broken lines": with_broken_lines,
    "sub-agents that only deleted files distinguish": with_agents,
    "a sub-agent that no call claims": with_unclaimed_agent,
    "Codex, with a sub-agent": of_codex,
    "Gemini CLI, line by line": of_gemini,
    "Gemini CLI, as a document": gemini_document,
}


@pytest.mark.parametrize("files", SAME.values(), ids=SAME)
async def test_a_correctly_imported_session_is_unchanged(
    memory: Store, tmp_path: Path, files: Callable[[Path], None]
) -> None:
    files(tmp_path)
    await import_and_delete(memory, tmp_path)
    before = await stored_state(memory)
    report = await reproject(memory, force=True)
    assert set(report.counts) == {"unchanged"}
    assert report.imported == len(report.runs) > 0
    assert await stored_state(memory) == before


@pytest.mark.parametrize("lines", [1, 4, 7])
async def test_a_session_that_was_imported_in_pieces_is_unchanged(tmp_path: Path, lines: int) -> None:
    data = rich().data.splitlines(keepends=True)
    async with open_store("memory:") as store:
        for end in range(lines, len(data) + lines, lines):
            write(tmp_path / f"{SESSION}.jsonl", b"".join(data[:end]), WRITTEN + end)
            await import_sessions(store, tmp_path)
        report = await reproject(store, dry_run=True)
        assert set(report.counts) == {"unchanged"}


async def test_all_versions_of_a_rewritten_file_are_read(tmp_path: Path) -> None:
    async with open_store("memory:") as store:
        write(tmp_path / f"{SESSION}.jsonl", baking().data)
        await import_sessions(store, tmp_path)
        session = Session().work("Bake bread", "c1").turn("Cake", "No.")
        write(tmp_path / f"{SESSION}.jsonl", session.data, WRITTEN + 100)
        await import_and_delete(store, tmp_path)
        assert any("@2:" in run.id for run in (await store.runs.list(RunFilter(thread_id=SESSION))).items)
        before = untimed(await stored_state(store))
        assert set((await reproject(store)).counts) == {"unchanged"}
        for message in await messages_of(store):
            if isinstance(message, AssistantMessage):
                await store.messages.save([without(ReasoningPart)(message)])
        assert "changed" in (await reproject(store)).counts
        assert untimed(await stored_state(store)) == before


OWN_SKIPPED = {
    "18ce37ef-eca1-59a5-a5be-dae81650f8f0": "blank lines",
    "ad2b1c15-fc93-5d9e-8a5e-baa9f936d87d": "several records on one line",
}
"""Our recorded sessions that cannot be reread, with a word of the reason."""
SHARED_SKIPPED = {
    "130d7b7e-5801-4345-9bd6-f32fd9b8429b": "overlap",  # several records on one line
    "93a9705e-bc6a-406d-8dce-8acc014dedbd": "several files",
    "ses_33aaae2d8ffe5Tuk6JJpuCnCOc": "anew",  # in a database and in files, and not the same in both
}
"""The shared sessions that cannot be reread."""


async def test_recorded_sessions_are_unchanged(tmp_path: Path) -> None:
    async with open_store("memory:") as store:
        read = await import_logs(store, recorded_sessions(tmp_path / "logs", 4), workers=Workers(1))
        assert not read.problems
        report = await reproject(store, dry_run=True)
    assert set(report.counts) == {"unchanged", "skipped"}
    why = {one.thread_id: one.why or "" for one in report.runs if one.outcome == "skipped"}
    known = OWN_SKIPPED | SHARED_SKIPPED
    assert why.keys() <= known.keys()
    assert why.keys() >= (OWN_SKIPPED | (SHARED_SKIPPED if FULL and ROOTS[1:] else {})).keys()
    assert all(known[thread_id] in reason for thread_id, reason in why.items())


# Sessions that are skipped


async def test_a_document_that_differs_is_skipped(memory: Store, tmp_path: Path) -> None:
    gemini_document(tmp_path)
    await import_sessions(memory, tmp_path)
    gemini_document(tmp_path, "Seven, or eight.")
    await import_sessions(memory, tmp_path)
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
@pytest.mark.parametrize("change", [glued, spaced])
async def test_a_session_with_moved_lines_is_skipped(
    memory: Store, tmp_path: Path, change: Callable[[Sequence[bytes], int], Iterable[bytes]], at: int
) -> None:
    lines = baking().data.splitlines(keepends=True)
    write(tmp_path / f"{SESSION}.jsonl", b"".join(change(lines, at)))
    await import_sessions(memory, tmp_path)
    before = await stored_state(memory)
    assert all("several records" in why for why in skipped_for(await reproject(memory)))
    assert await stored_state(memory) == before


async def test_a_session_with_several_files_is_skipped(memory: Store, tmp_path: Path) -> None:
    write(tmp_path / "a" / f"{SESSION}.jsonl", Session().turn("Bake bread").turn("Cake").data)
    write(tmp_path / "b" / f"{SESSION}.jsonl", Session().turn("Bake buns").data)
    await import_sessions(memory, tmp_path)
    assert skipped_for(await reproject(memory)) == {
        "several files were read into its thread, and it is not stored which line was in which file"
    }


async def test_a_session_with_a_dropped_log_is_skipped(memory: Store, tmp_path: Path) -> None:
    await bake(memory, tmp_path)
    await memory.logs.drop(Retention(max_bytes=0))
    (why, *_) = skipped_for(await reproject(memory))
    assert "was dropped on" in why
