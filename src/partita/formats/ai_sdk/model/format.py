"""Model messages of AI SDK 4 to 7 ↔ canonical messages.

Messages that come from UI messages are written as the SDK's `convertToModelMessages` writes them. Messages
that come from model messages are written as they were read.

Adjoining assistant and tool messages are read as one assistant message, with step starts between its steps
and with results in their calls. Model messages have no ids: a message is `message-N`, where N is the position
of its first model message in the payload, counted from one. Results without a call stay tool messages.

Reading and writing have modules of their own, because the several blocks of a call have to be matched.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from partita.errors import FormatError
from partita.formats.core.report import Report
from partita.formats.core.sidecar import in_messages
from partita.formats.core.turns import join
from partita.formats.core.wire import conversion_errors
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.losses import DERIVED, DISPLAY, IN_CALLS, OTHER_FORM, OTHER_INPUT, Loss, json_losses
from partita.types.json import Json, dumps, is_array
from partita.types.messages import Message

from .calls import RULES
from .reader import CONTENT, Reader
from .wire import NAME
from .writer import Writer

REASONS: Final = {
    "networkExecution": "the model receives it as a tool call",
    "citations": DISPLAY,
    "descriptor": DISPLAY,
    "rawInput": OTHER_INPUT,
    "inputEncoding": DERIVED,
    "resultProviderMetadata": IN_CALLS,
}
REPORT: Final = Report(NAME, reasons=REASONS, spelling=frozenset({CONTENT}))


def load(payload: Json, version: int = 7) -> Loaded:
    """Read model messages, one or a list of them."""
    with conversion_errors():
        messages = tuple(join(Reader(payload, _checked_version(version)).messages))
    return Loaded(messages, lambda: _unlike(payload, messages, version), is_complete=True)


def dump(messages: Sequence[Message], version: int = 7) -> Dumped:
    """Write messages as the list that `generateText` accepts."""
    with conversion_errors():
        writer = Writer(_checked_version(version))
        payload = writer.write(messages)
    return Dumped(payload, lambda: REPORT.compare(writer.record, Reader(payload, version).positions))


def _checked_version(version: int) -> int:
    if version not in RULES:
        raise FormatError(f"no rules for version {version} of the AI SDK", hint="use 4, 5, 6 or 7")
    return version


def _unlike(payload: Json, messages: Sequence[Message], version: int) -> Iterator[Loss]:
    """Yield the losses of a payload that is written back, by value or by position."""
    again: list[Json] = dump(messages, version).payload
    raws = payload if is_array(payload) else [payload]
    paths = [f"$[{index}]" for index in range(len(raws))] if is_array(payload) else ["$"]
    if len(raws) == len(again):
        for raw, other, path in zip(raws, again, paths, strict=True):
            yield from json_losses(raw, other, path, OTHER_FORM)
        return
    others = set(map(dumps, again))
    changed = [at for at, raw in enumerate(raws) if dumps(raw) not in others]
    if not changed:
        yield Loss.of("$", payload, OTHER_FORM, "changed")
    for at in changed:
        yield Loss.of(paths[at], raws[at], OTHER_FORM, "changed")


FORMATS: Final = tuple(
    Format(
        f"ai-sdk-model-v{version}",
        f"AI SDK {version} {'core' if version == 4 else 'model'} messages",
        partial(load, version=version),
        partial(dump, version=version),
        slot=in_messages("providerOptions"),
        is_complete=True,
    )
    for version in RULES
)
V4, V5, V6, V7 = FORMATS
