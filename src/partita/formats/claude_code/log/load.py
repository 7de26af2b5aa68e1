"""The records of a session file → canonical messages.

Sub-agents that no call claims stand behind the conversation. Lost: the progress of tools. Told as losses too:
what was not understood, although it is kept.
"""

from typing import Final

from partita.errors import FormatError
from partita.formats.assembly import Assembly
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message

from .decoder import ClaudeLogDecoder

INSIDE: Final = {"user": ("message",), "assistant": ("message",), "progress": ("data", "message", "message")}
"""Where the objects inside a record are that the decoder changes."""

PROGRESS: Final = "progress of tools stays in the raw log alone"


def load(payload: Json) -> Loaded:
    """The records of a session file, or one of them, as messages."""
    if not is_array(payload) and not is_object(payload):
        raise FormatError(
            f"a session file is a list of records, not {kind_of(payload)}", hint="give the lines, as a list"
        )
    records = payload if is_array(payload) else [payload]
    assembly = Assembly(_session_of(records))
    decoder = ClaudeLogDecoder(assembly)
    assembly.begin_turn()
    progress = 0
    for number, record in enumerate(records, 1):
        assembly.line = assembly.offset = number
        if is_object(record):
            progress += record.get("type") == "progress"
            decoder.feed(_copied(record))
        else:
            assembly.puzzle("a line that is no object")
            assembly.note("claude-code-line", record, str(number))
    assembly.line = assembly.offset = len(records) + 1
    decoder.finish()
    found: dict[str, Message] = {message.id: message for message in assembly.finish()}
    orphans = [message for messages in assembly.orphans().values() for message in messages]
    losses = [
        Loss(f"$[{finding.places[0].line - 1}]", str(finding), "not understood")
        for finding in assembly.diagnostics
    ]
    if progress:
        losses.append(Loss("$", f"{progress} records", PROGRESS))
    return Loaded((*found.values(), *orphans), tuple(losses))


def _session_of(records: list[Json]) -> str | None:
    ids = (record.get("sessionId") for record in records if is_object(record))
    return next((id_ for id_ in ids if isinstance(id_, str)), None)


def _copied(record: JsonObject) -> JsonObject:
    """A record that the decoder may take apart: what it changes is copied, down to a message in progress."""
    copy = dict(record)
    inner = copy
    for name in INSIDE.get(str(record.get("type")), ()):
        value = inner.get(name)
        if not is_object(value):
            break
        fresh = dict(value)
        inner[name] = fresh
        inner = fresh
    return copy
