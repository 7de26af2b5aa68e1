"""What AG-UI sends → canonical messages: the input of a run, a list of messages, or recorded events."""

from partita.errors import ConversionError
from partita.formats.ag_ui.reading.messages import read_messages
from partita.formats.events import load_events
from partita.formats.format import Loaded, Request, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.value import kept

from .decoder import AgUiDecoder
from .notes import rest_of


def load(payload: Json) -> Loaded:
    """The messages of a payload; of the input of a run, tools and all the rest as its request."""
    losses: list[Loss] = []
    if is_object(payload) and is_array(payload.get("messages")) and not _is_event(payload):
        messages = read_messages(payload["messages"], "$.messages", losses)
        return Loaded(tuple(messages), tuple(losses), _request(payload))
    raws = payload if is_array(payload) else [payload]
    if raws and all(map(_is_event, raws)):
        return load_events(AgUiDecoder(), raws)
    if not is_array(payload) and not (is_object(payload) and "role" in payload):
        raise ConversionError(
            f"no messages, but {kind_of(payload)}",
            where="$",
            hint="give a list of messages or events, or {threadId, runId, messages}",
        )
    messages = read_messages(raws, "$", losses)
    return Loaded(tuple(messages), tuple(losses))


def _is_event(raw: Json) -> bool:
    return is_object(raw) and isinstance(kind := raw.get("type"), str) and kind.isupper()


def _request(payload: JsonObject) -> Request:
    tools = payload.get("tools")
    if not is_array(tools):
        return Request((), rest_of(payload, "messages"))
    specs = [_tool(raw, f"$.tools[{place}]") for place, raw in enumerate(tools)]
    return Request(tuple(specs), rest_of(payload, "messages", "tools"))


def _tool(raw: Json, path: str) -> ToolSpec:
    if not is_object(raw) or not isinstance(raw.get("name"), str):
        raise ConversionError("a tool without a name", where=path, hint="give {name, description}")
    description, schema = raw.get("description"), raw.get("parameters")
    read = ["name"]
    read += ["description"] if isinstance(description, str) else []
    read += ["parameters"] if is_object(schema) else []
    return ToolSpec(
        name=raw["name"],
        description=description if isinstance(description, str) else None,
        input_schema=schema if is_object(schema) else None,
        extra=kept(rest_of(raw, *read), ToolSpec),
    )
