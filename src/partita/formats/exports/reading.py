"""Plain turns → canonical messages: calls and their results in one message, in the order they came."""

from collections.abc import Iterable

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.types.json import JsonObject, is_object, loads
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
from partita.types.parts import StepStartPart, TextPart
from partita.types.tools import TextOutput, ToolResultPart

from .turns import NOTE, PlainTurn, call_text

UNKNOWN_TOOL = "unknown-tool"
"""The name of a tool in a call that cannot be read."""


def read_turns(turns: Iterable[PlainTurn], format_name: str) -> list[Message]:
    """The messages that turns amount to. A message is `message-N`, by the place of its first turn."""
    reader = _Reader(format_name)
    for index, turn in enumerate(turns):
        reader.add(turn, f"message-{index + 1}")
    reader.end()
    return reader.messages


class _Reader:
    """Turns on their way."""

    def __init__(self, format_name: str) -> None:
        self.messages: list[Message] = []
        self._format = format_name
        self._id = ""
        self._parts: list[AssistantPart] = []
        self._open: list[int] = []
        """Where calls without a result stand."""
        self._calls = 0
        self._last = ""

    def add(self, turn: PlainTurn, id_: str) -> None:
        """Take a turn."""
        match turn.speaker:
            case "system":
                self.end()
                content = SystemContent(parts=(self._text(turn),))
                self.messages.append(SystemMessage(id=id_, content=content))
            case "user":
                self.end()
                self.messages.append(UserMessage(id=id_, content=UserContent(parts=(self._text(turn),))))
            case "assistant":
                if self._last == "assistant":
                    self.end()
                self._go_on(id_)
                self._parts.append(self._text(turn))
            case "call":
                self._go_on(id_)
                self._calls += 1
                self._open.append(len(self._parts))
                self._parts.append(self._call(turn, f"{self._id}:call-{self._calls}"))
            case "result":
                self._answer(turn, id_)
        self._last = turn.speaker

    def end(self) -> None:
        """What the model said and did so far is one message."""
        if self._parts:
            content = AssistantContent(parts=tuple(self._parts))
            self.messages.append(AssistantMessage(id=self._id, content=content))
        self._parts, self._open, self._calls, self._last = [], [], 0, ""

    def _go_on(self, id_: str) -> None:
        """The model speaks or calls: in a new message, or behind results in a new step."""
        if not self._parts:
            self._id = id_
        elif self._last == "result":
            self._parts.append(StepStartPart())
            self._open = []

    def _text(self, turn: PlainTurn) -> TextPart:
        return TextPart(turn.text, provider_metadata=self._named(turn.notes))

    def _answer(self, turn: PlainTurn, id_: str) -> None:
        output, metadata = TextOutput(turn.text), self._named(turn.notes)
        if not self._open:
            self.end()
            result = ToolResultPart("", UNKNOWN_TOOL, output, metadata)
            self.messages.append(ToolMessage(id=id_, content=[result]))
            return
        place = self._open.pop(0)
        call = self._parts[place]
        assert isinstance(call, ToolCallPart), "only calls are open"
        self._parts[place] = replace(
            call, state="output-available", output=output, result_provider_metadata=metadata
        )

    def _call(self, turn: PlainTurn, id_: str) -> ToolCallPart:
        try:
            value = loads(turn.text)
        except DecodeError:
            value = None
        if is_object(value) and isinstance(value.get("name"), str) and value.keys() == {"name", "arguments"}:
            name, given = value["name"], value["arguments"]
            kept = {} if call_text(name, given) == turn.text else {NOTE: turn.text}
            return ToolCallPart(
                id_, name, "input-available", given, call_provider_metadata=self._named(turn.notes | kept)
            )
        return ToolCallPart(
            id_,
            UNKNOWN_TOOL,
            "input-available",
            raw_input=turn.text,
            call_provider_metadata=self._named(turn.notes | {NOTE: turn.text}),
        )

    def _named(self, notes: JsonObject) -> JsonObject | None:
        return {self._format: notes} if notes else None
