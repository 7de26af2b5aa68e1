"""Requests of an API: messages, with tools and settings around them.

A payload of such an API is a request, its messages, one of them, or a response.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from partita.errors import ConversionError
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.reasons import NO_PLACE, OBJECTS, RENAMED
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message

from .report import Place, Record, Report
from .turns import join

HINT: Final = "give a request, its messages, a response, or the events of a stream"
MESSAGES: Final = "messages"

REASONS: Final[Mapping[str, str]] = {
    "tool-call.id": RENAMED,
    "tool-call.name": RENAMED,
    "input": OBJECTS,
}
"""Why a request does not have a field. An API may have other reasons."""


def request_report(
    namespace: str, reasons: Mapping[str, str] | None = None, spelling: frozenset[str] = frozenset()
) -> Report:
    """The report of an API's requests, given its reasons beyond the common ones."""
    return Report(namespace, NO_PLACE, {**REASONS, **(reasons or {})}, spelling)


class Reader(Protocol):
    """What reading messages results in."""

    @property
    def messages(self) -> list[Message]:
        """The messages. Results that are not right after their calls may be apart from them."""
        ...

    @property
    def places(self) -> dict[Place, Any]:
        """What was read, by its place."""
        ...


class Requests:
    """Reads and writes the requests of an API."""

    def __init__(
        self,
        report: Report,
        title: str,
        responses: Format,
        *,
        read: Callable[[Sequence[Json], str, JsonObject], Reader],
        write: Callable[[Sequence[Message], Request | None], tuple[JsonObject, Record]],
        read_request: Callable[[JsonObject], Request],
        is_response: Callable[[JsonObject], bool],
        is_request: Callable[[JsonObject], bool] = lambda payload: MESSAGES in payload,
    ) -> None:
        """`title`: the API in errors.

        `read`: reads messages, given their path and the request, which is empty if there is none.
        `write`: writes a payload with messages, and records what went where.
        """
        self._report, self._title, self._responses = report, title, responses
        self._read, self._write, self._read_request = read, write, read_request
        self._is_response, self._is_request = is_response, is_request

    def load(self, payload: Json) -> Loaded:
        """Read a request, its messages, one of them, a response, or the events of a stream."""
        if is_array(payload):
            if any(is_object(item) and "role" not in item for item in payload):
                return self._load_response(payload)
            return self._load_messages(payload)
        if is_object(payload):
            if self._is_request(payload):
                return self._load_request(payload)
            if self._is_response(payload):
                return self._load_response(payload)
            if "role" in payload:
                return self._load_messages([payload])
        raise ConversionError(f"{describe(payload)} is unknown to {self._title}", where="$", hint=HINT)

    def _load_response(self, payload: Json) -> Loaded:
        assert self._responses.load is not None
        return self._responses.load(payload)

    def _load_messages(self, items: Sequence[Json]) -> Loaded:
        """Messages without a request around them."""
        found = tuple(join(self._read(items, "$", {}).messages))
        return Loaded(found, again=lambda: self.dump(found).payload[MESSAGES])

    def _load_request(self, payload: JsonObject) -> Loaded:
        messages = payload.get(MESSAGES, [])
        if not is_array(messages):
            what = f"messages is {kind_of(messages)}"
            raise ConversionError(what, where="$.messages", hint="make it a list")
        reader = self._read(messages, "$.messages", payload)
        return Loaded(tuple(join(reader.messages)), request=self._read_request(payload))

    def dump(self, messages: Sequence[Message], request: Request | None = None) -> Dumped:
        """Write messages, or a whole request."""
        payload, record = self._write(messages, request)

        def read_back() -> dict[Place, Any]:
            return self._read(payload.get(MESSAGES, []), "$.messages", payload).places

        return Dumped(payload, lambda: self._report.compare(record, read_back()))


def describe(payload: Json) -> str:
    """What a payload is, for an error."""
    if not is_object(payload):
        return kind_of(payload)
    return f"an object with {', '.join(list(payload)[:5])}" if payload else "an empty object"
