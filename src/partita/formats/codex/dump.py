"""Canonical messages → the records of a rollout that Codex can resume.

The form is that of Codex before paginated history (0.30 to 0.146), which later versions read and continue
too. Records are in the order in which Codex writes a turn: the task starts, the context of the turn is named,
the prompt follows; then for each response its items, each text after the event that shows it, the outputs of
its calls, and its usage; at last the task ends. Reported as losses: reasoning that OpenAI has not encrypted
is shown and not sent to the model; steps of one message become several messages; files other than images,
sources, data, sub-agents and notices have no place.
"""

from collections.abc import Sequence
from datetime import UTC
from pathlib import PurePosixPath
from typing import Final, TypeAlias, assert_never

from msgspec import UNSET

from partita.formats.core.metadata import notes
from partita.formats.core.report import COMMON_REASONS, STEERING, fields_of
from partita.formats.format import Dumped
from partita.formats.log.session_file import (
    UNKNOWN_MODEL,
    Losses,
    Names,
    SessionFacts,
    is_uuid,
    made_uuid,
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

from .dump_items import ONLY_IMAGES, SEARCH, call_items, note_losses, part_losses, text_block, user_blocks
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
"""What a turn is allowed to do. The CLI that resumes the session uses its own settings instead."""

RECORDS: Final = STATE_RECORDS | {"compacted"}
TURN_RECORDS: Final = frozenset({"turn_context", "task_started", "task_complete"})
"""Records that belong to each turn. Those that the reader kept are written again with their turn."""

MODEL_CHANGE: Final = "model_change"
"""Data that the reader makes of two contexts."""

EMPTY: Final = "it is empty"
SHOWN: Final = "the role and the text of a message decide whether Codex shows it"
MILLISECONDS: Final = "times have milliseconds"


def dump(messages: Sequence[Message]) -> Dumped:
    """The records of a rollout."""
    return dump_session(messages, SessionFacts())


def dump_session(messages: Sequence[Message], facts: SessionFacts) -> Dumped:
    """The records of a rollout, with what is known of the session besides its messages."""
    losses = Losses()
    folded = fold(messages) if any(isinstance(message, ToolMessage) for message in messages) else messages
    meta = _meta(messages, facts)
    writer = Writer(meta, facts.model, folded, losses)
    for index, message in enumerate(folded):
        writer.write(message, index, f"$[{index}]")
    writer.finish()
    if not writer.records:
        return Dumped([], tuple(losses.found))
    first: JsonObject = {"timestamp": meta["timestamp"], "type": "session_meta", "payload": meta}
    return Dumped([first, *writer.records], tuple(losses.found))


def session_path(payload: Json) -> str:
    """Where Codex looks for a rollout: its path under `CODEX_HOME`."""
    first = payload[0] if is_array(payload) and payload else None
    meta = first.get("payload") if is_object(first) else None
    assert is_object(meta), "a rollout begins with its header"
    day, _, time = str(meta["timestamp"]).partition("T")
    moment = f"{day}T{time[:8].replace(':', '-')}"
    return str(PurePosixPath("~/.codex/sessions", *day.split("-"), f"rollout-{moment}-{meta['id']}.jsonl"))


def _meta(messages: Sequence[Message], facts: SessionFacts) -> JsonObject:
    """The header: that of the rollout which the messages come from, or else what is known."""
    thread = next((message.thread_id for message in messages if message.thread_id), "")
    own = _own_meta(messages)
    if own and thread in ("", own["id"]):
        return own
    made = thread if is_uuid(thread) else str(made_uuid("session", thread, *(one.id for one in messages[:1])))
    times = [time for time in (facts.created_at, *(one.created_at for one in messages)) if time is not None]
    began = (times[0] if times else EPOCH).astimezone(UTC)
    git = {
        "commit_hash": facts.git_commit,
        "branch": facts.git_branch,
        "repository_url": facts.git_repository,
    }
    known = {name: value for name, value in git.items() if value}
    return {
        "id": made,
        "timestamp": iso_text(began, "milliseconds"),
        "cwd": facts.cwd or "/",
        "originator": ORIGINATOR,
        "cli_version": facts.version if facts.agent == AGENT and facts.version else VERSION,
        "source": "cli",
        **({"git": known} if known else {}),
    }


def _own_meta(messages: Sequence[Message]) -> JsonObject:
    """The header that the reader kept. Its `history_mode` is not that of the records that we write."""
    parts = [part for message in messages for part in message.content.parts if isinstance(part, DataPart)]
    found = next((part.data for part in parts if part.name == META and is_object(part.data)), {})
    if not all(isinstance(found.get(name), str) for name in ("id", "timestamp", "cwd")):
        return {}
    return {name: value for name, value in found.items() if name != "history_mode"}


TurnKey: TypeAlias = tuple[str, Json]
"""The kind of a record, and the id of its turn."""


class Writer:
    """The records of one rollout."""

    def __init__(
        self, meta: JsonObject, model: str | None, messages: Sequence[Message], losses: Losses
    ) -> None:
        """`meta`: the header; `model`: that of the session, if no response names one."""
        self.records: list[JsonObject] = []
        self._meta = meta
        self._session_id: str = meta["id"]
        self._model = model
        self._models = models_of(messages)
        self._losses = losses
        self._kept = _turn_records(messages)
        self._pending: list[tuple[TurnKey, DataPart, str]] = []  # data of such records, with their paths
        self._written: set[TurnKey] = set()
        self._names = Names(self._session_id, calls="call_{}")
        self._time = EPOCH
        self._last_id = ""
        self._turn: str | None = None
        self._turns: set[str] = set()
        self._said: str | None = None  # the last text of the turn
        self._is_open = False  # a response that the next one would be read with
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
                    self._losses.whole(part, f"{path}.content.parts[{number}]", NO_CALL)
            case _:
                assert_never(message)
        self._report(message, path, written=len(self.records) > before)

    def finish(self) -> None:
        """End the last turn."""
        self._end_turn()
        for key, part, path in self._pending:
            if key not in self._written:
                self._losses.whole(part, path, NO_PLACE)
            self._written.discard(key)
        if self._zeros:
            self._losses.found.append(Loss("$", f"counts of {self._zeros} answers", REQUIRED, "minor"))

    # Records

    def _record(self, type_: str, payload: JsonObject) -> None:
        stamp = iso_text(self._time, "milliseconds")
        self.records.append({"timestamp": stamp, "type": type_, "payload": payload})

    def _item(self, item: JsonObject, *, is_open: bool) -> None:
        """An item; `is_open`: of a response."""
        self._record("response_item", item)
        self._has_items, self._is_open = True, is_open

    def _event(self, type_: str, **fields: Json) -> None:
        self._record("event_msg", {"type": type_, **fields})

    def _restored(self, kind: str, payload: JsonObject, *same: str) -> JsonObject:
        """The record of a turn that the reader kept, or `payload` if certain members are not the same."""
        key = (kind, self._turn)
        kept = self._kept.get(key)
        if kept is None or any(kept.get(name) not in (None, payload.get(name)) for name in same):
            return payload
        del self._kept[key]
        self._written.add(key)
        return kept

    # Turns

    def _begin_turn(self, message: Message, index: int) -> None:
        self._end_turn()
        own = notes(_metadata(message), AGENT).get("turnId")
        turn = own if isinstance(own, str) else str(made_uuid("turn", self._session_id, message.id))
        while turn in self._turns:  # two turns of one id would be read as one
            turn = str(made_uuid("turn", self._session_id, turn))
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
            ended = {"type": "task_complete", "turn_id": self._turn, "last_agent_message": self._said}
            self._record("event_msg", self._restored("task_complete", ended, "last_agent_message"))
        self._turn = self._said = None
        self._is_open = False

    # Messages of users and systems

    def _user(self, message: UserMessage, index: int, path: str) -> None:
        blocks = user_blocks(message.parts, f"{path}.content", self._losses)
        if not blocks:
            return
        wanted = message.internal or message.type == "event"
        # Before the first prompt, only context that Codex added is read as hidden.
        hidden = wanted and (self._confirmed or is_injected(blocks))
        own = notes(_metadata(message), AGENT)
        if not hidden and (self._turn is None or own.get("turnId") != self._turn):
            self._begin_turn(message, index)
        self._prompt(blocks, _item_id(message, self._session_id), own, hidden=hidden)
        if hidden != wanted or message.internal != hidden or (message.type == "event") != hidden:
            self._losses.add(f"{path}.internal", message.internal, SHOWN)

    def _prompt(self, blocks: list[JsonObject], id_: JsonObject, own: JsonObject, *, hidden: bool) -> None:
        extra = own.get("extra")
        rest = extra if is_object(extra) else {}
        self._item({"type": "message", **id_, "role": "user", "content": blocks, **rest}, is_open=False)
        if hidden:
            return
        self._confirmed = True
        client = {"client_id": own["clientId"]} if "clientId" in own else {}
        self._event(
            "user_message",
            message="".join(block["text"] for block in blocks if isinstance(block.get("text"), str)),
            images=[block["image_url"] for block in blocks if block.get("type") == "input_image"],
            local_images=own.get("localImages", []),
            text_elements=own.get("textElements", []),
            **client,
        )

    def _system(self, message: SystemMessage, path: str) -> None:
        """Instructions are written as the developer's. Of notices, only those of Codex have a place."""
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
                self._losses.whole(part, where, NO_PLACE)
        if blocks:
            own = role if isinstance(role, str) else "developer"
            id_ = _item_id(message, self._session_id)
            self._item({"type": "message", **id_, "role": own, "content": blocks}, is_open=False)
            if role is None:
                self._losses.add(f"{path}.internal", message.internal, SHOWN)

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
                self._losses.whole(part, f"{path}.content.parts[{number}]", NO_PLACE)

    # Responses

    def _response(self, message: AssistantMessage, index: int, path: str) -> None:
        place = len(self.records), self._turn, self._model, self._is_open
        if self._turn is None:
            self._begin_turn(message, index)
        model = model_of(message)
        if self._is_open or (model is not None and model != self._model):
            self._context(model)
        usage, parts = message.content.usage, message.parts
        shown = [number for number, part in enumerate(parts) if _shows(part)]
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
            self._losses.whole(usage, f"{path}.content.usage", EMPTY)
        if len(self.records) == before:
            count, self._turn, self._model, self._is_open = place
            del self.records[count:]  # the turn would be empty

    def _part(self, part: AssistantPart, message: AssistantMessage, where: str) -> None:
        losses = self._losses
        match part:
            case StepStartPart():
                losses.rest(part, where)
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
                losses.rest(part, where, "parts")
                blocks = user_blocks(part.parts, where, losses)
                if blocks:
                    self._prompt(blocks, {}, {}, hidden=False)
            case ImagePart() | FilePart() | ReasoningFilePart():
                losses.whole(part, where, ONLY_IMAGES)
            case SourceUrlPart(url=url) if url in _searched(message):
                losses.rest(part, where, "source_id", "url")  # the reader makes it of the search
            case SourceUrlPart() | SourceDocumentPart() | DataPart() | CustomPart():
                losses.whole(part, where, COMMON_REASONS.get(part.type, NO_PLACE))
            case ForeignPart() | UnknownPart():
                losses.whole(part, where, COMMON_REASONS["foreign"])
            case _:
                assert_never(part)

    def _write_outputs(self) -> None:
        """The outputs of calls follow all items of their response."""
        for output in self._outputs:
            self._item(output, is_open=False)
        self._outputs.clear()

    def _text(self, part: TextPart, where: str) -> None:
        if not part.text:
            self._losses.add(where, "", EMPTY)
            return
        own = notes(part.provider_metadata, AGENT)
        phase: JsonObject = {"phase": own["phase"]} if "phase" in own else {}
        id_: JsonObject = {"id": own["id"]} if "id" in own else {}
        self._event("agent_message", message=part.text, **phase)
        content = [{"type": "output_text", "text": part.text}]
        item = {"type": "message", **id_, "role": "assistant", "content": content, **phase}
        self._item(item, is_open=True)
        self._said = part.text

    def _reasoning(self, part: ReasoningPart, where: str) -> None:
        """Reasoning. Only that of Codex is an item, which is sent to the model again; all else is shown.

        OpenAI accepts only its own reasoning: https://platform.openai.com/docs/guides/reasoning.
        """
        own = notes(part.provider_metadata, AGENT)
        if part.text:
            self._event("agent_reasoning", text=part.text)
            self._is_open = True
        if _is_item(part):
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            id_: JsonObject = {"id": own["id"]} if "id" in own else {}
            encrypted = own.get("encryptedContent")
            item = {"type": "reasoning", **id_, "summary": summary, "encrypted_content": encrypted}
            self._item(item, is_open=True)
        elif not part.text:
            self._losses.whole(part, where, EMPTY)

    def _count(self, usage: Usage | None, path: str) -> None:
        if usage is None:
            return
        counts = write_usage(usage)
        if not any(counts.get(name) for name in COUNTS):
            self._losses.whole(usage, path, EMPTY)
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
        again, zeros = read_usage(counts), 0
        for name, wire_name, _ in fields_of(Usage):
            one, other = getattr(usage, name), getattr(again, name)
            if one is None and other is not None and name != "raw":
                zeros = 1
            elif name != "extra" and one is not UNSET and one != other:
                severity: Severity = "minor" if name == "raw" else "lost"
                self._losses.found.append(Loss.of(f"{path}.{wire_name}", one, NO_PLACE, severity))
        if usage.extra:
            self._losses.add(path, dict(usage.extra), NO_PLACE)
        self._zeros += zeros

    def _report(self, message: Message, path: str, *, written: bool) -> None:
        """Report what is lost of a message besides its parts."""
        losses, content, where = self._losses, message.content, f"{path}.content"
        carried = {"content", "type"}
        if written:
            carried.add("created_at")
        if message.parent_id in (None, self._last_id):  # messages form one line
            carried.add("parent_id")
        self._last_id = message.id
        if message.thread_id == self._session_id:
            carried.add("thread_id")
        is_kept = all(_record_kind(part) is not None for part in content.parts)
        if not isinstance(message, AssistantMessage) and (written or is_kept):
            carried.add("internal")
        if message.id.startswith(f"{self._session_id}:"):
            carried.add("id")
        losses.rest(message, path, *carried)
        if message.created_at is not None and message.created_at.microsecond % 1000:
            losses.add(f"{path}.createdAt", message.created_at.isoformat(), MILLISECONDS)
        losses.rest(content, where, "parts", "format", "usage", "metadata", "content")
        if content.content is not None and content.content != text_of(message):
            losses.add(f"{where}.content", content.content, NO_PLACE)
        if not written and not content.parts:
            losses.add(where, [], EMPTY)
        for name, value in _metadata(message).items():
            known = name == AGENT or (name == "model" and value == model_of(message))
            if not known:
                losses.add(f"{where}.metadata.{name}".rstrip("."), value, NO_PLACE)


def models_of(messages: Sequence[Message]) -> list[str | None]:
    """Of each message, the model of the response that it is or that comes next."""
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
    """The id of an item that became the id of a message; not one that the reader made of a time."""
    own = message.id.removeprefix(f"{session_id}:")
    is_item = own != message.id and own.startswith(("msg_", "item_"))
    return {"id": own} if is_item else {}


def _is_item(part: ReasoningPart) -> bool:
    """Whether reasoning was an item of Codex."""
    own = notes(part.provider_metadata, AGENT)
    return "id" in own or isinstance(own.get("encryptedContent"), str)


def _shows(part: AssistantPart) -> bool:
    """Whether a part is written."""
    match part:
        case TextPart(text=text):
            return bool(text)
        case ReasoningPart(text=text):
            return bool(text) or _is_item(part)
        case _:
            return isinstance(part, ToolCallPart | SteeringMessagePart)


def _searched(message: AssistantMessage) -> list[Json]:
    """The pages that searches of Codex in a message have opened."""
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    searches = [part for part in calls if notes(part.tool_metadata, AGENT).get("type") == SEARCH]
    return [part.input.get("url") for part in searches if is_object(part.input)]


def _record_kind(part: object) -> str | None:
    """The kind of the record that the reader kept as a data part."""
    if not isinstance(part, DataPart) or not part.name.startswith(f"{AGENT}-"):
        return None
    return part.name.removeprefix(f"{AGENT}-").replace("-", "_")


def _turn_records(messages: Sequence[Message]) -> dict[TurnKey, JsonObject]:
    """The records of turns that the reader kept; the first of each kind and turn."""
    found: dict[TurnKey, JsonObject] = {}
    for message in messages if any(isinstance(one, SystemMessage) for one in messages) else ():
        for part in message.parts if isinstance(message, SystemMessage) else ():
            kind = _record_kind(part)
            if kind in TURN_RECORDS and isinstance(part, DataPart) and is_object(part.data):
                found.setdefault(_turn_key(kind, part.data), part.data)
    return found


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
