"""Sessions of OpenCode → messages.

Records are the session itself, then its messages, each `{info, parts}`; those of version 2 (`version_2`); or
rows of parts. A message may be repeated with more content, which is added. Messages that were reverted
remain, as a branch. Source: `packages/opencode/src/session` in https://github.com/sst/opencode.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from partita.formats.core import unread
from partita.formats.core.members import text_or
from partita.formats.format import Format, Loaded
from partita.formats.log.message_tree import MessageTree, RecordLinks
from partita.formats.log.records import load_records, records_in
from partita.formats.log.sink import Fact, LogSink
from partita.types.json import Json, JsonObject, is_array, is_object

from .messages import Messages
from .parts import is_injected, time_in
from .version_2 import EVENTS, PROMPTS, event_text, is_version_2, prompt_of, response_of

FACTS: Final[dict[str, Fact]] = {
    "id": "sessionId",
    "directory": "cwd",
    "parentID": "parentSessionId",
    "version": "version",
    "forkSessionID": "forkedFrom",
}
ROW_FACTS: Final[dict[str, Fact]] = {"_cwd": "cwd", "sessionID": "sessionId"}
UNTITLED: Final = ("New session - ", "Child session - ")
"""Prefixes of the titles of sessions without a title."""

SESSION: Final = frozenset({"projectID", "directory", "title", "version", "slug", "time"})
"""Members that only a session has. One of them is enough."""


class OpenCodeDecoder:
    """Reads the records of a session into messages."""

    def __init__(self, sink: LogSink) -> None:
        self._sink = sink
        self._tree = MessageTree(sink)
        self._messages = Messages(sink, self._tree)
        self._rows = Rows()
        self._links = RecordLinks(sink)
        self._revert: JsonObject = {}
        self._is_reverted = False
        self._unknown = 0

    def feed(self, record: JsonObject) -> None:
        """Read the next record."""
        info = record.get("info")
        if "messages" in record and is_object(info):
            for one in records_of(record):
                self.feed(one)
        elif is_object(info) and ("parts" in record or "role" in info):
            self._message(info, record.get("parts"), record)
        elif is_version_2(record):
            self._version_2(record)
        elif is_row(record):
            message = self._rows.feed(record)
            for field, fact in ROW_FACTS.items():
                if isinstance(value := record.get(field), str):
                    self._sink.set_fact(fact, value)
            self._message(message["info"], message["parts"], message)
        elif "role" in record:
            self._message(record, None, {"info": record})
        elif isinstance(record.get("id"), str) and record.keys() & SESSION:
            self._session(record)
        else:
            self._sink.report_unknown("unknown record type")
            self._keep(record)

    def finish(self) -> None:
        """Read what is pending, because the session has ended, at least for now."""
        self._messages.finish()

    def check_links(self) -> None:
        """Report the prompts that responses name and that are not in the session."""
        self._links.finish()

    def _session(self, info: JsonObject) -> None:
        if not self._tree.is_changed(info["id"], info):
            return
        for field, fact in FACTS.items():
            if isinstance(value := info.get(field), str):
                self._sink.set_fact(fact, value)
        location = info.get("location")
        if is_object(location) and isinstance(folder := location.get("directory"), str):
            self._sink.set_fact("cwd", folder)
        title = text_or(info.get("title"), "")
        if title and not title.startswith(UNTITLED):
            self._sink.set_fact("title", title)
        created = time_in(info, "created")
        if created is not None and info["id"] not in self._tree:
            self._sink.set_time(created)
        revert = info.get("revert")
        self._revert = revert if is_object(revert) else {}
        if self._is_reverted and not self._revert:
            self._is_reverted = False
            self._sink.set_fact("leaf", self._tree.tail)
        self._messages.event(info["id"], "opencode-session", info, time=created, internal=True)

    def _version_2(self, record: JsonObject) -> None:
        """A record of version 2."""
        match record["type"]:
            case "assistant":
                self._message(*response_of(record), record)
            case kind if kind in PROMPTS:
                self._message(*prompt_of(record), record)
            case kind if kind in EVENTS:
                self._event(record)
            case kind:
                self._sink.report_unknown(f"unknown record type {kind!r:.80}")
                self._keep(record)

    def _event(self, record: JsonObject) -> None:
        id_, kind = record["id"], record["type"]
        if not self._tree.is_changed(id_, record):
            return
        self._messages.add_event(id_, kind, record, event_text(record))

    def _message(self, info: JsonObject, parts: Json, record: JsonObject) -> None:
        id_ = info.get("id")
        if not isinstance(id_, str) or not id_:
            self._sink.report_unknown("a message without an id")
            self._keep(record)
            return
        is_changed = self._tree.is_changed(id_, record)
        if is_changed is None:
            self._sink.report_unknown("a message that is nested too deeply", detail=id_)
        if not is_changed:
            return
        if id_ not in self._tree:  # a message may be repeated with more content
            self._links.add(id_, info.get("parentID"))
        is_target = id_ not in self._tree and id_ == self._revert.get("messageID")
        is_half = self._revert.get("partID") is not None
        if is_target and not is_half:
            self._reverted(id_)
        self._messages.message(id_, info, self._parts(parts))
        if is_target and is_half:
            self._reverted(id_)

    def _parts(self, parts: Json) -> list[JsonObject]:
        if not is_array(parts):
            if parts is not None:
                self._sink.report_unknown("parts that are not a list")
            return [] if parts is None else [{"value": parts}]
        return [part if is_object(part) else {"value": part} for part in parts]

    def _reverted(self, id_: str) -> None:
        """Begin a branch after a message, with a notice: the messages after it were reverted."""
        before = self._tree.tail
        self._is_reverted = True
        self._messages.event(f"{id_}-revert", "opencode-revert", self._revert)
        self._sink.set_fact("leaf", self._tree.tail)
        self._tree.tail = before

    def _keep(self, record: Json) -> None:
        self._unknown += 1
        self._messages.event(f"opencode-unknown-{self._unknown}", "opencode-unknown", record, internal=True)


def records_of(document: JsonObject) -> Iterator[JsonObject]:
    """The records of an exported session, which is one JSON document: the session and its messages."""
    info = document.get("info")
    yield info if is_object(info) else document
    messages = document.get("messages")
    for message in messages if is_array(messages) else ():
        yield message if is_object(message) else {"message": message}


# Rows

MAX_MESSAGES: Final = 1024
"""How many messages are remembered, because they may get parts."""


def is_row(record: JsonObject) -> bool:
    """Whether a record is such a row."""
    return isinstance(record.get("type"), str) and (
        isinstance(record.get("_role"), str) or isinstance(record.get("messageID"), str)
    )


class RowMessage(NamedTuple):
    """A message with the rows that were read."""

    info: JsonObject
    parts: list[JsonObject]

    def with_part(self, part: JsonObject, known: JsonObject) -> "RowMessage":
        """Return the message with a part, which replaces one with the same id."""
        ids = [one.get("id") for one in self.parts]
        if part.get("id") is None or part["id"] not in ids:
            return RowMessage({**self.info, **known}, [*self.parts, part])
        parts = [part if one.get("id") == part["id"] else one for one in self.parts]
        return RowMessage({**self.info, **known}, parts)


class Rows:
    """Collects rows of the part table of OpenCode into messages.

    Rows of the table name their message by its id. Those that recorders dump have no ids, but members of the
    recorder that begin with an underscore: `_role`, `_ts`, `_cwd`, `_model`, `_error`. There, each model call
    is a message, and begins with `step-start`. Seen in recordings.
    """

    def __init__(self) -> None:
        self._count = 0
        self._messages: OrderedDict[str, RowMessage] = OrderedDict()
        self._last = ""
        self._model: Json = None

    def feed(self, row: JsonObject) -> JsonObject:
        """Read a row; return its message, with the row in it."""
        self._count += 1
        part = {key: value for key, value in row.items() if not key.startswith("_")}
        id_ = part.get("messageID")
        if not isinstance(id_, str):
            id_ = f"row-{self._count}" if self._begins(row, part) else self._last
        self._last = id_
        message = self._messages.get(id_) or RowMessage(_info(id_, row, part), [])
        message = message.with_part(part, self._known(message.info["role"], row, part))
        self._messages[id_] = message
        if len(self._messages) > MAX_MESSAGES:
            self._messages.popitem(last=False)
        return {"info": message.info, "parts": message.parts}

    def _begins(self, row: JsonObject, part: JsonObject) -> bool:
        """Whether a row without ids begins a message."""
        message = self._messages.get(self._last)
        if message is None or row.get("_role") != message.info["role"]:
            return True
        if row.get("_role") == "user":
            return part["type"] == "text" and not is_injected(part)
        return part["type"] == "step-start" and any(one["type"] == "step-start" for one in message.parts)

    def _known(self, role: str, row: JsonObject, part: JsonObject) -> JsonObject:
        """Return the members of a message that a row has."""
        known: JsonObject = {"path": {"cwd": row["_cwd"]}} if "_cwd" in row else {}
        if role == "user" and row.get("_model") is not None:
            self._model = row["_model"]
        model = self._model if row.get("_model") is None else row["_model"]
        if model is not None:
            known |= {"model": {"modelID": model}} if role == "user" else {"modelID": model}
        if part["type"] == "step-finish":
            known["finish"] = part.get("reason")
        if row.get("_error") is not None:
            known["error"] = row["_error"]
        return known


def _info(id_: str, row: JsonObject, part: JsonObject) -> JsonObject:
    """Return a new message for its first row. A response begins with a step."""
    role = row.get("_role")
    if not isinstance(role, str):
        role = "assistant" if part["type"] == "step-start" else "user"
    created = row.get("_ts")
    if created is None and time_in(part, "start") is not None:
        created = part["time"]["start"]
    return {"id": id_, "role": role, "time": {"created": created}}


def load(payload: Json) -> Loaded:
    """A session as messages."""
    records = list(records_of(payload)) if is_object(payload) else records_in(payload)
    paths = ["$.info", *(f"$.messages[{at}]" for at in range(len(records)))] if is_object(payload) else []
    return unread.read_completely(_load_records(records), records, _facts_of, paths=paths)


def _load_records(records: Sequence[Json]) -> Loaded:
    return load_records(records, OpenCodeDecoder, "opencode-line")


def _facts_of(record: Json) -> set[unread.Fact]:
    """Return the facts in a record."""
    return unread.message_facts(_load_records([record]).messages)


EXPORT = Format("opencode-export", "OpenCode sessions, exported", load, is_complete=True)
PARTS = Format("opencode-parts", "OpenCode messages, one a line", load, is_complete=True)
