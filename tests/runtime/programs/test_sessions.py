"""Sessions of coding agents: what a run stores, and that the import of a log counts nothing twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

import partita
from partita.importers.logs.importer import import_logs
from partita.importers.logs.workers import Workers
from partita.logs.files import find_logs
from partita.runtime.programs.acp import AcpService
from partita.runtime.programs.claude_code import ClaudeCodeService
from partita.runtime.programs.codex import CodexService
from partita.runtime.service import AgentService, InvokeOptions, Prompt
from partita.runtime.session.session import Session
from partita.store.store import Store
from partita.types.chunks import AgentStreamEvent, CompleteEvent, ToolApprovalRequest
from partita.types.json import JsonObject
from partita.types.messages import text_of
from partita.types.threads import Run
from tests.processes import Forked
from tests.runtime.engines import on_both_engines
from tests.runtime.programs.running import LONG, NoDecision, command, options
from tests.runtime.session.counting_process import print_line

CLAUDE = "new-session"
CODEX = "thread-of-its-own"


def claude() -> ClaudeCodeService:
    return ClaudeCodeService(command("claude"), timeouts=LONG)


async def run_turn(
    session: Session, agent: AgentService, folder: Path, prompt: str, *behaviour: str, thread: str = "t1"
) -> Run:
    run = await session.start(
        agent, thread, prompt, cwd=folder, options=options(folder, "billed", *behaviour)
    )
    return await session.wait(run.id)


def claude_log(folder: Path, *prompts: str) -> Path:
    """The log that the agent writes of turns, each a prompt and one response."""
    records: list[JsonObject] = []
    for number, prompt in enumerate(prompts):
        moment = {"sessionId": CLAUDE, "cwd": str(folder), "version": "2.1.98", "isSidechain": False}
        for kind, message, more in (
            ("user", {"role": "user", "content": prompt}, {}),
            (
                "assistant",
                {
                    "id": f"msg_{prompt.split()[-1]}",
                    "type": "message",
                    "role": "assistant",
                    "model": "m",
                    "content": [{"type": "text", "text": f"You said: {prompt}"}],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 5, "output_tokens": 7},
                },
                {"requestId": f"req_{number}"},
            ),
        ):
            before = records[-1]["uuid"] if records else None
            stamp = f"2026-03-02T09:00:{len(records):02}.000Z"
            records.append(
                {
                    **moment,
                    **more,
                    "type": kind,
                    "uuid": f"uuid-{len(records)}",
                    "parentUuid": before,
                    "timestamp": stamp,
                    "message": message,
                }
            )
    path = folder / f"{CLAUDE}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


async def import_log(store: Store, path: Path) -> None:
    report = await import_logs(store, find_logs([path]).files, workers=Workers(1), finished=True)
    assert not report.problems


async def threads(store: Store) -> list[str]:
    return [thread.id for thread in (await store.threads.list()).items]


async def responses(store: Store) -> tuple[int, int, int]:
    """The usage that the ledger counts over all threads."""
    (total,) = await store.stats.totals()
    return total.responses, total.input_tokens, total.output_tokens


async def texts(store: Store) -> list[str]:
    return [text_of(message) for message in (await store.messages.list("t1", limit=None)).items]


PAINTED = ["Paint fence", "You said: Paint fence"]


@pytest.fixture
async def session(url: str) -> AsyncIterator[Session]:
    async with partita.open_store(url) as store, Session(store) as opened:
        yield opened


async def test_a_live_run_stores_what_the_stream_reports(session: Session, tmp_path: Path) -> None:
    run = await run_turn(session, claude(), tmp_path, "Paint fence")
    assert (run.status, run.model, run.cost) == ("completed", "m", 0.25)
    assert run.metadata is not None
    assert run.metadata["agentSession"] == CLAUDE
    thread = await session.store.threads.get("t1")
    assert thread is not None
    assert (thread.title, thread.agent, thread.project) == ("Paint fence", "claude-code", str(tmp_path))
    assert thread.metadata is not None
    assert (thread.metadata["sessionId"], thread.metadata["model"]) == (CLAUDE, "m")
    assert await responses(session.store) == (1, 5, 7)
    (total,) = await session.store.stats.totals()
    assert total.cost == 0.25


async def test_an_agent_over_acp_reports_its_model_cost_and_title(session: Session, tmp_path: Path) -> None:
    agent = AcpService(command("acp"), timeouts=LONG, name="gardener")
    run = await session.start(agent, "t1", "Dig", cwd=tmp_path, options=options(tmp_path, "models"))
    run = await session.wait(run.id)
    assert (run.status, run.model, run.cost) == ("completed", "m", 0.5)
    thread = await session.store.threads.get("t1")
    assert thread is not None
    assert (thread.title, thread.project) == ("Beds and paths", str(tmp_path))
    assert thread.metadata is not None
    assert thread.metadata["agentVersion"] == "2"


async def test_the_cost_of_a_resumed_session_is_that_of_the_turn(session: Session, tmp_path: Path) -> None:
    await run_turn(session, claude(), tmp_path, "Paint fence")
    run = await run_turn(session, claude(), tmp_path, "Paint gate")
    assert run.cost == 0.25
    assert await responses(session.store) == (2, 10, 14)


async def test_a_title_set_by_a_user_stays(session: Session, tmp_path: Path) -> None:
    await session.store.threads.create("t1", title="The garden", project="/elsewhere")
    await run_turn(session, claude(), tmp_path, "Paint fence")
    thread = await session.store.threads.get("t1")
    assert thread is not None
    assert (thread.title, thread.project) == ("The garden", "/elsewhere")


async def test_importing_the_log_of_a_live_session_adds_nothing(session: Session, tmp_path: Path) -> None:
    store = session.store
    await run_turn(session, claude(), tmp_path, "Paint fence")
    before = await store.messages.list("t1", limit=None)
    for _ in range(2):
        await import_log(store, claude_log(tmp_path, "Paint fence"))
    assert await threads(store) == ["t1"]
    assert await store.messages.list("t1", limit=None) == before
    assert await responses(store) == (1, 5, 7)
    assert (await store.usage.of_thread("t1")).cost == 0.25
    assert len((await store.runs.list()).items) == 1


@on_both_engines
async def test_turns_added_outside_of_partita_go_to_the_same_thread(session: Session, tmp_path: Path) -> None:
    store = session.store
    await run_turn(session, claude(), tmp_path, "Paint fence")
    await import_log(store, claude_log(tmp_path, "Paint fence"))
    await import_log(store, claude_log(tmp_path, "Paint fence", "Paint gate"))
    assert await threads(store) == ["t1"]
    assert await texts(store) == [*PAINTED, "Paint gate", "You said: Paint gate"]
    assert await responses(store) == (2, 10, 14)
    await run_turn(session, claude(), tmp_path, "Paint shed")
    await import_log(store, claude_log(tmp_path, "Paint fence", "Paint gate", "Paint shed"))
    assert (await texts(store))[4:] == ["Paint shed", "You said: Paint shed"]
    assert await responses(store) == (3, 15, 21)


@on_both_engines
async def test_a_log_imported_before_the_run_ended_is_replaced(session: Session, tmp_path: Path) -> None:
    store = session.store
    await import_log(store, claude_log(tmp_path, "Paint fence"))
    assert await threads(store) == [CLAUDE]
    await run_turn(session, claude(), tmp_path, "Paint fence")
    assert await threads(store) == ["t1"]
    assert await responses(store) == (1, 5, 7)
    await import_log(store, claude_log(tmp_path, "Paint fence"))
    assert await threads(store) == ["t1"]
    assert await texts(store) == PAINTED


async def test_an_older_session_stays_a_thread_and_its_responses_are_counted_once(
    session: Session, tmp_path: Path
) -> None:
    store = session.store
    await import_log(store, claude_log(tmp_path, "Dig hole", "Paint fence"))
    await run_turn(session, claude(), tmp_path, "Paint fence")
    assert sorted(await threads(store)) == [CLAUDE, "t1"]
    assert await responses(store) == (2, 10, 14)
    await import_log(store, claude_log(tmp_path, "Dig hole", "Paint fence", "Paint gate"))
    assert await texts(store) == PAINTED
    assert await responses(store) == (3, 15, 21)


async def test_the_log_of_a_session_is_imported_once_its_run_has_ended(
    session: Session, tmp_path: Path
) -> None:
    store, path = session.store, claude_log(tmp_path, "Paint fence")
    given = options(tmp_path, "billed", "tool")
    run = await session.start(claude(), "t1", "Paint fence", cwd=tmp_path, options=given)
    while not session.awaiting_approval():
        await asyncio.sleep(0.01)
    await import_log(store, path)
    assert await threads(store) == ["t1"]
    await session.stop(run.id)
    await import_log(store, path)
    assert await threads(store) == ["t1"]
    assert await texts(store) == PAINTED


def codex_log(folder: Path, *prompts: str, started: datetime | None = None) -> Path:
    """The rollout of turns; `began` is the time of the last one."""
    path = folder / f"rollout-2026-03-02T09-00-00-{CODEX}.jsonl"
    records: list[JsonObject] = [{"type": "session_meta", "payload": {"id": CODEX, "cwd": str(folder)}}]
    for number, prompt in enumerate(prompts, 1):
        content = {"type": "output_text", "text": f"{folder.name}: {prompt}"}
        last = {"input_tokens": 11, "cached_input_tokens": 3, "output_tokens": 4, "total_tokens": 15}
        total = {name: count * number for name, count in last.items()}
        info = {"total_token_usage": total, "last_token_usage": last}
        records += [
            {"type": "turn_context", "payload": {"turn_id": f"turn-{number}", "model": "m"}},
            {"type": "event_msg", "payload": {"type": "user_message", "message": prompt}},
            {
                "type": "response_item",
                "payload": {"type": "message", "role": "assistant", "content": [content]},
            },
            {"type": "event_msg", "payload": {"type": "token_count", "info": info}},
            {"type": "event_msg", "payload": {"type": "task_complete", "turn_id": f"turn-{number}"}},
        ]
    stamped = [{"timestamp": f"2026-03-02T09:00:{at:02}.000Z", **one} for at, one in enumerate(records)]
    if started is not None:
        stamped[-5:] = [one | {"timestamp": started.isoformat()} for one in stamped[-5:]]
    path.write_text("".join(json.dumps(record) + "\n" for record in stamped))
    return path


async def test_a_session_of_codex_is_stored_and_counted_once(session: Session, tmp_path: Path) -> None:
    store, agent = session.store, CodexService(command("codex"), timeouts=LONG)
    for prompt in ("Saw planks", "Saw boards"):
        run = await session.start(agent, "t1", prompt, cwd=tmp_path, options=options(tmp_path))
        assert (await session.wait(run.id)).status == "completed"
    path = codex_log(tmp_path, "Saw planks", "Saw boards")
    counted = await responses(store)
    await import_log(store, path)
    assert await threads(store) == ["t1"]
    assert len(await texts(store)) == 4
    assert await responses(store) == counted == (2, 22, 8)
    await import_log(store, codex_log(tmp_path, "Saw planks", "Saw boards", "Saw logs"))
    assert (await texts(store))[4] == "Saw logs"
    assert await responses(store) == (3, 33, 12)


async def test_a_session_started_outside_of_partita_stays_a_separate_thread(
    session: Session, tmp_path: Path
) -> None:
    store, agent = session.store, CodexService(command("codex"), timeouts=LONG)
    await import_log(store, codex_log(tmp_path, "Go on"))
    run = await session.start(agent, "t1", "Go on", cwd=tmp_path, session_id=CODEX, options=options(tmp_path))
    run = await session.wait(run.id)
    assert run.status == "completed"
    await import_log(store, codex_log(tmp_path, "Go on", "Go on", started=run.started_at))
    assert sorted(await threads(store)) == ["t1", CODEX]
    assert len((await store.messages.list(CODEX)).items) == 4
    assert await responses(store) == (2, 22, 8)


class ResumingAgent:
    """An agent that keeps the session id that it is asked to resume."""

    name = "claude-code"

    def __init__(self) -> None:
        self.session_id: str | None = None

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        self.session_id = session_id
        yield CompleteEvent(agent_type=self.name)


def serve(url: str, folder: str) -> None:
    """Run a turn in this process until it is killed."""

    async def work() -> None:
        async with partita.open_store(url) as store, Session(store, lease=0.5, heartbeat=0.1) as session:
            given = options(Path(folder), "billed", "tool", approvals=NoDecision())
            run = await session.start(claude(), "t1", "Paint fence", cwd=Path(folder), options=given)
            async for chunks in session.follow(run.id):  # a chunk is sent once it is stored
                if any(isinstance(one.chunk, ToolApprovalRequest) for one in chunks):
                    print_line({"run": run.id})

    asyncio.run(work())


async def test_a_session_survives_a_server_that_is_killed_in_its_first_turn(tmp_path: Path) -> None:
    url = str(tmp_path / "store.db")
    process = Forked(serve, url, str(tmp_path))
    try:
        await process.line()
    finally:
        await process.kill()
    async with partita.open_store(url) as store, Session(store, lease=0.5, heartbeat=0.1) as session:
        while (run := (await store.runs.list()).items[0]).status == "running":
            await asyncio.sleep(0.02)
        assert run.status == "interrupted"
        agent = ResumingAgent()
        await session.wait((await session.start(agent, "t1", "Go on")).id)
        assert agent.session_id == CLAUDE
        await import_log(store, claude_log(tmp_path, "Paint fence"))
        assert await threads(store) == ["t1"]
        assert (await texts(store))[:3] == [*PAINTED, "Go on"]
        assert await responses(store) == (1, 5, 7)
