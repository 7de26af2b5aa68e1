"""Canonical messages → model messages of AI SDK 5, 6 or 7.

What came from UI messages gives exactly what the SDK's `convertToModelMessages` gives for them. What came
from model messages gives them back. Lost is what reading the result again would not give back: ids, times
and owners, states and titles, data and sources, what older versions do not know. A step start that divides
nothing, such as one at the beginning, is left out without a word.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never

from partita.formats.ai_sdk.ui.dump import dump_message
from partita.formats.ai_sdk.versions import check_version
from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import SteeringMessagePart, TextPart

from .losses import Losses
from .marks import amended, conversion, message_id, note_of, options_of, results_id, with_options
from .outputs import is_result, write_tool_part
from .parts import Pieces, convert_ui, ui_version, write_part
from .steps import Said, Step, Translate, steps_of

AMBIGUOUS = "another call in the same turn has this id too"
UNWRITTEN: JsonObject = {"role": "assistant", "content": [None]}
"""Stands for the assistant message of a first step that has none."""


def dump(messages: Sequence[Message], version: int = 7) -> Dumped:
    """Messages as the list that `generateText` takes."""
    return write_messages(messages, check_version(version))


def write_messages(
    messages: Sequence[Message], version: int, down: Translate | None = None, up: Translate | None = None
) -> Dumped:
    """The same, for version 4 too, given how its pieces are translated from those of version 5, and back."""
    with conversion():
        return _Writer(version, down or _as_they_are, up or _as_they_are).write(fold(messages))


def _as_they_are(pieces: Pieces) -> Pieces:
    return pieces


class _Writer:
    """One list of messages on its way."""

    def __init__(self, version: int, down: Translate, up: Translate) -> None:
        self.version = version
        self.down = down
        self.up = up
        self.payload: list[JsonObject] = []
        self.losses = Losses(version)
        # Of the turn, which is read as one message: the id of that, how many steps, ids of approvals.
        self.head = ""
        self.steps = 0
        self.approvals: set[str] = set()
        # Of the tool message at the end: the id it has here, and the one it is read with.
        self.results: tuple[str, str] | None = None

    def write(self, messages: Sequence[Message]) -> Dumped:
        """All of them."""
        users = (index for index, message in enumerate(messages) if isinstance(message, UserMessage))
        last_user = max(users, default=-1)
        for index, message in enumerate(messages):
            path = f"$[{index}]"
            match message:
                case SystemMessage():
                    self._system(message, path, superseded=last_user > 0)
                case UserMessage():
                    self._user(message, path)
                case AssistantMessage():
                    self._assistant(message, path, superseded=index < last_user)
                case ToolMessage():
                    self._tool(message, path)
                case _:
                    assert_never(message)
        return Dumped(self.payload, tuple(self.losses.told))

    def _emit(
        self, role: str, content: Json, options: JsonObject | None, note: JsonObject | None
    ) -> JsonObject:
        raw = said = {"role": role, "content": content}
        if options is not None or note:
            raw = amended(with_options(said, options), note) | said
        self.results = None
        self.payload.append(raw)
        return raw

    def _end_turn(self) -> str:
        """The id that a message which begins now is read with."""
        self.steps = 0
        self.approvals.clear()
        return message_id(len(self.payload))

    # System, user and tool messages

    def _system(self, message: SystemMessage, path: str, *, superseded: bool) -> None:
        id_ = self._end_turn()
        ui = dump_message(message, path, [], ui_version(self.version))
        # Wherever it stands, a user message makes version 7 look closer at every part.
        converted = convert_ui(ui, self.version, path, superseded)[0]
        options, around = options_of(converted), message.content.provider_metadata
        if around is not None:
            options = {**around, **(options or {})}
        raw = self._emit("system", converted["content"], options, note_of(message))
        for index, part in enumerate(message.parts):
            self.losses.system_part(part, f"{path}.content.parts[{index}]", options_of(raw) or {})
        if sum(isinstance(part, TextPart) for part in message.parts) > 1:
            why = "the content of a system message is one string"
            self.losses.told.append(Loss(f"{path}.content.parts", "where one text ends", why))
        self.losses.message(message, path, id_, raw)

    def _user(self, message: UserMessage, path: str) -> None:
        id_ = self._end_turn()
        content: list[Json] = []
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            pieces = self.down(write_part(part, "user", self.version, where))
            content += pieces.said or []
            self.losses.part(part, where, self.up(pieces), "user")
        said = _as_string(content, message.content.content)
        raw = self._emit("user", said, message.content.provider_metadata, note_of(message))
        self.losses.message(message, path, id_, raw)

    def _tool(self, message: ToolMessage, path: str) -> None:
        """Results that belong to no call, in one message with those that do if they came in one."""
        id_ = self._end_turn()
        content: list[Json] = []
        for index, part in enumerate(message.parts):
            pieces = self.down(Pieces(None, write_tool_part(part, self.version)))
            content += pieces.answered or []
            self.losses.part(part, f"{path}.content.parts[{index}]", self.up(pieces), None)
        if self.results is not None and self.results[0] == message.id:
            id_, raw = self.results[1], self.payload[-1]
            raw["content"] += content
        else:
            raw = self._emit("tool", content, message.content.provider_metadata, note_of(message))
        self.losses.message(message, path, id_, raw)

    # Assistant messages

    def _assistant(self, message: AssistantMessage, path: str, *, superseded: bool) -> None:
        steps = steps_of(message, path, self.version, superseded, self.down)
        if all(step.is_silent for step in steps):
            self.losses.whole(message, path)
            return
        id_ = None if self.steps or steps[0].content is None else message_id(len(self.payload))
        written = [step for step in steps if step.content is not None]
        text = message.content.content if len(written) == 1 else None
        number = 0
        for step in steps:
            raw = self._say(step, text)
            number += raw is not None
            if step is steps[0]:
                self.losses.message(message, path, id_, raw or UNWRITTEN, alone=len(written) == 1)
            self._tell_starts(step, None if number <= 1 else raw)
            self._answer(step, results_id(message.id, number))
            if step.steering is not None:
                self._emit("user", step.steering["content"], None, None)
                self._end_turn()

    def _say(self, step: Step, text: str | None) -> JsonObject | None:
        """The assistant message of a step."""
        content = step.content
        if content is None:
            return None
        if self.steps == 0:
            self.head = message_id(len(self.payload))
        self.steps += 1
        if step.note.get("content") == "string" and len(content) == 1 and is_object(content[0]):
            text = content[0].get("text")
        return self._emit("assistant", _as_string(content, text), step.options, step.note)

    def _answer(self, step: Step, own_id: str) -> None:
        """The tool messages behind a step, and what of the step did not arrive."""
        written: dict[str, tuple[str, JsonObject]] = {}
        for order, group in enumerate(step.answers(own_id)):
            id_ = message_id(len(self.payload)) if order else results_id(self.head, self.steps)
            origin = group.origin
            options = None if origin is None else origin.content.provider_metadata
            raw = self._emit("tool", group.content, options, None if origin is None else note_of(origin))
            self.results = (group.id, id_)
            written[group.id] = (id_, raw)
        twins: dict[str, Said] = {}
        for said in step.said:
            self._tell(said, step)
            if isinstance(said.part, ToolCallPart):
                self._tell_call(said, said.part, twins.setdefault(said.part.id, said), written)

    def _tell(self, said: Said, step: Step) -> None:
        match said.part:
            case None:
                pass  # a network: told with the message
            case SteeringMessagePart() as part:
                self.losses.steering(part, said.path, step.steering)
            case part:
                self.losses.part(part, said.path, self.up(said.pieces), "assistant")

    def _tell_call(
        self, said: Said, call: ToolCallPart, twin: Said, written: Mapping[str, tuple[str, JsonObject]]
    ) -> None:
        """Tell what of a call arrives under an id that is not its alone, and of the message of its result."""
        origin, path = call.result_message, f"{said.path}.resultMessage"
        if origin is not None and any(map(is_result, said.pieces.answered or ())):
            self.losses.result_message(origin, path, *written[origin.id])
        elif origin is not None:
            self.losses.whole(origin, path)
        if said.likeness != twin.likeness:
            self.losses.say(f"{said.path}.id", call.id, AMBIGUOUS)
        if call.approval is not None and said.pieces.said:
            if call.approval.id in self.approvals:
                self.losses.say(f"{said.path}.approval.id", call.approval.id, AMBIGUOUS)
            self.approvals.add(call.approval.id)

    def _tell_starts(self, step: Step, raw: JsonObject | None) -> None:
        """Tell what stood on step starts and is not on the message that begins with the last of them."""
        for index, (start, path) in enumerate(step.starts, 1):
            self.losses.step_start(start, path, raw if index == len(step.starts) else None)


def _as_string(content: list[Json], text: Json) -> Json:
    """The content as a string, if it is that one text and no more."""
    return text if isinstance(text, str) and content == [{"type": "text", "text": text}] else content
