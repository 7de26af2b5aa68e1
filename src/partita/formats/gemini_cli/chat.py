"""Chats that Gemini CLI records → messages.

| record | what it does |
|---|---|
| with an `id` | is a message: it replaces the one of that id, or comes after all others |
| `$set` | changes what is said of the chat; `messages` in it name the whole list anew |
| `$rewindTo` | drops a message and all after it |
| with `sessionId` and `projectHash` | is a header |

What a rewind drops stays as a branch. What a compaction drops stays where it was, above a notice that names
it; what takes its place is internal, for it says again what was said. Chats must be read from their
beginning: what a record does depends on those before it.
"""

from typing import Final

from partita.formats.transcript import Teller
from partita.types.json import Json, JsonObject, is_array, is_object

from .talk import Talk
from .timeline import Timeline

LEARNT: Final = frozenset(
    {"sessionId", "projectHash", "startTime", "lastUpdated", "kind", "summary", "messages"}
)
KNOWN: Final = LEARNT | {"directories", "memoryScratchpad", "activeExtensionName"}
"""What may be said of a chat."""


class GeminiChatDecoder:
    """Records of a chat in; a teller is told what they say."""

    def __init__(self, teller: Teller, *, parent_session_id: str | None = None) -> None:
        """`parent_session_id`: of a sub-agent's chat, the folder it lies in; the chat itself does not say."""
        self._teller = teller
        self._timeline = Timeline(teller.tail or "")
        self._talk = Talk(teller, self._timeline)
        self._session: str | None = None
        self._header_said: JsonObject = {}
        self._prefix = ""  # of ids in a session that is not the first of its file
        if parent_session_id is not None:
            teller.learn("parentSessionId", parent_session_id)

    def feed(self, record: JsonObject) -> None:
        """Take the next record."""
        self._talk.begin_record()
        if isinstance(target := record.get("$rewindTo"), str):
            self._rewind(target)
        elif _has_id(record):
            self._talk.message(self._prefix + record["id"], record, is_copy=False)
        elif is_object(changes := record.get("$set")):
            self._set(changes)
        elif isinstance(session := record.get("sessionId"), str) and "projectHash" in record:
            self._header(session, record)
        else:
            self._teller.puzzle("unknown record type")
            self._talk.notice("gemini-unknown", record, internal=True)

    def finish(self) -> None:
        """The chat has ended, for now or for good."""
        self._talk.end_turn()

    def _header(self, session: str, record: JsonObject) -> None:
        if self._session is not None and session != self._session:
            # Two sessions in a file: their ids are told apart, and the first one stays as a branch.
            self._talk.end_turn()
            self._timeline.forget(self._timeline.missing([]))
            self._timeline.tail = self._timeline.root
            self._talk.is_branched = True
            self._prefix = f"{session}/"
        self._session = session
        self._talk.tick(record.get("lastUpdated"))
        match record.get("directories"):
            case [str(folder), *_]:
                self._teller.learn("cwd", folder)
            case _:
                pass
        header = {key: value for key, value in record.items() if key != "messages"}
        if header != self._header_said:
            self._header_said = header
            self._talk.notice("gemini-header", header, id=f"header-{session}", internal=True)
        self._facts(record)

    def _set(self, changes: JsonObject) -> None:
        self._talk.tick(changes.get("lastUpdated"))
        kept = {key: value for key, value in changes.items() if key not in LEARNT}
        if kept:
            self._talk.notice("gemini-set", kept, internal=True)
        self._facts(changes)

    def _facts(self, fields: JsonObject) -> None:
        for key in fields:
            if key not in KNOWN:
                self._teller.puzzle(f"unknown field {key!r} of a chat")
        if isinstance(session := fields.get("sessionId"), str):
            self._teller.learn("sessionId", session)
        if isinstance(summary := fields.get("summary"), str):
            self._teller.learn("summary", summary)
        if "messages" in fields:
            messages = fields["messages"]
            self._replace(messages if is_array(messages) else [messages])

    def _rewind(self, target: str) -> None:
        """Drop a message and all after it; of a message that is not there, all (as Gemini CLI does)."""
        if self._prefix + target not in self._timeline:
            self._teller.puzzle("rewind to an unknown message", detail=target)
        dropped = self._timeline.drop(self._prefix + target)
        if dropped:
            self._leave(dropped, self._timeline.before(dropped[0]))

    def _replace(self, messages: list[Json]) -> None:
        records: dict[str, JsonObject] = {}
        for message in messages:
            if _has_id(message):
                records[self._prefix + message["id"]] = message
            else:
                self._teller.puzzle("a message that is none")
                self._talk.notice("gemini-unknown", message, internal=True)
        gone = self._timeline.missing(list(records))
        before = self._timeline.before(gone[0]) if gone else self._timeline.root
        is_compaction = bool(gone) and any(id_ not in self._timeline for id_ in records)
        self._timeline.forget(gone)
        if is_compaction:
            self._talk.notice("gemini-compaction", {"dropped": gone})
        for id_, record in records.items():
            self._talk.message(id_, record, is_copy=is_compaction)
        if gone and not is_compaction:
            self._leave(gone, self._timeline.last or before)

    def _leave(self, dropped: list[str], tail: str) -> None:
        """End a branch with a notice, and go on after `tail`."""
        self._talk.notice("gemini-rewind", {"dropped": dropped})
        self._timeline.tail = tail
        self._talk.is_branched = True
        self._teller.learn("leaf", tail)


def _has_id(record: Json) -> bool:
    return is_object(record) and isinstance(id_ := record.get("id"), str) and bool(id_)
