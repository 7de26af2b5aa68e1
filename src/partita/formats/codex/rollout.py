"""Rollout files of Codex → messages: all three generations of them.

1. Until mid 2025: a header, then bare response items, and lines of state. No times, no counts.
2. Each line is `{timestamp, type, payload}`, and the words are there twice, as items and as events.
3. Since 2026 lines have an `ordinal`, and events bring whole items.
"""

from collections.abc import Callable
from typing import Final

from partita.formats.transcript import Fact, Teller
from partita.types.json import Json, JsonObject, is_object

from .crew import crew_for
from .events import Events
from .fields import inner, text
from .lineage import spawn_of
from .own_words import OwnWords
from .response_items import ResponseItems
from .spawns import FindAgent
from .telling import Telling

STATE: Final = frozenset(
    {
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "token_usage_record",
    }
)
"""Records that are no talk. `token_usage_record` says again what `token_count` says."""

METADATA: Final = "metadata"
"""Beside a payload since 2026: places in the history that Codex sends. It is kept, and means nothing here."""

ENVELOPE: Final = frozenset({"timestamp", "type", "payload", "ordinal", METADATA})

HEADER: Final = frozenset({"id", "timestamp", "instructions", "git"})


class CodexRolloutDecoder:
    """Records in; a teller is told what they say."""

    def __init__(self, teller: Teller, *, under_call: bool = False) -> None:
        """`under_call`: the thread is told under the call that started it, so what it copied is not."""
        telling = self._telling = Telling(teller)
        if under_call:
            telling.teller = OwnWords(teller, telling.lineage)
            telling.lineage.on_own = self._end_copy
        crew = crew_for(telling)
        self._prompts, self._spawns = crew.prompts, crew.spawns
        self._items = ResponseItems(crew)
        self._events = Events(crew, self._items)
        self._last: JsonObject | None = None
        self._handlers: dict[str, Callable[[JsonObject], None]] = {
            "session_meta": self._session_meta,
            "turn_context": self._turn_context,
            "response_item": self._items.feed,
            "event_msg": self._events.feed,
            "compacted": self._events.compacted,
        }

    def feed(self, record: JsonObject) -> None:
        """Take the next record."""
        if self._is_repeated(record):
            return
        telling = self._telling
        telling.tick(record.get("timestamp"))
        telling.lineage.record(record.get("ordinal"), telling.time)
        if telling.lineage.guessed:
            telling.lineage.guessed = False
            telling.teller.puzzle("where the copied history ends had to be guessed")
        payload = record.get("payload")
        if is_object(payload):
            self._take(record, payload)
        else:
            self._prompts.settle()
            self._take_bare(record)

    def finish(self) -> None:
        """The log has ended, for now or for good."""
        self._prompts.finish()
        self._items.speak_for_events()

    @property
    def find_agent(self) -> FindAgent:
        """Who knows the files of sub-agents."""
        return self._spawns.find_agent

    @find_agent.setter
    def find_agent(self, find: FindAgent) -> None:
        self._spawns.find_agent = find

    def claim(self, sign: str) -> str | None:
        """The call that is likely to have started a sub-agent of that sign."""
        return self._spawns.claim(sign)

    def mark(self) -> JsonObject:
        """Remember this place, where a turn begins."""
        return {
            "telling": self._telling.state(),
            "prompts": self._prompts.state(),
            "events": self._events.state(),
        }

    def state(self, mark: JsonObject) -> JsonObject:
        """What must be known to go on from a mark."""
        return mark

    def restore(self, state: JsonObject) -> None:
        """Go on from a state: the next record is the first of a turn."""
        self._telling.restore(state["telling"])
        self._prompts.restore(state["prompts"])
        self._events.restore(state["events"])

    def _end_copy(self) -> None:
        """The history of others is over: nothing of it is at hand any more."""
        self._prompts.settle()
        self._items.end_turn()

    def _is_repeated(self, record: JsonObject) -> bool:
        """Whether a record is there twice in a row, time and all."""
        last, self._last = self._last, record
        if last is None or "timestamp" not in record or "payload" not in record or record != last:
            return False
        self._telling.teller.puzzle("a record twice in a row")
        return True

    def _take(self, record: JsonObject, payload: JsonObject) -> None:
        """A record in its envelope."""
        kind = record.get("type")
        if not (kind == "event_msg" and self._events.confirms(payload)):
            self._prompts.settle()
        extra = self._telling.check(record, ENVELOPE, "a record") or {}
        if METADATA in record:
            extra[METADATA] = record[METADATA]
        if extra:
            self._telling.note("envelope", extra)
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(payload)
            return
        if not isinstance(kind, str) or kind not in STATE:
            self._telling.teller.puzzle(f"unknown record type {kind!r}"[:200])
        self._telling.note(kind if isinstance(kind, str) and kind else "record", payload)

    def _take_bare(self, record: JsonObject) -> None:
        """A record without an envelope: of the first generation, or of no known one."""
        kind = record.get("type")
        if isinstance(kind, str) and kind in self._items.kinds:
            self._items.feed(record)
        elif kind is None and record.get("record_type") == "state":
            if len(record) > 1:
                self._telling.note("state", record)
        elif kind is None and HEADER.issuperset(record) and isinstance(record.get("id"), str):
            self._session_meta(record)
        else:
            self._telling.teller.puzzle(f"unknown record type {kind!r}"[:200])
            self._telling.note(kind if isinstance(kind, str) and kind else "record", record)

    # The thread

    def _session_meta(self, meta: JsonObject) -> None:
        telling = self._telling
        self._items.end_response()
        header = telling.lineage.header(meta)
        if header == "another":  # several rollouts in one file: this one begins at the root
            telling.announce("session_meta", meta, None, parent="", hidden=True)
        else:
            telling.note("session_meta", meta)
        if header != "copied":
            self._spawns.path = text(spawn_of(meta), "agent_path") or self._spawns.path
            self._learn(facts_of(meta))
            telling.provider = text(meta, "model_provider") or telling.provider

    def _turn_context(self, context: JsonObject) -> None:
        telling = self._telling
        self._items.end_response()
        telling.lineage.turn(context)
        telling.turn_id = text(context, "turn_id") or telling.turn_id
        model = text(context, "model")
        if model is not None and telling.model not in (None, model):
            telling.announce("model_change", {"from": telling.model, "to": model}, f"Model: {model}")
        telling.model = model or telling.model
        self._learn({"cwd": text(context, "cwd"), "model": model})
        telling.note("turn_context", context)

    def _learn(self, facts: dict[Fact, Json]) -> None:
        for fact, value in facts.items():
            if value is not None:
                self._telling.teller.learn(fact, value)


def facts_of(meta: JsonObject) -> dict[Fact, Json]:
    """What a header says about its thread."""
    git, source = inner(meta, "git"), meta.get("source")
    spawn = spawn_of(meta)
    base = text(inner(meta, "history_base"), "thread_id")
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
