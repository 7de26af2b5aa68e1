"""Refusals, as problem details, by plain ASGI."""

import traceback
from typing import Final

from partita.errors import PartitaError
from partita.runtime.log_context import get_logger
from partita.server.openai.errors import with_error_object
from partita.server.plain import Event, Send
from partita.server.problems import MEDIA_TYPE, Problem, told
from partita.store.ids import new_id

from .head import Head
from .origins import Headers

LOG: Final = get_logger("partita.server")
NO_SNIFFING: Final = (b"x-content-type-options", b"nosniff")
ALWAYS: Final[Headers] = (
    (b"content-type", MEDIA_TYPE.encode("ascii")),
    (b"cache-control", b"no-store"),
    NO_SNIFFING,
)


async def refuse(
    send: Send, error: PartitaError, headers: Headers, *, path: str, head: Head | None = None
) -> None:
    """Answer with a problem. `head` is missing if it is what is refused."""
    status, own, body = told(error, head.version if head else "")
    body = with_error_object(path, body)
    said = [
        *ALWAYS,
        (b"content-length", str(len(body)).encode("ascii")),
        *((name.encode("latin-1"), value.encode("latin-1")) for name, value in own.items()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": said})
    await send({"type": "http.response.body", "body": b"" if head and head.method == "HEAD" else body})


def unexpected(error: Exception) -> Problem:
    """The problem to answer with when finding out who asks went wrong; the log tells where, without words.

    What such an error says may well be the secret that was shown.
    """
    number = new_id()
    frames = "".join(traceback.format_tb(error.__traceback__))
    LOG.error("problem %s: %s while finding out who asks\n%s", number, type(error).__name__, frames)
    return Problem(500, "something went wrong here, not with your request", where=f"urn:uuid:{number}")


class Answer:
    """What sends an answer with some headers more, and knows whether it has begun."""

    __slots__ = ("_headers", "_send", "begun")

    def __init__(self, send: Send, headers: Headers) -> None:
        self._send = send
        self._headers = (NO_SNIFFING, *headers)
        self.begun = False

    async def __call__(self, event: Event) -> None:
        """Send the next piece."""
        if not self.begun and event["type"] == "http.response.start":
            self.begun = True
            own = list(event.get("headers", ()))
            there = {name for name, _ in own} - {b"vary"}
            event = {**event, "headers": own + [one for one in self._headers if one[0] not in there]}
        await self._send(event)
