"""A conversation as a list of plain turns: who speaks, and one text. What a text cannot say is told."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.formats.bare import is_bare
from partita.formats.losses import Loss, Severity
from partita.formats.saying import said_in
from partita.types.codec import encode
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    Part,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart
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
from partita.types.value import Value

Speaker: TypeAlias = Literal["system", "user", "assistant", "call", "result"]

AS_TEXT: Final = "a result is text"
ONE_TEXT: Final = "a turn is one text"
NO_TALK: Final = "notices and inner turns are not talk"
NO_PLACE: Final = "the format has no place for it"
MEANWHILE: Final = "it is written as a turn of the user"
NO_TURN: Final = "a turn that says nothing is not written"
UNANSWERED: Final = "results are told apart by their order: every call before one has one"
NO_ANSWER: Final = "This call was never answered."
DENIED: Final = "The user did not allow this call."

NOTE: Final = "text"
"""Where the words of a call stand in its notes, when they are not those that are written anyway."""

MINOR: Final = frozenset({"state", "seq"})
OF_A_CALL: Final = (
    *("id", "name", "input", "rawInput", "output", "state"),
    *("callProviderMetadata", "resultProviderMetadata"),
)
"""What is written of a call, or told by itself."""


SPEAKERS: Final[Mapping[type[Message], Speaker]] = {
    SystemMessage: "system",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolMessage: "assistant",
}


class PlainTurn(NamedTuple):
    """One turn: who speaks, what, and what else came with it."""

    speaker: Speaker
    text: str
    notes: JsonObject


def plain_turns(messages: Sequence[Message], format_name: str, losses: list[Loss]) -> list[PlainTurn]:
    """The turns of a conversation in any view. Notes are what the format itself has left in metadata."""
    teller = _Teller(format_name, losses)
    for index, message in enumerate(fold(messages)):
        teller.add(message, f"$[{index}]")
    return teller.turns


def call_text(name: str, arguments: Json) -> str:
    """A call as one text."""
    return encode({"name": name, "arguments": arguments}).decode()


class _Teller:
    """Gathers turns, and tells what is not in them."""

    def __init__(self, format_name: str, losses: list[Loss]) -> None:
        self.turns: list[PlainTurn] = []
        self._format = format_name
        self._losses = losses
        self._texts: list[tuple[str, JsonObject]] = []
        self._results: list[PlainTurn | None] = []
        """What the calls of the step gave; none for one without a result."""
        self._pending = 0
        """How many calls at the end have no result."""
        self._head = ""
        self._calls = 0

    def add(self, message: Message, path: str) -> None:
        """Take a message."""
        if message.internal or message.type == "event":
            self._lose(path, message, NO_TALK)
            return
        if isinstance(message, AssistantMessage):
            self._settle(path)
        self._pending = 0
        before = len(self.turns)
        goes_on = isinstance(message, AssistantMessage) and before and self.turns[-1].speaker == "result"
        self._head, self._calls = "" if goes_on else f"message-{before + 1}", 0
        is_same = message.id == self._head
        if not is_bare(message):
            self._rest(message, path, "type", "content", *(("id",) if is_same else ()))
        elif not is_same:
            self._lose(f"{path}.id", message.id, NO_PLACE)
        if not is_bare(message.content):
            self._rest(message.content, f"{path}.content", "parts", "format")
        speaker = SPEAKERS[type(message)]
        for index, part in enumerate(message.parts):
            self._part(part, f"{path}.content.parts[{index}]", speaker)
        self._end_step(speaker, path)
        if len(self.turns) == before and (not message.parts or isinstance(message, SystemMessage)):
            self._lose(path, message.__struct_config__.tag, NO_TURN, "minor")

    def _part(self, part: Part, path: str, speaker: Speaker) -> None:
        match part:
            case TextPart():
                self._texts.append((part.text, self._notes(part.provider_metadata)))
                if not is_bare(part):
                    self._rest(part, path, "text", "providerMetadata")
                    self._metadata(part.provider_metadata, f"{path}.providerMetadata")
            case ToolCallPart():
                self._end_text(speaker, path)
                self._call(part, path)
            case StepStartPart():
                self._end_step(speaker, path)
                if not is_bare(part):
                    self._rest(part, path)
            case SteeringMessagePart():
                self._end_step(speaker, path)
                self._lose(path, part.id, MEANWHILE, "changed")
                for index, item in enumerate(part.parts):
                    self._part(item, f"{path}.parts[{index}]", speaker)
                if self._texts:
                    self._pending = 0  # a turn of the user ends what is open
                self._end_text("user", path)
            case _:
                self._lose(path, part, NO_PLACE)

    def _end_text(self, speaker: Speaker, path: str) -> None:
        """What was said since the last call is one turn."""
        if not self._texts:
            return
        texts, self._texts = self._texts, []
        if len(texts) > 1:
            self._losses.append(Loss(path, "where one text ends", ONE_TEXT, "changed"))
        said = "".join([text for text, _ in texts])
        self.turns.append(PlainTurn(speaker, said, texts[0][1]))

    def _end_step(self, speaker: Speaker, path: str) -> None:
        self._end_text(speaker, path)
        if not self._results:
            return
        results, self._results = self._results, []
        self._settle(path)
        answered = max((index + 1 for index, result in enumerate(results) if result), default=0)
        for result in results[:answered]:
            if result is None:
                self._losses.append(Loss(path, "no result of a call", UNANSWERED, "repaired"))
            self.turns.append(result or PlainTurn("result", NO_ANSWER, {}))
        self._pending = len(results) - answered

    def _settle(self, path: str) -> None:
        """Calls without a result get one, since the next result would be taken for theirs."""
        for _ in range(self._pending):
            self._losses.append(Loss(path, "no result of a call before it", UNANSWERED, "repaired"))
            self.turns.append(PlainTurn("result", NO_ANSWER, {}))
        self._pending = 0

    def _call(self, call: ToolCallPart, path: str) -> None:
        self._calls += 1
        if call.id != f"{self._head}:call-{self._calls}":
            self._lose(f"{path}.id", call.id, NO_PLACE, "minor")
        notes = self._notes(call.call_provider_metadata)
        given = call.raw_input if call.input is UNSET else call.input
        arguments: Json = {} if given is UNSET else given
        words = notes.get(NOTE)
        text = words if isinstance(words, str) else call_text(call.name, arguments)
        if call.raw_input is not UNSET and words is None:
            severity: Severity = "changed" if call.input is UNSET else "lost"
            self._lose(f"{path}.rawInput", call.raw_input, NO_PLACE, severity)
        self.turns.append(PlainTurn("call", text, notes))
        if not is_bare(call):
            self._metadata(call.call_provider_metadata, f"{path}.callProviderMetadata")
            self._metadata(call.result_provider_metadata, f"{path}.resultProviderMetadata")
            self._rest(call, path, *OF_A_CALL)
        expected = "input-available" if call.output is None else "output-available"
        if call.state != expected:
            self._lose(f"{path}.state", call.state, NO_PLACE, "changed")
        if call.output is None:
            self._results.append(None)
        else:
            said = self._output(call.output, f"{path}.output")
            self._results.append(PlainTurn("result", said, self._notes(call.result_provider_metadata)))

    def _output(self, output: ToolOutput, path: str) -> str:
        if type(output) is not TextOutput:
            self._lose(f"{path}.type", output.__struct_config__.tag, AS_TEXT, "changed")
        if not is_bare(output):
            self._rest(output, path, "value", "reason", "message")
        match output:
            case TextOutput(value=text) | ErrorTextOutput(value=text):
                return text
            case JsonOutput(value=value) | ErrorJsonOutput(value=value):
                return dumps(value).decode()
            case ExecutionDeniedOutput(reason=reason):
                return reason or DENIED
            case InterruptedOutput(reason=why, message=message):
                return f"This call was interrupted: {why}{f', {message}' if message else ''}."
            case ContentOutput():
                return self._content(output, path)

    def _content(self, output: ContentOutput, path: str) -> str:
        texts: list[str] = []
        for index, item in enumerate(output.value):
            where = f"{path}.value[{index}]"
            if isinstance(item, TextPart):
                texts.append(item.text)
                self._rest(item, where, "text")
            else:
                self._lose(where, item, NO_PLACE)
        return "\n".join(texts)

    def _notes(self, metadata: JsonObject | None) -> JsonObject:
        if not metadata:
            return {}
        notes: Json = metadata.get(self._format)
        return notes if is_object(notes) else {}

    def _metadata(self, metadata: JsonObject | None, path: str) -> None:
        for space, value in (metadata or {}).items():
            if space != self._format:
                self._lose(f"{path}.{space}", value, NO_PLACE)

    def _rest(self, value: Value, path: str, *written: str) -> None:
        for key, item in said_in(value, *written):
            self._lose(f"{path}.{key}", item, NO_PLACE, "minor" if key in MINOR else "lost")

    def _lose(self, path: str, value: Json, why: str, severity: Severity = "lost") -> None:
        self._losses.append(Loss.of(path, value, why, severity))
