"""Reads paginated lists."""

from typing import Any

import httpx


async def paged(client: httpx.AsyncClient, path: str, size: int) -> list[dict[str, Any]]:
    """All items of a list, read in pages of a size."""
    seen: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        given = httpx.URL(path).copy_merge_params({"limit": size, **cursor})
        page = (await client.get(given)).json()
        assert len(page["items"]) <= size
        seen += page["items"]
        if "next" not in page:
            return seen
        cursor = {"cursor": page["next"]}
