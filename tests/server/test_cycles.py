"""The objects of a request are freed when it ends, without the garbage collector."""

import gc
from collections.abc import MutableMapping
from typing import Any

from partita.server.app import PartitaApp
from partita.store.values import RunFilter
from partita.types.json import dumps

CHATS = 20


async def test_a_chat_creates_no_reference_cycles(app: PartitaApp) -> None:
    await _chat(app, "first")  # creates objects that stay
    gc.collect()
    gc.disable()
    try:
        for number in range(CHATS):
            await _chat(app, f"chat-{number}")
        assert gc.collect() < CHATS
    finally:
        gc.enable()


async def _chat(app: PartitaApp, chat: str) -> None:
    request = _Request(app, chat)
    await app(request.scope, request.receive, request.send)
    assert b"Forty-one" in request.sent


class _Request:
    """A request like that of a server: it refers to its scope, and its methods are `receive` and `send`."""

    def __init__(self, app: PartitaApp, chat: str) -> None:
        self.scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": "/api/chat",
            "raw_path": b"/api/chat",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "scheme": "http",
            "root_path": "",
        }
        self.sent = b""
        self._hub = app.opened()
        self._chat = chat
        self._asked = False

    async def receive(self) -> dict[str, Any]:
        if self._asked:
            (run,) = (await self._hub.store.runs.list(RunFilter(thread_id=self._chat))).items
            await self._hub.session.wait(run.id)
            return {"type": "http.disconnect"}
        self._asked = True
        parts = [{"type": "text", "text": "How tall is it?"}]
        message = {"id": f"{self._chat}-u", "role": "user", "parts": parts}
        return {"type": "http.request", "body": dumps({"id": self._chat, "messages": [message]})}

    async def send(self, event: MutableMapping[str, Any]) -> None:
        self.sent += event.get("body", b"")
