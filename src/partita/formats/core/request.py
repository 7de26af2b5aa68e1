"""Requests of an API: messages, with tools and settings around them.

`Requests` is what `Format.load` and `Format.dump` of an API call. It combines what the API declares: how
messages are read and written (`role_messages`), tools (`tools`), responses (`response`), reasons for losses
(`report`). A payload is a request, its messages, one message, a response, or the events of a stream.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from partita.errors import ConversionError
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.losses import NO_PLACE, OBJECTS, RENAMED
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    Message,
)

from .members import described, items_in, member_at
from .report import Report
from .response import Responses
from .role_messages import SYSTEM, RoleReader, RoleWriter
from .tools import Tools
from .turns import Position, join

HINT: Final = "give a request, its messages, a response, or the events of a stream"
MESSAGES: Final = "messages"

REASONS: Final[Mapping[str, str]] = {
    "tool-call.id": RENAMED,
    "tool-call.name": RENAMED,
    "input": OBJECTS,
}
"""Why a field is not in a request, besides the common reasons. An API may have others."""


def request_report(
    namespace: str, reasons: Mapping[str, str] | None = None, spelling: frozenset[str] = frozenset()
) -> Report:
    """Return the report of an API's requests, with its own reasons."""
    return Report(namespace, NO_PLACE, {**REASONS, **(reasons or {})}, spelling)


class Requests:
    """Reads and writes the requests of an API."""

    def __init__(
        self,
        report: Report,
        title: str,
        responses: Responses,
        tools: Tools,
        *,
        reader: type[RoleReader],
        writer: type[RoleWriter],
        members: Sequence[str] = (SYSTEM, MESSAGES),
        is_request: Callable[[JsonObject], bool] = lambda payload: MESSAGES in payload,
    ) -> None:
        """`title`: the name of the API in errors.

        `reader`, `writer`: the classes for its messages.
        `members`: the members of a request that are messages; all others are tools and settings.
        """
        self._report, self._title, self._responses, self._tools = report, title, responses, tools
        self._reader, self._writer, self._members, self._is_request = reader, writer, members, is_request
        self._api = ""

    def format(self, name: str, title: str) -> Format:
        """Return the format of the requests."""
        self._api = name
        decoder = self._responses.decoder
        return Format(name, title, self.load, self.dump, decoder, takes_request=True, is_complete=True)

    def load(self, payload: Json) -> Loaded:
        """Read a request, its messages, one of them, a response, or the events of a stream."""
        if is_array(payload):
            if any(is_object(item) and "role" not in item for item in payload):
                return self._responses.load(payload)
            return self._load_messages(payload)
        if is_object(payload):
            if self._is_request(payload):
                return self._load_request(payload)
            if self._responses.is_response(payload):
                return self._responses.load(payload)
            if "role" in payload:
                return self._load_messages([payload])
        raise ConversionError(f"{described(payload)} is unknown to {self._title}", where="$", hint=HINT)

    def _read(self, raws: Sequence[Json], path: str, request: JsonObject | None = None) -> RoleReader:
        reader = self._reader(self._report.namespace)
        system = request.get(SYSTEM) if request and SYSTEM in self._members else None
        reader.read_all(raws, path, system)
        return reader

    def _load_messages(self, items: Sequence[Json]) -> Loaded:
        """Read messages without a request around them."""
        found = tuple(join(self._read(items, "$").messages))
        return Loaded(found, write_back=lambda: self.dump(found).payload[MESSAGES])

    def _load_request(self, payload: JsonObject) -> Loaded:
        messages = payload.get(MESSAGES, [])
        if not is_array(messages):
            what = f"messages is {kind_of(messages)}"
            raise ConversionError(what, where="$.messages", hint="make it a list")
        reader = self._read(messages, "$.messages", payload)
        settings = {name: item for name, item in payload.items() if name not in self._members}
        request = Request(self._tools.take(settings), settings, self._api)
        return Loaded(tuple(join(reader.messages)), request=request)

    def dump(self, messages: Sequence[Message], request: Request | None = None) -> Dumped:
        """Write messages, or a whole request with its tools and settings."""
        writer = self._writer(self._report.namespace)
        writer.request = request
        record, payload = writer.record, writer.write(messages)
        if request is not None:
            payload = self._tools.add(request, {**payload, **request.settings}, record)
        payload = writer.complete(payload)

        def read_back() -> dict[Position, Any]:
            return self._read(payload.get(MESSAGES, []), "$.messages", payload).positions

        return Dumped(payload, lambda: self._report.compare(record, read_back()))


def check_messages(payload: JsonObject) -> None:
    """Raise an error for a request without messages, which the API would refuse."""
    if not payload[MESSAGES]:
        raise ConversionError("no message to send", where="$", hint="give at least one that has content")


def block_lists(payload: JsonObject, *tools: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of blocks in a request with their paths: tools, instructions, contents of messages.

    `tools`: the path of the tools.
    """
    yield f"$.{'.'.join(tools)}", items_in(member_at(payload, tools))
    yield "$.system", items_in(payload.get("system"))
    for index, message in enumerate(payload.get(MESSAGES, ())):
        yield f"$.{MESSAGES}[{index}].content", items_in(message["content"])
