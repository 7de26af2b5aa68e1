"""The id of a request: taken from `x-request-id` or made, returned with the response, and in log lines."""

import re
from collections.abc import Awaitable
from typing import Final

from partita.runtime.log_context import set_log_fields
from partita.server.plain import App, Event, Receive, Scope, Send
from partita.store.ids import new_id

HEADER: Final = b"x-request-id"
ACCEPTED: Final = re.compile(rb"[A-Za-z0-9._:+/=@-]{1,128}")
"""An id of a client or a proxy that may stand in headers and log lines. Any other is replaced."""


class RequestIds:
    """An application whose requests have ids."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request under its id."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_of(scope)
        set_log_fields(request_id=request_id.decode("ascii"))

        def sending(event: Event) -> Awaitable[None]:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event.get("headers", ()), (HEADER, request_id)]}
            return send(event)

        await self._app(scope, receive, sending)


def request_id_of(scope: Scope) -> bytes:
    """The id that the client sent, if it is the only one and can be used; otherwise a new one."""
    sent = [value for name, value in scope["headers"] if name == HEADER]
    if len(sent) == 1 and ACCEPTED.fullmatch(sent[0]):
        return bytes(sent[0])
    return new_id().encode("ascii")
