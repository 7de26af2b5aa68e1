"""Calls with recorded results of Mastra."""

from datetime import datetime
from pathlib import Path

import httpx
import pytest

from partita.store.store import Store
from partita.types.json import JsonObject, dumps, loads
from partita.types.threads import Thread
from tests.formats.mastra_messages import load_v2
from tests.recordings import cases_in, folders

from .mastra_site import API, ids

EXCLUDED = {"ls-0035": "over HTTP, a thread that belongs to another resource is refused"}


def cases(folder: Path) -> list[JsonObject]:
    """The calls that a client can make: about one thread, or about the list of threads."""
    known = cases_in(folder / "list-messages.jsonl")
    return [case for case in known if case["id"] not in EXCLUDED and path_of(case) is not None]


def path_of(case: JsonObject) -> str | None:
    thread = case["input"]["args"].get("threadId")
    if case["kind"] == "listThreads":
        return f"{API}/threads"
    return f"{API}/threads/{thread}/messages" if isinstance(thread, str) and thread else None


def query_of(args: JsonObject) -> dict[str, str]:
    """The query string that a client sends for the arguments of a call."""
    members = {name: value for name, value in args.items() if name != "threadId"}
    if "metadata" in members.get("filter", {}) and "threadId" not in args:  # of threads
        members |= members.pop("filter")
    return {
        name: value if isinstance(value, str) else dumps(value).decode() for name, value in members.items()
    }


async def fill(store: Store, folder: Path) -> None:
    fixture = loads((folder / "list-messages-fixture.json").read_bytes())
    threads = [
        Thread(
            id=thread["id"],
            resource_id=thread["resourceId"],
            title=thread["title"],
            metadata=thread["metadata"],
            created_at=datetime.fromisoformat(thread["createdAt"]),
            updated_at=datetime.fromisoformat(thread["updatedAt"]),
        )
        for thread in fixture["threads"]
    ]
    for thread in threads:
        await store.threads.save(thread)
    await store.messages.save(load_v2(fixture["messages"]).messages)
    for thread in threads:
        await store.threads.save(thread)  # new messages have changed its update time


@pytest.mark.parametrize("folder", folders("mastra"), ids=lambda path: path.parent.name)
async def test_calls_return_the_same_as_mastra(client: httpx.AsyncClient, store: Store, folder: Path) -> None:
    await fill(store, folder)
    wrong = {case["id"]: found for case in cases(folder) if (found := await difference(client, case))}
    assert not wrong


async def difference(client: httpx.AsyncClient, case: JsonObject) -> JsonObject | None:
    """The result of a call, if it differs from Mastra's."""
    response = await client.get(path_of(case) or "", params=query_of(case["input"]["args"]))
    expected = case["expected"]
    if expected.get("throws"):
        return None if response.status_code == 400 else {"status": response.status_code}
    page: JsonObject = response.json()
    lists = {name: ids(page, name) for name in ("messages", "threads") if name in page}
    given = {name: lists.get(name, page.get(name)) for name in expected}
    return None if given == expected else given
