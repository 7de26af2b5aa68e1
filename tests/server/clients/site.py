"""A server as its page sees it: chats on it, and what it has stored of them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from partita.types.json import JsonObject

from .browser import Browser, State, View


@dataclass(frozen=True, slots=True)
class Site:
    """A server, and a browser that shows a page of it."""

    browser: Browser
    url: str

    async def chat(self, thread_id: str = "harbour", **options: Any) -> "Chat":
        """A chat on the page, with no messages yet unless they are given."""
        return Chat(self, thread_id, await self.browser.mount({"id": thread_id, **options}))

    async def load(self, thread_id: str = "harbour", **options: Any) -> "Chat":
        """A chat on the page as somebody sees it who comes back: with what is stored."""
        return await self.chat(thread_id, messages=await self.stored(thread_id), **options)

    async def stored(self, thread_id: str = "harbour") -> list[JsonObject]:
        """The messages that the server has, for a client of the browser's release."""
        answer = await self.request("GET", f"/api/threads/{thread_id}/messages", params=self._bare)
        messages: list[JsonObject] = answer.json()
        return messages

    @property
    def _bare(self) -> dict[str, str]:
        return {"format": f"ai-sdk-ui-v{self.browser.version}", "bare": "true"}

    @asynccontextmanager
    async def stream(self, method: str, path: str) -> AsyncGenerator[httpx.Response, None]:
        """An answer of the server, to be read as it comes."""
        async with self._client() as client, client.stream(method, path) as answer:
            yield answer

    async def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """What the server answers to somebody else, who is content with it."""
        async with self._client() as client:
            answer = await client.request(method, path, **more)
        assert answer.is_success, answer.text
        return answer

    def _client(self) -> httpx.AsyncClient:
        # To load certificates, which plain HTTP does not need, takes longer than most requests here.
        return httpx.AsyncClient(base_url=self.url, timeout=20, verify=False)


@dataclass(frozen=True, slots=True)
class Chat:
    """One `useChat`."""

    site: Site
    thread_id: str
    view: View

    async def send(self, text: str, **more: Any) -> State:
        """Send a message, and give the state once it is answered."""
        await self.view.call("sendMessage", {"text": text, **more})
        return await self.view.until(settled=True)

    async def finished(self, **wanted: Any) -> State:
        """The state once all is answered, which has to be what the server has stored."""
        state = await self.view.until(settled=True, **wanted)
        assert not state.rejected
        stored = await self.site.stored(self.thread_id)
        assert state.messages == stored, f"shown: {state.messages}\nstored: {stored}"
        return state
