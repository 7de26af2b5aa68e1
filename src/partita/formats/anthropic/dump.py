"""Canonical messages → the messages of a request, or a whole request, to the Messages API.

What came from the API goes back as it was. Lost is what the API has no place for: ids, times and owners,
titles, approvals, what sub-agents said, usage, data and sources, thoughts that Anthropic did not sign. What
the API insists on is repaired, and each repair is told.
"""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from partita.formats.format import Dumped, Request
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    TextPart,
)
from partita.types.tools import ToolResultPart

from .caching import check_marks
from .comparing import derived_losses, is_held, part_losses, shell_losses, start_losses
from .conversation import SYSTEM_ID, answer_parts, message_id
from .plain_steps import plain_step
from .request import MAX_TOKENS, check_thinking, container_of, tool_block
from .settings import in_order, served_names
from .steps import Step, settled_parts, steps_of
from .talk import NO_CALL, Talk
from .words import FORM, STRING, own_of

NOT_TALK: Final = "notices and internal turns are not sent"
STEERED: Final = "it is a turn of the user's"
ONE_MESSAGE: Final = "steps in a row are read as one message"
ONE_SYSTEM: Final = "instructions before the talk are one"
NUMBERED: Final = "the API insists on a number"

BEFORE_ALL: Final = -1
"""Stands for the number of a turn: instructions before the talk are none."""


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as `system` and `messages` of a request."""
    writer = _Writer(None)
    writer.write(fold(messages))
    payload = writer.payload()
    check_marks(payload, writer.talk.losses)
    return Dumped(payload, tuple(writer.talk.losses))


def ask(messages: Sequence[Message], request: Request) -> Dumped:
    """A whole request. The settings are in the API's words, and its own tools among them."""
    settings = request.settings
    writer = _Writer(served_names(settings))
    writer.write(fold(messages))
    losses = writer.talk.losses
    payload: JsonObject = {key: settings[key] for key in ("model", "max_tokens") if key in settings}
    if "max_tokens" not in settings:
        payload["max_tokens"] = MAX_TOKENS
        losses.append(Loss("$.max_tokens", str(MAX_TOKENS), NUMBERED, "repaired"))
    payload |= {**writer.payload(), **writer.container, **settings}
    own: list[Json] = settings["tools"] if is_array(settings.get("tools")) else []
    blocks = [tool_block(tool, index, losses) for index, tool in enumerate(request.tools)]
    declared = in_order(request.tools, blocks, own)
    payload |= {"tools": declared} if declared else {}
    check_thinking(payload, losses)
    check_marks(payload, losses)
    return Dumped(payload, tuple(losses))


def told_parts(
    parts: Sequence[tuple[int, AssistantPart]],
    blocks: list[JsonObject],
    path: str,
    *,
    is_answer: bool = False,
) -> Iterator[Loss]:
    """What of the parts of a step is not in its blocks; an answer may hold texts that say nothing."""
    unlike = [(number, part) for number, part in parts if not is_held(part)]
    for number, part in unlike:
        yield from part_losses(part, f"{path}[{number}]", is_models=True, is_answer=is_answer)
    if any(_is_derived(part) for _, part in unlike):
        yield from derived_losses(parts, answer_parts(blocks, "", path), path)


def _is_derived(part: AssistantPart) -> bool:
    match part:
        case TextPart(citations=citations):
            return bool(citations)
        case SourceUrlPart() | SourceDocumentPart():
            return own_of(part.provider_metadata) is not None
        case _:
            return False


class _Writer:
    def __init__(self, served: frozenset[str] | None) -> None:
        self.talk = Talk(served, is_faithful=True)
        self.container: JsonObject = {}
        self._shells: list[tuple[Message, str, int | None]] = []
        self._has_instructions = False
        self._is_string = False

    def write(self, messages: Sequence[Message]) -> None:
        """All of them."""
        for index, message in enumerate(messages):
            path = f"$[{index}]"
            if message.internal or message.type == "event":
                self.talk.losses.append(Loss.of(path, message, NOT_TALK))
                continue
            match message:
                case SystemMessage():
                    self._system(message, path)
                case UserMessage():
                    self._user(message, path)
                case AssistantMessage():
                    self._assistant(message, path)
                case ToolMessage():
                    self.talk.losses.append(Loss.of(path, message, NO_CALL))
                case _:
                    assert_never(message)
        self.talk.end()
        for message, path, begun in self._shells:
            id_, is_string = self._read_with(begun)
            self.talk.losses.extend(shell_losses(message, path, id_, is_string=is_string))

    def _read_with(self, begun: int | None) -> tuple[str | None, bool]:
        """The id that a message is read with, and whether its content is a string."""
        if begun is None:
            return None, False
        if begun == BEFORE_ALL:
            return SYSTEM_ID, isinstance(self.payload().get("system"), str)
        place = begun + self.talk.is_opened
        return message_id(place), isinstance(self.talk.turns[place]["content"], str)

    def payload(self) -> JsonObject:
        """The instructions, if there are any, and the turns."""
        system = self.talk.system
        match system:
            case [{"type": "text", "text": str(text), **rest}] if self._is_string and not rest:
                return {"system": text, "messages": self.talk.turns}
            case _:
                return {**({"system": system} if system else {}), "messages": self.talk.turns}

    def _system(self, message: SystemMessage, path: str) -> None:
        marks, before = _marks(message), len(self.talk.system)
        begun = self.talk.instruct(message.parts, f"{path}.content.parts", marks)
        self._tell_parts(message, path)
        if begun is not None:
            self._shells.append((message, path, begun))
            return
        if len(self.talk.system) > before and before:
            self.talk.losses.append(Loss(path, "where the message begins", ONE_SYSTEM, "repaired"))
        self._is_string = not self._has_instructions and marks.get(FORM) == STRING
        self._shells.append((message, path, None if self._has_instructions else BEFORE_ALL))
        self._has_instructions = True

    def _user(self, message: UserMessage, path: str) -> None:
        begun = self.talk.say(message.parts, f"{path}.content.parts", _marks(message))
        self._tell_parts(message, path)
        self._shells.append((message, path, begun))

    def _assistant(self, message: AssistantMessage, path: str) -> None:
        steps, parts, first = steps_of(message), f"{path}.content.parts", True
        follows_results, begun = self.talk.awaits_results, None
        for step in steps:
            marks = own_of(message.content.provider_metadata) or {} if step is steps[0] else {}
            if isinstance(step.before, SteeringMessagePart):
                self._steer(step.before, f"{parts}[{step.number}]")
            elif step.before is not None:
                marks = own_of(step.before.provider_metadata) or {}
                divides = self.talk.awaits_results and bool(step.parts)
                self.talk.losses.extend(
                    start_losses(step.before, f"{parts}[{step.number}]", divides=divides or first)
                )
            place = self._step(message, step, parts, marks)
            if step.parts and first:
                begun, first = place, False
        if begun is not None and follows_results:
            self.talk.losses.append(Loss(path, "where the message begins", ONE_MESSAGE, "changed"))
            begun = None
        self._shells.append((message, path, begun))

    def _step(self, message: AssistantMessage, step: Step, path: str, marks: JsonObject) -> int | None:
        if not step.parts:
            return None
        plain = plain_step(step.parts, path)
        if plain is not None:
            return self.talk.reply_plainly(plain, path, marks)
        losses = self.talk.losses
        settled = settled_parts(step.parts, path, losses)
        turn, begun = self.talk.reply(settled, path, marks, {})
        self.container = container_of(message, turn) or self.container
        self.talk.answer(
            [
                (
                    f"{path}[{number}]",
                    ToolResultPart(part.id, part.name, part.output, part.result_provider_metadata),
                )
                for number, part in settled
                if isinstance(part, ToolCallPart) and not part.provider_executed and part.output is not None
            ]
        )
        parts = step.parts
        if len(settled) != len(parts):
            sent = {number for number, _ in settled}
            parts = [(number, part) for number, part in parts if number in sent]
        losses.extend(told_parts(parts, turn.blocks, path))
        return begun

    def _steer(self, part: SteeringMessagePart, path: str) -> None:
        self.talk.losses.append(Loss.of(f"{path}.id", part.id, STEERED, "changed"))
        self.talk.say(part.parts, f"{path}.parts", {})
        for index, item in enumerate(part.parts):
            self.talk.losses.extend(part_losses(item, f"{path}.parts[{index}]"))

    def _tell_parts(self, message: SystemMessage | UserMessage, path: str) -> None:
        for index, part in enumerate(message.parts):
            if not is_held(part):
                self.talk.losses.extend(part_losses(part, f"{path}.content.parts[{index}]"))


def _marks(message: SystemMessage | UserMessage) -> JsonObject:
    own = own_of(message.content.provider_metadata) or {}
    return own if message.content.content is None else {**own, FORM: STRING}
