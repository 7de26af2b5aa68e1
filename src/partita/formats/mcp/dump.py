"""Canonical messages → sampling messages: `{role, content}` of content blocks.

Lost is what the protocol has no block for: instructions (a request has one place for them), reasoning,
sources, data, and all around the parts but `_meta`.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from msgspec import UNSET

from partita.formats.format import Dumped, Request, ToolSpec
from partita.formats.losses import Loss, Severity
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    UserPart,
    text_of,
)
from partita.types.parts import (
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
)
from partita.types.tools import ToolResultPart

from .blocks import block_of, spoken_block
from .comparing import is_held, part_losses, shell_losses
from .outputs import result_block
from .words import FIELDS, FORM, LIST, MCP, fields_of, own_of

BETWEEN: Final = (StepStartPart, SteeringMessagePart)
"""Parts that stand between two steps."""

NO_BLOCK: Final = "the protocol has no block for it"
NO_SYSTEM: Final = "messages are the user's and the assistant's"
ONE_PROMPT: Final = "a request has one text of instructions, before the talk"
SPOKEN: Final = "sampling takes words, pictures and sound, and what can be read as words"
NOT_TALK: Final = "notices and internal turns are not sent"
STEERED: Final = "it is a message of the user's"
CUT: Final = "the call was cut while it was written"
WRAPPED: Final = "the protocol wants an object: it is sent in one"
APART: Final = "every step is a message of its own"
NUMBERED: Final = "the protocol insists on a number"
MAX_TOKENS: Final = 8192


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as a list of sampling messages."""
    writer = _Writer()
    writer.write(fold(messages))
    return Dumped(writer.turns, tuple(writer.losses))


def ask(messages: Sequence[Message], request: Request) -> Dumped:
    """The parameters of a request for sampling."""
    folded = fold(messages)
    prompts = [
        message
        for message in folded
        if isinstance(message, SystemMessage) and not message.internal and message.type != "event"
    ]
    writer = _Writer(is_request=True)
    writer.write(folded)
    payload: JsonObject = {"messages": writer.turns}
    if prompts:
        payload["systemPrompt"] = "\n\n".join(map(text_of, prompts))
    if "maxTokens" not in request.settings:
        payload["maxTokens"] = MAX_TOKENS
        writer.losses.append(Loss("$.maxTokens", str(MAX_TOKENS), NUMBERED, "repaired"))
    payload |= request.settings
    own: list[Json] = request.settings["tools"] if is_array(request.settings.get("tools")) else []
    tools = [*map(_tool, request.tools), *own]
    payload |= {"tools": tools} if tools else {}
    return Dumped(payload, tuple(writer.losses))


class _Writer:
    def __init__(self, *, is_request: bool = False) -> None:
        self.turns: list[JsonObject] = []
        self.losses: list[Loss] = []
        self._is_request = is_request

    def write(self, messages: Sequence[Message]) -> None:
        """All of them."""
        prompts = 0
        for index, message in enumerate(messages):
            path = f"$[{index}]"
            if message.internal or message.type == "event":
                self.losses.append(Loss.of(path, message, NOT_TALK))
                continue
            match message:
                case SystemMessage():
                    self._system(message, path, is_first=prompts == 0 and not self.turns)
                    prompts += 1
                case UserMessage():
                    self.losses.extend(shell_losses(message, path, self._next_id()))
                    self._say("user", message.parts, f"{path}.content.parts", message)
                case AssistantMessage():
                    self._assistant(message, path)
                case ToolMessage():
                    self._strays(message, path)
                case _:
                    assert_never(message)

    def _next_id(self) -> str:
        return f"message-{len(self.turns) + 1}"

    def _system(self, message: SystemMessage, path: str, *, is_first: bool) -> None:
        if not self._is_request:
            self.losses.append(Loss.of(path, message, NO_SYSTEM))
            return
        self.losses.extend(shell_losses(message, path, "system"))
        if not is_first:
            self.losses.append(Loss(path, "the place of the instructions", ONE_PROMPT, "repaired"))
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if not isinstance(part, TextPart) or part != TextPart(part.text):
                self.losses.append(Loss.of(where, part, ONE_PROMPT))

    def _say(self, role: str, parts: Sequence[UserPart], path: str, message: Message | None) -> None:
        blocks = [self._block(part, f"{path}[{number}]") for number, part in enumerate(parts)]
        self._turn(role, [block for block in blocks if block], _marks(message))

    def _turn(self, role: str, blocks: list[JsonObject], marks: JsonObject) -> None:
        single = len(blocks) == 1 and marks.get(FORM) != LIST
        turn: JsonObject = {"role": role, "content": blocks[0] if single else blocks}
        self.turns.append(turn | fields_of(marks) if marks else turn)

    def _block(self, part: AssistantPart | UserPart, path: str) -> JsonObject | None:
        match part:
            case TextPart(provider_metadata=None):
                block: JsonObject | None = block_of(part)
            case TextPart() | ImagePart() | FilePart() | ReasoningFilePart():
                spoken = spoken_block(part)
                if spoken != block_of(part):
                    severity: Severity = "lost" if spoken is None else "changed"
                    self.losses.append(Loss.of(path, part, SPOKEN, severity))
                    return spoken
                block = spoken
            case ForeignPart(format=format, value={"type": str()}) if format == MCP:
                block = dict(part.value)
            case ToolCallPart() if part.state != "input-streaming":
                block = self._call(part, path)
            case _:
                why = CUT if isinstance(part, ToolCallPart) else NO_BLOCK
                self.losses.append(Loss.of(path, part, why))
                return None
        if not is_held(part):
            self.losses.extend(part_losses(part, path))
        return block

    def _call(self, part: ToolCallPart, path: str) -> JsonObject:
        value: Json = part.input if part.raw_input is UNSET else part.raw_input
        if not is_object(value):
            if value is not UNSET:
                self.losses.append(Loss.of(f"{path}.input", value, WRAPPED, "changed"))
            value = {} if value is UNSET else {"input": value}
        block: JsonObject = {"type": "tool_use", "id": part.id, "name": part.name, "input": value}
        own = own_of(part.call_provider_metadata)
        return block | fields_of(own) if own else block

    def _assistant(self, message: AssistantMessage, path: str) -> None:
        self.losses.extend(shell_losses(message, path, self._next_id()))
        step: list[tuple[str, AssistantPart]] = []
        marks, has_spoken = _marks(message), False
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if not isinstance(part, BETWEEN):
                step.append((where, part))
                continue
            has_spoken = self._step(step, marks) or has_spoken
            step, marks = [], {} if has_spoken else marks
            if isinstance(part, SteeringMessagePart):
                self.losses.append(Loss.of(f"{where}.id", part.id, STEERED, "changed"))
                self._say("user", part.parts, f"{where}.parts", None)
            elif has_spoken or part.provider_metadata or part.extra:
                self.losses.append(Loss.of(where, part, APART, "changed"))
        if step or not has_spoken:
            self._step(step, marks, is_whole=not has_spoken)

    def _step(
        self, step: Sequence[tuple[str, AssistantPart]], marks: JsonObject, *, is_whole: bool = False
    ) -> bool:
        """What the model said and called, then what came of the calls; whether it said anything."""
        blocks = [block for path, part in step if (block := self._block(part, path))]
        if not blocks and not is_whole:
            return False
        self._turn("assistant", blocks, marks)
        results: list[JsonObject] = []
        around: JsonObject = {}
        for path, part in step:
            if isinstance(part, ToolCallPart) and part.output is not None and part.state != "input-streaming":
                said = result_block(part.output, part.result_provider_metadata, f"{path}.output", self.losses)
                results.append({"type": "tool_result", "toolUseId": part.id, **said})
                around = around or _marks(part.result_message)
        if results:
            self._turn("user", results, around)
        return True

    def _strays(self, message: ToolMessage, path: str) -> None:
        """Results that belong to no call."""
        self.losses.extend(shell_losses(message, path, f"{self._next_id()}:results"))
        blocks: list[JsonObject] = []
        for number, part in enumerate(message.parts):
            where = f"{path}.content.parts[{number}]"
            if not isinstance(part, ToolResultPart):
                self.losses.append(Loss.of(where, part, NO_BLOCK))
                continue
            said = result_block(part.output, part.provider_metadata, f"{where}.output", self.losses)
            blocks.append({"type": "tool_result", "toolUseId": part.id, **said})
            if part.name:
                self.losses.append(Loss.of(f"{where}.name", part.name, NO_BLOCK))
        self._turn("user", blocks, _marks(message))


def _marks(message: Message | None) -> JsonObject:
    return {} if message is None else own_of(message.content.provider_metadata)


def _tool(tool: ToolSpec) -> JsonObject:
    note: Json = None if tool.extra is None else tool.extra.get(MCP)
    fields = note.get(FIELDS) if is_object(note) else None
    words: JsonObject = {} if tool.description is None else {"description": tool.description}
    schema = {"type": "object", **(tool.input_schema or {})}
    return {"name": tool.name, **words, "inputSchema": schema, **(fields if is_object(fields) else {})}
