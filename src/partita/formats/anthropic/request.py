"""Canonical messages → the body of a streaming request to the Messages API.

The API's rules are kept by repairing what breaks them: neighbours of one role become one turn, every call
that waits has its result in the very next turn, and results come before words. What is not sent is a loss.
"""

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from partita.errors import ConversionError
from partita.formats.format import Dumped, ToolSpec
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from partita.types.parts import TextPart
from partita.types.tools import ToolResultPart

from .names import name_of
from .outputs import missing_block, result_block
from .turns import Turn, assistant_turn, user_turn
from .words import ANTHROPIC, fields_of, own_of

MAX_TOKENS: Final = 8192
"""How long an answer may be when nobody says: the API insists on a number."""

OPENING: Final = "Go on."
"""What a talk begins with that begins with the model: the API insists on the user."""

HOISTED: Final = "the API takes instructions only before the talk"
NO_CALL: Final = "a result whose call is not right before it"
RENAMED: Final = "the API takes letters, digits, `_` and `-`, 128 of them at most"
NO_THOUGHTS: Final = "thinking needs the signed thoughts of the open step, and they are not there"
TRIMMED: Final = "the API takes no answer to go on with that ends in white space"


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> Dumped:
    """The body of a request. `settings` are in the API's words and win; its `tools` join those given."""
    settings = settings or {}
    more: list[Json] = settings["tools"] if is_array(settings.get("tools")) else []
    talk = Talk(frozenset(tool["name"] for tool in more if is_object(tool) and "name" in tool))
    for index, message in enumerate(view):
        talk.add(message, _results_behind(view, index), f"$[{index}]")
    talk.end()
    payload: JsonObject = {"model": model, "max_tokens": MAX_TOKENS, "stream": True}
    payload |= {"system": talk.system} if talk.system else {}
    payload["messages"] = talk.turns
    payload |= talk.container
    payload |= settings
    declared = [*(_tool(tool, index, talk.losses) for index, tool in enumerate(tools)), *more]
    payload |= {"tools": declared} if declared else {}
    _check_thinking(payload, talk.losses)
    return Dumped(payload, tuple(talk.losses))


class Talk:
    """The turns of a request while they are gathered."""

    def __init__(self, served: frozenset[str]) -> None:
        """`served` are the names of the server tools that are declared."""
        self.system: list[JsonObject] = []
        self.turns: list[JsonObject] = []
        self.losses: list[Loss] = []
        self.container: JsonObject = {}
        self._served = served
        self._last: Turn | None = None
        self._results: dict[str, JsonObject] = {}

    def add(self, message: Message, results: Mapping[str, ToolResultPart], path: str) -> None:
        """Take a message; `results` are those right behind it, by call."""
        if not isinstance(message, ToolMessage):
            self._answer()
        match message:
            case SystemMessage():
                self._instruct(message, path)
            case UserMessage():
                self._say("user", user_turn(message, path, self.losses))
            case AssistantMessage():
                turn = assistant_turn(message, path, self.losses, results, self._served)
                self._say("assistant", turn.blocks)
                self._last = turn
                self.container = _container(message, turn) or self.container
            case ToolMessage():
                self._take_results(message, path)
            case _:
                assert_never(message)

    def end(self) -> None:
        """Nothing more comes."""
        self._answer()
        if not self.turns:
            raise ConversionError(
                "no message to send", where="$", hint="give at least one that says something"
            )
        if self.turns[0]["role"] != "user":
            self.turns.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})
        self._trim(self.turns[-1])

    def _trim(self, last: JsonObject) -> None:
        """Words of the model that it goes on with may not end in white space."""
        block: JsonObject = last["content"][-1]
        if last["role"] == "assistant" and block["type"] == "text":
            trimmed = block["text"].rstrip()
            if trimmed != block["text"]:
                self.losses.append(Loss("$", "white space at the end", TRIMMED))
                last["content"][-1] = {**block, "text": trimmed}

    def _say(self, role: str, blocks: list[JsonObject]) -> None:
        if not blocks:
            return
        if self.turns and self.turns[-1]["role"] == role:
            self.turns[-1]["content"] += blocks
        else:
            self.turns.append({"role": role, "content": blocks})

    def _instruct(self, message: SystemMessage, path: str) -> None:
        if self.turns:
            self.losses.append(Loss(path, "the place of the instructions", HOISTED))
        for index, part in enumerate(message.parts):
            if not isinstance(part, TextPart):
                where = f"{path}.content.parts[{index}]"
                self.losses.append(Loss.of(where, to_json(part), "instructions are text"))
            elif part.text.strip():
                fields = fields_of(own_of(part.provider_metadata) or {})
                self.system.append({"type": "text", "text": part.text, **fields})

    def _take_results(self, message: ToolMessage, path: str) -> None:
        waiting = self._last.waiting if self._last else {}
        served = self._last.served if self._last else set[str]()
        for index, part in enumerate(message.parts):
            where = f"{path}.content.parts[{index}]"
            if isinstance(part, ToolResultPart) and part.id in waiting and part.id not in self._results:
                self._results[part.id] = result_block(part, where, self.losses)
            elif not (isinstance(part, ToolResultPart) and part.id in served):
                self.losses.append(Loss.of(where, to_json(part), NO_CALL))

    def _answer(self) -> None:
        """Give every call of the last answer its result, in the order of the calls."""
        if self._last is not None:
            waiting = self._last.waiting
            self._say("user", [self._results.get(call) or missing_block(call) for call in waiting])
        self._last, self._results = None, {}


def _results_behind(view: Sequence[Message], index: int) -> dict[str, ToolResultPart]:
    """The results in the tool messages right behind an answer, by call."""
    results: dict[str, ToolResultPart] = {}
    if not isinstance(view[index], AssistantMessage):
        return results
    for place in range(index + 1, len(view)):
        message = view[place]
        if not isinstance(message, ToolMessage):
            break
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                results.setdefault(part.id, part)
    return results


def _container(message: AssistantMessage, turn: Turn) -> JsonObject:
    """Where code runs that waits for the results of calls it made: the API wants it named again."""
    metadata = message.content.metadata
    own = metadata.get(ANTHROPIC) if is_object(metadata) else None
    match own:
        case {"container": {"id": str(id)}} if any(_is_called_by_code(block) for block in turn.blocks):
            return {"container": id}
        case _:
            return {}


def _is_called_by_code(block: JsonObject) -> bool:
    caller = block.get("caller")
    return block["type"] == "tool_use" and is_object(caller) and "tool_id" in caller


def _tool(tool: ToolSpec, index: int, losses: list[Loss]) -> JsonObject:
    name = name_of(tool.name)
    if name != tool.name:
        losses.append(Loss(f"$.tools[{index}].name", tool.name, RENAMED))
    described: JsonObject = {"description": tool.description} if tool.description else {}
    return {"name": name, **described, "input_schema": {"type": "object", **(tool.input_schema or {})}}


def _check_thinking(payload: JsonObject, losses: list[Loss]) -> None:
    """Turn thinking off when the step that waits for results has lost its thoughts: the API refuses it."""
    thinking, turns = payload.get("thinking"), payload["messages"]
    if not is_object(thinking) or thinking.get("type") != "enabled" or not is_array(turns):
        return
    match turns:
        case [*_, {"content": [{"type": str(first)}, *_]}, {"content": [{"type": "tool_result"}, *_]}]:
            if first not in ("thinking", "redacted_thinking"):
                del payload["thinking"]
                losses.append(Loss.of("$.thinking", thinking, NO_THOUGHTS))
        case _:
            pass
