"""Events: what the page was told. Most is told by items too; what events alone have is taken from here."""

from collections.abc import Callable
from typing import Final

from partita.types.json import Json, JsonObject

from .content import agent_words
from .crew import Crew
from .fields import found, inner, items, text, texts
from .legacy_events import RULES, item_event
from .response_items import ResponseItems
from .tokens import TokenCounts
from .turn_items import MCP_EXTRAS, kind_of_item, work_of
from .turns import Turns

STATE: Final = frozenset(
    {
        "background_event",
        "collab_agent_interaction_begin",
        "collab_agent_interaction_end",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "collab_close_begin",
        "collab_close_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "deprecation_notice",
        "hook_completed",
        "hook_started",
        "item_started",
        "plan_update",
        "session_configured",
        "shutdown_complete",
        "sub_agent_activity",
        "thread_goal_updated",
        "turn_diff",
        "undo_completed",
        "undo_started",
    }
)
"""Events that are no talk and change nothing here."""

KNOWN: Final[dict[str, frozenset[str]]] = {
    "user_message": frozenset(
        {
            "type",
            "message",
            "images",
            "local_images",
            "text_elements",
            "kind",
            "client_id",
            "image_details",
            "local_image_details",
        }
    ),
    "agent_message": frozenset({"type", "message", "phase", "memory_citation"}),
    "agent_reasoning": frozenset({"type", "text"}),
    "agent_reasoning_raw_content": frozenset({"type", "text"}),
    "token_count": frozenset({"type", "info", "rate_limits"}),
    "patch_apply_end": frozenset(
        {"type", "call_id", "turn_id", "stdout", "stderr", "success", "changes", "status", "auto_approved"}
    ),
    "web_search_end": frozenset({"type", "call_id", "query", "action", "results"}),
    "mcp_tool_call_end": frozenset({"type", "call_id", "invocation", "duration", "result", *MCP_EXTRAS}),
    "item_completed": frozenset({"type", "thread_id", "turn_id", "item", "started_at_ms", "completed_at_ms"}),
}
"""The fields of events that are not kept whole."""

NOTICES: Final = {
    "error": "message",
    "warning": "message",
    "stream_error": "message",
    "entered_review_mode": "user_facing_hint",
    "exited_review_mode": "review_output",
    "model_reroute": "reason",
}
"""Events that a reader of the conversation should see, and where their words are."""

SILENT: Final = frozenset({"plan", "sub_agent_activity", "hook_prompt"})
"""Items of events that are kept and not shown."""


class Events:
    """Takes the payloads of events."""

    def __init__(self, crew: Crew, items: ResponseItems) -> None:
        self._telling, self._prompts, self._responses, self._answers, self._calls, self._spawns = crew
        self._items = items
        self._turns = turns = Turns(crew.telling, crew.prompts, items)
        self._tokens = TokenCounts()
        self._limits: Json = None
        self._handlers: dict[str, Callable[[JsonObject], None]] = {
            "agent_message": self._agent_message,
            "agent_reasoning": self._agent_reasoning,
            "agent_reasoning_raw_content": self._agent_reasoning,
            "token_count": self._token_count,
            "task_started": turns.started,
            "turn_started": turns.started,
            "task_complete": turns.completed,
            "turn_complete": turns.completed,
            "turn_aborted": turns.aborted,
            "thread_rolled_back": turns.rolled_back,
            "context_compacted": turns.context_compacted,
            "item_completed": self._item_completed,
            "thread_name_updated": self._named,
            "thread_settings_applied": self._settings,
        }

    def feed(self, event: JsonObject) -> None:
        """Take an event."""
        kind = event.get("type")
        if not isinstance(kind, str):
            self._telling.teller.puzzle("an event without a type")
            self._telling.note("event", event)
            return
        self._take(event, kind)
        known = KNOWN.get(kind)
        if known is not None and not known.issuperset(event):
            self._telling.check(event, known, kind)
            self._telling.note(kind, event)

    def _take(self, event: JsonObject, kind: str) -> None:
        if kind == "user_message":
            self._confirm(text(event, "message") or "", event)
        elif (handler := self._handlers.get(kind)) is not None:
            handler(event)
        elif kind in RULES:
            told = item_event(event)
            if told is not None and told.phase == "completed":
                self._work(told.item, kind, event)
        elif kind in NOTICES:
            self._items.end_response()
            words = found(event, NOTICES[kind])
            self._telling.announce(kind, event, words if isinstance(words, str) else None)
        else:
            if kind not in STATE:
                self._telling.teller.puzzle(f"unknown event {kind!r}"[:200])
            self._telling.note(kind, event)
            self._spawns.told(kind, event)

    def state(self) -> JsonObject:
        """What must be known to go on from here."""
        return {"total": self._tokens.total, "limits": self._limits}

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""
        self._tokens.total, self._limits = state["total"], state["limits"]

    def confirms(self, event: JsonObject) -> bool:
        """Whether an event tells of a prompt whose item came just before it."""
        if event.get("type") == "item_completed":
            return kind_of_item(inner(event, "item")) == "user_message"
        return event.get("type") == "user_message"

    def compacted(self, record: JsonObject) -> None:
        """The record of a compaction."""
        self._turns.compacted(record)

    # Words

    def _confirm(self, words: str, event: JsonObject) -> None:
        if not self._prompts.holds:  # the event is alone, and what it says ends the response at hand
            self._items.end_response()
        self._prompts.confirm(words, event)

    def _agent_message(self, event: JsonObject) -> None:
        self._answers.hear("text", text(event, "message") or "", event)
        if event.get("memory_citation") is not None:
            self._telling.note("agent_message", event)

    def _agent_reasoning(self, event: JsonObject) -> None:
        self._answers.hear("reasoning", text(event, "text") or "", event)

    # Numbers

    def _token_count(self, event: JsonObject) -> None:
        count = self._tokens.take(event.get("info"))
        if count is not None:
            self._responses.count(count, event)
        limits = event.get("rate_limits")
        if limits is not None and limits != self._limits:
            self._limits = limits
            self._telling.note("rate_limits", limits)

    # Items of events

    def _item_completed(self, event: JsonObject) -> None:
        item = inner(event, "item")
        kind = kind_of_item(item)
        if kind == "user_message":
            self._confirm("".join(texts(item, "content")), _user_event(item))
        elif kind == "agent_message":
            self._answers.hear("text", agent_words(item), item)
        elif kind == "reasoning":
            for words in (*texts(item, "summary_text"), *texts(item, "raw_content")):
                self._answers.hear("reasoning", words, item)
        elif kind == "context_compaction":
            self._turns.context_compacted(event)
        elif work_of(item) is not None:
            self._work(item, "item_completed", event)
        else:
            if kind not in SILENT:
                self._telling.teller.puzzle(f"unknown item {kind!r} of an event"[:200])
            self._telling.note(f"item_{kind}" if kind else "item_completed", event)
        self._spawns.done(kind, item)

    def _work(self, item: JsonObject, kind: str, event: JsonObject) -> None:
        """Something was done: by a call that is known, or by one that left no item."""
        work = work_of(item)
        assert work is not None, "the rules name items that do something"
        if not work.id:
            self._telling.note(kind, event)
        elif self._calls.knows(work.id):
            self._calls.enrich(work)
        elif work.name == "web_search":
            self._items.search_ended(work, event)
        else:
            self._calls.work(self._answers.response(event), work, kind)

    # State

    def _named(self, event: JsonObject) -> None:
        name = text(event, "thread_name") or text(event, "name")
        if name and not self._telling.lineage.copied:
            self._telling.teller.learn("title", name)
        self._telling.note("thread_name_updated", event)

    def _settings(self, event: JsonObject) -> None:
        model = text(inner(event, "thread_settings"), "model")
        if model:
            self._telling.model = model
            self._telling.teller.learn("model", model)
        self._telling.note("thread_settings_applied", event)


def _user_event(item: JsonObject) -> JsonObject:
    """A user's item as the event that was there before such items."""
    inputs = list(items(item, "content"))
    return {
        "id": text(item, "id"),
        "client_id": text(item, "client_id"),
        "images": [url for part in inputs if (url := text(part, "image_url")) is not None],
        "local_images": [path for part in inputs if (path := text(part, "path")) is not None],
        "text_elements": [element for part in inputs for element in items(part, "text_elements")],
    }
