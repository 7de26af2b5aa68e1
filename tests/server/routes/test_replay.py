"""Runs over HTTP: followed live, replayed, and at one point."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx

from partita.runtime.session.session import Session
from partita.server.app import PartitaApp
from partita.store.logs.run_log import LogRecord
from partita.store.store import Store
from partita.stream.sse import ChunkReader
from partita.types.chunks import Chunk, MessageStart, ReasoningFileChunk, TextDelta, type_of
from partita.types.threads import Run
from tests.logs.claude_session import Session as Log
from tests.runtime.session.controlled_agent import ControlledAgent, full_reply, partial_reply, run_turn
from tests.server.conftest import Serve
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DONE = "data: [DONE]\n\n"


def session_of(app: PartitaApp) -> Session:
    return app.opened().session


def chunks_of(response: httpx.Response) -> list[Chunk]:
    assert response.status_code == 200, response.text
    assert response.text.endswith(DONE)
    return list(ChunkReader().feed(response.content))


@asynccontextmanager
async def reading(url: str, **headers: str) -> AsyncGenerator[AsyncIterator[str], None]:
    """The events of a stream of a real server."""
    async with (
        httpx.AsyncClient(timeout=10) as client,
        client.stream(
            "GET", url, headers={name.replace("_", "-"): value for name, value in headers.items()}
        ) as response,
    ):
        assert response.status_code == 200
        yield events(response)


async def events(response: httpx.Response) -> AsyncIterator[str]:
    text = ""
    async for piece in response.aiter_text():
        text += piece
        *whole, text = text.split("\n\n")
        for event in whole:
            yield event


async def until(check: object) -> None:
    """Wait until a condition holds."""
    assert callable(check)
    async with asyncio.timeout(10):
        while not check():
            await asyncio.sleep(0.01)


def streams_open() -> int:
    return sum("EventStream" in str(task.get_coro()) for task in asyncio.all_tasks())


# Live


async def test_a_run_is_followed_live_and_resumed(app: PartitaApp, serve: Serve) -> None:
    url, agent = await serve(app), ControlledAgent(*partial_reply("It ", "is "))
    run = await session_of(app).start(agent, "t", "How tall?")
    async with reading(f"{url}/api/runs/{run.id}/stream") as events_of:
        first = [await anext(events_of) for _ in range(4)]
    place = re.match("id: (.*)\n", first[-1])
    assert place is not None
    await until(lambda: streams_open() == 0)
    assert not agent.stopped.is_set(), "disconnecting does not stop a run"
    agent.complete(*full_reply("forty.")[2:])
    async with reading(f"{url}/api/runs/{run.id}/stream", last_event_id=place[1]) as events_of:
        rest = [event async for event in events_of]
    async with httpx.AsyncClient() as client:
        whole = (await client.get(f"{url}/api/runs/{run.id}/stream")).text
    assert "\n\n".join([*first, *rest, ""]) == whole
    assert whole.endswith(DONE)


async def test_a_stream_starts_after_an_event_number(app: PartitaApp, client: httpx.AsyncClient) -> None:
    run = await run_turn(session_of(app), "t", "Forty.")
    whole = (await client.get(f"/api/runs/{run.id}/stream")).text
    places = [int(seq) for seq in re.findall(r"^id: .*:(\d+)$", whole, re.MULTILINE)]
    later = (await client.get(f"/api/runs/{run.id}/stream?after={places[1]}")).text
    assert whole.endswith(later)
    assert [int(seq) for seq in re.findall(r"^id: .*:(\d+)$", later, re.MULTILINE)] == places[2:]


VERSIONS = {
    "?version=7": "reasoning-file",
    "?version=6": "file",
    "?version=5.0.92": "file",
    "?version=raw": "reasoning-file",
    "": "reasoning-file",
}


@each_row("way", ["stream", "replay"])
@each_row(("query", "type_"), VERSIONS.items(), ids=VERSIONS)
async def test_each_release_receives_its_chunk_types(
    app: PartitaApp, client: httpx.AsyncClient, query: str, type_: str, way: str
) -> None:
    run = await drawn(session_of(app))
    chunks_received = chunks_of(await client.get(f"/api/runs/{run.id}/{way}{query}"))
    assert type_ in [type_of(chunk) for chunk in chunks_received]


async def test_the_release_can_be_named_in_a_header(app: PartitaApp, client: httpx.AsyncClient) -> None:
    run = await drawn(session_of(app))
    response = await client.get(f"/api/runs/{run.id}/stream", headers={"x-ai-sdk-version": "6"})
    assert "file" in [type_of(chunk) for chunk in chunks_of(response)]


async def drawn(session: Session) -> Run:
    """A run with reasoning files."""
    agent = ControlledAgent()
    agent.complete(
        MessageStart(), ReasoningFileChunk("data:image/png;base64,AA==", "image/png"), *full_reply("So.")[1:]
    )
    return await session.wait((await session.start(agent, "t", "Draw")).id)


# Replay


async def test_a_run_is_replayed(app: PartitaApp, client: httpx.AsyncClient, store: Store) -> None:
    run = await run_turn(session_of(app), "t", "Forty.")
    logged = [
        (record.seq, record.chunk) for record in await store.logs.read(run.id) if record.chunk is not None
    ]
    shown = [chunk for _, chunk in logged if not type_of(chunk).startswith("data-partita-")]
    assert chunks_of(await client.get(f"/api/runs/{run.id}/replay?speed=0&version=raw")) == shown
    paced = await client.get(f"/api/runs/{run.id}/replay?speed=1000&longestPause=0.001&version=raw")
    assert chunks_of(paced) == shown
    later = await client.get(f"/api/runs/{run.id}/replay?speed=0&version=raw&after={logged[2][0]}")
    assert chunks_of(later) == [chunk for _, chunk in logged[3:] if chunk in shown]


async def test_a_replay_stops_when_its_client_disconnects(
    app: PartitaApp, serve: Serve, store: Store
) -> None:
    url, agent = await serve(app), ControlledAgent(*partial_reply("One"))
    session = session_of(app)
    run = await session.start(agent, "t", "Count")
    await until(agent.started.is_set)
    await asyncio.sleep(0.1)  # the pause in the replay, a thousand times as long
    agent.complete(TextDelta("t", " two"), *full_reply("")[3:])
    await session.wait(run.id)
    async with reading(f"{url}/api/runs/{run.id}/replay?speed=0.001") as events_of:
        assert "start" in await anext(events_of)
        assert streams_open() > 0
    await until(lambda: streams_open() == 0)


async def test_an_imported_run_is_replayed(client: httpx.AsyncClient, store: Store) -> None:
    run = await imported(client, store)
    chunks_received = chunks_of(await client.get(f"/api/runs/{run.id}/replay?speed=0"))
    assert (
        "".join(chunk.delta for chunk in chunks_received if isinstance(chunk, TextDelta))
        == "Forty metres, it says."
    )


async def imported(client: httpx.AsyncClient, store: Store) -> Run:
    data = Log().turn("How tall?", "Forty metres, it says.").data
    headers = {"content-type": "application/x-ndjson"}
    assert (await client.post("/api/import", content=data, headers=headers)).status_code == 200
    (run,) = (await store.runs.list()).items
    return run


# At one point


async def test_a_run_is_returned_at_an_event(
    app: PartitaApp, client: httpx.AsyncClient, store: Store
) -> None:
    agent = ControlledAgent()
    agent.complete(*full_reply("It ", "is ", "forty."))
    session = session_of(app)
    run = await session.wait((await session.start(agent, "t", "How tall?")).id)
    records, so_far = await store.logs.read(run.id), ""
    for record in [LogRecord(0, NOON, None, None), *records, LogRecord(2**50, NOON, None, None)]:
        so_far += record.chunk.delta if isinstance(record.chunk, TextDelta) else ""
        moment = (await client.get(f"/api/runs/{run.id}/at?seq={record.seq}&format=ui")).json()
        parts = [part for message in moment["messages"] for part in message["parts"]]
        assert "".join(part.get("text", "") for part in parts) == so_far
        assert moment["seq"] == min(record.seq, records[-1].seq)
        assert moment["chunks"] == len(records)
    assert so_far == "It is forty."


async def test_without_a_number_the_end_of_the_run_is_returned(
    app: PartitaApp, client: httpx.AsyncClient, store: Store
) -> None:
    run = await run_turn(session_of(app), "t", "Forty.")
    moment = (await client.get(f"/api/runs/{run.id}/at")).json()
    stored = await store.messages.get("t", run.message_id or "")
    assert stored is not None
    assert moment["messages"][0]["id"] == stored.id
    assert moment["messages"][0]["content"]["parts"][-1]["text"] == "Forty."
    assert moment["place"] == moment["chunks"]
    assert moment["question"] == stored.parent_id


async def test_an_imported_run_is_returned_at_an_event(client: httpx.AsyncClient, store: Store) -> None:
    run = await imported(client, store)
    end = (await client.get(f"/api/runs/{run.id}/at?format=ui")).json()
    half = (await client.get(f"/api/runs/{run.id}/at?format=ui&seq=3")).json()
    texts = [one["messages"][0]["parts"][-1]["text"] for one in (half, end)]
    assert texts[1] == "Forty metres, it says."
    assert texts[1].startswith(texts[0])
    assert texts[0] != texts[1]


REFUSED = [
    "stream?version=4",
    "stream?version=newest",
    "stream?after=-1",
    "replay?speed=-1",
    "replay?speed=nan",
    "replay?longestPause=-1",
    "replay?version=x",
    "at?seq=-1",
    "at?seq=x",
    "at?format=nonesuch",
    "at?format=cherry",
]


@each_row("path", REFUSED)
async def test_invalid_requests_are_refused(app: PartitaApp, client: httpx.AsyncClient, path: str) -> None:
    run = await run_turn(session_of(app), "t")
    assert (await client.get(f"/api/runs/{run.id}/{path}")).status_code == 400


async def test_an_event_id_of_another_run_is_refused(app: PartitaApp, client: httpx.AsyncClient) -> None:
    run = await run_turn(session_of(app), "t")
    whole = await client.get(f"/api/runs/{run.id}/stream")
    other = await client.get(f"/api/runs/{run.id}/stream", headers={"last-event-id": "other:3"})
    assert other.text == whole.text
    for odd in ("x", f"{run.id}:", f"{run.id}:{'9' * 5000}"):
        refused = await client.get(f"/api/runs/{run.id}/stream", headers={"last-event-id": odd})
        assert refused.status_code == 400
