"""ShareGPT: `{"conversations": [{"from", "value"}]}`, as training tools read it.

Texts, calls (`function_call`) and results (`observation`) are written. Ids, times, reasoning, files, and
everything else that is not text are lost.

Wire: https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md (sharegpt)
"""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.errors import ConversionError, DecodeError
from partita.formats.format import Dumped, Format, Loaded, Request, Slot, ToolSpec
from partita.formats.losses import NO_PLACE, Loss
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, loads
from partita.types.messages import Message

from .turns import FIELDS, PlainTurn, Speaker, TurnReader, TurnWriter, report_of

NAME: Final = "sharegpt"
HINT: Final = 'use {"conversations": [{"from": "human", "value": "…"}, …]}'
REPORT: Final = report_of(NAME)

FROM: Final = "from"
"""The note with a speaker's name, if a different one would be written."""

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
"""Speakers by their names in data sets."""


def load(payload: Json) -> Loaded:
    """Read one conversation. Its other members become those of the request."""
    is_list = is_array(payload) and len(payload) == 1
    body = payload[0] if is_list else payload
    path = "$[0]" if is_list else "$"
    turns = body.get("conversations") if is_object(body) else None
    if not is_object(body) or not is_array(turns):
        raise ConversionError(f"not a conversation, but {kind_of(body)}", where=path, hint=HINT)
    reader = TurnReader((_read(turn, f"{path}.conversations[{at}]") for at, turn in enumerate(turns)), NAME)
    settings = {key: value for key, value in body.items() if key != "conversations"}
    specs = _specs(settings.get("tools"))
    if specs:
        del settings["tools"]
    request = Request(tuple(specs), settings) if specs or settings else None
    messages = tuple(reader.messages)
    return Loaded(
        messages, (), request, write_back=(lambda: [dump(messages, request).payload]) if is_list else None
    )


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write a conversation for training tools, with its tools as JSON text, and the settings."""
    writer = TurnWriter(messages, NAME)
    turns = [_write(turn) for turn in writer.turns]
    payload: JsonObject = {**(request.settings if request else {}), "conversations": turns}
    if request is not None and request.tools:
        payload["tools"] = dumps([_spec_of(tool) for tool in request.tools]).decode()
        for index, tool in enumerate(request.tools):
            if tool.extra:
                writer.record.losses.append(Loss.of(f"$.tools[{index}]", dict(tool.extra), NO_PLACE))

    def losses() -> list[Loss]:
        read = (_read(turn, f"$.conversations[{at}]") for at, turn in enumerate(turns))
        return REPORT.compare(writer.record, TurnReader(read, NAME).positions)

    return Dumped(payload, losses)


def put(payload: Json, rest: JsonObject) -> Json:
    """Return the payload with a sidecar next to the turns."""
    return {**payload, "partita": rest} if is_object(payload) and "partita" not in payload else payload


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """Return the payload without the sidecar, and the sidecar."""
    rest = payload.get("partita") if is_object(payload) else None
    if not is_object(payload) or not is_object(rest):
        return payload, None
    return {key: value for key, value in payload.items() if key != "partita"}, rest


def _read(turn: Json, path: str) -> PlainTurn:
    name, text = (turn.get("from"), turn.get("value")) if is_object(turn) else (None, None)
    if not is_object(turn) or not isinstance(name, str) or not isinstance(text, str):
        raise ConversionError("a turn has `from` and `value`, both strings", where=path, hint=HINT)
    speaker = SPEAKERS.get(name)
    if speaker is None:
        hint = f"use one of {', '.join(SPEAKERS)}"
        raise ConversionError(f"unknown speaker {name!r:.40}", where=f"{path}.from", hint=hint)
    notes: JsonObject = {}
    if name != WRITTEN[speaker]:
        notes[FROM] = name
    if len(turn) > 2:
        notes[FIELDS] = {key: value for key, value in turn.items() if key not in ("from", "value")}
    return PlainTurn(speaker, text, notes)


def _write(turn: PlainTurn) -> JsonObject:
    name, rest = turn.notes.get(FROM), turn.notes.get(FIELDS)
    is_same = isinstance(name, str) and SPEAKERS.get(name) == turn.speaker
    written = {"from": name if is_same else WRITTEN[turn.speaker], "value": turn.text}
    return {**written, **rest, **written} if is_object(rest) else written


def _specs(tools: Json) -> list[ToolSpec]:
    """Return the tools in a text, if it has nothing else and they are written as the same text."""
    try:
        raws = loads(tools) if isinstance(tools, str) else None
    except DecodeError:
        return []
    specs = [_spec(tool) for tool in raws] if is_array(raws) else []
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


FORMAT: Final = Format(
    NAME,
    "ShareGPT conversations, as trainers read them",
    load,
    dump,
    takes_request=True,
    slot=Slot(put, take),
    is_complete=True,
)
