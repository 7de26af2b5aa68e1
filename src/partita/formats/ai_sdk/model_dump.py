"""Canonical messages → model messages of AI SDK 5, 6 or 7.

What came from UI messages gives exactly what the SDK's `convertToModelMessages` gives for them. What came
from model messages gives them back. Lost is what reading the result again would not give back: ids, times
and owners, states and titles, data and sources, what older versions do not know. A step start that divides
nothing, such as one at the beginning, is left out without a word.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, assert_never, cast

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.format import Dumped
from partita.stream.rules import Version
from partita.types.fold import fold
from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart

from .model_calls import write_call
from .model_load import message_id, results_id
from .model_losses import Losses
from .model_marks import amended, note_of, options_of, with_options
from .model_outputs import is_result, write_tool_part
from .model_parts import Pieces, convert_part, convert_ui, write_part
from .schema import check_version
from .ui_dump import dump_message

Translate: TypeAlias = Callable[[Pieces], Pieces]
"""Turns the pieces of one canonical part into those of another version, or back."""


def dump(messages: Sequence[Message], version: int = 7) -> Dumped:
    """Messages as the list that `generateText` takes."""
    return write_messages(messages, check_version(version))


def write_messages(
    messages: Sequence[Message], version: int, down: Translate | None = None, up: Translate | None = None
) -> Dumped:
    """The same, for version 4 too, given how its pieces are translated from those of version 5, and back."""
    try:
        return _Writer(version, down or _as_they_are, up or _as_they_are).write(fold(messages))
    except RecursionError:
        raise ConversionError(TOO_DEEP, hint=TOO_DEEP_HINT) from None
    except DecodeError as error:
        raise ConversionError(error.what, where=error.where, hint=error.hint) from None


def _as_they_are(pieces: Pieces) -> Pieces:
    return pieces


class _Said(NamedTuple):
    """A part of a step, where it is, and what it became. A network has no part."""

    part: AssistantPart | None
    path: str
    pieces: Pieces

    @property
    def origin(self) -> ToolMessage | None:
        """The message that the result of a call came in, if it is one of its own."""
        return self.part.result_message if isinstance(self.part, ToolCallPart) else None


@dataclass(slots=True)
class _Step:
    """The parts of one model call, and what stands around the content of its assistant message."""

    options: JsonObject | None
    note: JsonObject
    said: list[_Said] = field(default_factory=list[_Said])
    steering: JsonObject | None = None
    raw: JsonObject | None = None

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it yet, not even the note that there is nothing."""
        return not self.said and self.steering is None and self.note.get("content") != "empty"

    @property
    def content(self) -> list[Json] | None:
        """What the assistant says in it; `None` when there is no message."""
        found = [said.pieces.said for said in self.said if said.pieces.said is not None]
        if not found and self.note.get("content") != "empty":
            return None
        return [piece for pieces in found for piece in pieces]

    @property
    def is_answered(self) -> bool:
        """Whether a tool message stands behind it."""
        return any(said.pieces.answered is not None for said in self.said)


class _Writer:
    """One list of messages on its way."""

    def __init__(self, version: int, down: Translate, up: Translate) -> None:
        self.version = version
        self.ui_version = cast("Version", max(version, 5))  # version 4 is written like 5, and translated
        self.down = down
        self.up = up
        self.payload: list[JsonObject] = []
        self.losses = Losses(version)
        self.turn = _Turn()
        self.results_id = ""  # of the tool message that was written last, here
        self.results_read = ""  # the same, when it is read again

    def write(self, messages: Sequence[Message]) -> Dumped:
        """All of them."""
        users = (index for index, message in enumerate(messages) if isinstance(message, UserMessage))
        last_user = max(users, default=-1)
        for index, message in enumerate(messages):
            path = f"$[{index}]"
            match message:
                case SystemMessage():
                    self._system(message, path)
                case UserMessage():
                    self._user(message, path)
                case AssistantMessage():
                    self._assistant(message, path, superseded=index < last_user)
                case ToolMessage():
                    self._tool(message, path)
                case _:
                    assert_never(message)
        return Dumped(self.payload, tuple(self.losses.told))

    def _emit(self, role: str, content: Json, options: JsonObject | None, note: JsonObject | None) -> JsonObject:
        raw = amended(with_options({"role": role, "content": content}, options), note)
        self.payload.append(raw)
        return raw

    def _end_turn(self) -> str:
        """The id that a message which begins now is read with."""
        self.turn = _Turn()
        return message_id(len(self.payload))

    # System, user and tool messages

    def _system(self, message: SystemMessage, path: str) -> None:
        id_ = self._end_turn()
        ui = dump_message(message, path, [], self.ui_version)
        raw = convert_ui(ui, self.ui_version, path)[0]
        options, around = options_of(raw), message.content.provider_metadata
        if around is not None:
            options = {**around, **(options or {})}
        raw = self._emit("system", raw["content"], options, note_of(message))
        for index, part in enumerate(message.parts):
            self.losses.system_part(part, f"{path}.content.parts[{index}]", options_of(raw) or {})
        self.losses.message(message, path, id_, raw)

    def _user(self, message: UserMessage, path: str) -> None:
        id_ = self._end_turn()
        content: list[Json] = []
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            pieces = self.down(write_part(part, "user", self.version, where))
            content += pieces.said or []
            self.losses.part(part, where, self.up(pieces), "user")
        text = message.content.content
        said = text if _is_just(text, content) else content
        raw = self._emit("user", said, message.content.provider_metadata, note_of(message))
        self.losses.message(message, path, id_, raw)

    def _tool(self, message: ToolMessage, path: str) -> None:
        """Results that belong to no call, behind those of the same message that do."""
        id_ = self._end_turn()
        content: list[Json] = []
        for index, part in enumerate(message.parts):
            pieces = self.down(Pieces(None, write_tool_part(part, self.version)))
            content += pieces.answered or []
            self.losses.part(part, f"{path}.content.parts[{index}]", self.up(pieces), None)
        if message.id == self.results_id:
            raw = self.payload[-1]
            raw["content"] += content
            id_ = self.results_read
        else:
            raw = self._emit("tool", content, message.content.provider_metadata, note_of(message))
        self.results_id = ""
        self.losses.message(message, path, id_, raw)

    # Assistant messages

    def _assistant(self, message: AssistantMessage, path: str, *, superseded: bool) -> None:
        steps, starts = self._steps(message, path, superseded)
        written = [step for step in steps if step.content is not None]
        if not written and not any(step.is_answered or step.steering for step in steps):
            self.losses.whole(message, path)
            return
        id_ = None if self.turn.steps or steps[0].raw is None else message_id(len(self.payload))
