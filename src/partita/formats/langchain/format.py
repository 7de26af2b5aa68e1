"""LangChain's messages ↔ canonical messages, in two versions.

Version 1 writes standard content blocks. Version 0 writes content as code before LangChain 1.0 expects it:
strings, and blocks of OpenAI and Anthropic. Both read everything. Calls in blocks and in `tool_calls` are one
by id, and results are merged into their calls. Each step of an assistant message is a message, and so is each
result. A message without an id is `message-N`. Messages of unknown types are kept whole, as events.

There are more files than in other formats: a payload has four forms (`envelope.py`), and contents have blocks
of many providers (`native.py`), so reading and writing are long (`reader.py`, `writer.py`).

Wire: https://reference.langchain.com/python/langchain/messages
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final

from partita.formats.core.report import Report, json_losses
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import join, misplaced_results
from partita.formats.format import Dumped, Format, Loaded, Request
from partita.formats.losses import Loss
from partita.types.json import Json
from partita.types.messages import Message

from .envelope import open_message, open_payload
from .parts import RESERVED
from .reader import Reader
from .wire import NAME
from .writer import NO_PLACE, OF_MESSAGES, Writer

UNREAD: Final = "messages have no place for it"

REPORT: Final = Report(
    NAME,
    default=NO_PLACE,
    reasons={
        "createdAt": "LangChain's messages have no time",
        "threadId": "LangChain's messages do not name their thread",
        "runId": "LangChain's messages do not name their run",
        "output": "a result is text, blocks, or JSON with an artifact, and its status",
    },
    spelling=RESERVED | OF_MESSAGES,
)


def load(payload: Json, version: int = 1) -> Loaded:
    """Read messages: one, a list of them, or a state that has them."""
    reader = Reader(payload, version)
    losses = (*reader.losses, *misplaced_results(reader.messages, reader.paths))
    request = Request(settings=reader.state) if reader.state else None
    return Loaded(tuple(join(reader.messages)), losses, request)


def dump(messages: Sequence[Message], version: int = 1) -> Dumped:
    """Write messages as `messages_from_dict` reads them."""
    writer = Writer(version)
    payload = writer.write(messages)
    return Dumped(payload, lambda: REPORT.compare(writer.record, Reader(payload, version).places))


def unread(payload: Json, messages: Sequence[Message], version: int = 1) -> Iterator[Loss]:
    """What of a payload is not there when its messages are written in the forms that they had."""
    again = Writer(version, is_faithful=True).write(messages)
    for opened, raw in zip_longest(open_payload(payload).messages, again):
        if opened is not None and raw is None:
            yield Loss.of(opened.path, opened.data, UNREAD)
        elif opened is not None:
            given = {name: value for name, value in opened.data.items() if value not in (None, [], {})}
            yield from json_losses(given, open_message(raw, "$", []).data, opened.path, UNREAD)


_SLOT: Final = in_messages("data", "additional_kwargs", is_always_there=True)

FORMAT: Final = Format(
    NAME,
    "LangChain messages with standard content blocks",
    load,
    dump,
    slot=_SLOT,
    is_complete=True,
    unread=unread,
)
FORMAT_V0: Final = Format(
    f"{NAME}-v0",
    "LangChain messages as older code expects them",
    partial(load, version=0),
    partial(dump, version=0),
    slot=_SLOT,
    is_complete=True,
    unread=partial(unread, version=0),
)
