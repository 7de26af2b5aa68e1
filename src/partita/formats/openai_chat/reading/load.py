"""Chat Completions of OpenAI and of servers that speak alike → canonical messages.

Read are the body of a request, a list of its messages, the body of an answer, and the records of a stream.
An answer and the answers behind its results are one message, its steps divided by step starts. Messages have
no ids: one is `message-N`, where N is the place of its first message in the payload, counted from one.

What is not understood is kept under the server's name and written back by `dump`. Lost is what servers say
beside an answer for machines only, such as padding, and what a later record of a stream says otherwise.
"""

from collections.abc import Sequence
from typing import Final

from partita.errors import ConversionError
from partita.formats.format import Loaded, Request, ToolSpec
from partita.formats.losses import Loss
from partita.formats.openai_chat.dialects import DIALECTS, Dialect
from partita.formats.openai_chat.ending import failures_in
from partita.formats.openai_chat.looking import word
from partita.formats.openai_chat.notes import NO_ANSWER
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import Message, ToolMessage
from partita.types.tools import ToolResultPart
from partita.types.value import Extra

from .answers import Said
from .messages import checked, kept_of, misplaced, named, output_of, system_message, user_message
from .plainly import read_plainly
from .records import load_records
from .turns import Turn

OF_A_FUNCTION: Final = frozenset({"name", "description", "parameters"})
TOOL_ORDER: Final = "functions come before other tools"
SIGNS: Final = frozenset({"choices", "usage", "object", "error", "detail"})
"""What an answer, or the failure of one, is known by."""

HINT: Final = "give a request, its messages, an answer, or the records of a stream"


def load(payload: Json, server: str = "openai") -> Loaded:
    """Whatever of Chat Completions it is, as canonical messages."""
    dialect = DIALECTS[server]
    if is_array(payload):
        if len(payload) == 1 and is_object(payload[0]) and "messages" in payload[0]:
            return _request(payload[0], dialect, "$[0]")
        if any(is_object(item) and "role" not in item for item in payload) or "[DONE]" in payload:
            return load_records(payload, dialect)
        return _Reader(dialect).read(payload, "$")
    if not is_object(payload):
        raise ConversionError(f"Chat Completions are no {kind_of(payload)}", where="$", hint=HINT)
    if "messages" in payload:
        return _request(payload, dialect, "$")
    if "role" in payload:
        return _Reader(dialect).read([payload], "$", alone=True)
    return load_answer(payload, server)


def load_answer(payload: Json, server: str = "openai") -> Loaded:
    """An answer, whole or as the records of a stream."""
    is_answer = is_object(payload) and (not SIGNS.isdisjoint(payload) or bool(failures_in(payload)))
    if not is_answer and not is_array(payload):
        raise ConversionError("no answer of Chat Completions", where="$", hint=HINT)
    if payload == NO_ANSWER:
        return Loaded(())
    return load_records(payload, DIALECTS[server])


def _request(payload: JsonObject, dialect: Dialect, path: str) -> Loaded:
    messages = payload["messages"]
    if not is_array(messages):
        raise ConversionError(
            f"messages are {kind_of(messages)}", where=f"{path}.messages", hint="make them an array"
        )
    loaded = _Reader(dialect).read(messages, f"{path}.messages")
    losses = list(loaded.losses)
    specs, others = _tools(payload.get("tools"), f"{path}.tools", losses)
    settings = {key: value for key, value in payload.items() if key not in ("messages", "tools")}
    if others or ("tools" in payload and not specs):
        settings["tools"] = others if is_array(payload["tools"]) else payload["tools"]
    return Loaded(loaded.messages, tuple(losses), Request(tuple(specs), settings))


def _tools(tools: Json, path: str, losses: list[Loss]) -> tuple[list[ToolSpec], list[Json]]:
    """Functions that any model can be told of, and the server's own tools."""
    specs: list[ToolSpec] = []
    others: list[Json] = []
    for index, tool in enumerate(tools if is_array(tools) else []):
        spec = _spec(tool)
        if spec is None:
            others.append(tool)
            continue
        if others:
            losses.append(Loss(f"{path}[{index}]", "its place among the tools", TOOL_ORDER, "minor"))
        specs.append(spec)
    return specs, others


def _spec(tool: Json) -> ToolSpec | None:
    match tool:
        case {"type": "function", "function": {"name": str(name)} as function, **rest} if not rest:
            pass
        case _:
            return None
    description, parameters = function.get("description"), function.get("parameters")
    is_known = ("description" not in function or isinstance(description, str)) and is_object(parameters)
    if not is_known:
        return None
    more = {key: value for key, value in function.items() if key not in OF_A_FUNCTION}
    extra = Extra(more) if more else None
    return ToolSpec(name=name, description=description, input_schema=parameters, extra=extra)


class _Reader:
    """The messages of a request on their way."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._losses: list[Loss] = []
        self._messages: list[Message] = []
        self._turn: Turn | None = None
        self._alone: list[tuple[str, ToolResultPart]] = []

    def read(self, raws: Sequence[Json], path: str, *, alone: bool = False) -> Loaded:
        """All of them."""
        plain = read_plainly(raws, self._dialect)
        if plain is not None:
            return Loaded(tuple(plain))
        for index, raw in enumerate(raws):
            where = path if alone else f"{path}[{index}]"
            self._add(checked(raw, where), f"message-{index + 1}", where)
        self._end_turn()
        return Loaded(tuple(self._folded()), tuple(self._losses))

    def _add(self, raw: JsonObject, id_: str, path: str) -> None:
        match raw["role"]:
            case "assistant":
                if self._turn is None or not self._turn.is_answered:
                    self._end_turn()
                    self._turn = Turn(id_, self._dialect, self._losses)
                self._turn.add_said(Said(raw, id_, path, self._dialect, self._losses))
            case "tool" | "function":
                if self._turn is None or not self._turn.add_result(raw, path):
                    self._end_turn()
                    self._stray(raw, id_, path)
            case "user":
                self._end_turn()
                self._messages.append(user_message(raw, id_, self._dialect))
            case _:
                self._end_turn()
                self._messages.append(system_message(raw, id_, self._dialect))

    def _stray(self, raw: JsonObject, id_: str, path: str) -> None:
        """A result without a call in its turn."""
        output, notes = output_of(raw, self._dialect)
        role = {} if raw["role"] == "tool" else {"role": raw["role"]}
        read = ("tool_call_id",) if isinstance(raw.get("tool_call_id"), str) else ()
        own = {**role, **notes, **kept_of(raw, *read)}
        call_id = word(raw, "tool_call_id")
        result = ToolResultPart(call_id, word(raw, "name"), output, named(self._dialect, own))
        self._messages.append(ToolMessage(id=id_, content=[result]))
        self._alone.append((path, result))

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._messages.append(self._turn.finish())
            self._turn = None

    def _folded(self) -> Sequence[Message]:
        """The messages, with results merged into calls that are in another turn."""
        if not self._alone:
            return self._messages
        folded = fold(self._messages)
        left = {id(part) for message in folded if isinstance(message, ToolMessage) for part in message.parts}
        self._losses += [misplaced(path, result.id) for path, result in self._alone if id(result) not in left]
        return folded
