"""Chats that Gemini CLI records → messages.

| record | effect |
|---|---|
| with an `id` | a message: it replaces the one with that id, or follows all others |
| `$set` | changes the facts of the chat; `messages` in it is the whole new list |
| `$rewindTo` | drops a message and all after it |
| with `sessionId` and `projectHash` | a header |

Source: `packages/core/src/services/chatRecordingService.ts` in https://github.com/google-gemini/gemini-cli.
Messages that a rewind drops become a branch. Those that a compaction drops stay in place, above a notice that
names them; their replacements are internal, because they repeat others. Chats must be read from the start:
the effect of a record depends on those before it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.formats.core.unread import KNOWN, Fact, message_facts, read_completely
from partita.formats.format import Format, Loaded
from partita.formats.log.records import load_records, records_in
from partita.formats.log.sink import LogSink
from partita.types.json import Json, JsonObject, is_array, is_object

from .messages import Messages, Timeline

READ: Final = frozenset(
    {"sessionId", "projectHash", "startTime", "lastUpdated", "kind", "summary", "messages"}
)
MEMBERS: Final = READ | {"directories", "memoryScratchpad", "activeExtensionName"}
"""The known members of a chat."""


class GeminiChatDecoder:
    """Reads the records of a chat into messages."""

    def __init__(self, sink: LogSink) -> None:
        self._sink = sink
        self._timeline = Timeline(sink)
        self._messages = Messages(sink, self._timeline)
        self._session: str | None = None
        self._last_header: JsonObject = {}
        self._prefix = ""  # of ids in a session that is not the first of its file

    def feed(self, record: JsonObject) -> None:
        """Read the next record."""
        self._messages.begin_record()
        if isinstance(target := record.get("$rewindTo"), str):
            self._rewind(target)
        elif _has_id(record):
            self._messages.message(self._prefix + record["id"], record, is_copy=False)
        elif is_object(changes := record.get("$set")):
            self._set(changes)
        elif isinstance(session := record.get("sessionId"), str) and "projectHash" in record:
            self._header(session, record)
        else:
            self._sink.report_unknown("unknown record type")
            self._messages.notice("gemini-unknown", record, internal=True)

    def finish(self) -> None:
        """Read what is pending, because the chat has ended, at least for now."""
        self._messages.end_turn()

    def _header(self, session: str, record: JsonObject) -> None:
        if self._session is not None and session != self._session:
            # Two sessions in a file: the ids of the second get a prefix, the first one becomes a branch.
            self._messages.end_turn()
            self._timeline.forget(self._timeline.missing([]))
            self._timeline.tail = self._timeline.root
            self._messages.is_branched = True
            self._prefix = f"{session}/"
        self._session = session
        self._messages.set_time(record.get("lastUpdated"))
        match record.get("directories"):
            case [str(folder), *_]:
                self._sink.set_fact("cwd", folder)
            case _:
                pass
        header = {key: value for key, value in record.items() if key != "messages"}
        if header != self._last_header:
            self._last_header = header
            self._messages.notice("gemini-header", header, id=f"header-{session}", internal=True)
        self._facts(record)

    def _set(self, changes: JsonObject) -> None:
        self._messages.set_time(changes.get("lastUpdated"))
        kept = {key: value for key, value in changes.items() if key not in READ}
        if kept:
            self._messages.notice("gemini-set", kept, internal=True)
        self._facts(changes)

    def _facts(self, fields: JsonObject) -> None:
        for key in fields:
            if key not in MEMBERS:
                self._sink.report_unknown(f"unknown field {key!r} of a chat")
        if isinstance(session := fields.get("sessionId"), str):
            self._sink.set_fact("sessionId", session)
        if isinstance(summary := fields.get("summary"), str):
            self._sink.set_fact("summary", summary)
        if "messages" in fields:
            messages = fields["messages"]
            self._replace(messages if is_array(messages) else [messages])

    def _rewind(self, target: str) -> None:
        """Drop a message and all after it; drop all messages if it is not found, as Gemini CLI does."""
        if self._prefix + target not in self._timeline:
            self._sink.report_unknown("rewind to an unknown message", detail=target)
        dropped = self._timeline.drop(self._prefix + target)
        if dropped:
            self._begin_branch(dropped, self._timeline.parent(dropped[0]))

    def _replace(self, messages: list[Json]) -> None:
        records: dict[str, JsonObject] = {}
        for message in messages:
            if _has_id(message):
                records[self._prefix + message["id"]] = message
            else:
                self._sink.report_unknown("a message without an id")
                self._messages.notice("gemini-unknown", message, internal=True)
        gone = self._timeline.missing(list(records))
        before = self._timeline.parent(gone[0]) if gone else self._timeline.root
        is_compaction = bool(gone) and any(id_ not in self._timeline for id_ in records)
        self._timeline.forget(gone)
        if is_compaction:
            self._messages.notice("gemini-compaction", {"dropped": gone})
        for id_, record in records.items():
            self._messages.message(id_, record, is_copy=is_compaction)
        if gone and not is_compaction:
            self._begin_branch(gone, self._timeline.last or before)

    def _begin_branch(self, dropped: list[str], tail: str) -> None:
        """End a branch with a notice, and continue after `tail`."""
        self._messages.notice("gemini-rewind", {"dropped": dropped})
        self._timeline.tail = tail
        self._messages.is_branched = True
        self._sink.set_fact("leaf", tail)


def _has_id(record: Json) -> bool:
    return is_object(record) and isinstance(id_ := record.get("id"), str) and bool(id_)


def records_of(document: JsonObject) -> Iterator[JsonObject]:
    """The records of a chat of an older version, which is one JSON document: its header and its messages."""
    messages = document.get("messages")
    if not is_array(messages):
        yield document
        return
    yield {key: value for key, value in document.items() if key != "messages"}
    yield from (message if is_object(message) else {"message": message} for message in messages)


def load(payload: Json) -> Loaded:
    """A chat as messages."""
    records = list(records_of(payload)) if is_object(payload) else records_in(payload)
    paths = ["$", *(f"$.messages[{at}]" for at in range(len(records)))] if is_object(payload) else []
    return read_completely(_load_records(records), records, _facts_of, paths=paths)


def _load_records(records: Sequence[Json]) -> Loaded:
    return load_records(records, GeminiChatDecoder, "gemini-cli-line")


def _facts_of(record: Json) -> set[Fact]:
    """Return the facts in a record."""
    facts = message_facts(_load_records([record]).messages)
    return facts | {KNOWN} if is_object(record) and record.keys() & {"$set", "$rewindTo"} else facts


FORMAT = Format("gemini-cli", "Gemini CLI chats", load, is_complete=True)
