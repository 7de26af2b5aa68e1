"""One answer as AG-UI messages: reasoning, words and calls, results, and what sub-agents said."""

from msgspec import UNSET

from partita.formats.ag_ui.content import is_plain
from partita.formats.ag_ui.losses import NO_PLACE
from partita.formats.ag_ui.names import AGENT, ARGUMENTS, CONTENT, MESSAGE_ID, PARENT
from partita.formats.ag_ui.notes import SEALED, closed, notes_in, others_in, rest_of, seal
from partita.formats.ag_ui.pieces import Pieces, result_group, unused
from partita.formats.bare import is_alone, is_bare_reasoning, is_bare_text, plain_result
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import ReasoningPart, SteeringMessagePart, StepStartPart, TextPart
from partita.types.tools import ToolOutput

from .book import Book
from .calls import tell_untold, write_call
from .origins import origin_of, words_of
from .results import result_message, tell_words


class AnswerWriter:
    """Writes one answer."""

    def __init__(
        self, book: Book, message: AssistantMessage, path: str, agent: str | None, head: JsonObject
    ) -> None:
        """`head` is what the first piece says besides its content."""
        self._book = book
        self._losses = book.losses
        self._message = message
        self._path = path
        self._own: JsonObject = {} if agent is None else {AGENT: agent}
        self._head = head
        self._pieces = Pieces(message.id)
        self._written: list[Json] = []
        self._said: JsonObject | None = None  # the message of the piece at hand, once there is one
        self._behind: list[Json] = []  # what stands behind it
        self._thoughts = 0
        self._has_said = False
        self._step: str | None = None  # where a step begins that says nothing yet

    def written(self) -> list[Json]:
        """The messages, in order."""
        where = f"{self._path}.content.parts"
        for place, part in enumerate(self._message.parts):
            self._part(part, f"{where}[{place}]")
        self._written += self._behind
        if not self._has_said:
            self._close_unsaid()
        elif self._said is None and self._written[-1].get("role") == "reasoning":
            why = "reasoning with nothing behind it is a message of its own"
            self._losses.say(f"{self._path}.content.parts", self._written[-1]["id"], why, "changed")
        if self._step is not None:
            self._losses.say(self._step, "step-start", "a step that says nothing is not told", "minor")
        return self._written

    def _close_unsaid(self) -> None:
        """An answer that says nothing is a message all the same, unless it is known by its reasoning."""
        first: Json = self._written[0] if self._thoughts and self._written else None
        is_known = first is not None and first["id"] == self._message.id and first["role"] == "reasoning"
        if not is_known or self._notes.get("role") == "assistant":
            self._open()
            return
        for name, value in rest_of(self._head, *self._own).items():
            self._losses.say(f"{self._path}.content.{name}", value, NO_PLACE)

    def _part(self, part: AssistantPart, path: str) -> None:
        match part:
            case ToolCallPart():
                self._call(part, path)
            case TextPart():
                self._text(part, path)
            case StepStartPart():
                self._begin_step(part, path)
            case ReasoningPart():
                self._reasoning(part, path)
            case SteeringMessagePart() if (words := words_of(part)) is not None:
                self._end_piece()
                self._losses.say(path, part.id, "it becomes a message of the user", "changed")
                said: Json = words[0]["text"] if is_plain(part.parts) else words
                self._written.append({"id": part.id, "role": "user", "content": said, **self._own})
            case _:
                self._losses.whole(part, path)

    def _begin_step(self, part: StepStartPart, path: str) -> None:
        if not is_alone(part):
            self._losses.rest(part, path)
        if self._end_piece():
            self._step = path
        else:
            self._losses.say(path, "step-start", "the first step is not told", "minor")

    def _end_piece(self, path: str | None = None) -> bool:
        """End the message at hand, if it says something; whether it did. A path tells where that was made."""
        if not self._pieces.step():
            return False
        self._written += self._behind
        self._said, self._behind = None, []
        if path is not None:
            why = "a message has one text, before its calls: another one begins"
            self._losses.say(path, self._pieces.id, why, "repaired")
        return True

    def _open(self, known_as: Json = None) -> JsonObject:
        """The message of the piece at hand. One that came with an id keeps it."""
        said = self._said
        if said is None:
            id_ = known_as if isinstance(known_as, str) else self._pieces.id
            said = self._said = {"id": id_, "role": "assistant"}
            said |= self._own if self._has_said else self._first(id_)
            self._has_said, self._step = True, None
            self._written.append(said)
        return said

    def _first(self, id: str) -> JsonObject:
        """What the first piece says besides its content."""
        message = self._message
        if id != message.id:
            self._losses.say(f"{self._path}.id", message.id, "it has the id it came with", "changed")
        if message.content.provider_metadata is None:
            return self._head
        is_null = self._notes.get(CONTENT, UNSET) is None  # it came so
        return {CONTENT: None, **self._head} if is_null else self._head

    @property
    def _notes(self) -> JsonObject:
        return notes_in(self._message.content.provider_metadata)

    def _text(self, part: TextPart, path: str) -> None:
        self._end_piece(path)
        self._pieces.text()
        metadata = part.provider_metadata
        said = self._open(notes_in(metadata).get(MESSAGE_ID) if metadata is not None else None)
        said[CONTENT] = part.text
        if is_bare_text(part):
            return
        self._losses.rest(part, path, "text", "provider_metadata")
        if metadata is not None:
            self._text_metadata(said, metadata, f"{path}.providerMetadata")

    def _text_metadata(self, said: JsonObject, metadata: JsonObject, path: str) -> None:
        """Add what a text notes to its message, and seal what other providers say."""
        self._losses.empty(path, metadata)
        notes = notes_in(metadata)
        for name, value in rest_of(notes, MESSAGE_ID, "id", "role", CONTENT).items():
            if name in said:
                self._losses.say(f"{path}.agUi.{name}", value, NO_PLACE)
            else:
                said[name] = value
        others = others_in(metadata)
        if others and SEALED not in said:
            said[SEALED] = seal(others)
        elif others:
            self._losses.metadata(path, others)

    def _reasoning(self, part: ReasoningPart, path: str) -> None:
        self._end_piece(path)
        self._thoughts += 1
        id_ = self._reasoning_id(part, path)
        if not is_bare_reasoning(part):
            self._losses.rest(part, path, "text", "id", "provider_metadata")
        said: JsonObject = {"id": id_, "role": "reasoning", CONTENT: part.text}
        if part.provider_metadata is not None:
            self._losses.empty(f"{path}.providerMetadata", part.provider_metadata)
            said |= rest_of(closed(part.provider_metadata), "id", "role", CONTENT, MESSAGE_ID)
        said |= self._own
        self._written.append(said)

    def _reasoning_id(self, part: ReasoningPart, path: str) -> str:
        id_ = part.id
        if id_ is None or id_ in self._book.ids:
            id_ = f"{self._pieces.message_id}:reasoning-{self._thoughts}"
            self._losses.say(f"{path}.id", id_, "every message has an id of its own", "repaired")
            if part.id is not None:
                self._losses.say(f"{path}.id", part.id, "another message has it", "changed")
        self._book.ids.add(id_)
        return id_

    def _call(self, part: ToolCallPart, path: str) -> None:
        self._pieces.call(part.id)
        result = plain_result(part)
        if result is not UNSET:
            self._plain_call(part, result, path)
            return
        metadata = part.call_provider_metadata
        parent = None if metadata is None else notes_in(metadata).get(PARENT)
        said = self._open(parent)
        if parent not in (None, said["id"]):
            self._losses.say(f"{path}.callProviderMetadata.agUi.{PARENT}", parent, NO_PLACE)
        calls: list[Json] = said.get("toolCalls") or []
        calls.append(write_call(part, path, self._losses))
        said["toolCalls"] = calls
        tell_untold(part, path, self._losses)
        if part.children:
            self._behind += self._book.below(part, path)
        if part.output is not None:
            self._behind.append(self._result(part, part.output, path))
        elif part.result_provider_metadata is not None:
            self._losses.say(f"{path}.resultProviderMetadata", part.result_provider_metadata, NO_PLACE)

    def _plain_call(self, part: ToolCallPart, result: Json, path: str) -> None:
        """A call that has no more than an input and what came of it."""
        said = self._said or self._open()
        calls: list[Json] = said.setdefault("toolCalls", [])
        function = {"name": part.name, ARGUMENTS: dumps(part.input).decode()}
        calls.append({"id": part.id, "type": "function", "function": function})
        if type(result) is not str:
            result = dumps(result).decode()
            tell_words(result, "json", path, self._losses)
        id_ = unused(self._pieces.result(part.id), self._book.results)
        self._behind.append({"id": id_, "role": "tool", "toolCallId": part.id, CONTENT: result, **self._own})

    def _result(self, part: ToolCallPart, output: ToolOutput, path: str) -> JsonObject:
        origin, metadata = part.result_message, part.result_provider_metadata
        head = {} if origin is None else origin_of(origin, f"{path}.resultMessage", self._losses)
        told = result_message(output, metadata, path, self._losses)
        known_as = None if metadata is None else notes_in(metadata).get(MESSAGE_ID)
        if isinstance(known_as, str):
            id_ = known_as
        else:
            id_ = self._pieces.result(part.id) if origin is None else origin.id
        told_as = unused(id_, self._book.results)
        if origin is not None and result_group(told_as) != origin.id:
            why = "every result is a message of its own"
            self._losses.say(f"{path}.resultMessage.id", origin.id, why, "repaired")
        return {"id": told_as, "role": "tool", "toolCallId": part.id, **told, **head, **self._own}
