"""Rollout files of Codex → messages. There are three versions of the file format:

1. Until mid 2025: a header, then response items without an envelope and lines of state, without times and
   token counts.
2. Each line is `{timestamp, type, payload}`, and texts are in it twice, as items and as events.
3. Since 2026, lines have an `ordinal`, and events contain whole items.
"""

from collections.abc import Callable, Sequence

from partita.formats.log.sink import Fact, LogSink
from partita.types.json import Json, JsonObject, is_object

from .content import item_text
from .items import ResponseItems
from .prompts import Prompts
from .responses import Calls, Responses
from .thread import SpawnedAgents, Thread
from .tool_items import TOOL_EVENTS, item_event, kind_of_item, read_tool_item
from .usage import TokenCounts
from .wire import (
    ENVELOPE,
    EVENT_MEMBERS,
    HEADER,
    METADATA,
    NOTICES,
    STATE_EVENT_ITEMS,
    STATE_EVENTS,
    STATE_RECORDS,
    agent_key,
    error_text,
    integer,
    items,
    member,
    nested,
    parent_thread,
    spawn_facts,
    text,
    texts,
)


class CodexRolloutDecoder:
    """Reads records into messages."""

    def __init__(self, sink: LogSink) -> None:
        thread = self._thread = Thread(sink)
        if sink.is_sub_agent:
            thread.lineage.on_copy_end = self._end_copy
        prompts, responses, calls = Prompts(thread), Responses(thread), Calls(thread)
        self._prompts, self._spawns = prompts, SpawnedAgents(thread)
        self._items = ResponseItems(thread, prompts, responses, calls, self._spawns)
        self._events = EventReader(thread, prompts, responses, calls, self._spawns, self._items)
        self._last: JsonObject | None = None
        self._handlers: dict[str, Callable[[JsonObject], None]] = {
            "session_meta": self._session_meta,
            "turn_context": self._turn_context,
            "response_item": self._items.feed,
            "event_msg": self._events.feed,
            "compacted": self._events.compacted,
        }

    def feed(self, record: JsonObject) -> None:
        """Read the next record."""
        if self._is_repeated(record):
            return
        thread, lineage = self._thread, self._thread.lineage
        thread.set_time(record.get("timestamp"))
        lineage.record(record.get("ordinal"), thread.time)
        if lineage.end_is_guessed:
            lineage.end_is_guessed = False
            thread.report_unknown("the end of the copied history is a guess")
        payload = record.get("payload")
        if is_object(payload):
            self._feed_payload(record, payload)
        else:
            self._prompts.release()
            self._feed_bare(record)

    def finish(self) -> None:
        """Read what is pending, because the log has ended, at least for now."""
        self._prompts.finish()
        self._items.add_unmatched()

    def mark(self) -> JsonObject:
        """The state of this place, where a turn begins."""
        return {
            "telling": self._thread.state(),  # the name in stored checkpoints
            "prompts": self._prompts.state(),
            "events": self._events.state(),
        }

    def state(self, mark: JsonObject) -> JsonObject:
        """What is needed to continue from a mark."""
        return mark

    def restore(self, state: JsonObject) -> None:
        """Continue from a state: the next record is the first of a turn."""
        self._thread.restore(state["telling"])
        self._prompts.restore(state["prompts"])
        self._events.restore(state["events"])

    def _end_copy(self) -> None:
        """End the responses of the copied history, which this thread does not continue."""
        self._prompts.release()
        self._items.end_turn()

    def _is_repeated(self, record: JsonObject) -> bool:
        """Whether a record equals the one before, including its time."""
        last, self._last = self._last, record
        if last is None or "timestamp" not in record or "payload" not in record or record != last:
            return False
        self._thread.report_unknown("a record twice in a row")
        return True

    def _feed_payload(self, record: JsonObject, payload: JsonObject) -> None:
        """Read a record in its envelope."""
        thread, kind = self._thread, record.get("type")
        if not (kind == "event_msg" and self._events.confirms(payload)):
            self._prompts.release()
        extra = thread.unknown_members(record, ENVELOPE, "a record") or {}
        if METADATA in record:
            extra[METADATA] = record[METADATA]
        if extra:
            thread.note("envelope", extra)
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(payload)
            return
        if not isinstance(kind, str) or kind not in STATE_RECORDS:
            thread.report_unknown(f"unknown record type {kind!r}"[:200])
        thread.note(kind if isinstance(kind, str) and kind else "record", payload)

    def _feed_bare(self, record: JsonObject) -> None:
        """Read a record without an envelope: of the first version, or unknown."""
        kind = record.get("type")
        if isinstance(kind, str) and kind in self._items.kinds:
            self._items.feed(record)
        elif kind is None and record.get("record_type") == "state":
            if len(record) > 1:
                self._thread.note("state", record)
        elif kind is None and HEADER.issuperset(record) and isinstance(record.get("id"), str):
            self._session_meta(record)
        else:
            self._thread.report_unknown(f"unknown record type {kind!r}"[:200])
            self._thread.note(kind if isinstance(kind, str) and kind else "record", record)

    # The thread

    def _session_meta(self, meta: JsonObject) -> None:
        thread = self._thread
        self._items.end_response()
        header = thread.lineage.header(meta)
        if header == "another":  # several rollouts in one file: this one begins at the root
            thread.notice("session_meta", meta, None, parent="", hidden=True)
        else:
            thread.note("session_meta", meta)
        if header != "copied":
            self._spawns.path = text(spawn_facts(meta), "agent_path") or self._spawns.path
            self._set_facts(facts_of(meta))
            thread.provider = text(meta, "model_provider") or thread.provider

    def _turn_context(self, context: JsonObject) -> None:
        thread = self._thread
        self._items.end_response()
        thread.lineage.turn(context)
        thread.turn_id = text(context, "turn_id") or thread.turn_id
        model = text(context, "model")
        if model is not None and thread.model not in (None, model):
            thread.notice("model_change", {"from": thread.model, "to": model}, f"Model: {model}")
        thread.model = model or thread.model
        self._set_facts({"cwd": text(context, "cwd"), "model": model})
        thread.note("turn_context", context)

    def _set_facts(self, facts: dict[Fact, Json]) -> None:
        for fact, value in facts.items():
            if value is not None:
                self._thread.set_fact(fact, value)


def agent_keys(values: Sequence[Json]) -> Sequence[str]:
    """The keys of a sub-agent, by the first values of its file: see `LogSink.expect_agent`.

    The second one is for calls that name no path.
    """
    header = values[0] if values else None
    meta = nested(header, "payload") if is_object(header) else {}
    parent = parent_thread(meta)
    path = text(spawn_facts(meta), "agent_path") or text(meta, "agent_path") or ""
    return () if parent is None else (agent_key(parent, path), parent)


def facts_of(meta: JsonObject) -> dict[Fact, Json]:
    """The facts about a thread in its header."""
    git, source, spawn = nested(meta, "git"), meta.get("source"), spawn_facts(meta)
    base = text(nested(meta, "history_base"), "thread_id")
    thread = text(meta, "id") or text(meta, "session_id")
    return {
        "sessionId": thread,
        "cwd": text(meta, "cwd"),
        "version": text(meta, "cli_version"),
        "entrypoint": text(meta, "originator") or (source if isinstance(source, str) else None),
        "provider": text(meta, "model_provider"),
        "gitBranch": text(git, "branch"),
        "gitCommit": text(git, "commit_hash"),
        "gitRepository": text(git, "repository_url"),
        "parentSessionId": text(meta, "parent_thread_id") or text(spawn, "parent_thread_id"),
        "forkedFrom": text(meta, "forked_from_id") or (base if base != thread else None),
        "agentName": text(meta, "agent_nickname")
        or text(spawn, "agent_nickname")
        or text(spawn, "agent_path"),
    }


class EventReader:
    """Reads the payloads of events. Most events repeat items."""

    def __init__(
        self,
        thread: Thread,
        prompts: Prompts,
        responses: Responses,
        calls: Calls,
        spawns: SpawnedAgents,
        items: ResponseItems,
    ) -> None:
        self._thread, self._prompts, self._responses = thread, prompts, responses
        self._calls, self._spawns, self._items = calls, spawns, items
        self._tokens = TokenCounts()
        self._limits: Json = None
        self._compacted = False  # the record was read, so that its event adds nothing
        self._handlers: dict[str, Callable[[JsonObject], None]] = {
            "agent_message": self._agent_message,
            "agent_reasoning": self._agent_reasoning,
            "agent_reasoning_raw_content": self._agent_reasoning,
            "token_count": self._token_count,
            "task_started": self._task_started,
            "turn_started": self._task_started,
            "task_complete": self._task_complete,
            "turn_complete": self._task_complete,
            "turn_aborted": self._turn_aborted,
            "thread_rolled_back": self._rolled_back,
            "context_compacted": self._context_compacted,
            "item_completed": self._item_completed,
            "thread_name_updated": self._named,
            "thread_settings_applied": self._settings,
        }

    def feed(self, event: JsonObject) -> None:
        """Read an event."""
        kind = event.get("type")
        if not isinstance(kind, str):
            self._thread.report_unknown("an event without a type")
            self._thread.note("event", event)
            return
        self._feed(event, kind)
        known = EVENT_MEMBERS.get(kind)
        if known is not None and not known.issuperset(event):
            self._thread.unknown_members(event, known, kind)
            self._thread.note(kind, event)

    def _feed(self, event: JsonObject, kind: str) -> None:
        if kind == "user_message":
            self._confirm(text(event, "message") or "", event)
        elif (handler := self._handlers.get(kind)) is not None:
            handler(event)
        elif kind in TOOL_EVENTS:
            described = item_event(event)
            if described is not None and described.phase == "completed":
                self._tool(described.item, kind, event)
        elif kind in NOTICES:
            self._items.end_response()
            shown = member(event, NOTICES[kind])
            self._thread.notice(kind, event, shown if isinstance(shown, str) else None)
        else:
            if kind not in STATE_EVENTS:
                self._thread.report_unknown(f"unknown event {kind!r}"[:200])
            self._thread.note(kind, event)
            self._spawns.add_event(kind, event)

    def state(self) -> JsonObject:
        """Return the state that reading continues from."""
        return {"total": self._tokens.total, "limits": self._limits}

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        self._tokens.total, self._limits = state["total"], state["limits"]

    def confirms(self, event: JsonObject) -> bool:
        """Whether an event is that of a prompt, whose item precedes it."""
        if event.get("type") == "item_completed":
            return kind_of_item(nested(event, "item")) == "user_message"
        return event.get("type") == "user_message"

    # Events of items

    def _confirm(self, prompt: str, event: JsonObject) -> None:
        if not self._prompts.has_pending:  # the item is missing; the event ends the current response
            self._items.end_response()
        self._prompts.confirm(prompt, event)

    def _agent_message(self, event: JsonObject) -> None:
        self._items.add_event_text("text", text(event, "message") or "", event)
        if event.get("memory_citation") is not None:
            self._thread.note("agent_message", event)

    def _agent_reasoning(self, event: JsonObject) -> None:
        self._items.add_event_text("reasoning", text(event, "text") or "", event)

    def _token_count(self, event: JsonObject) -> None:
        count = self._tokens.take(event.get("info"))
        if count is not None:
            self._responses.count(count, event)
        limits = event.get("rate_limits")
        if limits is not None and limits != self._limits:
            self._limits = limits
            self._thread.note("rate_limits", limits)

    def _item_completed(self, event: JsonObject) -> None:
        item = nested(event, "item")
        kind = kind_of_item(item)
        if kind == "user_message":
            self._confirm("".join(texts(item, "content")), _user_event(item))
        elif kind == "agent_message":
            self._items.add_event_text("text", item_text(item), item)
        elif kind == "reasoning":
            for value in (*texts(item, "summary_text"), *texts(item, "raw_content")):
                self._items.add_event_text("reasoning", value, item)
        elif kind == "context_compaction":
            self._context_compacted(event)
        elif read_tool_item(item) is not None:
            self._tool(item, "item_completed", event)
        else:
            if kind not in STATE_EVENT_ITEMS:
                self._thread.report_unknown(f"unknown item {kind!r} of an event"[:200])
            self._thread.note(f"item_{kind}" if kind else "item_completed", event)
        self._spawns.add_item(kind, item)

    def _tool(self, item: JsonObject, kind: str, event: JsonObject) -> None:
        """Read a tool item: of a known call, or of a call without a response item."""
        tool_item = read_tool_item(item)
        assert tool_item is not None, "tool events have tool items"
        if not tool_item.id:
            self._thread.note(kind, event)
        elif tool_item.id in self._calls:
            self._calls.add_event(tool_item)
        elif tool_item.name == "web_search":
            self._items.add_search(tool_item, event)
        else:
            self._calls.add_tool_item(self._items.open_response(event), tool_item, kind)

    # Turns

    def _task_started(self, event: JsonObject) -> None:
        self._items.end_turn()
        self._thread.lineage.turn(event)
        self._thread.turn_id = text(event, "turn_id")
        self._compacted = False
        self._prompts.task_started()
        self._thread.note("task_started", event)

    def _task_complete(self, event: JsonObject) -> None:
        self._items.end_turn()
        error = event.get("error")
        if error is None:
            self._thread.note("task_complete", event)
            self._prompts.task_ended("completed")
            return
        shown = error_text(error)
        self._thread.notice("task_complete", event, shown)
        self._prompts.task_ended("failed", shown)

    def _turn_aborted(self, event: JsonObject) -> None:
        reason = text(event, "reason")
        self._items.abort()
        self._items.end_turn()
        self._thread.notice("turn_aborted", event, f"Turn aborted: {reason or 'no reason given'}")
        self._prompts.task_ended("interrupted", reason)

    def _rolled_back(self, event: JsonObject) -> None:
        """Begin a branch before the last turns, which were removed, with a notice."""
        self._items.end_turn()
        turns = integer(event, "num_turns") or 0
        parent = self._prompts.roll_back(turns)
        if parent is None and turns:
            self._thread.report_unknown("a rollback of turns that are not there")
        shown = f"{turns} turn{'' if turns == 1 else 's'} rolled back"
        self._thread.notice("thread_rolled_back", event, shown, parent=parent)

    def compacted(self, record: JsonObject) -> None:
        """Add a notice that the history was replaced by a shorter one."""
        self._items.end_response()
        self._compacted = True
        self._thread.notice("compacted", record, text(record, "message"))

    def _context_compacted(self, event: JsonObject) -> None:
        """Add a notice for the event of a compaction, unless its record was read."""
        if self._compacted:
            self._compacted = False
            return
        self._items.end_response()
        self._thread.notice("context_compacted", event, None)

    # State

    def _named(self, event: JsonObject) -> None:
        name = text(event, "thread_name") or text(event, "name")
        if name and not self._thread.lineage.copied:
            self._thread.set_fact("title", name)
        self._thread.note("thread_name_updated", event)

    def _settings(self, event: JsonObject) -> None:
        model = text(nested(event, "thread_settings"), "model")
        if model:
            self._thread.model = model
            self._thread.set_fact("model", model)
        self._thread.note("thread_settings_applied", event)


def _user_event(item: JsonObject) -> JsonObject:
    """Return a user item as an event of version 2."""
    inputs = list(items(item, "content"))
    return {
        "id": text(item, "id"),
        "client_id": text(item, "client_id"),
        "images": [url for part in inputs if (url := text(part, "image_url")) is not None],
        "local_images": [path for part in inputs if (path := text(part, "path")) is not None],
        "text_elements": [element for part in inputs for element in items(part, "text_elements")],
    }
