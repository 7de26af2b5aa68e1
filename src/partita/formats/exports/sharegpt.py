"""ShareGPT: `{"conversations": [{"from", "value"}]}`, as trainers read it.

Written are words, calls (`function_call`) and what came of them (`observation`). Lost are ids, times,
reasoning, files, and everything else that is no text.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.errors import ConversionError, DecodeError
from partita.formats.format import Dumped, Implied, Loaded, Request, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, loads
from partita.types.messages import Message

from .reading import read_turns
from .turns import NO_PLACE, PlainTurn, Speaker, plain_turns

NAME: Final = "sharegpt"
HINT: Final = 'give {"conversations": [{"from": "human", "value": "…"}, …]}'
FIELDS, FROM = "fields", "from"

WRITTEN: Final[Mapping[Speaker, str]] = {
    "system": "system",
    "user": "human",
    "assistant": "gpt",
    "call": "function_call",
    "result": "observation",
}
SPEAKERS: Final[Mapping[str, Speaker]] = {
    **{name: speaker for speaker, name in WRITTEN.items()},
    "user": "user",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "tool": "result",
    "function_response": "result",
}
"""Who speaks, by the names that data sets give them."""

IMPLIED: Final[Implied] = {"from": frozenset(WRITTEN.values())}
"""Words that show in the form of the message."""


def load(payload: Json) -> Loaded:
    """One conversation. What stands beside its turns is the rest of the request."""
    body = payload[0] if is_array(payload) and len(payload) == 1 else payload
    path = "$[0]" if is_array(payload) else "$"
    turns = body.get("conversations") if is_object(body) else None
    if not is_object(body) or not is_array(turns):
        raise ConversionError(f"no conversation, but {kind_of(body)}", where=path, hint=HINT)
    read = [_turn(turn, index, path) for index, turn in enumerate(turns)]
    settings = {key: value for key, value in body.items() if key != "conversations"}
    specs = _specs(settings.get("tools"))
    if specs:
        del settings["tools"]
    request = Request(tuple(specs), settings) if specs or settings else None
    return Loaded(tuple(read_turns(read, NAME)), (), request)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """A conversation as trainers read it, with its tools as JSON text and the settings beside it."""
    losses: list[Loss] = []
    turns = [_written(turn) for turn in plain_turns(messages, NAME, losses)]
    if request is None:
        return Dumped({"conversations": turns}, losses)
    tools = {"tools": dumps([_spec_of(tool) for tool in request.tools]).decode()} if request.tools else {}
    losses += [
        Loss.of(f"$.tools[{index}]", dict(tool.extra), NO_PLACE)
        for index, tool in enumerate(request.tools)
        if tool.extra
    ]
    return Dumped({**request.settings, "conversations": turns, **tools}, losses)


def put(payload: Json, rest: JsonObject) -> Json:
    """The payload with what it has no place for beside the turns."""
    return {**payload, "partita": rest} if is_object(payload) and "partita" not in payload else payload


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """The payload without that, and it."""
    rest = payload.get("partita") if is_object(payload) else None
    if not is_object(payload) or not is_object(rest):
        return payload, None
    return {key: value for key, value in payload.items() if key != "partita"}, rest


def _turn(turn: Json, index: int, path: str) -> PlainTurn:
    who, said = (turn.get("from"), turn.get("value")) if is_object(turn) else (None, None)
    if not is_object(turn) or not isinstance(who, str) or not isinstance(said, str):
        where = f"{path}.conversations[{index}]"
        raise ConversionError("a turn has `from` and `value`, both strings", where=where, hint=HINT)
    speaker = SPEAKERS.get(who)
    if speaker is None:
        where, known = f"{path}.conversations[{index}].from", ", ".join(SPEAKERS)
        raise ConversionError(f"unknown speaker {who!r:.40}", where=where, hint=f"use one of {known}")
    if len(turn) == 2 and who == WRITTEN[speaker]:
        return PlainTurn(speaker, said, {})
    rest = {key: value for key, value in turn.items() if key not in ("from", "value")}
    notes: JsonObject = {FROM: who} if who != WRITTEN[speaker] else {}
    return PlainTurn(speaker, said, notes | ({FIELDS: rest} if rest else {}))


def _written(turn: PlainTurn) -> JsonObject:
    if not turn.notes:
        return {"from": WRITTEN[turn.speaker], "value": turn.text}
    who, rest = turn.notes.get(FROM), turn.notes.get(FIELDS)
    is_same = isinstance(who, str) and SPEAKERS.get(who) == turn.speaker
    written = {"from": who if is_same else WRITTEN[turn.speaker], "value": turn.text}
    return {**written, **(rest if is_object(rest) else {})}


def _specs(tools: Json) -> list[ToolSpec]:
    """Tools that stand in a text, if they are all that is in it and would be written the same."""
    try:
        told = loads(tools) if isinstance(tools, str) else None
    except DecodeError:
        return []
    specs = [_spec(tool) for tool in told] if is_array(told) else []
    found = [spec for spec in specs if spec is not None]
    is_same = len(found) == len(specs) and dumps([_spec_of(spec) for spec in found]).decode() == tools
    return found if is_same else []


def _spec(tool: Json) -> ToolSpec | None:
    match tool:
        case {"name": str(name), "description": str(description), "parameters": schema} if is_object(schema):
            return ToolSpec(name=name, description=description, input_schema=schema)
        case _:
            return None


def _spec_of(tool: ToolSpec) -> JsonObject:
    return {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.input_schema or {"type": "object", "properties": {}},
    }
