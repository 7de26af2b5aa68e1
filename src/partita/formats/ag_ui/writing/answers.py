"""One answer as AG-UI messages: reasoning, words and calls, results, and what sub-agents said."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, assert_never

from msgspec import UNSET

from partita.formats.answers.outlet import RAW_INPUT
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart
from partita.types.parts import ReasoningPart, SteeringMessagePart, StepStartPart, TextPart
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .content import write_content
from .losses import NO_PLACE, Losses
from .messages import AGENT, ARGUMENTS, MESSAGE_ID, is_plain, parsed
from .notes import SEALED, closed, notes_in, others_in, rest_of, seal
from .pieces import Pieces, result_group, unused

Below: TypeAlias = Callable[[Sequence[Message], str, str], list[Json]]
"""Writes the messages of a sub-agent, given where they are and the call they hang under."""

CONTENT: Final = "content"
PARENT: Final = "parentMessageId"
"""Where a call notes the message that held it."""

DENIED: Final = "The call was not allowed."
INTERRUPTED: Final = "The call was interrupted."
CARRIED: Final = (
    "id",
    "name",
    "input",
    "raw_input",
    "output",
    "state",
    "call_provider_metadata",
    "result_provider_metadata",
    "children",
    "result_message",
)
"""Fields of a call that are told, or looked at one by one."""


class AnswerWriter:
    """Writes one answer."""

    def __init__(
        self,
        message: AssistantMessage,
        path: str,
        agent: str | None,
        head: JsonObject,
        *,
        losses: Losses,
        ids: set[str],
        results: dict[str, int],
        below: Below,
    ) -> None:
        """`head` is what the first piece says besides its content; `ids` and `results` were told so far."""
        self._message = message
        self._path = path
        self._own: JsonObject = {} if agent is None else {AGENT: agent}
        self._head = head
        self._losses = losses
        self._ids = ids
        self._results = results
        self._below = below
        self._pieces = Pieces(message.id)
        self._written: list[Json] = []
        self._said: JsonObject | None = None  # the message of the piece at hand, once there is one
        self._behind: list[Json] = []  # what stands behind it
        self._thoughts = 0
        self._has_said = False

    def written(self) -> list[Json]:
        """The messages, in order."""
        for place, part in enumerate(self._message.parts):
            self._part(part, f"{self._path}.content.parts[{place}]")
        self._written += self._behind
        if not self._has_said:
            self._close_unsaid()
        elif self._said is None and self._written[-1].get("role") == "reasoning":
            why = "reasoning with nothing behind it is a message of its own"
            self._losses.say(f"{self._path}.content.parts", self._written[-1]["id"], why, "changed")
        return self._written

    def _close_unsaid(self) -> None:
        """An answer that says nothing is a message all the same, unless it is known by its reasoning."""
        first: Json = self._written[0] if self._thoughts and self._written else None
        if first is None or first["id"] != self._message.id or first["role"] != "reasoning":
            self._open()
            return
        for name, value in rest_of(self._head, AGENT).items():
            self._losses.say(f"{self._path}.content.{name}", value, NO_PLACE)

    def _part(self, part: AssistantPart, path: str) -> None:
        match part:
            case TextPart():
                self._text(part, path)
            case ReasoningPart():
                self._reasoning(part, path)
            case ToolCallPart():
                self._call(part, path)
            case StepStartPart():
                self._losses.rest(part, path)
                if not self._end_piece():
                    self._losses.say(path, "step-start", "the first step is not told", "minor")
            case SteeringMessagePart() if (words := _words_of(part)) is not None:
                self._end_piece()
                self._losses.say(path, part.id, "it becomes a message of the user", "changed")
                said: Json = words[0]["text"] if is_plain(part.parts) else words
                self._written.append({"id": part.id, "role": "user", "content": said, **self._own})
            case _:
                self._losses.whole(part, path)

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
        if self._said is not None:
            return self._said
        head = self._own if self._has_said else self._head
        id_ = known_as if isinstance(known_as, str) else self._pieces.id
        if not self._has_said and id_ != self._message.id:
            self._losses.say(f"{self._path}.id", self._message.id, "it has the id it came with", "changed")
        self._said = {"id": id_, "role": "assistant"}
        if not self._has_said and CONTENT in (notes := notes_in(self._message.content.provider_metadata)):
            self._said |= {CONTENT: None} if notes[CONTENT] is None else {}
        self._said |= head
        self._has_said = True
        self._written.append(self._said)
        return self._said

    def _text(self, part: TextPart, path: str) -> None:
        self._end_piece(path)
        self._pieces.text()
        notes = notes_in(part.provider_metadata)
        said = self._open(notes.get(MESSAGE_ID))
        said[CONTENT] = part.text
        self._losses.rest(part, path, "text", "provider_metadata")
        self._losses.empty(f"{path}.providerMetadata", part.provider_metadata)
        for name, value in rest_of(notes, MESSAGE_ID, "id", "role", CONTENT).items():
            if name in said:
                self._losses.say(f"{path}.providerMetadata.agUi.{name}", value, NO_PLACE)
            else:
                said[name] = value
        others = others_in(part.provider_metadata)
        if others and SEALED not in said:
            said[SEALED] = seal(others)
        elif others:
            self._losses.metadata(f"{path}.providerMetadata", others)

    def _reasoning(self, part: ReasoningPart, path: str) -> None:
        self._end_piece(path)
        self._thoughts += 1
        id_ = part.id
        if id_ is None or id_ in self._ids:
            id_ = f"{self._pieces.message_id}:reasoning-{self._thoughts}"
            self._losses.say(f"{path}.id", id_, "every message has an id of its own", "repaired")
            if part.id is not None:
                self._losses.say(f"{path}.id", part.id, "another message has it", "changed")
        self._ids.add(id_)
        self._losses.rest(part, path, "text", "id", "provider_metadata")
        self._losses.empty(f"{path}.providerMetadata", part.provider_metadata)
        notes = rest_of(closed(part.provider_metadata), "id", "role", CONTENT, MESSAGE_ID)
        self._written.append({"id": id_, "role": "reasoning", CONTENT: part.text, **notes, **self._own})

    def _call(self, part: ToolCallPart, path: str) -> None:
        self._pieces.call(part.id)
        notes = notes_in(part.call_provider_metadata)
        parent = notes.get(PARENT)
        said = self._open(parent)
        if parent not in (None, said["id"]):
            self._losses.say(f"{path}.callProviderMetadata.agUi.{PARENT}", parent, NO_PLACE)
        calls: list[Json] = said.get("toolCalls") or []
        calls.append(self._written_call(part, path))
        said["toolCalls"] = calls
        self._losses.rest(part, path, *CARRIED)
        self._losses.empty(f"{path}.callProviderMetadata", part.call_provider_metadata)
        expected = "input-available" if part.output is None else state_after(part.output)
        if part.state != expected:
            self._losses.say(f"{path}.state", part.state, "calls have no state of their own")
        if part.children:
            self._behind += self._below(part.children, f"{path}.children", part.id)
        if part.output is not None:
            self._behind.append(self._result(part, part.output, path))
        elif part.result_provider_metadata is not None:
            self._losses.say(f"{path}.resultProviderMetadata", part.result_provider_metadata, NO_PLACE)

    def _written_call(self, part: ToolCallPart, path: str) -> JsonObject:
        notes = closed(part.call_provider_metadata)
        inner = notes.get("function")
        function: JsonObject = {"name": part.name, ARGUMENTS: self._arguments(part, notes, path)}
        function |= rest_of(inner, *function) if is_object(inner) else {}
        rest = rest_of(notes, "id", "function", RAW_INPUT, PARENT)
        return {"id": part.id, "type": "function", **rest, "function": function}

    def _arguments(self, part: ToolCallPart, notes: JsonObject, path: str) -> str:
        """The words of an input: those it came in, if they still say the same."""
        words = notes.get(RAW_INPUT)
        if isinstance(words, str):
            value, is_whole = parsed(words)
            if is_whole and value == part.input:
                return words
        if isinstance(part.raw_input, str):
            if part.input is not UNSET:
                self._losses.say(f"{path}.input", part.input, "the words of the input stand for it", "minor")
            return part.raw_input
        if part.raw_input is not UNSET:
            self._losses.say(f"{path}.rawInput", part.raw_input, NO_PLACE)
        if part.input is UNSET:
            self._losses.say(f"{path}.input", "{}", "a call must have an input", "repaired")
            return "{}"
        return dumps(part.input).decode()

    def _result(self, part: ToolCallPart, output: ToolOutput, path: str) -> JsonObject:
        origin = part.result_message
        head: JsonObject = {}
        if origin is not None:
            where = f"{path}.resultMessage"
            self._losses.envelope(origin, where, "internal")
            self._losses.rest(origin.content, f"{where}.content", "format", "parts", "metadata")
            if is_object(origin.content.metadata):
                head = {"metadata": origin.content.metadata}
            elif origin.content.metadata is not UNSET:
                self._losses.say(f"{where}.content.metadata", origin.content.metadata, NO_PLACE)
            for number, kept in enumerate(origin.parts):
                self._losses.whole(kept, f"{where}.content.parts[{number}]")
        told = result_message(output, part.result_provider_metadata, path, self._losses)
        known_as = notes_in(part.result_provider_metadata).get(MESSAGE_ID)
        if isinstance(known_as, str):
            id_ = known_as
        else:
            id_ = self._pieces.result(part.id) if origin is None else origin.id
        told_as = unused(id_, self._results)
        if origin is not None and result_group(told_as) != origin.id:
            why = "every result is a message of its own"
            self._losses.say(f"{path}.resultMessage.id", origin.id, why, "repaired")
        return {"id": told_as, "role": "tool", "toolCallId": part.id, **told, **head, **self._own}


def _words_of(part: SteeringMessagePart) -> list[Json] | None:
    """What a user said in between, if all of it can be told."""
    losses = Losses()
    written = write_content(part.parts, "$", losses)
    return None if losses.told or part.extra or part.provider_metadata else written


def result_message(output: ToolOutput, metadata: JsonObject | None, path: str, losses: Losses) -> JsonObject:
    """What a tool message says of an output."""
    notes = closed(metadata)
    losses.empty(f"{path}.resultProviderMetadata", metadata)
    losses.metadata(f"{path}.output.providerMetadata", output.provider_metadata)
    if output.extra:
        losses.say(f"{path}.output", dict(output.extra), NO_PLACE)
    told = _content_of(output, path, losses)
    if isinstance(output, ErrorTextOutput) and "content" in notes:
        told["content"] = notes["content"]
    return {**rest_of(notes, "id", "role", "content", "toolCallId", MESSAGE_ID), **told}


def _content_of(output: ToolOutput, path: str, losses: Losses) -> JsonObject:
    match output:
        case TextOutput(value=text):
            return {"content": text}
        case ErrorTextOutput(value=text):
            return {"content": text, "error": text}
        case ContentOutput(value=items):
            return {"content": write_content(items, f"{path}.output.value", losses)}
        case JsonOutput() | ErrorJsonOutput() | ExecutionDeniedOutput() | InterruptedOutput():
            text = words_of_output(output)
            losses.say(f"{path}.output", text, f"an output of type {_kind(output)} becomes words", "changed")
            return {"content": text} if isinstance(output, JsonOutput) else {"content": text, "error": text}
        case _:
            assert_never(output)


def words_of_output(
    output: JsonOutput | ErrorJsonOutput | ExecutionDeniedOutput | InterruptedOutput,
) -> str:
    """An output in words."""
    match output:
        case JsonOutput(value=value) | ErrorJsonOutput(value=value):
            return dumps(value).decode()
        case ExecutionDeniedOutput(reason=reason):
            return DENIED if reason is None else f"{DENIED} {reason}"
        case InterruptedOutput(reason=reason, message=message):
            return f"{INTERRUPTED} ({reason})" if message is None else f"{INTERRUPTED} ({reason}) {message}"
        case _:
            assert_never(output)


def _kind(output: ToolOutput) -> str:
    return str(output.__struct_config__.tag)
