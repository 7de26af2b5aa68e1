"""The provenance of imported messages: the log lines that each was decoded from."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

import partita.demo.archive
from partita.importers.logs.importer import import_logs
from partita.importers.logs.workers import Workers
from partita.runtime.rebuild.changes import Skipped
from partita.runtime.rebuild.provenance import LogEntries, Provenance, ProvenanceCache, find_nested, trace
from partita.runtime.rebuild.stored_session import read_session
from partita.store.connection import open_store
from partita.store.logs.maintenance import Retention
from partita.store.logs.message_entries import entries_by_number
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.json import JsonObject, dumps
from partita.types.messages import Message
from tests.formats.codex_examples import Script
from tests.logs.claude_session import SESSION, Session, lines_of, task, text, use
from tests.recordings import at_least
from tests.recordings import sessions as recorded_sessions
from tests.runtime.rebuild.example_sessions import (
    family,
    gemini_document,
    import_sessions,
    of_codex,
    of_gemini,
    plain,
    running,
    with_agents,
    with_broken_lines,
    with_unclaimed_agent,
    write,
)
from tests.runtime.rebuild.expected_lines import (
    actual_lines,
    every_line,
    lines_by_text,
    messages_in,
    with_blank_line,
)
from tests.sampling import FULL

CODEX = "01980000-0000-7000-8000-000000000001"
GEMINI = "0a1b2c3d-1111-4222-8333-444455556666"


@pytest.fixture
async def memory() -> AsyncIterator[Store]:
    """A store in memory, for tests that need one engine only."""
    async with open_store("memory:") as store:
        yield store


async def read(store: Store, folder: Path, data: bytes) -> None:
    write(folder / f"{SESSION}.jsonl", data)
    await import_sessions(store, folder)


async def provenance_of(store: Store, thread_id: str = SESSION) -> Provenance:
    found = await ProvenanceCache().get(store, thread_id)
    assert found is not None
    return found


async def lines(
    store: Store, message: str, session: bytes | Sequence[bytes], thread: str = SESSION
) -> list[int]:
    """The numbers of the lines that a message came from, found by their bytes."""
    provenance = await provenance_of(store, thread)
    entries = await entries_of(store, provenance, message, thread)
    every = session.splitlines() if isinstance(session, bytes) else list(session)
    assert len(set(every)) == len(every)
    return [every.index(entry) + 1 for entry in entries]


async def entries_of(store: Store, provenance: Provenance, message_id: str, thread: str) -> list[bytes]:
    message = await store.messages.get(thread, message_id)
    agent = ""
    if message is None:
        agent, top_id = provenance.nested[message_id]
        top = await store.messages.get(thread, top_id)
        assert top is not None
        message = find_nested(top, message_id)
    assert message is not None
    entries = provenance.entries_of(message, agent)
    assert entries is not None
    return await store.read(_entries, entries)


def _entries(tx: Transaction, entries: list[LogEntries]) -> list[bytes]:
    return [entry.raw or b"" for run_id, seqs in entries for _, entry in entries_by_number(tx, run_id, seqs)]


# Claude Code


async def test_each_message_has_its_lines(store: Store, tmp_path: Path) -> None:
    session = Session().about("mode", mode="plan").prompt("Bake").piece("m1", text("I knead."))
    session.piece("m1", use("c1")).result("c1", "It is hot.").piece("m2", text("I knead."))
    session.system("compact_boundary", content="compacted")
    await read(store, tmp_path, session.data)
    entries = {
        message.id: await lines(store, message.id, session.data)
        for message in await store.messages.list(SESSION, MessageFilter(internal=None), limit=None)
    }
    assert entries == {"notes-0": [1], "u-1": [2], "m1": [3, 4, 5], "m2": [6], "u-6": [7]}


async def test_lines_are_numbered_by_run(store: Store, tmp_path: Path) -> None:
    session = Session().turn("Bake").prompt("And rolls").answer(text="Yes.", calls=[use("c1")]).result("c1")
    await read(store, tmp_path, session.data)
    second = sum(len(line) + 1 for line in session.data.splitlines()[:2])
    message = await store.messages.get(SESSION, "msg-u-2")
    assert message is not None
    assert (await provenance_of(store)).entries_of(message) == [LogEntries(f"{SESSION}@{second}", [2, 3, 4])]


async def test_an_output_after_the_next_prompt_belongs_to_its_call(store: Store, tmp_path: Path) -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1")]).prompt("Hurry")
    session.answer(text="I do.").result("c1", "It is hot.")
    await read(store, tmp_path, session.data)
    assert await lines(store, "msg-u-1", session.data) == [2, 5]
    assert await lines(store, "msg-u-2", session.data) == [4]
    assert await lines(store, "u-3", session.data) == [3]


async def test_an_output_before_its_call_belongs_to_the_call(store: Store, tmp_path: Path) -> None:
    session = Session().prompt("Bake").result("c1", "It is hot.").attachment("hook_success")
    session.answer(text="I bake.", calls=[use("c1")])
    await read(store, tmp_path, session.data)
    assert await lines(store, "msg-u-1", session.data) == [2, 4, 5]


async def test_a_result_without_a_call_belongs_to_the_notice_that_keeps_it(
    store: Store, tmp_path: Path
) -> None:
    session = Session().prompt("Bake").result("c1", "It is hot.").answer(text="I bake.")
    await read(store, tmp_path, session.data)
    (notice,) = await store.messages.list(SESSION, MessageFilter(internal=True), limit=None)
    assert await lines(store, notice.id, session.data) == [2]
    assert await lines(store, "msg-u-1", session.data) == [3]


async def test_messages_with_the_same_beginning_have_different_lines(store: Store, tmp_path: Path) -> None:
    words = "The dough must rest for an hour, and then for another one, before"
    session = Session().prompt(f"{words} it is rolled.").answer(text=f"{words} it rises.")
    session.prompt(f"{words} it is rolled.").answer(text=f"{words} it rises.")
    await read(store, tmp_path, session.data)
    ids = ["u-1", "msg-u-1", "u-3", "msg-u-2"]
    assert [await lines(store, message, session.data) for message in ids] == [[1], [2], [3], [4]]


async def test_a_message_that_quotes_the_id_of_another_one_does_not_get_its_lines(
    store: Store, tmp_path: Path
) -> None:
    session = Session().prompt("Bake").answer(text="Yes.", calls=[use("c1")]).result("c1")
    session.prompt('What is "msg-u-1", and what is "c1"?').answer(text='"msg-u-1" has the call "c1".')
    await read(store, tmp_path, session.data)
    assert await lines(store, "msg-u-1", session.data) == [2, 3, 4]
    assert await lines(store, "u-5", session.data) == [5]
    assert await lines(store, "msg-u-2", session.data) == [6]


async def test_messages_of_sub_agents_have_the_lines_of_their_files(store: Store, tmp_path: Path) -> None:
    with_agents(tmp_path)
    await import_sessions(store, tmp_path)
    main = (tmp_path / f"{SESSION}.jsonl").read_bytes()
    agent = (tmp_path / SESSION / "subagents" / "agent-a1.jsonl").read_bytes()
    assert await lines(store, "msg-u-1", main) == [2, 3, 4, 5]
    assert await lines(store, "a1-1", agent) == [1]
    assert await lines(store, "msg-a1-1", agent) == [2]


async def test_messages_of_sub_agents_within_the_session_file_have_its_lines(
    store: Store, tmp_path: Path
) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "look")])
    helper = Session(mark="h", agent="a").prompt("look", parent=None)
    helper.answer(text="There.", calls=[use("h-c")]).result("h-c").answer(text="Seen.")
    session.records += helper.records
    session.result("t1", toolUseResult={"agentId": "a"}).answer(text="Done.")
    await read(store, tmp_path, session.data)
    ids = ["msg-u-1", "h-1", "msg-h-1", "msg-h-2"]
    assert [await lines(store, message, session.data) for message in ids] == [[2, 8], [3], [4, 5, 6], [7]]


async def test_a_sub_agent_with_its_own_thread_has_its_lines(memory: Store, tmp_path: Path) -> None:
    with_unclaimed_agent(tmp_path)
    await import_sessions(memory, tmp_path)
    provenance = await provenance_of(memory)
    page = await memory.messages.list(f"{SESSION}/x", limit=None)
    assert [provenance.entries_of(message, "x") for message in page] == [
        [LogEntries(f"{SESSION}/x@0", [1])],
        [LogEntries(f"{SESSION}/x@0", [2])],
    ]


async def test_multi_line_values_and_broken_lines_are_counted(memory: Store, tmp_path: Path) -> None:
    first, second, third = Session().turn("Bake").prompt("And rolls").data.splitlines()
    spread = second.replace(b'"message":', b'\n"message":\n')
    broken = b'{"type": "user", "mess'
    await read(memory, tmp_path, b"\n".join([first, broken, spread, third, b""]))
    every = [first, broken, spread, third]
    ids = ["u-1", "msg-u-1", "u-3"]
    assert [await lines(memory, message, every) for message in ids] == [[1], [3], [4]]


async def test_the_last_version_of_a_rewritten_file_counts(store: Store, tmp_path: Path) -> None:
    session = Session().prompt("Bake").answer(text="Yes.").prompt("Rolls").answer(text="Too.")
    await read(store, tmp_path, session.data)
    again = lines_of([{"type": "mode", "mode": "plan", "sessionId": SESSION}, *session.records[:2]])
    write(tmp_path / f"{SESSION}.jsonl", again, 1_700_000_100)
    await import_sessions(store, tmp_path)
    provenance = await provenance_of(store)
    entries = {
        message.id: provenance.entries_of(message)
        for message in await store.messages.list(SESSION, MessageFilter(branch="all"), limit=None)
    }
    second = sum(len(line) + 1 for line in session.data.splitlines()[:2])
    assert entries == {
        "u-1": [LogEntries(f"{SESSION}@2:0", [2])],
        "msg-u-1": [LogEntries(f"{SESSION}@2:0", [3])],
        "u-3": [LogEntries(f"{SESSION}@{second}", [1])],
        "msg-u-2": [LogEntries(f"{SESSION}@{second}", [2])],
    }


# Other agents


async def read_rollout(store: Store, folder: Path, script: Script) -> bytes:
    data = lines_of(script.records)
    write(folder / "sessions" / "2026" / "03" / "01" / f"rollout-2026-03-01T09-00-00-{CODEX}.jsonl", data)
    await import_sessions(store, folder)
    return data


async def lines_of_messages(store: Store, data: bytes, thread: str) -> dict[str, list[int]]:
    """The lines of the visible messages, by text or kind."""
    page = await store.messages.list(thread, MessageFilter(internal=None), limit=None)
    return {_name(message): await lines(store, message.id, data, thread) for message in page}


def _name(message: Message) -> str:
    texts = [found for part in message.content.parts if (found := getattr(part, "text", ""))]
    return texts[0] if texts else "notes"


async def test_a_prompt_of_codex_has_its_item_and_its_event(store: Store, tmp_path: Path) -> None:
    script = (
        Script().meta(CODEX).prompt("Find the slugs.").add_reasoning("Where?").call("c1").output("c1", "7")
    )
    script.answer("Seven.").count(20)
    data = await read_rollout(store, tmp_path, script)
    assert await lines_of_messages(store, data, CODEX) == {
        "notes": [1],
        "Find the slugs.": [2, 3],
        "Where?": [4, 5, 6],
        "Seven.": [
            7,
            8,
            9,
        ],  # the event starts the message, the item has the text, then the tokens are counted
    }


async def test_a_delayed_message_of_codex_belongs_to_its_line(memory: Store, tmp_path: Path) -> None:
    script = Script().meta(CODEX).add_message("user", "Find the slugs.")
    script.event("agent_message", message="I look.").call("c1").output("c1").event("warning", message="Rain.")
    script.add_message("user", "And the snails.")
    data = await read_rollout(memory, tmp_path, script)
    assert await lines_of_messages(memory, data, CODEX) == {
        "notes": [1],
        "Find the slugs.": [2],
        "I look.": [3, 4, 5],
        "Rain.": [6],
        "And the snails.": [7],
    }


async def test_a_token_count_before_its_response_belongs_to_the_response(
    memory: Store, tmp_path: Path
) -> None:
    script = Script().meta(CODEX).prompt("Find the slugs.").answer("Seven.").count(20)
    script.prompt("And snails?").count(50).answer("None.")
    data = await read_rollout(memory, tmp_path, script)
    entries = await lines_of_messages(memory, data, CODEX)
    assert (entries["Seven."], entries["None."]) == ([4, 5, 6], [9, 11])


async def test_a_search_that_starts_with_an_event_has_both_lines(memory: Store, tmp_path: Path) -> None:
    action: JsonObject = {"type": "search", "query": "slugs"}
    script = Script().meta(CODEX).prompt("Find the slugs.").add_message("assistant", "I search.")
    script.event("web_search_end", call_id="ws1", query="slugs", action=action)
    script.context().item("web_search_call", status="completed", action=action).add_message(
        "assistant", "Found."
    )
    data = await read_rollout(memory, tmp_path, script)
    entries = await lines_of_messages(memory, data, CODEX)
    assert entries["I search."] == [4, 5]
    assert entries["Found."] == [7, 8]


async def test_a_chat_of_gemini_has_a_line_for_each_message(store: Store, tmp_path: Path) -> None:
    of_gemini(tmp_path)
    await import_sessions(store, tmp_path)
    (path,) = tmp_path.rglob("*.jsonl")
    assert await lines(store, "g1", path.read_bytes(), GEMINI) == [2]
    assert await lines(store, "g2", path.read_bytes(), GEMINI) == [3]


async def test_a_rewritten_response_of_gemini_has_all_its_lines(memory: Store, tmp_path: Path) -> None:
    of_gemini(tmp_path)
    (path,) = tmp_path.rglob("*.jsonl")
    call: JsonObject = {"id": "c1", "name": "dig", "args": {}, "status": "executing"}
    response: JsonObject = {
        "id": "g3",
        "timestamp": "2026-06-11T10:00:00.000Z",
        "type": "gemini",
        "content": "",
    }
    result = {"functionResponse": {"id": "c1", "name": "dig", "response": {"output": "a slug"}}}
    more: list[JsonObject] = [
        {**response, "toolCalls": [call]},
        {"id": "g4", "timestamp": "2026-06-11T10:00:00.000Z", "type": "user", "content": [result]},
        {**response, "content": "There is one.", "toolCalls": [call]},
    ]
    write(path, path.read_bytes() + lines_of(more))
    await import_sessions(memory, tmp_path)
    assert await lines(memory, "g3", path.read_bytes(), GEMINI) == [4, 5, 6]
    assert await lines(memory, "g4", path.read_bytes(), GEMINI) == [5]


async def test_messages_of_a_document_have_records(store: Store, tmp_path: Path) -> None:
    gemini_document(tmp_path)
    await import_sessions(store, tmp_path)
    provenance = await provenance_of(store, GEMINI)
    entries = [await entries_of(store, provenance, message, GEMINI) for message in ("g1", "g2")]
    assert [len(of_message) for of_message in entries] == [1, 1]
    assert b"Find the slugs." in entries[0][0]
    assert b"Seven." in entries[1][0]


async def test_a_rewritten_document_has_no_provenance(memory: Store, tmp_path: Path) -> None:
    gemini_document(tmp_path)
    await import_sessions(memory, tmp_path)
    gemini_document(tmp_path, "Eight, one of them a snail.")
    await import_sessions(memory, tmp_path)
    provenance = await provenance_of(memory, GEMINI)
    first, second = await memory.messages.list(GEMINI, limit=None)
    assert provenance.entries_of(first) is not None
    assert provenance.entries_of(second) is None, "the record that is kept is older"


def opencode(folder: Path) -> None:
    info: JsonObject = {"id": "ses_1", "projectID": "p", "directory": "/w", "title": "Mend", "version": "1.2"}
    question: JsonObject = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1000}}
    contents: JsonObject = {
        "id": "msg_2",
        "sessionID": "ses_1",
        "role": "assistant",
        "modelID": "m",
        "providerID": "acme",
        "tokens": {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}},
        "time": {"created": 2000},
    }
    messages = [
        {"info": question, "parts": [{"id": "prt_1", "type": "text", "text": "Fix the fence, please."}]},
        {"info": contents, "parts": [{"id": "prt_2", "type": "text", "text": "I have fixed it."}]},
        {
            "info": {**question, "id": "msg_3"},
            "parts": [{"id": "prt_3", "type": "text", "text": "Thank you so much."}],
        },
    ]
    write(folder / "ses_1.json", dumps({"info": info, "messages": messages}))


async def test_a_session_of_opencode_has_a_record_for_each_message(store: Store, tmp_path: Path) -> None:
    opencode(tmp_path)
    await import_sessions(store, tmp_path)
    provenance = await provenance_of(store, "ses_1")
    texts = {"msg_1": b"Fix the", "msg_2": b"fixed it", "msg_3": b"Thank you"}
    for message, contents in texts.items():
        (entry,) = await entries_of(store, provenance, message, "ses_1")
        assert contents in entry


# Laws for all sessions


def demo(folder: Path) -> None:
    with as_file(files(partita.demo.archive).joinpath("coding")) as coding:
        for path in coding.rglob("*.jsonl"):
            write(folder / path.relative_to(coding), path.read_bytes())


ECHOES = (b'"type":"user_message"', b'"type":"agent_message"')
"""Events of Codex that repeat an item: the message is the same without them."""

SESSIONS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a bit of everything": (plain, SESSION),
    "broken lines": (with_broken_lines, SESSION),
    "running": (running, SESSION),
    "sub-agents": (with_agents, SESSION),
    "an unclaimed sub-agent": (with_unclaimed_agent, SESSION),
    "the demo": (demo, "7c1f4c5e-2f0a-4d0b-9a52-6b1d2f7c9e10"),
    "codex": (of_codex, family()[0].thread),
    "gemini": (of_gemini, GEMINI),
    "a document": (gemini_document, GEMINI),
    "opencode": (opencode, "ses_1"),
}


@pytest.mark.parametrize(("make", "thread"), SESSIONS.values(), ids=SESSIONS)
async def test_a_message_has_exactly_the_lines_that_it_depends_on(
    memory: Store, tmp_path: Path, make: Callable[[Path], None], thread: str
) -> None:
    make(tmp_path)
    await import_sessions(memory, tmp_path)
    read_from = await memory.sources.list(thread_id=thread)
    session = await read_session(memory, thread, read_from)
    provenance = trace(session)
    contents = messages_in(session, provenance)
    assert contents
    for key in contents:
        assert actual_lines(provenance, key), f"{key} has no lines"
    for key, line in lines_by_text(session, contents):
        assert line in actual_lines(provenance, key), f"{key} has text of {line}"
    for run_id, seq, raw in every_line(session):
        if any(echo in raw for echo in ECHOES):
            continue
        changed = messages_in(with_blank_line(session, run_id, seq), provenance)
        for key in contents:
            if (run_id, seq) in actual_lines(provenance, key):
                assert changed.get(key) != contents[key], f"{key} does not need {run_id} {seq}"


async def test_messages_of_recorded_sessions_have_all_their_lines(memory: Store, tmp_path: Path) -> None:
    report = await import_logs(memory, recorded_sessions(tmp_path / "logs", 4), workers=Workers(1))
    assert not report.problems
    read_from: dict[str, Any] = {}
    for source in await memory.sources.list():
        if source.thread_id is not None:
            read_from.setdefault(source.thread_id, []).append(source)
    checked = 0
    for thread, own in read_from.items():
        try:
            session = await read_session(memory, thread, own)
            provenance = trace(session)
        except Skipped:
            continue
        contents = messages_in(session, provenance)
        for key, line in lines_by_text(session, contents):
            checked += 1
            assert line in actual_lines(provenance, key), f"{thread}: {key} has text of {line}"
    assert checked > at_least(60, 5000 if FULL else 500)


# The cache


async def test_a_session_that_grew_is_traced_again(store: Store, tmp_path: Path) -> None:
    session = Session().prompt("Bake").answer(calls=[use("c1")])
    provenances = ProvenanceCache()
    await read(store, tmp_path, session.data)
    first = await provenances.get(store, SESSION)
    assert await provenances.get(store, SESSION) is first
    session.result("c1", "It is hot.")
    await read(store, tmp_path, session.data)
    message = await store.messages.get(SESSION, "msg-u-1")
    second = await provenances.get(store, SESSION)
    assert message is not None
    assert second is not None
    assert second.entries_of(message) == [LogEntries(f"{SESSION}@0", [2, 3])]


async def test_the_cache_has_a_limited_size(memory: Store, tmp_path: Path) -> None:
    ids = [f"5e551000-0000-4000-8000-00000000000{number}" for number in range(3)]
    for session in ids:
        write(tmp_path / f"{session}.jsonl", Session(session, mark=session).turn("Bake").data)
    await import_sessions(memory, tmp_path)
    provenances = ProvenanceCache(size=2)
    found = [await provenances.get(memory, session) for session in ids]
    assert await provenances.get(memory, ids[2]) is found[2]
    assert await provenances.get(memory, ids[1]) is found[1]
    assert await provenances.get(memory, ids[0]) is not found[0]


async def test_a_session_with_a_dropped_log_has_no_provenance(store: Store, tmp_path: Path) -> None:
    await read(store, tmp_path, Session().turn("Bake").data)
    provenances = ProvenanceCache()
    assert await provenances.get(store, SESSION) is not None
    await store.logs.drop(Retention(max_age=timedelta(0)))
    assert await provenances.get(store, SESSION) is None


async def test_a_thread_that_was_not_imported_has_no_provenance(store: Store) -> None:
    await store.threads.create("t")
    assert await ProvenanceCache().get(store, "t") is None
    assert await ProvenanceCache().get(store, "none") is None
