"""Turns of a request: what the user, the model and the tools said, in blocks of the API."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET

from partita.formats.losses import Loss, Severity
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantPart, ToolCallPart, UserPart
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    UnknownPart,
)
from partita.types.tools import ToolOutput, ToolResultPart

from .blocks import DELTAS
from .media import media_block
from .names import id_of, name_of
from .results import MCP_CALL, MCP_MARK, SEARCH, block_of
from .words import ANTHROPIC, CALLER, INDEX, beside_text, fields_of, own_of, renamed, turned

DECLARED_AGAIN: Final = ("advisor", SEARCH)
"""Server tools whose blocks the API takes back only while they are declared, by how their names begin."""

WRAPPED: Final = "input"
"""The key of an input that is no object, in the object that the API wants."""

NO_SLOT: Final = "the API has no place for it in an answer"
NOT_SIGNED: Final = "thoughts go back to the provider that signed them, and only to it"
NOT_OURS: Final = "a server tool of another provider"
NO_RESULT_BLOCK: Final = "no server tool gives such a result"
NOT_DECLARED: Final = "the server tool is not declared in this request"
NOT_WHOLE: Final = "a block that was read in pieces nobody knows"
BLANK: Final = "the API takes no text that is only white space"
NOT_FOR_MODELS: Final = "data of the application is not for the model"
NOT_TAKEN: Final = "the API takes no such part"
WRAPPED_WHY: Final = "the API wants an object: it is sent in one"
RENAMED: Final = "the API takes letters, digits, `_` and `-`, 128 of them at most in a name"
LAST: Final = "calls that wait for their results come last"


class Placed(NamedTuple):
    """A result of a server tool, and its place in the answer it came in."""

    place: int
    block: JsonObject


class Turn:
    """The blocks of one turn, and what could not be put in them."""

    def __init__(
        self,
        path: str,
        losses: list[Loss],
        tools: frozenset[str] | None = frozenset[str](),
        *,
        is_answer: bool = False,
    ) -> None:
        """`path` is that of the parts; `tools` are the server tools declared, `None` if nobody knows.

        An answer is not sent: it may say nothing, and its calls may stand anywhere.
        """
        self.blocks: list[JsonObject] = []
        self.waiting: dict[str, str] = {}
        """Names of the calls that the client has to answer, by id."""
        self.served: set[str] = set()
        """Ids of the calls that a server answered."""
        self._path, self._losses, self._tools, self._is_answer = path, losses, tools, is_answer
        self._results: list[Placed] = []

    def lose(self, place: str, value: Json, why: str, severity: Severity = "lost") -> None:
        """Tell of something that is not sent, or not as it is."""
        self._losses.append(Loss.of(f"{self._path}{place}", value, why, severity))

    def add(self, block: JsonObject, before: int | None = None) -> None:
        """Add a block behind the results of server tools that came earlier, or all that there are."""
        if self._results:
            due = [one for one in self._results if before is None or one.place < before]
            self._results = [one for one in self._results if one not in due]
            self.blocks += [one.block for one in sorted(due, key=lambda one: one.place)]
        self.blocks.append(block)

    def finish(self) -> None:
        """Nothing more comes: results go in, and calls that wait go last, as the API wants them."""
        self.blocks += [one.block for one in sorted(self._results, key=lambda one: one.place)]
        self._results = []
        if self._is_answer:
            return
        first = next((i for i, block in enumerate(self.blocks) if block["type"] == "tool_use"), None)
        if first is None:
            return
        named = (block.get("tool_use_id") for block in self.blocks)
        answered = {name for name in named if isinstance(name, str)}
        tail = self.blocks[first:]
        waits = [_waits(block, answered) for block in tail]
        if all(waits) or waits == sorted(waits):
            return
        self._losses.append(Loss(self._path, "the order of calls and words", LAST, "repaired"))
        self.blocks[first:] = [
            *(block for block, wait in zip(tail, waits, strict=True) if not wait),
            *(block for block, wait in zip(tail, waits, strict=True) if wait),
        ]

    def text(self, part: TextPart, place: str) -> None:
        """Words, with the citations they came with."""
        own = own_of(part.provider_metadata)
        if own and own.get("type") == "compaction":
            self.add({"type": "compaction", "content": part.text})
        elif part.text.strip() or self._is_answer:
            self.add({"type": "text", "text": part.text, **(beside_text(own) if own else {})})
        elif part.text:
            self.lose(place, part.text, BLANK)

    def media(self, part: ImagePart | FilePart | ReasoningFilePart, place: str) -> None:
        """A picture or a file."""
        block = media_block(part)
        if isinstance(block, str):
            self.lose(place, part, block)
        else:
            self.add(block)

    def raw(self, part: ForeignPart | CustomPart, block: Json, place: str) -> None:
        """A block that was kept whole."""
        match block:
            case {"type": str()} if DELTAS not in block:
                self.add(block)
            case _:
                self.lose(place, part, NOT_WHOLE if is_object(block) else NOT_TAKEN)

    def reasoning(self, part: ReasoningPart, place: str) -> None:
        """Thoughts, if Anthropic signed or hid them."""
        own = own_of(part.provider_metadata) or {}
        if isinstance(own.get("redactedData"), str):
            self.add({"type": "redacted_thinking", "data": own["redactedData"], **fields_of(own)})
        elif isinstance(own.get("signature"), str):
            signed = {"thinking": part.text, "signature": own["signature"]}
            self.add({"type": "thinking", **signed, **fields_of(own)})
        else:
            self.lose(place, part, NOT_SIGNED)

    def call(self, part: ToolCallPart, place: str, result: ToolResultPart | None) -> None:
        """A call; with one that a server ran goes its result."""
        own = own_of(part.call_provider_metadata)
        if part.provider_executed:
            self.served.add(part.id)
            self._served_call(part, place, own, result)
            return
        self.waiting[part.id] = part.name
        self.add(self._call_block("tool_use", part, place, own or {}))

    def _served_call(
        self, part: ToolCallPart, place: str, own: JsonObject | None, result: ToolResultPart | None
    ) -> None:
        if own is None:
            self.lose(place, part, NOT_OURS)
            return
        if self._tools is not None and part.name.startswith(DECLARED_AGAIN) and part.name not in self._tools:
            self.lose(place, part, NOT_DECLARED)
            return
        is_remote = own.get("type") == MCP_MARK
        block = self._call_block(MCP_CALL if is_remote else "server_tool_use", part, place, own)
        index = own.get(INDEX)
        self.add(block, before=index if isinstance(index, int) else None)
        output, metadata = part.output, part.result_provider_metadata
        if result is not None:
            output, metadata = result.output, result.provider_metadata
        if output is not None:
            self._served_result(part, place, output, {**(own_of(metadata) or {}), "type": own.get("type")})

    def _served_result(self, part: ToolCallPart, place: str, output: ToolOutput, own: JsonObject) -> None:
        block = block_of(part.name, id_of(part.id), output, own)
        if block is None:
            self.lose(f"{place}.output", output, NO_RESULT_BLOCK)
            return
        index = own.get(INDEX)
        self._results.append(Placed(index if isinstance(index, int) else -1, block))

    def _call_block(self, kind: str, part: ToolCallPart, place: str, own: JsonObject) -> JsonObject:
        call_id, name = id_of(part.id), name_of(part.name)
        if call_id != part.id:
            self.lose(f"{place}.id", part.id, RENAMED, "repaired")
        if name != part.name:
            self.lose(f"{place}.name", part.name, RENAMED, "repaired")
        block: JsonObject = {"type": kind, "id": call_id, "name": name, "input": self._input(part, place)}
        if kind == MCP_CALL:
            block["server_name"] = own.get("serverName")
        if "caller" in own:
            block["caller"] = renamed(own["caller"], turned(CALLER))
        return block | fields_of(own) if own else block

    def _input(self, part: ToolCallPart, place: str) -> JsonObject:
        # While it was being written, the input is a guess at what the words would have become.
        value: Json = part.input if part.raw_input is UNSET else part.raw_input
        if value is UNSET:
            return {}
        if is_object(value):
            return value
        self.lose(f"{place}.input", value, WRAPPED_WHY, "changed")
        return {WRAPPED: value}


def _waits(block: JsonObject, answered: set[str]) -> bool:
    """Whether a block is a call that has no result beside it."""
    name = block.get("id")
    return block["type"].endswith("tool_use") and not (isinstance(name, str) and name in answered)


def user_turn(parts: Sequence[UserPart], path: str, losses: list[Loss]) -> list[JsonObject]:
    """What a person said, in blocks. `path` is that of the parts."""
    turn = Turn(path, losses)
    for index, part in enumerate(parts):
        _add_user_part(turn, part, f"[{index}]")
    return turn.blocks


def assistant_turn(
    parts: Sequence[tuple[int, AssistantPart]],
    path: str,
    losses: list[Loss],
    results: Mapping[str, ToolResultPart],
    tools: frozenset[str] | None,
    *,
    is_answer: bool = False,
) -> Turn:
    """What the model said and did, in blocks. `results` are those that stand behind it, by call.

    `path` is that of the parts; each comes with its number there.
    """
    turn = Turn(path, losses, tools, is_answer=is_answer)
    for number, part in parts:
        _add_assistant_part(turn, part, f"[{number}]", results)
    turn.finish()
    return turn


def _add_user_part(turn: Turn, part: UserPart, place: str) -> None:
    match part:
        case TextPart():
            turn.text(part, place)
        case ImagePart() | FilePart() | ReasoningFilePart():
            turn.media(part, place)
        case ForeignPart():
            turn.raw(part, part.value if part.format == ANTHROPIC else None, place)
        case DataPart():
            turn.lose(place, part, NOT_FOR_MODELS)
        case UnknownPart():
            turn.lose(place, part, NOT_TAKEN)
        case _:
            assert_never(part)


def _add_assistant_part(
    turn: Turn, part: AssistantPart, place: str, results: Mapping[str, ToolResultPart]
) -> None:
    match part:
        case TextPart():
            turn.text(part, place)
        case ReasoningPart():
            turn.reasoning(part, place)
        case ToolCallPart():
            turn.call(part, place, results.get(part.id))
        case CustomPart():
            turn.raw(part, own_of(part.provider_metadata), place)
        case ForeignPart():
            turn.raw(part, part.value if part.format == ANTHROPIC else None, place)
        case SourceUrlPart() | SourceDocumentPart():
            # Those of our own answers were made of citations and results, which are sent.
            if own_of(part.provider_metadata) is None:
                turn.lose(place, part, NO_SLOT)
        case ImagePart() | FilePart() | ReasoningFilePart() | SteeringMessagePart():
            turn.lose(place, part, NO_SLOT)
        case DataPart():
            turn.lose(place, part, NOT_FOR_MODELS)
        case UnknownPart():
            turn.lose(place, part, NOT_TAKEN)
        case StepStartPart():
            pass
        case _:
            assert_never(part)
