"""Canonical messages → the records of a rollout that Codex can resume.

The form is that of Codex before paginated history (0.30 to 0.146), which later versions read and continue
too. Records are in the order in which Codex writes a turn: the start of the task, the context of the turn,
the prompt; for each response its items, each text after the event that shows it, the outputs of its calls,
and its usage; the end of the task. Reported as losses: reasoning that OpenAI has not encrypted is shown and
not sent to the model; steps of one message become several messages; files other than images, sources, data,
sub-agents and notices are not written.
"""

from collections.abc import Sequence
from datetime import UTC
from pathlib import PurePosixPath
from typing import Final, TypeAlias, assert_never

from msgspec import UNSET

from partita.formats.core.metadata import notes
from partita.formats.core.report import COMMON_REASONS, STEERING
from partita.formats.format import Dumped
from partita.formats.log.session_file import (
    UNKNOWN_MODEL,
    Losses,
    Names,
    SessionFacts,
    derived_uuid,
    is_uuid,
    model_of,
)
from partita.formats.losses import NO_CALL, NO_PLACE, REQUIRED, STEPS, Loss, Severity, json_losses
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    UnknownPart,
)
from partita.types.times import EPOCH, iso_text
from partita.types.tool_results import fold
from partita.types.usage import Usage
from partita.types.value import fields_of

from .item_writer import ONLY_IMAGES, SEARCH, call_items, note_losses, part_losses, text_block, user_blocks
from .prompts import is_injected
from .usage import COUNTS, read_usage, write_usage
from .wire import AGENT, STATE_ITEMS, STATE_RECORDS, data_name

VERSION: Final = "0.146.0"
"""The version of Codex that new rollouts name."""

ORIGINATOR: Final = "partita"
META: Final = data_name("session_meta")
CONTEXT: Final[JsonObject] = {
    "approval_policy": "on-request",
    "sandbox_policy": {"type": "read-only"},
    "summary": "auto",
}
"""The permissions of a turn. A CLI that resumes the session uses its own settings instead."""

RECORDS: Final = STATE_RECORDS | {"compacted"}
TURN_RECORDS: Final = frozenset({"turn_context", "task_started", "task_complete"})
"""Records of each turn. Those that the reader kept are written back with their turn."""

MODEL_CHANGE: Final = "model_change"
"""Data that the reader makes of two contexts."""

EMPTY: Final = "it is empty"
VISIBILITY: Final = "the role and the text of a message decide whether Codex shows it"
MILLISECONDS: Final = "times have milliseconds"


def dump(messages: Sequence[Message]) -> Dumped:
    """The records of a rollout."""
    return dump_session(messages, SessionFacts())


def dump_session(messages: Sequence[Message], facts: SessionFacts) -> Dumped:
    """The records of a rollout, with other facts about the session than its messages."""
    losses = Losses()
    folded = fold(messages) if any(isinstance(message, ToolMessage) for message in messages) else messages
    meta = _meta(messages, facts)
    writer = RolloutWriter(meta, facts.model, folded, losses)
    for index, message in enumerate(folded):
        writer.write(message, index, f"$[{index}]")
    writer.finish()
    if not writer.records:
        return Dumped([], tuple(losses.found))
    first: JsonObject = {"timestamp": meta["timestamp"], "type": "session_meta", "payload": meta}
    return Dumped([first, *writer.records], tuple(losses.found))


def session_path(payload: Json) -> str:
    """The path under `CODEX_HOME` where Codex finds a rollout."""
    first = payload[0] if is_array(payload) and payload else None
    meta = first.get("payload") if is_object(first) else None
    assert is_object(meta), "a rollout begins with its header"
    day, _, time = str(meta["timestamp"]).partition("T")
    moment = f"{day}T{time[:8].replace(':', '-')}"
    return str(PurePosixPath("~/.codex/sessions", *day.split("-"), f"rollout-{moment}-{meta['id']}.jsonl"))


def _meta(messages: Sequence[Message], facts: SessionFacts) -> JsonObject:
    """The header: that of the rollout that the messages were read from, else a new one."""
    thread = next((message.thread_id for message in messages if message.thread_id), "")
    kept = _kept_meta(messages)
    if kept and thread in ("", kept["id"]):
        return kept
    session_id = (
        thread if is_uuid(thread) else str(derived_uuid("session", thread, *(one.id for one in messages[:1])))
    )
    times = [time for time in (facts.created_at, *(one.created_at for one in messages)) if time is not None]
    started_at = (times[0] if times else EPOCH).astimezone(UTC)
    git = {
        "commit_hash": facts.git_commit,
        "branch": facts.git_branch,
        "repository_url": facts.git_repository,
    }
    known = {name: value for name, value in git.items() if value}
    return {
        "id": session_id,
        "timestamp": iso_text(started_at, "milliseconds"),
        "cwd": facts.cwd or "/",
        "originator": ORIGINATOR,
        "cli_version": facts.version if facts.agent == AGENT and facts.version else VERSION,
        "source": "cli",
        **({"git": known} if known else {}),
    }


def _kept_meta(messages: Sequence[Message]) -> JsonObject:
    """The header that the reader kept, without `history_mode`, which is not that of the written records."""
    parts = [part for message in messages for part in message.content.parts if isinstance(part, DataPart)]
    kept = next((part.data for part in parts if part.name == META and is_object(part.data)), {})
    if not all(isinstance(kept.get(name), str) for name in ("id", "timestamp", "cwd")):
        return {}
    return {name: value for name, value in kept.items() if name != "history_mode"}


TurnKey: TypeAlias = tuple[str, Json]
"""The kind of a record, and the id of its turn."""


class RolloutWriter:
    """Writes the records of one rollout."""

    def __init__(
        self, meta: JsonObject, model: str | None, messages: Sequence[Message], losses: Losses
    ) -> None:
        """`model`: that of the session, used if no response names one."""
        self.records: list[JsonObject] = []
        self._meta = meta
        self._session_id: str = meta["id"]
        self._model = model
        self._models = models_of(messages)
        self._losses = losses
        self._kept_records = _turn_records(messages)
        self._pending: list[
            tuple[TurnKey, DataPart, str]
        ] = []  # data parts of turn records, with their paths
        self._written: set[TurnKey] = set()
        self._names = Names(self._session_id, calls="call_{}")
        self._time = EPOCH
        self._last_id = ""
        self._turn: str | None = None
        self._turns: set[str] = set()
        self._last_text: str | None = None  # the last text of the turn
        self._is_open = False  # the next response would be read as part of the last one
        self._has_items = False  # not only events
        self._confirmed = False  # a prompt was written, with its event
        self._outputs: list[JsonObject] = []  # of calls of the current response
        self._total = dict.fromkeys(COUNTS, 0)
        self._zeros = 0

    def write(self, message: Message, index: int, path: str) -> None:
        """Write the records of a message."""
        self._time = message.created_at or self._time
        before = len(self.records)
        match message:
            case UserMessage():
                self._user(message, index, path)
            case AssistantMessage():
                self._response(message, index, path)
            case SystemMessage():
                self._system(message, path)
            case ToolMessage():
                for number, part in enumerate(message.parts):
                    self._losses.add_whole(part, f"{path}.content.parts[{number}]", NO_CALL)
            case _:
                assert_never(message)
        self._report(message, path, written=len(self.records) > before)

    def finish(self) -> None:
        """End the last turn."""
        self._end_turn()
        for key, part, path in self._pending:
            if key not in self._written:
                self._losses.add_whole(part, path, NO_PLACE)
            self._written.discard(key)
        if self._zeros:
            self._losses.found.append(Loss("$", f"counts of {self._zeros} answers", REQUIRED, "minor"))

    # Records

    def _record(self, type_: str, payload: JsonObject) -> None:
        stamp = iso_text(self._time, "milliseconds")
        self.records.append({"timestamp": stamp, "type": type_, "payload": payload})

    def _item(self, item: JsonObject, *, is_open: bool) -> None:
        """Write an item. `is_open`: it belongs to a response."""
        self._record("response_item", item)
        self._has_items, self._is_open = True, is_open

    def _event(self, type_: str, **fields: Json) -> None:
        self._record("event_msg", {"type": type_, **fields})

    def _restored(self, kind: str, payload: JsonObject, *same: str) -> JsonObject:
        """Return the record of a turn that the reader kept, or `payload` if members in `same` differ."""
        key = (kind, self._turn)
        kept = self._kept_records.get(key)
        if kept is None or any(kept.get(name) not in (None, payload.get(name)) for name in same):
            return payload
        del self._kept_records[key]
        self._written.add(key)
        return kept

    # Turns

    def _begin_turn(self, message: Message, index: int) -> None:
        self._end_turn()
        turn_id = notes(_metadata(message), AGENT).get("turnId")
        turn = (
            turn_id if isinstance(turn_id, str) else str(derived_uuid("turn", self._session_id, message.id))
        )
        while turn in self._turns:  # two turns with the same id would be read as one
            turn = str(derived_uuid("turn", self._session_id, turn))
        self._turns.add(turn)
        self._turn = turn
        started = {"type": "task_started", "turn_id": self._turn, "model_context_window": None}
        self._record("event_msg", self._restored("task_started", started))
        self._context(self._models[index])

    def _context(self, model: str | None) -> None:
        self._model = model or self._model or UNKNOWN_MODEL
        self._is_open = False
        named: JsonObject = {"turn_id": self._turn, "cwd": self._meta["cwd"]}
        context = named | CONTEXT | {"model": self._model}
        self._record("turn_context", self._restored("turn_context", context, "model"))

    def _end_turn(self) -> None:
        if self._turn is not None:
            ended = {"type": "task_complete", "turn_id": self._turn, "last_agent_message": self._last_text}
            self._record("event_msg", self._restored("task_complete", ended, "last_agent_message"))
        self._turn = self._last_text = None
        self._is_open = False

    # Messages of users and systems

    def _user(self, message: UserMessage, index: int, path: str) -> None:
        blocks = user_blocks(message.parts, f"{path}.content", self._losses)
        if not blocks:
            return
        is_internal = message.internal or message.type == "event"
        # Before the first prompt, only context that Codex added is read as hidden.
        hidden = is_internal and (self._confirmed or is_injected(blocks))
        prompt_notes = notes(_metadata(message), AGENT)
        if not hidden and (self._turn is None or prompt_notes.get("turnId") != self._turn):
            self._begin_turn(message, index)
        self._prompt(blocks, _item_id(message, self._session_id), prompt_notes, hidden=hidden)
        if hidden != is_internal or message.internal != hidden or (message.type == "event") != hidden:
            self._losses.add(f"{path}.internal", message.internal, VISIBILITY)

    def _prompt(
        self, blocks: list[JsonObject], id_: JsonObject, prompt_notes: JsonObject, *, hidden: bool
    ) -> None:
        extra = prompt_notes.get("extra")
        rest = extra if is_object(extra) else {}
        self._item({"type": "message", **id_, "role": "user", "content": blocks, **rest}, is_open=False)
        if hidden:
            return
        self._confirmed = True
        client = {"client_id": prompt_notes["clientId"]} if "clientId" in prompt_notes else {}
        self._event(
            "user_message",
            message="".join(block["text"] for block in blocks if isinstance(block.get("text"), str)),
            images=[block["image_url"] for block in blocks if block.get("type") == "input_image"],
            local_images=prompt_notes.get("localImages", []),
            text_elements=prompt_notes.get("textElements", []),
            **client,
        )

    def _system(self, message: SystemMessage, path: str) -> None:
        """Write instructions with the role of the developer. Of notices, only those of Codex are written."""
        role = notes(_metadata(message), AGENT).get("role")
        if message.type == "event" and role is None:
            self._notices(message, path)
            return
        blocks: list[JsonObject] = []
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if isinstance(part, TextPart):
                blocks.append(text_block(part, where, self._losses))
            else:
                self._losses.add_whole(part, where, NO_PLACE)
        if blocks:
            item_role = role if isinstance(role, str) else "developer"
            id_ = _item_id(message, self._session_id)
            self._item({"type": "message", **id_, "role": item_role, "content": blocks}, is_open=False)
            if role is None:
                self._losses.add(f"{path}.internal", message.internal, VISIBILITY)

    def _notices(self, message: SystemMessage, path: str) -> None:
        is_own = any(_record_kind(part) is not None for part in message.parts)
        for number, part in enumerate(message.parts):
            kind = _record_kind(part)
            record = _kept_record(part.data, kind) if isinstance(part, DataPart) and kind else None
            if record is not None:
                self._record(*record)
                self._is_open = False
            elif kind == "session_meta" and isinstance(part, DataPart):
                where = f"{path}.content.parts[{number}].data"
                self._losses.found.extend(json_losses(part.data, self._meta, where, NO_PLACE))
            elif kind in TURN_RECORDS and isinstance(part, DataPart):
                key = _turn_key(kind, part.data)
                self._pending.append((key, part, f"{path}.content.parts[{number}]"))
            elif kind != MODEL_CHANGE and not (isinstance(part, TextPart) and is_own):
                self._losses.add_whole(part, f"{path}.content.parts[{number}]", NO_PLACE)

    # Responses

    def _response(self, message: AssistantMessage, index: int, path: str) -> None:
        place = len(self.records), self._turn, self._model, self._is_open
        if self._turn is None:
            self._begin_turn(message, index)
        model = model_of(message)
        if self._is_open or (model is not None and model != self._model):
            self._context(model)
        usage, parts = message.content.usage, message.parts
        shown = [number for number, part in enumerate(parts) if _is_written(part)]
        last = max((at for at in shown if not isinstance(parts[at], SteeringMessagePart)), default=None)
        before = len(self.records)
        self._has_items = False
        for number, part in enumerate(parts):
            where = f"{path}.content.parts[{number}]"
            if isinstance(part, StepStartPart) and len(self.records) > before and number < max(shown):
                self._losses.add(where, "step-start", STEPS)
                self._write_outputs()
                if self._is_open:
                    self._context(model)
            self._part(part, message, where)
            if number == last:
                self._write_outputs()
                self._count(usage, f"{path}.content.usage")
        if last is None and usage is not None:
            self._losses.add_whole(usage, f"{path}.content.usage", EMPTY)
        if len(self.records) == before:
            count, self._turn, self._model, self._is_open = place
            del self.records[count:]  # the turn would be empty

    def _part(self, part: AssistantPart, message: AssistantMessage, where: str) -> None:
        losses = self._losses
        match part:
            case StepStartPart():
                losses.add_members(part, where)
            case TextPart():
                part_losses(part, where, losses, "text")
                note_losses(part, where, losses, "id", "phase")
                self._text(part, where)
            case ReasoningPart():
                # The reader numbers the blocks of a response.
                written = ("text", "id") if part.id is not None and part.id.isdecimal() else ("text",)
                part_losses(part, where, losses, *written)
                note_losses(part, where, losses, "id", "encryptedContent")
                self._reasoning(part, where)
            case ToolCallPart():
                items = call_items(part, self._names.call(part.id, message.id), where, losses)
                self._item(items.call, is_open=True)
                if items.output is not None:
                    self._outputs.append(items.output)
            case SteeringMessagePart():
                losses.add(f"{where}.type", "steering-message", STEERING)
                self._write_outputs()
                losses.add_members(part, where, "parts")
                blocks = user_blocks(part.parts, where, losses)
                if blocks:
                    self._prompt(blocks, {}, {}, hidden=False)
            case ImagePart() | FilePart() | ReasoningFilePart():
                losses.add_whole(part, where, ONLY_IMAGES)
            case SourceUrlPart(url=url) if url in _searched_pages(message):
                losses.add_members(part, where, "source_id", "url")  # the reader adds it for the search
            case SourceUrlPart() | SourceDocumentPart() | DataPart() | CustomPart():
                losses.add_whole(part, where, COMMON_REASONS.get(part.type, NO_PLACE))
            case ForeignPart() | UnknownPart():
                losses.add_whole(part, where, COMMON_REASONS["foreign"])
            case _:
                assert_never(part)

    def _write_outputs(self) -> None:
        """Write the outputs of calls, which follow all items of their response."""
        for output in self._outputs:
            self._item(output, is_open=False)
        self._outputs.clear()

    def _text(self, part: TextPart, where: str) -> None:
        if not part.text:
            self._losses.add(where, "", EMPTY)
            return
        part_notes = notes(part.provider_metadata, AGENT)
        phase: JsonObject = {"phase": part_notes["phase"]} if "phase" in part_notes else {}
        id_: JsonObject = {"id": part_notes["id"]} if "id" in part_notes else {}
        self._event("agent_message", message=part.text, **phase)
        content = [{"type": "output_text", "text": part.text}]
        item = {"type": "message", **id_, "role": "assistant", "content": content, **phase}
        self._item(item, is_open=True)
        self._last_text = part.text

    def _reasoning(self, part: ReasoningPart, where: str) -> None:
        """Write reasoning. That of Codex is an item, which is sent back to the model; other is only shown.

        OpenAI accepts only its own reasoning: https://platform.openai.com/docs/guides/reasoning.
        """
        part_notes = notes(part.provider_metadata, AGENT)
        if part.text:
            self._event("agent_reasoning", text=part.text)
            self._is_open = True
        if _is_item(part):
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            id_: JsonObject = {"id": part_notes["id"]} if "id" in part_notes else {}
            encrypted = part_notes.get("encryptedContent")
            item = {"type": "reasoning", **id_, "summary": summary, "encrypted_content": encrypted}
            self._item(item, is_open=True)
        elif not part.text:
            self._losses.add_whole(part, where, EMPTY)

    def _count(self, usage: Usage | None, path: str) -> None:
        if usage is None:
            return
        counts = write_usage(usage)
        if not any(counts.get(name) for name in COUNTS):
            self._losses.add_whole(usage, path, EMPTY)
            return
        self._count_losses(usage, counts, path)
        for name in COUNTS:
            self._total[name] += counts.get(name, 0)
        total = {name: count for name, count in self._total.items() if name in counts or count}
        info: JsonObject = {
            "total_token_usage": total,
            "last_token_usage": counts,
            "model_context_window": None,
        }
        self._event("token_count", info=info, rate_limits=None)
        self._is_open = self._is_open and not self._has_items

    def _count_losses(self, usage: Usage, counts: JsonObject, path: str) -> None:
        reread, zeros = read_usage(counts), 0
        for name, wire_name, _ in fields_of(Usage):
            one, other = getattr(usage, name), getattr(reread, name)
            if one is None and other is not None and name != "raw":
                zeros = 1
            elif name != "extra" and one is not UNSET and one != other:
                severity: Severity = "minor" if name == "raw" else "lost"
                self._losses.found.append(Loss.of(f"{path}.{wire_name}", one, NO_PLACE, severity))
        if usage.extra:
            self._losses.add(path, dict(usage.extra), NO_PLACE)
        self._zeros += zeros

    def _report(self, message: Message, path: str, *, written: bool) -> None:
        """Report the losses of a message besides those of its parts."""
        losses, content, where = self._losses, message.content, f"{path}.content"
        carried = {"content", "type"}
        if written:
            carried.add("created_at")
        if message.parent_id in (None, self._last_id):  # messages follow one another
            carried.add("parent_id")
        self._last_id = message.id
        if message.thread_id == self._session_id:
            carried.add("thread_id")
        is_kept = all(_record_kind(part) is not None for part in content.parts)
        if not isinstance(message, AssistantMessage) and (written or is_kept):
            carried.add("internal")
        if message.id.startswith(f"{self._session_id}:"):
            carried.add("id")
        losses.add_members(message, path, *carried)
        if message.created_at is not None and message.created_at.microsecond % 1000:
            losses.add(f"{path}.createdAt", message.created_at.isoformat(), MILLISECONDS)
        losses.add_members(content, where, "parts", "format", "usage", "metadata", "content")
        if content.content is not None and content.content != text_of(message):
            losses.add(f"{where}.content", content.content, NO_PLACE)
        if not written and not content.parts:
            losses.add(where, [], EMPTY)
        for name, value in _metadata(message).items():
            known = name == AGENT or (name == "model" and value == model_of(message))
            if not known:
                losses.add(f"{where}.metadata.{name}".rstrip("."), value, NO_PLACE)


def models_of(messages: Sequence[Message]) -> list[str | None]:
    """For each message, the model of the message or of the next response."""
    models: list[str | None] = []
    model: str | None = None
    for message in reversed(messages):
        model = model_of(message) or model
        models.append(model)
    return models[::-1]


def _metadata(message: Message) -> JsonObject:
    metadata: Json = message.content.metadata
    if is_object(metadata):
        return metadata
    return {} if metadata is UNSET else {"": metadata}


def _item_id(message: Message, session_id: str) -> JsonObject:
    """The id of an item that is in the id of a message, unless the reader made it from a time."""
    id_ = message.id.removeprefix(f"{session_id}:")
    is_item = id_ != message.id and id_.startswith(("msg_", "item_"))
    return {"id": id_} if is_item else {}


def _is_item(part: ReasoningPart) -> bool:
    """Whether reasoning was an item of Codex."""
    part_notes = notes(part.provider_metadata, AGENT)
    return "id" in part_notes or isinstance(part_notes.get("encryptedContent"), str)


def _is_written(part: AssistantPart) -> bool:
    """Whether a part is written."""
    match part:
        case TextPart(text=text):
            return bool(text)
        case ReasoningPart(text=text):
            return bool(text) or _is_item(part)
        case _:
            return isinstance(part, ToolCallPart | SteeringMessagePart)


def _searched_pages(message: AssistantMessage) -> list[Json]:
    """The pages that web searches in a message have opened."""
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    searches = [part for part in calls if notes(part.tool_metadata, AGENT).get("type") == SEARCH]
    return [part.input.get("url") for part in searches if is_object(part.input)]


def _record_kind(part: object) -> str | None:
    """The kind of a record that the reader kept as a data part, else `None`."""
    if not isinstance(part, DataPart) or not part.name.startswith(f"{AGENT}-"):
        return None
    return part.name.removeprefix(f"{AGENT}-").replace("-", "_")


def _turn_records(messages: Sequence[Message]) -> dict[TurnKey, JsonObject]:
    """The records of turns that the reader kept; the first of each kind and turn."""
    records: dict[TurnKey, JsonObject] = {}
    for message in messages if any(isinstance(one, SystemMessage) for one in messages) else ():
        for part in message.parts if isinstance(message, SystemMessage) else ():
            kind = _record_kind(part)
            if kind in TURN_RECORDS and isinstance(part, DataPart) and is_object(part.data):
                records.setdefault(_turn_key(kind, part.data), part.data)
    return records


def _turn_key(kind: str, data: Json) -> TurnKey:
    turn = data.get("turn_id") if is_object(data) else None
    return kind, turn if isinstance(turn, str) else None


def _kept_record(data: Json, kind: str) -> tuple[str, JsonObject] | None:
    """The type and the payload of a record that was kept as data; `None` if it was not."""
    if not is_object(data):
        return None
    if kind in RECORDS:
        return kind, data
    if kind == "rate_limits":
        return "event_msg", {"type": "token_count", "info": None, "rate_limits": data}
    if kind in TURN_RECORDS or data.get("type") != kind:
        return None
    return ("response_item" if kind in STATE_ITEMS else "event_msg"), data
