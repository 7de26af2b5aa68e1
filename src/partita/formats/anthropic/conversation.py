"""The messages of a request → canonical messages.

The model's turns and the results between them are one message, its steps divided by step starts. A message
is `message-N`, where N is the place of its first turn, counted from one; words that stand behind results in
one turn are a message of their own. How something was spelled is marked where it stands, under `anthropic`.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.blocks import checked_blocks
from partita.formats.losses import Loss
from partita.stream.messages import accumulate
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    SystemPart,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import ForeignPart, ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ToolResultPart

from .blocks import CALLS
from .decoder import AnthropicDecoder
from .plain_blocks import plain_parts
from .user_blocks import part_of, result_part, text_part, with_fields
from .words import ANTHROPIC, APART, FORM, INDEX, MESSAGES, PLACE, STRING, noted, own_of

SYSTEM_ID: Final = "system"
"""The id of the instructions before the talk."""

TURN: Final = ("role", "content")
"""What every turn has."""

NO_CALL: Final = "its call is not in the turn before it"
BEHIND_WORDS: Final = "results come before words"
TWO_TURNS: Final = "results of one step are one turn"
NO_PLACE: Final = "a turn of results has no place for it"


def message_id(index: int) -> str:
    """The id of the message that begins with that turn."""
    return f"message-{index + 1}"


def read_system(content: Json, path: str) -> list[Message]:
    """The instructions before the talk."""
    if content is None:
        return []
    return [_instructions(SYSTEM_ID, content, path, {})]


def read_turns(raws: Sequence[Json], path: str, losses: list[Loss]) -> list[Message]:
    """The messages that turns amount to; what could not be carried is added to `losses`."""
    return _Reader(losses).read(raws, path)


class _Reader:
    def __init__(self, losses: list[Loss]) -> None:
        self._losses = losses
        self._messages: list[Message] = []
        self._head: AssistantMessage | None = None
        self._step = 0
        self._waiting: dict[str, str] = {}
        self._goes_on = False
        self._role = ""

    def read(self, raws: Sequence[Json], path: str) -> list[Message]:
        for index, raw in enumerate(raws):
            where = f"{path}[{index}]"
            turn = _checked(raw, where)
            match turn["role"]:
                case "assistant":
                    self._assistant(turn, message_id(index), where)
                case "user":
                    self._user(turn, message_id(index), where)
                case _:
                    marks = with_fields({PLACE: MESSAGES}, _around(turn))
                    message = _instructions(message_id(index), turn["content"], f"{where}.content", marks)
                    self._append(message)
            self._role = turn["role"]
        return fold(self._messages)

    def _append(self, message: Message) -> None:
        self._goes_on = False
        self._messages.append(message)

    def _marks(self, turn: JsonObject) -> JsonObject:
        marks: JsonObject = {APART: True} if self._role == turn["role"] else {}
        return marks if len(turn) == len(TURN) else with_fields(marks, _around(turn))

    def _assistant(self, turn: JsonObject, id: str, path: str) -> None:
        content, marks = turn["content"], self._marks(turn)
        if isinstance(content, str):
            marks[FORM] = STRING
            parts: tuple[AssistantPart, ...] = (TextPart(content),)
        else:
            parts = answer_parts(content, id, f"{path}.content")
        if self._goes_on and self._head is not None:
            self._step += 1
            start = StepStartPart(provider_metadata=noted(marks))
            head = self._head
            message = replace(
                head, id=f"{head.id}#{self._step}", content=AssistantContent(parts=(start, *parts))
            )
        else:
            self._step = 1
            message = AssistantMessage(
                id=id, content=AssistantContent(parts=parts, provider_metadata=noted(marks))
            )
            self._head = message
        self._append(message)
        self._waiting = {
            part.id: part.name
            for part in parts
            if isinstance(part, ToolCallPart) and not part.provider_executed
        }

    def _user(self, turn: JsonObject, id: str, path: str) -> None:
        content, marks = turn["content"], self._marks(turn)
        if isinstance(content, str):
            said = UserContent(parts=(TextPart(content),), content=content, provider_metadata=noted(marks))
            self._append(UserMessage(id=id, content=said))
            return
        words: list[UserPart] = []
        results: list[tuple[str, ToolResultPart]] = []
        for index, block in enumerate(checked_blocks(content, f"{path}.content")):
            where = f"{path}.content[{index}]"
            if block["type"] != "tool_result":
                words.append(part_of(block))
                continue
            results.append((where, result_part(block, self._waiting, where)))
            if words or (self._role == "user" and not self._goes_on):
                self._losses.append(Loss(where, "its place", BEHIND_WORDS, "repaired"))
        if results:
            self._results(results, id)
        if words or not results:
            said = UserContent(parts=tuple(words), provider_metadata=noted(marks))
            self._append(UserMessage(id=id, content=said))
            return
        if marks.pop(APART, False):
            self._losses.append(Loss(path, "where the turn begins", TWO_TURNS, "changed"))
        self._losses += [
            Loss.of(f"{path}.{key}", value, NO_PLACE) for key, value in turn.items() if key not in TURN
        ]

    def _results(self, results: Sequence[tuple[str, ToolResultPart]], id: str) -> None:
        """Results for the calls right before them, and others, which belong to no call that is known."""
        own: list[ToolResultPart] = []
        ids: set[str] = set()
        strays: list[ToolResultPart] = []
        for path, result in results:
            if result.id in self._waiting and result.id not in ids:
                own.append(result)
                ids.add(result.id)
            else:
                strays.append(result)
                self._losses.append(Loss.of(path, result.id, NO_CALL, "changed"))
        if own and self._head is not None:
            is_ordered = [result.id for result in own] == [call for call in self._waiting if call in ids]
            placed = own if is_ordered else [_at(place, result) for place, result in enumerate(own)]
            self._append(ToolMessage(id=f"{self._head.id}#{self._step}:results", content=placed))
            for call in ids:
                del self._waiting[call]
        self._goes_on = bool(own) and not strays
        if strays:
            self._append(ToolMessage(id=f"{id}:results", content=strays))


def answer_parts(blocks: Json, id: str, path: str) -> tuple[AssistantPart, ...]:
    """The parts of one of the model's turns, read as an answer is."""
    checked = checked_blocks(blocks, path)
    plain = plain_parts(checked)
    return tuple(parts_as_answered(checked, id, path) if plain is None else plain)


def parts_as_answered(blocks: Sequence[JsonObject], id: str, path: str) -> list[AssistantPart]:
    """The parts that the reader of answers makes of blocks."""
    for index, block in enumerate(blocks):
        named = isinstance(block.get("id"), str) and isinstance(block.get("name"), str)
        if block["type"] in CALLS and not named:
            raise ConversionError(
                f"a {block['type']} has no id or no name", where=f"{path}[{index}]", hint="give both"
            )
    body = {"type": "message", "id": id, "content": blocks, "stop_reason": "tool_use"}
    parts = accumulate(AnthropicDecoder().read_body(body)).parts
    return [_quoted(part) for part in parts if not isinstance(part, StepStartPart)]


def _quoted(part: AssistantPart) -> AssistantPart:
    """A part without what only the stream of an answer says of it."""
    match part:
        case TextPart():
            return replace(part, state=None)
        case ReasoningPart():
            return replace(part, state=None, id=None)
        case ToolCallPart(call_provider_metadata={"anthropic": {"rawInput": _}}):
            own = own_of(part.call_provider_metadata) or {}
            rest = {key: item for key, item in own.items() if key != RAW_INPUT}
            return replace(part, call_provider_metadata=noted(rest))
        case _:
            return part


def _instructions(id: str, content: Json, path: str, marks: JsonObject) -> SystemMessage:
    if isinstance(content, str):
        said = SystemContent(parts=(TextPart(content),), content=content, provider_metadata=noted(marks))
        return SystemMessage(id=id, content=said)
    parts: list[SystemPart] = [
        (text_part(block) if block["type"] == "text" else None) or ForeignPart(ANTHROPIC, block)
        for block in checked_blocks(content, path)
    ]
    return SystemMessage(id=id, content=SystemContent(parts=tuple(parts), provider_metadata=noted(marks)))


def _at(place: int, result: ToolResultPart) -> ToolResultPart:
    own = own_of(result.provider_metadata) or {}
    return replace(result, provider_metadata=noted({**own, INDEX: place}))


def _around(turn: JsonObject) -> JsonObject:
    return {key: item for key, item in turn.items() if key not in TURN}


def _checked(raw: Json, path: str) -> JsonObject:
    if not is_object(raw):
        raise ConversionError(
            f"a message is {kind_of(raw)}", where=path, hint='give {"role": …, "content": …}'
        )
    role, content = raw.get("role"), raw.get("content")
    if role not in ("user", "assistant", "system"):
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint="use user, assistant or system")
    if not isinstance(content, (str, list)):
        found = kind_of(content) if "content" in raw else "missing"
        raise ConversionError(
            f"content of a message is {found}",
            where=f"{path}.content",
            hint="make it a string or a list of blocks",
        )
    return raw
