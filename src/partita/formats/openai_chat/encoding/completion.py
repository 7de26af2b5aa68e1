"""The whole `chat.completion` that a stream of its objects amounts to."""

from collections.abc import Iterable

from partita.types.json import Json, JsonObject, is_array, is_object


def completion_of(events: Iterable[Json]) -> JsonObject:
    """The answer that a stream of `ChatEncoder` tells, as a client that does not stream reads it.

    A stream that failed is `{"error": …}`.
    """
    body: JsonObject = {}
    texts: dict[str, list[str]] = {}
    calls: dict[int, JsonObject] = {}
    words: dict[int, list[str]] = {}
    annotations: list[Json] = []
    reason = None
    for event in events:
        if "error" in event:
            return {"error": event["error"]}
        body = body or {name: event[name] for name in ("id", "created", "model")}
        if is_object(event.get("usage")):
            body["usage"] = event["usage"]
        for choice in event["choices"]:
            reason = choice["finish_reason"] or reason
            delta: JsonObject = choice["delta"]
            for name in ("content", "refusal", "reasoning_content"):
                if isinstance(piece := delta.get(name), str):
                    texts.setdefault(name, []).append(piece)
            for piece in delta.get("tool_calls", ()):
                _take_call(piece, calls, words)
            found = delta.get("annotations")
            annotations += found if is_array(found) else []
    message: JsonObject = {"role": "assistant", "content": "".join(texts.get("content", ())) or None}
    message["refusal"] = "".join(texts.get("refusal", ())) or None
    if said := "".join(texts.get("reasoning_content", ())):
        message["reasoning_content"] = said
    if annotations:
        message["annotations"] = annotations
    if calls:
        message["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": "".join(words[index])}}
            for index, call in sorted(calls.items())
        ]
    elif message["content"] is None and message["refusal"] is None:
        message["content"] = ""
    choice = {"index": 0, "message": message, "finish_reason": reason or "stop", "logprobs": None}
    return {**body, "object": "chat.completion", "choices": [choice]}


def _take_call(piece: JsonObject, calls: dict[int, JsonObject], words: dict[int, list[str]]) -> None:
    index = piece["index"]
    if index not in calls:
        calls[index] = {name: piece[name] for name in ("id", "type", "function")}
        words[index] = []
    words[index].append(piece["function"]["arguments"])
