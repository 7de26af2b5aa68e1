"""A server with a page: its chats, and the stored messages."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from partita.types.json import JsonObject

from .browser import Browser, State, View


@dataclass(frozen=True, slots=True)
class Site:
    """A server, and a browser with a page of it."""

    browser: Browser
    url: str

    async def chat(self, thread_id: str = "harbour", **options: Any) -> "Chat":
        """A chat on the page, by default without messages."""
        return Chat(self, thread_id, await self.browser.mount({"id": thread_id, **options}))

    async def load(self, thread_id: str = "harbour", **options: Any) -> "Chat":
        """A chat on the page after a reload, with the stored messages."""
        return await self.chat(thread_id, messages=await self.stored(thread_id), **options)

    async def stored(self, thread_id: str = "harbour") -> list[JsonObject]:
        """The messages that the server has, for a client of the browser's release."""
        response = await self.request("GET", f"/api/threads/{thread_id}/messages", params=self._bare)
        messages: list[JsonObject] = response.json()
        return messages

    @property
    def _bare(self) -> dict[str, str]:
        return {"format": f"ai-sdk-ui-v{self.browser.version}", "bare": "true"}

    @asynccontextmanager
    async def stream(self, method: str, path: str) -> AsyncGenerator[httpx.Response, None]:
        """A streamed response of the server."""
        async with self._client() as client, client.stream(method, path) as response:
            yield response

    async def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The successful response to a request of another client."""
        async with self._client() as client:
            response = await client.request(method, path, **more)
        assert response.is_success, response.text
        return response

    def _client(self) -> httpx.AsyncClient:
        # Loading certificates, which HTTP does not need, takes longer than most requests here.
        return httpx.AsyncClient(base_url=self.url, timeout=20, verify=False)


@dataclass(frozen=True, slots=True)
class Chat:
    """One `useChat`."""

    site: Site
    thread_id: str
    view: View

    async def send(self, text: str, **more: Any) -> State:
        """Send a message, and return the state after the response."""
        await self.view.call("sendMessage", {"text": text, **more})
        return await self.view.until(settled=True)

    async def finished(self, **expected: Any) -> State:
        """The state after the last response, which must equal the stored messages."""
        state = await self.view.until(settled=True, **expected)
        assert not state.rejected
        stored = await self.site.stored(self.thread_id)
        assert state.messages == stored, f"shown: {state.messages}\nstored: {stored}"
        return state
