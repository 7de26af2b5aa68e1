"""The bytes of one response → events. How they are framed is known by their beginning."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from partita.formats.agent_decoder import Decoding
from partita.stream.records import Framing
from partita.types.events import AgentStreamEvent
from partita.types.json import JsonObject

_EVENT_STREAM: Final = "text/event-stream"
_EVENT_STARTS: Final = (b"[", b":", b"d", b"e", b"i", b"r")  # an array of records; comment, data, event, …


class Call(NamedTuple):
    """Whom we ask, and how the answer is to be read."""

    agent: str
    format_name: str
    facts: JsonObject


class Reading:
    """Bytes in, events out, for one response."""

    def __init__(self, call: Call, status: int, headers: Mapping[str, str]) -> None:
        self.framing: Framing | None = None
        """How they are framed, as soon as they tell."""
        self._call = call
        self._status = status
        self._content_type = headers.get("content-type", "")
        self._head = b""  # bytes that do not tell the framing yet
        self._decoding: Decoding | None = None

    def feed(self, data: bytes) -> list[AgentStreamEvent]:
        """The events that these bytes complete."""
        if self._decoding is not None:
            return self._decoding.feed(data)
        self._head += data
        return self._begin()[1] if self._head.strip() else []

    def finish(self) -> list[AgentStreamEvent]:
        """The events that are left when the bytes end, however they did."""
        decoding, events = (self._decoding, []) if self._decoding else self._begin()
        return [*events, *decoding.finish()]

    def _begin(self) -> tuple[Decoding, list[AgentStreamEvent]]:
        self.framing = framing_of(self._status, self._content_type, self._head)
        refused = {"status": self._status} if self._status >= 300 else {}
        facts = {**self._call.facts, **refused}
        decoding = self._decoding = Decoding(self._call.format_name, self.framing, facts)
        return decoding, [*decoding.begin(), *decoding.feed(self._head)]


def framing_of(status: int, content_type: str, head: bytes) -> Framing:
    """How an answer is framed. Proxies mislabel, so its first byte counts more than its content type."""
    start = head.lstrip()[:1]
    if status >= 300 or start == b"{":
        return "body"
    is_stream = content_type.startswith(_EVENT_STREAM) or start in _EVENT_STARTS
    return "sse" if is_stream else "body"
