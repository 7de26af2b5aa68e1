"""Samples of Responses API responses, and the streams that equal them."""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.formats.openai_responses.stream import ResponsesDecoder
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from tests.decoding import accumulated, decode_all

USAGE: Final[JsonObject] = {
    "input_tokens": 40,
    "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 4},
    "output_tokens": 12,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 52,
}


def response(*items: JsonObject, **fields: Json) -> JsonObject:
    """Return a complete response."""
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "tide-1",
        "output": list(items),
        "usage": USAGE,
        **fields,
    }


def message(*content: JsonObject, id: str = "msg_1", **fields: Json) -> JsonObject:
    return {"type": "message", "id": id, "role": "assistant", "content": list(content), **fields}


def output_text(text: str, *annotations: JsonObject, **fields: Json) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": list(annotations), **fields}


def refusal(text: str) -> JsonObject:
    return {"type": "refusal", "refusal": text}


def reasoning(*summary: str, id: str = "rs_1", **fields: Json) -> JsonObject:
    parts_ = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": id, "summary": parts_, **fields}


def function(arguments: str, *, id: str = "fc_1", call_id: str = "call_1", **fields: Json) -> JsonObject:
    return {
        "type": "function_call",
        "id": id,
        "call_id": call_id,
        "name": "tide",
        "arguments": arguments,
        **fields,
    }


def created(**fields: Json) -> JsonObject:
    return {"type": "response.created", "response": {"id": "resp_1", "model": "tide-1", **fields}}


def added(item: JsonObject, place: int = 0) -> JsonObject:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(item: JsonObject, place: int = 0) -> JsonObject:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def event(kind: str, place: int = 0, **fields: Json) -> JsonObject:
    return {"type": f"response.{kind}", "output_index": place, **fields}


def finished(*items: JsonObject, **fields: Json) -> JsonObject:
    body = response(*items, **fields)
    return {"type": f"response.{body['status']}", "response": body}


EMPTY_MEMBERS: Final[JsonObject] = {
    "content": [],
    "summary": [],
    "arguments": "",
    "input": "",
    "code": "",
    "encrypted_content": None,
}
"""Members that are empty when an item starts."""


def stream_of(body: JsonObject) -> list[JsonObject]:
    """Return the events of the stream that equals a complete response."""
    events = [created()]
    for place, item in enumerate(body["output"]):
        started: JsonObject = {name: EMPTY_MEMBERS.get(name, value) for name, value in item.items()}
        events += [added(started, place), *_deltas(item, place), done(item, place)]
    return [*events, {"type": f"response.{body['status']}", "response": body}]


def _deltas(item: JsonObject, place: int) -> Iterator[JsonObject]:
    match item:
        case {"type": "message", "content": content}:
            for index, part in enumerate(content):
                yield from _content_deltas(part, place, index)
        case {"type": "reasoning", "summary": summary}:
            for index, part in enumerate(summary):
                where = {"summary_index": index}
                yield event("reasoning_summary_part.added", place, part={"type": "summary_text"}, **where)
                for delta in _cut(part["text"]):
                    yield event("reasoning_summary_text.delta", place, delta=delta, **where)
            for index, part in enumerate(item.get("content", [])):
                for delta in _cut(part["text"]):
                    yield event("reasoning_text.delta", place, delta=delta, content_index=index)
        case {"type": "function_call", "arguments": text}:
            for delta in _cut(text):
                yield event("function_call_arguments.delta", place, delta=delta)
        case {"type": "custom_tool_call", "input": text}:
            for delta in _cut(text):
                yield event("custom_tool_call_input.delta", place, delta=delta)
        case {"type": "code_interpreter_call", "code": text}:
            for delta in _cut(text):
                yield event("code_interpreter_call_code.delta", place, delta=delta)
            yield event("code_interpreter_call_code.done", place, code=text)
        case _:
            pass


def _content_deltas(part: JsonObject, place: int, index: int) -> Iterator[JsonObject]:
    kind = "refusal" if part["type"] == "refusal" else "output_text"
    yield event("content_part.added", place, part={"type": kind}, content_index=index)
    for delta in _cut(part["refusal"] if kind == "refusal" else part["text"]):
        yield event(f"{kind}.delta", place, delta=delta, content_index=index)
    for annotation in part.get("annotations", []):
        yield event("output_text.annotation.added", place, annotation=annotation, content_index=index)


def _cut(text: str) -> list[str]:
    return [text[start : start + 3] for start in range(0, len(text), 3)]


def decode(events: Sequence[Json]) -> list[Chunk]:
    return decode_all(ResponsesDecoder(), events)


def parts(chunks: Sequence[Chunk]) -> list[Json]:
    """Return the parts after the step start."""
    return [to_json(part) for part in accumulated(chunks).parts[1:]]


def finish_metadata(chunks: Sequence[Chunk]) -> JsonObject:
    """Return the metadata of the last chunk."""
    metadata: JsonObject = to_json(chunks[-1])["messageMetadata"]
    return metadata
