"""What a run of the Agents SDK does beside what its models say → chunks."""

from collections.abc import Collection
from typing import Any

from agents.items import HandoffOutputItem, RunItem, ToolCallOutputItem

from partita.runtime.plugged.jsonable import as_json
from partita.runtime.tools.chunks import chunk_of_output
from partita.types.chunks import Chunk, DataChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ExecutionDeniedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

HANDOFF = "data-handoff"
"""One agent has handed the talk over to another."""


def chunks_of(item: RunItem, denied: Collection[str]) -> list[Chunk]:
    """The chunks that an item amounts to; `denied` are the calls that someone did not allow."""
    match item:
        case ToolCallOutputItem():
            return _output(item.raw_item, item.output, denied)
        case HandoffOutputItem():
            said = {"from": item.source_agent.name, "to": item.target_agent.name}
            return [*_output(item.raw_item, said, denied), DataChunk(HANDOFF, said)]
        case _:
            return []


def line_of(item: RunItem, name: str) -> JsonObject:
    """An item as it is kept."""
    return {"type": "run_item_stream_event", "name": name, "item": as_json(item.raw_item)}


def _output(raw: Any, output: Any, denied: Collection[str]) -> list[Chunk]:
    call_id: Any = raw.get("call_id") if is_object(raw) else getattr(raw, "call_id", None)
    if not isinstance(call_id, str):
        return []
    if call_id in denied:
        return [chunk_of_output(call_id, ExecutionDeniedOutput(output if isinstance(output, str) else None))]
    return [chunk_of_output(call_id, _typed(raw, output))]


def _typed(raw: Any, output: Any) -> ToolOutput:
    sent: Json = raw.get("output") if is_object(raw) else None
    if is_array(sent) and sent and all(is_object(item) for item in sent):
        return ContentOutput(tuple(_item(item) for item in sent))
    value = as_json(output)
    return TextOutput(value) if isinstance(value, str) else JsonOutput(value)


def _item(item: JsonObject) -> ContentItem:
    match item:
        case {"type": "input_text", "text": str(text)}:
            return TextPart(text)
        case {"type": "input_image", "image_url": str(url)}:
            return FilePart(url, _media_type(url, "image/*"))
        case {"type": "input_file", "file_data": str(url)}:
            return FilePart(url, _media_type(url, "application/octet-stream"), item.get("filename"))
        case _:
            return TextPart(str(item))


def _media_type(url: str, unknown: str) -> str:
    is_data = url.startswith("data:")
    return url.removeprefix("data:").partition(";")[0].partition(",")[0] or unknown if is_data else unknown
