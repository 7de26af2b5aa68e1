"""Example sessions of coding agents as files, imported, and changed as an older decoder would store them."""

import os
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from partita.importers.logs.importer import import_logs
from partita.importers.logs.workers import Workers
from partita.logs.files import find_logs
from partita.runtime.rebuild.report import ReprojectReport
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from tests.logs.claude_session import SESSION, Session, rich, task, use
from tests.logs.codex_family import Rollout
from tests.logs.codex_family import session as codex_session

WRITTEN = 1_700_000_000
"""When the files were written: long ago, so that no agent is running."""


def write(path: Path, data: bytes, time: int = WRITTEN) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time, time))
    return path


def baking() -> Session:
    """Two turns, with reasoning and calls."""
    return Session().work("Bake bread", "c1", "c2").work("And rolls", "c3")


async def import_sessions(store: Store, folder: Path) -> None:
    report = await import_logs(store, find_logs([folder]).files, workers=Workers(1))
    assert not report.problems


async def import_and_delete(store: Store, folder: Path) -> None:
    """Import all session files of a folder, and delete them."""
    await import_sessions(store, folder)
    delete_sessions(folder)


def delete_sessions(folder: Path) -> None:
    """Delete all files of a folder except for those of the store."""
    for path in [path for path in folder.rglob("*") if path.is_file() and ".db" not in path.name]:
        path.unlink()


async def bake(store: Store, folder: Path) -> None:
    """A session in the store, whose file is deleted."""
    write(folder / f"{SESSION}.jsonl", baking().data)
    await import_and_delete(store, folder)


async def messages_of(store: Store, thread_id: str = SESSION) -> list[Message]:
    return list(await store.messages.list(thread_id, MessageFilter(branch="all", internal=None), limit=None))


async def stored_state(store: Store) -> list[Json]:
    """All threads, messages, runs and usage."""
    threads = (await store.threads.list(limit=100)).items
    state: list[Json] = []
    for thread in sorted(threads, key=lambda thread: thread.id):
        runs = (await store.runs.list(RunFilter(thread_id=thread.id), limit=100)).items
        state += [to_json(thread), *map(to_json, sorted(runs, key=lambda run: run.id))]
        state += map(to_json, await messages_of(store, thread.id))
        state.append(to_json(await store.usage.of_thread(thread.id)))
    return state


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


def untimed(state: list[Json]) -> list[Json]:
    """A state without the time of the last change, which the test itself caused."""
    return [{key: value for key, value in one.items() if key != "updatedAt"} for one in state]


def family() -> tuple[Rollout, Rollout]:
    parent = codex_session()
    parent.begin("Find the slugs.").add_reasoning("Where are they?")
    child = parent.agent(2)
    parent.spawn(child, "call-1")
    parent.answer("Seven.").count(20)
    child.add_turn("Look under the leaves.", "There are seven.")
    return parent, child


def plain(folder: Path) -> None:
    write(folder / f"{SESSION}.jsonl", rich().data)


def cut_off(folder: Path) -> None:
    write(folder / f"{SESSION}.jsonl", rich().data[:-20])


def running(folder: Path) -> None:
    data = Session().prompt("Bake").answer(calls=[use("c1")]).data
    (folder / f"{SESSION}.jsonl").write_bytes(data)


def with_broken_lines(folder: Path) -> None:
    first, *others = baking().data.splitlines(keepends=True)
    write(folder / f"{SESSION}.jsonl", b"".join([first, b'{"type": "user", "mess\n', *others, b"[1]\n"]))


def with_agents(folder: Path) -> None:
    """Two sub-agents with the same prompt: only the files beside their logs tell which is whose."""
    main = Session().prompt("Bake").answer(calls=[task("t1", "look"), task("t2", "look")])
    main.result("t1", "seen").result("t2", "nothing").answer(text="Done.")
    write(folder / f"{SESSION}.jsonl", main.data)
    for name, call, text in (("a1", "t2", "Nothing there."), ("a2", "t1", "I have seen it.")):
        agent = Session(mark=name, agent=name).prompt("look", parent=None).answer(text=text)
        path = folder / SESSION / "subagents" / f"agent-{name}.jsonl"
        write(path, agent.data)
        write(path.with_suffix(".meta.json"), dumps({"toolUseId": call}))


def with_unclaimed_agent(folder: Path) -> None:
    """A sub-agent that no call claims: it has a thread of its own."""
    write(folder / f"{SESSION}.jsonl", baking().data)
    agent = Session(mark="x", agent="x").prompt("Warm the oven", parent=None).answer(text="It is warm.")
    write(folder / SESSION / "subagents" / "agent-x.jsonl", agent.data)


def of_codex(folder: Path) -> None:
    for rollout in family():
        path = rollout.write(folder)
        os.utime(path, (WRITTEN, WRITTEN))


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


def gemini_document(folder: Path, text: str = "Seven.") -> None:
    """A chat of Gemini CLI in one document."""
    time = "2026-06-11T10:00:00.000Z"
    messages: list[JsonObject] = [
        {"id": "g1", "timestamp": time, "type": "user", "content": "Find the slugs."},
        {"id": "g2", "timestamp": time, "type": "gemini", "content": text, "model": "gemini-3"},
    ]
    session = "0a1b2c3d-1111-4222-8333-444455556666"
    chat: JsonObject = {"sessionId": session, "projectHash": "p", "startTime": time, "lastUpdated": time}
    path = folder / "tmp" / "p" / "chats" / "session-2026-06-11T10-00-0a1b2c3d.json"
    write(path, dumps({**chat, "messages": messages}), WRITTEN + len(text))


def skipped_for(report: ReprojectReport) -> set[str]:
    """The reason why all runs were skipped."""
    assert set(report.counts) == {"skipped"}
    return {one.why or "" for one in report.runs}
