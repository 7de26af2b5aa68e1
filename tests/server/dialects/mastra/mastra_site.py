"""Helpers to create small threads and messages by Mastra's memory API."""

from typing import Any

import httpx

from partita.types.json import JsonObject

API = "/api/memory"


def minute(number: int) -> str:
    """A time, in minutes after the start of a day."""
    return f"2026-02-03T{number // 60:02}:{number % 60:02}:00.000Z"


def row(id: str, text: str, at: int = 0, **more: Any) -> JsonObject:
    """A V2 message with one text."""
    thread, owner = more.pop("thread", "t1"), more.pop("owner", "u1")
    metadata: JsonObject = {"metadata": more.pop("metadata")} if "metadata" in more else {}
    return {
        "id": id,
        "threadId": thread,
        "resourceId": owner,
        "role": more.pop("role", "user"),
        "createdAt": minute(at),
        "content": {"format": 2, "parts": [{"type": "text", "text": text}], **metadata},
        **more,
    }


async def make_thread(client: httpx.AsyncClient, id: str = "t1", owner: str = "u1", **more: Any) -> None:
    made = await client.post(f"{API}/threads", json={"threadId": id, "resourceId": owner, **more})
    assert made.status_code == 200, made.text


async def save(client: httpx.AsyncClient, *rows: JsonObject) -> list[JsonObject]:
    saved = await client.post(f"{API}/save-messages", json={"messages": list(rows)})
    assert saved.status_code == 200, saved.text
    messages: list[JsonObject] = saved.json()["messages"]
    return messages


async def listed(client: httpx.AsyncClient, thread: str = "t1", **query: Any) -> JsonObject:
    response = await client.get(f"{API}/threads/{thread}/messages", params=query)
    assert response.status_code == 200, response.text
    page: JsonObject = response.json()
    return page


def ids(page: JsonObject, of: str = "messages") -> list[str]:
    return [item["id"] for item in page[of]]
