"""Where turns begin and end, and what happens to the whole conversation: rollbacks, compactions."""

from partita.types.json import JsonObject

from .fields import error_words, text, whole
from .prompts import Prompts
from .response_items import ResponseItems
from .telling import Telling


class Turns:
    """The turn at hand."""

    def __init__(self, telling: Telling, prompts: Prompts, items: ResponseItems) -> None:
        self._telling = telling
        self._prompts = prompts
        self._items = items
        self._compacted = False  # whether the record was there, so that the event says nothing new

    def started(self, event: JsonObject) -> None:
        """A task begins."""
        self._items.end_turn()
        self._telling.lineage.turn(event)
        self._telling.turn_id = text(event, "turn_id")
        self._compacted = False
        self._prompts.task_started()
        self._telling.note("task_started", event)

    def completed(self, event: JsonObject) -> None:
        """A task has ended by itself."""
        self._items.end_turn()
        error = event.get("error")
        if error is None:
            self._telling.note("task_complete", event)
            self._prompts.task_ended("completed")
            return
        words = error_words(error)
        self._telling.announce("task_complete", event, words)
        self._prompts.task_ended("failed", words)

    def aborted(self, event: JsonObject) -> None:
        """A task was stopped."""
        reason = text(event, "reason")
        self._items.abort()
        self._items.end_turn()
        self._telling.announce("turn_aborted", event, f"Turn aborted: {reason or 'no reason given'}")
        self._prompts.task_ended("interrupted", reason)

    def rolled_back(self, event: JsonObject) -> None:
        """The last turns are no longer part of the talk: a branch begins before them, with a notice."""
        self._items.end_turn()
        turns = whole(event, "num_turns") or 0
        parent = self._prompts.roll_back(turns)
        if parent is None and turns:
            self._telling.teller.puzzle("a rollback of turns that are not there")
        words = f"{turns} turn{'' if turns == 1 else 's'} rolled back"
        self._telling.announce("thread_rolled_back", event, words, parent=parent)

    def compacted(self, record: JsonObject) -> None:
        """The history was replaced by a shorter one."""
        self._items.end_response()
        self._compacted = True
        self._telling.announce("compacted", record, text(record, "message"))

    def context_compacted(self, event: JsonObject) -> None:
        """The event of a compaction, which mostly has a record too."""
        if self._compacted:
            self._compacted = False
            return
        self._items.end_response()
        self._telling.announce("context_compacted", event, None)
