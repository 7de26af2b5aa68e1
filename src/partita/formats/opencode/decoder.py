"""Sessions of OpenCode → messages.

Records are what a session says of itself, then its messages, each `{info, parts}`; those of version 2 (see
`second`); or rows of parts that a recorder dumped (see `rows`). A message may come again when there is more
of it: what is new is told. Messages that were reverted stay, as a branch.
"""

from typing import Final

from partita.formats.links import Links
from partita.formats.transcript import Fact, Teller
from partita.types.json import Json, JsonObject, is_array, is_object

from .content import text_or
from .records import records_of
from .rows import Rows, is_row
from .second import EVENTS, PROMPTS, is_second, prompt_of, response_of, words_of
from .spots import Spots, digest_of
from .talk import Talk
from .times import time_in

FACTS: Final[dict[str, Fact]] = {
    "id": "sessionId",
    "directory": "cwd",
    "parentID": "parentSessionId",
    "version": "version",
    "forkSessionID": "forkedFrom",
}
ROW_FACTS: Final[dict[str, Fact]] = {"_cwd": "cwd", "sessionID": "sessionId"}
UNTITLED: Final = ("New session - ", "Child session - ")
"""How titles begin that nobody gave."""

SESSION: Final = frozenset({"projectID", "directory", "title", "version", "slug", "time"})
"""Fields that tell a session from other objects; any of them does."""


class OpenCodeDecoder:
    """Records of a session in; a teller is told what they say."""

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._spots = Spots(teller)
        self._talk = Talk(teller, self._spots)
        self._rows = Rows()
        self._links = Links(teller)
        self._revert: JsonObject = {}
        self._is_reverted = False
        self._unknown = 0

    def feed(self, record: JsonObject) -> None:
        """Take the next record."""
        info = record.get("info")
        if "messages" in record and is_object(info):
            for one in records_of(record):
                self.feed(one)
        elif is_object(info) and ("parts" in record or "role" in info):
            self._message(info, record.get("parts"), record)
        elif is_second(record):
            self._second(record)
        elif is_row(record):
            message = self._rows.feed(record)
            for field, fact in ROW_FACTS.items():
                if isinstance(value := record.get(field), str):
                    self._teller.learn(fact, value)
            self._message(message["info"], message["parts"], message)
        elif "role" in record:
            self._message(record, None, {"info": record})
        elif isinstance(record.get("id"), str) and record.keys() & SESSION:
            self._session(record)
        else:
            self._teller.puzzle("unknown record type")
            self._keep(record)

    def finish(self) -> None:
        """The session has ended, for now or for good."""
        self._talk.finish()

    def check_links(self) -> None:
        """Report the prompts that answers name and that are not in the session."""
        self._links.finish()

    def _session(self, info: JsonObject) -> None:
        digest = digest_of(info)
        if digest is None or self._spots.renew(info["id"], digest):
            return
        for field, fact in FACTS.items():
            if isinstance(value := info.get(field), str):
                self._teller.learn(fact, value)
        location = info.get("location")
        if is_object(location) and isinstance(folder := location.get("directory"), str):
            self._teller.learn("cwd", folder)
        title = text_or(info.get("title"), "")
        if title and not title.startswith(UNTITLED):
            self._teller.learn("title", title)
        created = time_in(info, "created")
        if created is not None and info["id"] not in self._spots:
            self._teller.tick(created)
        revert = info.get("revert")
        self._revert = revert if is_object(revert) else {}
        if self._is_reverted and not self._revert:
            self._is_reverted = False
            self._teller.learn("leaf", self._spots.tail)
        self._talk.event(info["id"], "opencode-session", info, time=created, internal=True)

    def _second(self, record: JsonObject) -> None:
        """A record of version 2."""
        match record["type"]:
            case "assistant":
                self._message(*response_of(record), record)
            case kind if kind in PROMPTS:
                self._message(*prompt_of(record), record)
            case kind if kind in EVENTS:
                self._happened(record)
            case kind:
                self._teller.puzzle(f"unknown record type {kind!r:.80}")
                self._keep(record)

    def _happened(self, record: JsonObject) -> None:
        id_, kind = record["id"], record["type"]
        digest = digest_of(record)
        if digest is None or self._spots.renew(id_, digest):
            return
        self._talk.happened(id_, kind, record, words_of(record))

    def _message(self, info: JsonObject, parts: Json, record: JsonObject) -> None:
        id_ = info.get("id")
        if not isinstance(id_, str) or not id_:
            self._teller.puzzle("a message without an id")
            self._keep(record)
            return
        digest = digest_of(record)
        if digest is None:
            self._teller.puzzle("a message that is nested too deeply", detail=id_)
            return
        if self._spots.renew(id_, digest):
            return
        if id_ not in self._spots:  # a message may come again, when there is more of it
            self._links.add(id_, info.get("parentID"))
        is_target = id_ not in self._spots and id_ == self._revert.get("messageID")
        is_half = self._revert.get("partID") is not None
        if is_target and not is_half:
            self._reverted(id_)
        self._talk.message(id_, info, self._parts(parts))
        if is_target and is_half:
            self._reverted(id_)

    def _parts(self, parts: Json) -> list[JsonObject]:
        if not is_array(parts):
            if parts is not None:
                self._teller.puzzle("parts that are no list")
            return [] if parts is None else [{"value": parts}]
        return [part if is_object(part) else {"value": part} for part in parts]

    def _reverted(self, id_: str) -> None:
        """From here on everything was undone: the session goes on at a notice that says so."""
        before = self._spots.tail
        self._is_reverted = True
        self._talk.event(f"{id_}-revert", "opencode-revert", self._revert)
        self._teller.learn("leaf", self._spots.tail)
        self._spots.tail = before

    def _keep(self, record: Json) -> None:
        self._unknown += 1
        self._talk.event(f"opencode-unknown-{self._unknown}", "opencode-unknown", record, internal=True)
