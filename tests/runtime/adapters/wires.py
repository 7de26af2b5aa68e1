"""Small responses of every provider, as its events."""

from partita.types.json import JsonObject


def anthropic(text: str, id: str = "msg_1") -> list[JsonObject]:
    return [
        {
            "type": "message_start",
            "message": {
                "id": id,
                "type": "message",
                "role": "assistant",
                "model": "claude",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 5, "output_tokens": 1},
            },
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]


def anthropic_call(name: str, json: str) -> list[JsonObject]:
    block: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    first, *_, delta, stop = anthropic("")
    return [
        first,
        {"type": "content_block_start", "index": 0, "content_block": block},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": json},
        },
        {"type": "content_block_stop", "index": 0},
        {**delta, "delta": {"stop_reason": "tool_use", "stop_sequence": None}},
        stop,
    ]


def chat(*pieces: str, id: str = "chatcmpl-1") -> list[JsonObject]:
    def chunk(delta: JsonObject, reason: str | None = None) -> JsonObject:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": id,
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "gpt",
            "choices": [choice],
        }

    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    return [
        *(chunk({"role": "assistant", "content": piece}) for piece in pieces),
        chunk({}, "stop"),
        {**chunk({}), "choices": [], "usage": usage},
    ]


def responses(text: str, id: str = "resp_1") -> list[JsonObject]:
    response: JsonObject = {
        "id": id,
        "object": "response",
        "created_at": 1,
        "model": "gpt",
        "output": [],
        "status": "in_progress",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    part: JsonObject = {"type": "output_text", "text": text, "annotations": []}
    item: JsonObject = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    usage = {
        "input_tokens": 5,
        "output_tokens": 7,
        "total_tokens": 12,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    at = {"item_id": "m1", "output_index": 0}
    events: list[JsonObject] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {
            "type": "response.content_part.added",
            **at,
            "content_index": 0,
            "part": {**part, "text": ""},
        },
        {"type": "response.output_text.delta", **at, "content_index": 0, "delta": text, "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": usage},
        },
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def gemini(*pieces: str) -> list[JsonObject]:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12}
    events: list[JsonObject] = [
        {
            "candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}, "index": 0}],
            "responseId": "r1",
            "modelVersion": "gemini-2.5-flash",
        }
        for piece in pieces
    ]
    events[-1]["candidates"][0]["finishReason"] = "STOP"
    return [*events[:-1], {**events[-1], "usageMetadata": usage}]


def chunks(text: str) -> list[JsonObject]:
    usage = {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}
    return [
        {"type": "start"},
        {"type": "start-step"},
        {"type": "text-start", "id": "a"},
        {"type": "text-delta", "id": "a", "delta": text},
        {"type": "text-end", "id": "a"},
        {"type": "finish-step"},
        {
            "type": "finish",
            "finishReason": "stop",
            "messageMetadata": {"finishReason": "stop", "usage": usage},
        },
    ]


def claude_code(text: str) -> list[JsonObject]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 7},
    }
    return [
        {"type": "system", "subtype": "init", "session_id": "s1", "model": "claude", "tools": []},
        {"type": "assistant", "message": message, "session_id": "s1"},
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "num_turns": 1,
            "result": text,
            "session_id": "s1",
            "usage": {"input_tokens": 5, "output_tokens": 7},
        },
    ]
