"""One answer of a model, as its records come: what was said, called, cited and consumed."""

from copy import copy
from typing import Final

from partita.formats.answers.outlet import INTERRUPTED, Outlet
from partita.types.json import Json, JsonObject, is_array, is_object

from .calls import Calls
from .ending import failure_text, failures_in, finish_reason
from .looking import is_empty, word
from .media import Audio
from .server_tools import ServerTools
from .sources import Sources
from .usage import usage_in, usage_of
from .words import Words

IGNORED: Final = frozenset(
    {"id", "model", "object", "choices", "usage", "citations", "error", "obfuscation", "p"}
)
"""What is read elsewhere, and padding against those who measure encrypted records."""

IN_PIECES: Final = frozenset({"token_ids"})
"""Lists of which every record brings the next items."""


CUT: Final = frozenset({"length", "content-filter", "error"})
"""Reasons for which servers stop an answer, wherever it is."""


class Answer:
    """An answer, told through `outlet`. One answer is one step of a message."""

    def __init__(self, namespace: str) -> None:
        self.outlet = Outlet(namespace)
        self.words = Words(self.outlet)
        self.calls = Calls(self.outlet)
        self.server_tools = ServerTools(self.outlet, self.calls)
        self.sources = Sources(self.outlet)
        self.audio = Audio()
        self.raw_finish: str | None = None
        self.rest: JsonObject = {}
        """What else was said, under the names it came with."""
        self.others: list[Json] = []
        """Pieces of all choices but the first."""
        self.annotations: list[Json] = []
        """Annotations that are no sources."""
        self.id = ""
        self._model = ""
        self._usage: JsonObject | None = None
        self._failures: list[Json] = []

    def hear(self, record: JsonObject) -> None:
        """Take what a record says beside its choices."""
        self.id = self.id or word(record, "id")
        self._model = self._model or word(record, "model")
        self._usage = usage_in(record) or self._usage
        self.sources.mention(record.get("citations"))
        for failure in failures_in(record):
            self._failures.append(failure)
            self.outlet.error(failure_text(failure))
        self.note({key: value for key, value in record.items() if key not in IGNORED})

    def note(self, facts: JsonObject) -> None:
        """Keep facts that have no place elsewhere; the last word counts, objects grow together."""
        for key, value in facts.items():
            known = self.rest.get(key)
            if is_empty(value):
                continue
            if is_object(known) and is_object(value):
                known.update(value)
            elif is_array(known) and is_array(value) and key in IN_PIECES:
                known.extend(value)
            else:
                self.rest[key] = copy(value)

    def end_with(self, reason: Json) -> None:
        """Take a finish reason. It may be empty, and may come twice: the first that says something counts."""
        if isinstance(reason, str) and not self.raw_finish:
            self.raw_finish = reason

    def settle(self, *, whole: bool) -> None:
        """Nothing more comes. A body is `whole`; a stream is if it said why it ended."""
        if self.outlet.is_finished:
            return
        complete = whole or bool(self.raw_finish)
        self.words.finish()
        self.server_tools.settle()
        self.note({"audio": self.audio.settle(self.outlet)})
        reason = self._reason(complete)
        self.calls.settle(self.id, complete=complete, cut=reason in CUT)
        usage = None if self._usage is None else usage_of(self._usage)
        self.outlet.finish(reason, self.raw_finish, usage, self._facts(complete))

    def _reason(self, complete: bool) -> str:
        if self._failures:
            return "error"
        if not complete:
            return INTERRUPTED
        return finish_reason(self.raw_finish, has_calls=bool(self.calls), has_refused=self.words.has_refused)

    def _facts(self, complete: bool) -> JsonObject:
        logprobs = {"content": self.words.logprobs["text"], "refusal": self.words.logprobs["refusal"]}
        self.note({"logprobs": {kind: entries for kind, entries in logprobs.items() if entries}})
        self.note({"errors": self._failures, "other_choices": self.others, "annotations": self.annotations})
        self.note(self.words.extra)
        said: JsonObject = {"model": self._model, "responseId": self.id, self.outlet.namespace: self.rest}
        told = {key: value for key, value in said.items() if value}
        return told if complete else {"complete": False, **told}
