"""Messages → records, one message after the other, in the order in which Codex writes a turn.

The task starts, the context of the turn is named, the prompt follows; then for each response its items, each
text after the event that shows it, the outputs of its calls, and what it consumed; at last the task ends.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET

from partita.formats.codex.prompts import is_injected
from partita.formats.codex.usage import COUNTS as NAMES
from partita.formats.codex.wire import AGENT
from partita.formats.losses import Loss
from partita.formats.session_losses import NO_PLACE, Losses
from partita.formats.session_names import Names, made_uuid
from partita.types.json import Json, JsonObject, is_object
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
from partita.types.times import iso_text
from partita.types.usage import Usage

from .calls import call_items
from .content import codex_notes, lose_metadata, user_blocks
from .notes import is_written, note_record

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN_MODEL: Final = "unknown"
CONTEXT: Final[JsonObject] = {
    "approval_policy": "on-request",
    "sandbox_policy": {"type": "read-only"},
    "summary": "auto",
}
"""What a turn is allowed to do. The CLI that resumes the session takes its own settings instead."""

NO_CALL: Final = "no call asked for it"
NO_FILES: Final = "Codex has no place for files in an answer"
NO_SOURCES: Final = "Codex has no place for sources in an answer"
NO_NOTICE: Final = "Codex has no place for notices of others"
SHOWN_ALIKE: Final = "instructions are hidden in Codex"
SPLIT: Final = "a rollout has one answer for each call of the model: it is read as several messages"
BLANK: Final = "there is no text in it"
EMPTY: Final = "there is nothing in it that a rollout can hold"
HIDDEN: Final = "Codex does not show user messages that are not prompts"
NOT_HIDDEN: Final = "before the first prompt, only context of Codex itself is hidden"
ZERO: Final = "counts that are not known are written as 0"


class Header(NamedTuple):
    """What the first record says of the session."""

    session_id: str
    cwd: str
    model: str | None


class Writer:
    """The records of one rollout."""

    def __init__(self, header: Header, models: Sequence[str | None], losses: Losses) -> None:
        """`models`: of each message, the model that it or the next answer names."""
        self.records: list[JsonObject] = []
        self._header = header
        self._models = models
        self._losses = losses
        self._names = Names(header.session_id, calls="call_{}")
        self._time = EPOCH
        self._turn: str | None = None
        self._turns: set[str] = set()
        self._said: str | None = None  # the last text of the turn
        self._model: str | None = None
        self._is_open = False  # a response that the next one would be read with
        self._has_items = False  # not events alone
        self._confirmed = False  # a prompt was written, with its event
        self._outputs: list[JsonObject] = []  # of calls of the current response
        self._total = dict.fromkeys(NAMES, 0)
        self._zeros = 0

    def write(self, message: Message, index: int, path: str) -> None:
        """Write the records of a message."""
        self._time = message.created_at or self._time
        before = len(self.records)
        match message:
            case UserMessage():
                self._user(message, index, path)
            case AssistantMessage():
                self._answer(message, index, path)
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
        if self._zeros:
            what = f"counts of {self._zeros} answers"
            self._losses.told.append(Loss("$", what, ZERO, "minor"))

    # Records

    def _record(self, type_: str, payload: JsonObject) -> None:
        stamp = iso_text(self._time, "milliseconds")
        self.records.append({"timestamp": stamp, "type": type_, "payload": payload})

    def _item(self, item: JsonObject) -> None:
        self._record("response_item", item)
        self._has_items = True

    def _event(self, type_: str, **fields: Json) -> None:
        self._record("event_msg", {"type": type_, **fields})

    # Turns

    def _begin_turn(self, message: Message, index: int) -> None:
        self._end_turn()
        own = codex_notes(_metadata(message)).get("turnId")
        made = str(made_uuid("turn", self._header.session_id, message.id))
        turn = own if isinstance(own, str) else made
        while turn in self._turns:  # two turns of one id would be read as one
            turn = str(made_uuid("turn", self._header.session_id, turn))
        self._turns.add(turn)
        self._turn = turn
        self._event("task_started", turn_id=self._turn, model_context_window=None)
        self._context(self._models[index])

    def _context(self, model: str | None) -> None:
        self._model = model or self._model or self._header.model or UNKNOWN_MODEL
        self._is_open = False
        named: JsonObject = {"turn_id": self._turn, "cwd": self._header.cwd}
        self._record("turn_context", named | CONTEXT | {"model": self._model})

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._event("task_complete", turn_id=self._turn, last_agent_message=self._said)
        self._turn = self._said = None
        self._is_open = False

    # What users and systems say

    def _user(self, message: UserMessage, index: int, path: str) -> None:
        blocks = user_blocks(message.parts, f"{path}.content", self._losses)
        if not blocks:
            return
        wanted = message.internal or message.type == "event"
        hidden = wanted and (self._confirmed or is_injected(blocks))
        notes = codex_notes(_metadata(message))
        if not hidden and (self._turn is None or notes.get("turnId") != self._turn):
            self._begin_turn(message, index)
        self._prompt(blocks, _item_id(message, self._header.session_id), hidden=hidden, notes=notes)
        if hidden != wanted:
            self._losses.say(f"{path}.internal", message.internal, NOT_HIDDEN)
        elif message.internal != hidden or (message.type == "event") != hidden:
            self._losses.say(f"{path}.internal", message.internal, HIDDEN)

    def _prompt(self, blocks: list[JsonObject], id_: JsonObject, *, hidden: bool, notes: JsonObject) -> None:
        extra = notes.get("extra")
        rest = extra if is_object(extra) else {}
        self._item({"type": "message", **id_, "role": "user", "content": blocks, **rest})
        self._is_open = False
        if hidden:
            return
        self._confirmed = True
        client = {"client_id": notes["clientId"]} if "clientId" in notes else {}
        self._event(
            "user_message",
            message="".join(block["text"] for block in blocks if isinstance(block.get("text"), str)),
            images=[block["image_url"] for block in blocks if block.get("type") == "input_image"],
            local_images=notes.get("localImages", []),
            text_elements=notes.get("textElements", []),
            **client,
        )

    def _system(self, message: SystemMessage, path: str) -> None:
        """Instructions go to the model as a developer's. Of notices, only those of Codex have a place."""
        role = codex_notes(_metadata(message)).get("role")
        if message.type == "event" and role is None:
            self._notices(message, path)
            return
        texts: list[JsonObject] = []
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if isinstance(part, TextPart):
                self._losses.rest(part, where, "text", "state", "provider_metadata")
                lose_metadata(part, where, self._losses)
                texts.append({"type": "input_text", "text": part.text, **codex_notes(part.provider_metadata)})
            else:
                self._losses.whole(part, where, NO_PLACE)
        if texts:
            own = role if isinstance(role, str) else "developer"
            id_ = _item_id(message, self._header.session_id)
            self._item({"type": "message", **id_, "role": own, "content": texts})
            self._is_open = False
        if texts and role is None:
            self._losses.say(f"{path}.internal", message.internal, SHOWN_ALIKE)

    def _notices(self, message: SystemMessage, path: str) -> None:
        for number, part in enumerate(message.parts):
            record = note_record(part) if isinstance(part, DataPart) else None
            if record is not None:
                self._record(*record)
                self._is_open = False
            elif isinstance(part, DataPart) and is_written(part):
                continue
            elif not (isinstance(part, TextPart) and _is_own_notice(message)):
                self._losses.whole(part, f"{path}.content.parts[{number}]", NO_NOTICE)

    # Answers

    def _answer(self, message: AssistantMessage, index: int, path: str) -> None:
        place = len(self.records), self._turn, self._model, self._is_open
        if self._turn is None:
            self._begin_turn(message, index)
        model = _model_of(message)
        if self._is_open or (model is not None and model != self._model):
            self._context(model)
        usage = message.content.usage
        parts = message.parts
        shown = [number for number, part in enumerate(parts) if _shows(part)]
        last = max((at for at in shown if not isinstance(parts[at], SteeringMessagePart)), default=None)
        before = len(self.records)
        self._has_items = False
        for number, part in enumerate(parts):
            where = f"{path}.content.parts[{number}]"
            if isinstance(part, StepStartPart) and len(self.records) > before and number < max(shown):
                self._losses.say(where, "step-start", SPLIT)
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
            del self.records[count:]  # there is nothing that a turn would be for

    def _part(self, part: AssistantPart, message: AssistantMessage, where: str) -> None:
        losses = self._losses
        match part:
            case StepStartPart():
                losses.rest(part, where)
            case TextPart(text=text):
                losses.rest(part, where, "text", "state", "provider_metadata")
                lose_metadata(part, where, losses)
                self._text(text, codex_notes(part.provider_metadata), where)
            case ReasoningPart():
                losses.rest(part, where, "text", "id", "state", "provider_metadata")
                lose_metadata(part, where, losses)
                self._reasoning(part, where)
            case ToolCallPart():
                items = call_items(part, self._names.call(part.id, message.id), where, losses)
                self._item(items.call)
                self._is_open = True
                if items.output is not None:
                    self._outputs.append(items.output)
            case SteeringMessagePart():
                losses.say(f"{where}.type", "steering-message", "it is read as a message of its own")
                self._write_outputs()
                losses.rest(part, where, "parts")
                blocks = user_blocks(part.parts, where, losses)
                if blocks:
                    self._prompt(blocks, {}, hidden=False, notes={})
            case ImagePart() | FilePart() | ReasoningFilePart():
                losses.whole(part, where, NO_FILES)
            case SourceUrlPart(url=url) if url in _searched(message):
                losses.rest(part, where, "source_id", "url")  # the reader makes it of the search
            case SourceUrlPart() | SourceDocumentPart():
                losses.whole(part, where, NO_SOURCES)
            case DataPart() | CustomPart() | ForeignPart() | UnknownPart():
                losses.whole(part, where, NO_PLACE)
            case _:
                assert_never(part)

    def _write_outputs(self) -> None:
        """The outputs of calls stand behind all items of their response."""
        for output in self._outputs:
            self._item(output)
            self._is_open = False
        self._outputs.clear()

    def _text(self, text: str, notes: JsonObject, where: str) -> None:
        if not text:
            self._losses.say(where, "", BLANK)
            return
        phase: JsonObject = {"phase": notes["phase"]} if "phase" in notes else {}
        kept: JsonObject = {"id": notes["id"]} if "id" in notes else {}
        self._event("agent_message", message=text, **phase)
        content = [{"type": "output_text", "text": text}]
        self._item({"type": "message", **kept, "role": "assistant", "content": content, **phase})
        self._said = text
        self._is_open = True

    def _reasoning(self, part: ReasoningPart, where: str) -> None:
        """Reasoning. Only that of Codex is an item, which the model gets again; all else is shown alone.

        OpenAI takes no reasoning back but its own.
        """
        notes = codex_notes(part.provider_metadata)
        if part.text:
            self._event("agent_reasoning", text=part.text)
            self._is_open = True
        encrypted = notes.get("encryptedContent")
        if _is_item(part):
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            kept: JsonObject = {"id": notes["id"]} if "id" in notes else {}
            self._item({"type": "reasoning", **kept, "summary": summary, "encrypted_content": encrypted})
            self._is_open = True
        elif not part.text:
            self._losses.whole(part, where, BLANK)

    def _count(self, usage: Usage | None, path: str) -> None:
        if usage is None:
            return
        counts = _counts(usage)
        if not any(counts.values()):
            self._losses.whole(usage, path, "there is nothing to count")
            return
        self._zeros += any(
            count is None for count in (usage.cached_input_tokens, usage.reasoning_tokens, usage.total_tokens)
        )
        for name, count in counts.items():
            self._total[name] += count
        total = {name: count for name, count in self._total.items() if name in counts or count}
        info: JsonObject = {
            "total_token_usage": total,
            "last_token_usage": counts,
            "model_context_window": None,
        }
        self._event("token_count", info=info, rate_limits=None)
        self._is_open = self._is_open and not self._has_items
        if usage.raw is not UNSET and usage.raw != counts:
            self._losses.told.append(Loss.of(f"{path}.raw", usage.raw, NO_PLACE, "minor"))

    # What does not arrive

    def _report(self, message: Message, path: str, *, written: bool) -> None:
        losses = self._losses
        carried = {"content", "type", "created_at", "parent_id"}
        if message.thread_id == self._header.session_id:
            carried.add("thread_id")
        if not isinstance(message, AssistantMessage):
            carried.add("internal")
        if message.id.startswith(f"{self._header.session_id}:"):
            carried.add("id")
        losses.rest(message, path, *carried)
        if message.created_at is not None and message.created_at.microsecond % 1000:
            losses.say(f"{path}.createdAt", message.created_at.isoformat(), "times have milliseconds")
        content, where = message.content, f"{path}.content"
        losses.rest(content, where, "parts", "format", "usage", "metadata", "content")
        if content.content is not None and content.content != text_of(message):
            losses.say(f"{where}.content", content.content, NO_PLACE)
        if not written and not content.parts:
            losses.say(where, [], EMPTY)
        for name, value in _metadata(message).items():
            known = name == AGENT or (name == "model" and value == _model_of(message))
            if not known:
                losses.say(f"{where}.metadata.{name}".rstrip("."), value, NO_PLACE)


def _metadata(message: Message) -> JsonObject:
    metadata: Json = message.content.metadata
    if is_object(metadata):
        return metadata
    return {} if metadata is UNSET else {"": metadata}


def _model_of(message: Message) -> str | None:
    model = _metadata(message).get("model") if isinstance(message, AssistantMessage) else None
    is_model = isinstance(model, str) and model and not model.startswith("<")  # as `<synthetic>` does
    return model if is_model else None


def models_of(messages: Sequence[Message]) -> list[str | None]:
    """Of each message, the model of the answer that it is or that comes next."""
    models: list[str | None] = []
    model: str | None = None
    for message in reversed(messages):
        model = _model_of(message) or model
        models.append(model)
    return models[::-1]


def _item_id(message: Message, session_id: str) -> JsonObject:
    """The id of an item that the reader named a message by; not one that it made of a time."""
    own = message.id.removeprefix(f"{session_id}:")
    is_item = own != message.id and own.startswith(("msg_", "item_"))
    return {"id": own} if is_item else {}


def _is_item(part: ReasoningPart) -> bool:
    """Whether reasoning was an item of Codex."""
    notes = codex_notes(part.provider_metadata)
    return "id" in notes or isinstance(notes.get("encryptedContent"), str)


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
    searches = [part for part in calls if codex_notes(part.tool_metadata).get("type") == "web_search_call"]
    return [part.input.get("url") for part in searches if is_object(part.input)]


def _is_own_notice(message: SystemMessage) -> bool:
    """Whether the text of a notice was made by the reader, of a record that is written too."""
    return any(isinstance(part, DataPart) and part.name.startswith(f"{AGENT}-") for part in message.parts)


def _counts(usage: Usage) -> dict[str, int]:
    """The counts of Codex: input holds what was cached, output holds reasoning. All of them are needed."""
    taken, given = usage.input_tokens or 0, usage.output_tokens or 0
    counts = {
        "input_tokens": taken,
        "cached_input_tokens": usage.cached_input_tokens or 0,
        "output_tokens": given,
        "reasoning_output_tokens": usage.reasoning_tokens or 0,
        "total_tokens": taken + given if usage.total_tokens is None else usage.total_tokens,
    }
    if usage.cache_write_tokens is not None:
        counts["cache_write_input_tokens"] = usage.cache_write_tokens
    return {name: max(count, 0) for name, count in counts.items()}
