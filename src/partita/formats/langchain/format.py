"""LangChain's messages ↔ canonical messages, in two versions.

Version 1 writes standard content blocks. Version 0 writes content as code before LangChain 1.0 expects it:
strings, and blocks of OpenAI and Anthropic. Both versions read all forms. Calls in blocks and `tool_calls`
are matched by id, and results are merged into their calls. Each step of an assistant message is a message, as
is each result. A message without an id is `message-N`. Messages of unknown types are kept as events.

A payload has four forms (`envelope.py`), and contents have blocks of many providers (`native.py`).

Wire: https://reference.langchain.com/python/langchain/messages
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from partita.formats.core.report import Report
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import join, misplaced_results
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.losses import NO_PLACE, UNREAD, Loss, json_losses
from partita.types.json import Json, JsonObject
from partita.types.messages import Message

from .envelope import open_message, open_payload
from .parts import RESERVED
from .reader import Reader
from .wire import NAME
from .writer import MESSAGE_NOTES, Writer

REPORT: Final = Report(
    NAME,
    default=NO_PLACE,
    reasons={
        "output": "a result is text, blocks, or JSON with an artifact, and its status",
    },
    spelling=RESERVED | MESSAGE_NOTES,
)


def load(payload: Json, version: int = 1) -> Loaded:
    """Read messages: one, a list of them, or a state that has them."""
    reader = Reader(payload, version)
    messages = tuple(join(reader.messages))
    request = Request(settings=reader.state) if reader.state else None

    def losses() -> Iterator[Loss]:
        reported = [*reader.losses, *misplaced_results(reader.messages, reader.paths)]
        paths = tuple(loss.path for loss in reported)
        yield from reported
        yield from (loss for loss in unread(payload, messages, version) if not loss.path.startswith(paths))

    return Loaded(messages, losses, request, is_complete=True)


def dump(messages: Sequence[Message], version: int = 1) -> Dumped:
    """Write messages as `messages_from_dict` reads them."""
    writer = Writer(version)
    payload = writer.write(messages)
    return Dumped(payload, lambda: REPORT.compare(writer.record, Reader(payload, version).positions))


def unread(payload: Json, messages: Sequence[Message], version: int) -> Iterator[Loss]:
    """Yield the losses when messages are written back in their original forms.

    Results are found by the id of their call: `misplaced_results` reports those that are in another place.
    """
    written: defaultdict[Json, deque[JsonObject]] = defaultdict(deque)
    for raw in Writer(version, is_faithful=True).write(messages):
        data = open_message(raw, "$", []).data
        written[_call_id(data)].append(data)
    for opened in open_payload(payload).messages:
        rest = written[_call_id(opened.data)]
        if not rest:
            yield Loss.of(opened.path, opened.data, UNREAD)
            continue
        given = {name: value for name, value in opened.data.items() if value not in (None, [], {})}
        yield from json_losses(given, rest.popleft(), opened.path, UNREAD)


def _call_id(data: JsonObject) -> Json:
    id_ = data.get("tool_call_id")
    return id_ if isinstance(id_, str) else None


_SLOT: Final = in_messages("data", "additional_kwargs", is_always_there=True)

FORMAT: Final = Format(
    NAME,
    "LangChain messages with standard content blocks",
    load,
    dump,
    slot=_SLOT,
    is_complete=True,
)
FORMAT_V0: Final = Format(
    f"{NAME}-v0",
    "LangChain messages as older code expects them",
    partial(load, version=0),
    partial(dump, version=0),
    slot=_SLOT,
    is_complete=True,
)
