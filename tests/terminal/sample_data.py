"""Sample data for commands: a folder with unsafe text in every place."""

import asyncio
from pathlib import Path

from partita.demo.archive import load_archive
from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import ScriptedService
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.json import Json, dumps
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart
from tests.importers.database_examples import MASTRA, make_sqlite
from tests.importers.log_files import ClaudeLog, gardening
from tests.runtime.replay.example_runs import SCRIPT, launch, launched, run_turn, weather
from tests.store.old_rows import second, with_rows

EVIL = "evil\x1b]0;owned\x07\x1b[2J\x1b[7mloud\x1b[0m\x9b1mc1\x08\x7f \u202eesrever\u202c end"
"""A window title, a cleared screen, inverse text, a C1 control character, backspaces, turned text."""

THREAD = "evil-thread"


def create_sample_data(folder: Path) -> None:
    """Create a store, logs, rows of another system, a stream and messages in a folder."""
    asyncio.run(_fill(folder / "store.db"))
    make_sqlite(folder / "mastra.db", MASTRA)
    gardening().write(folder / "logs")
    talk = ClaudeLog("6c1a7a1f-2f8e-4b52-9d3b-1a52ad1fb6a2")
    talk.prompt(EVIL).answer(EVIL, call={"id": "toolu_9", "name": EVIL, "input": {"x": EVIL}})
    talk.result("toolu_9", EVIL).raw(type=EVIL).write(folder / "logs" / "evil\x1b[7m")
    (folder / "logs" / "broken.jsonl").write_bytes(gardening("7d").lines()[:900] + b'{"type":"\x1b[7m\x9b\n')
    chunks = [
        {"type": "start", "messageId": EVIL},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": EVIL},
        {"type": "text-end", "id": "t"},
        {"type": "error", "errorText": EVIL},
        {"type": "finish"},
    ]
    (folder / "stream.jsonl").write_bytes(b"".join(dumps(chunk) + b"\n" for chunk in chunks))
    message: Json = {"id": EVIL, "role": "user", "parts": [{"type": "text", "text": EVIL}, {"type": EVIL}]}
    (folder / "messages.json").write_bytes(dumps([message]))
    wrong: Json = {"id": "1", "role": EVIL, "parts": []}
    (folder / "wrong.json").write_bytes(dumps([wrong]))


async def _fill(path: Path) -> None:
    async with open_store(str(path)) as store:
        await load_archive(store)
        await _evil(store)
        agent = Agent(ScriptedService(SCRIPT), tools=[weather, launch], store=store)
        await launched(agent, "moon")
        await run_turn(agent, "sky", "weather?")
        await run_turn(agent, "sky", EVIL)
        await agent.session.close()


async def _evil(store: Store) -> None:
    await store.threads.create(THREAD, title=EVIL, agent=EVIL, project=f"/srv/{EVIL}")
    call = ToolCallPart(
        id="c1", name=EVIL, state="output-available", input={EVIL: EVIL}, output=TextOutput(value=EVIL)
    )
    answer = AssistantMessage(id="e2", content=[ReasoningPart(EVIL), call, TextPart(EVIL)])
    await store.messages.save([UserMessage(id="e1", content=EVIL), answer], thread_id=THREAD)
    await store.keys.create(EVIL, "write", EVIL)
    await with_rows(
        store,
        {
            "old-1": ("user", EVIL.replace("\n", " ")),
            "old-2": ("assistant", second({"type": "reasoning", "reasoning": EVIL})),
        },
        THREAD,
    )
