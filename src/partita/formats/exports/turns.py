"""Plain turns, each a speaker and one text: ChatML and ShareGPT are lists of these.

A turn is a text, a call, or a result. Results have no id: a result belongs to the first call without one. A
message of the assistant starts with its first turn, and continues in a new step after results. In the loss
report, the position of a part is the index of its turn.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.metadata import NO_NOTES, notes
from partita.formats.core.report import Record, Report
from partita.formats.core.rules import Rules, arrange
from partita.formats.core.tool_text import UNANSWERED, as_text, missing_output, write_tool_text
from partita.formats.core.turns import Instructions, LocatedPart, Position, Prompt, Results, Step, Turn, split
from partita.formats.losses import JOINED, NO_PLACE, Loss
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import StepStartPart, TextOutput, TextPart, ToolOutput, ToolResultPart

Speaker: TypeAlias = Literal["system", "user", "assistant", "call", "result"]

TEXT: Final = "text"
"""The note with the text of a call, if its name and arguments would be written differently."""

FIELDS: Final = "fields"
"""The note with other members of a turn."""

UNKNOWN_TOOL: Final = "unknown-tool"
"""The tool name of calls that cannot be read."""


RULES: Final = Rules(calls="any")


class PlainTurn(Struct, frozen=True):
    """A turn: its speaker, its text, and notes about it."""

    speaker: Speaker
    text: str
    notes: JsonObject = NO_NOTES


def report_of(namespace: str, reasons: Mapping[str, str] | None = None) -> Report:
    """Return the loss report of a format of plain turns."""
    common = {"output": "a result is one text", "rawInput": "arguments are JSON"}
    return Report(namespace, NO_PLACE, {**common, **(reasons or {})}, frozenset({TEXT}))


def call_text(name: str, arguments: Json) -> str:
    """Return a call as text."""
    return encode({"name": name, "arguments": arguments}).decode()


def read_call(text: str) -> tuple[str, Json] | None:
    """Return the name and the arguments of a call, if a text is one."""
    try:
        value = loads(text)
    except DecodeError:
        return None
    if is_object(value) and isinstance(value.get("name"), str) and value.keys() == {"name", "arguments"}:
        return value["name"], value["arguments"]
    return None


class TurnReader:
    """Reads the messages of turns. A message has the id `message-N`, by the number of its first turn."""

    def __init__(self, turns: Iterable[PlainTurn], namespace: str) -> None:
        self.messages: list[Message] = []
        self.positions: dict[Position, Any] = {}
        """Parts by the index of their turn, and messages by `("message", index)` of their first turn."""
        self._namespace = namespace
        self._start = 0  # index of the first turn of the message
        self._parts: list[AssistantPart] = []
        self._open: list[int] = []  # positions of calls without a result
        self._calls = 0
        self._last = ""
        for index, turn in enumerate(turns):
            self._read(turn, index)
            self._last = turn.speaker
        self._end()

    def _read(self, turn: PlainTurn, index: int) -> None:
        match turn.speaker:
            case "system":
                self._end()
                self._add(
                    SystemMessage(id=_id(index), content=SystemContent((self._text(turn, index),))), index
                )
            case "user":
                self._end()
                self._add(UserMessage(id=_id(index), content=UserContent((self._text(turn, index),))), index)
            case "assistant":
                if self._last == "assistant":
                    self._end()
                self._continue(index)
                self._parts.append(self._text(turn, index))
            case "call":
                self._continue(index)
                self._open.append(len(self._parts))
                self._parts.append(self._call(turn, index))
            case "result":
                self._result(turn, index)

    def _add(self, message: Message, index: int) -> None:
        self.messages.append(message)
        self.positions["message", index] = message

    def _end(self) -> None:
        """End the message of the assistant, if there is one."""
        if self._parts:
            content = AssistantContent(parts=tuple(self._parts))
            self._add(AssistantMessage(id=_id(self._start), content=content), self._start)
        self._parts, self._open, self._calls, self._last = [], [], 0, ""

    def _continue(self, index: int) -> None:
        """Start a message of the assistant with this turn, or a step if the turn follows results."""
        if not self._parts:
            self._start = index
        elif self._last == "result":
            self._parts.append(StepStartPart())
            self._open = []

    def _text(self, turn: PlainTurn, index: int) -> TextPart:
        part = TextPart(turn.text, provider_metadata=self._metadata(turn.notes))
        self.positions[index] = part
        return part

    def _result(self, turn: PlainTurn, index: int) -> None:
        output, metadata = TextOutput(turn.text), self._metadata(turn.notes)
        if not self._open:
            self._end()
            result = ToolResultPart("", UNKNOWN_TOOL, output, metadata)
            self._add(ToolMessage(id=_id(index), content=[result]), index)
        else:
            at = self._open.pop(0)
            call = self._parts[at]
            assert isinstance(call, ToolCallPart), "only calls are open"
            result = ToolResultPart(call.id, call.name, output, metadata)
            self._parts[at] = replace(
                call, state="output-available", output=output, result_provider_metadata=metadata
            )
        self.positions[index] = result

    def _call(self, turn: PlainTurn, index: int) -> ToolCallPart:
        self._calls += 1
        id_ = f"{_id(self._start)}:call-{self._calls}"
        found = read_call(turn.text)
        if found is None:
            metadata = self._metadata({**turn.notes, TEXT: turn.text})
            call = ToolCallPart(
                id_,
                UNKNOWN_TOOL,
                "input-available",
                raw_input=turn.text,
                call_provider_metadata=metadata,
            )
        else:
            kept = {} if call_text(*found) == turn.text else {TEXT: turn.text}
            metadata = self._metadata({**turn.notes, **kept})
            call = ToolCallPart(id_, found[0], "input-available", found[1], call_provider_metadata=metadata)
        self.positions[index] = call
        return call

    def _metadata(self, noted: JsonObject) -> JsonObject | None:
        return {self._namespace: noted} if noted else None


def _id(index: int) -> str:
    return f"message-{index + 1}"


class TurnWriter:
    """Writes the turns of messages, and records the turn of each part.

    Like the reader, it tracks whether a message of the assistant can be continued, and which of its calls
    have no result: the reader assigns the next result to the first of these.
    """

    def __init__(self, messages: Sequence[Message], namespace: str) -> None:
        self.turns: list[PlainTurn] = []
        self.record = Record()
        self._namespace = namespace
        self._open: list[LocatedPart] = []
        self._is_continued = False
        for turn in arrange(split(messages, _is_written, results="all"), RULES, self.record.losses):
            match turn:
                case Instructions():
                    self._write_message(turn, "system")
                case Prompt():
                    self._write_message(turn, "user")
                case Step():
                    self._write_step(turn)
                case Results():
                    self._write_results(turn)

    @property
    def _last(self) -> Speaker | None:
        return self.turns[-1].speaker if self.turns else None

    def _write_message(self, turn: Instructions | Prompt, speaker: Speaker) -> None:
        index = len(self.turns)
        written, positions = self._write_parts(turn, speaker)
        if len(self.turns) > index:
            self._open, self._is_continued = [], False
        self._record(written, index, positions)

    def _write_step(self, step: Step) -> None:
        kinds = [type(one.part) for one in step.parts if _is_written(one.part)]
        is_text, last = not kinds or kinds[0] is TextPart, self._last
        if last == "result" or (last == "assistant" and is_text):
            self._open = []
        elif kinds:
            self._add_missing_results()
            last = self._last
        is_next_step = self._is_continued and last == "result"
        is_message = not self._is_continued or (last == "assistant" and is_text)
        index = len(self.turns)
        written, positions = self._write_parts(step, "assistant")
        if step.text is not None:
            self.turns.append(PlainTurn("assistant", step.text))
        if step.boundaries:
            is_read_back = is_next_step and [one.part for one in step.boundaries] == [StepStartPart()]
            self.record.add_boundaries(() if is_read_back else step.boundaries, NO_PLACE)
        if len(self.turns) > index:
            self._is_continued = True
        self._record(written, index if is_message else None, positions)

    def _write_parts(self, turn: Turn, speaker: Speaker) -> tuple[Turn, list[Position | None]]:
        """Write texts and calls.

        Returns the turn with its parts as they are read back, and their positions.
        """
        positions: list[Position | None] = []
        texts: list[LocatedPart] = []  # texts since the last call, which become one turn
        joined: dict[str, LocatedPart] = {}  # texts as they are read back, by path
        for located in turn.parts:
            kind = type(located.part)
            if kind is TextPart:
                positions.append(len(self.turns))
                texts.append(located)
            elif kind is ToolCallPart:
                self._write_texts(texts, speaker, joined)
                texts = []
                positions.append(len(self.turns))
                self._write_call(located)
            else:
                positions.append(None)
        self._write_texts(texts, speaker, joined)
        if joined:
            turn = turn._replace(parts=[joined.get(one.path, one) for one in turn.parts])
        return turn, positions

    def _write_texts(
        self, texts: Sequence[LocatedPart], speaker: Speaker, joined: dict[str, LocatedPart]
    ) -> None:
        """Write texts as one turn. Each of several texts is read back as the joined text: see `joined`."""
        if not texts:
            return
        text = "".join([one.part.text for one in texts])
        self.turns.append(PlainTurn(speaker, text, self._notes(texts[0].part.provider_metadata)))
        if len(texts) > 1:
            joined |= {path: LocatedPart(replace(part, text=text), path) for part, path in texts}
        for one in texts[1:]:
            self.record.losses.append(Loss(one.path, "the start of a text", JOINED, "changed"))

    def _write_call(self, located: LocatedPart) -> None:
        call: ToolCallPart = located.part
        kept = self._notes(call.call_provider_metadata)
        given = call.raw_input if call.input is UNSET else call.input
        found = (call.name, {} if given is UNSET else given)
        text = kept.get(TEXT)
        if not isinstance(text, str) or (read_call(text) or (UNKNOWN_TOOL, text)) != found:
            text = call_text(*found)  # no text is noted, or the call was changed
        self.turns.append(PlainTurn("call", text, kept))
        self._open.append(located)

    def _write_results(self, turn: Results) -> None:
        if turn.step is None:
            self._add_missing_results()
            self._is_continued = False
        index = len(self.turns)
        positions: list[Position | None] = []
        for part, path in turn.parts:
            if turn.step is not None:
                self._add_missing_results(path)
                self._open = self._open[1:]
            if type(part) is not ToolResultPart:
                positions.append(None)
                continue
            positions.append(len(self.turns))
            self.turns.append(
                PlainTurn("result", result_text(part.output), self._notes(part.provider_metadata))
            )
        self._record(turn, index, positions)

    def _add_missing_results(self, until: str = "") -> None:
        """Write a result for each open call before the one at a path."""
        while self._open and self._open[0].path != until:
            call, path = self._open.pop(0)
            output, why = missing_output(call)
            self.record.losses.append(Loss.of(f"{path}.output", call.id, why or UNANSWERED, "repaired"))
            self.turns.append(PlainTurn("result", result_text(output)))

    def _record(self, turn: Turn, index: int | None, positions: Sequence[Position | None]) -> None:
        """Record a turn whose message starts at an index, if it starts one that is read back."""
        position = None if index is None or index == len(self.turns) else ("message", index)
        self.record.add(turn, position, positions)

    def _notes(self, metadata: JsonObject | None) -> JsonObject:
        return notes(metadata, self._namespace)


def result_text(output: ToolOutput) -> str:
    """Return an output as text. Files are left out."""
    found = write_tool_text(output)
    if found.items is None:
        return as_text(found.value)
    return "\n".join([item.text for item in found.items if isinstance(item, TextPart)])


def _is_written(part: AssistantPart) -> bool:
    return type(part) in (TextPart, ToolCallPart)
