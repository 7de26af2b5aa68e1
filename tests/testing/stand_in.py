"""A stand-in for the providers: a small server that speaks their wires, with answers of our own.

It calls the tool `weather` for the city that is named, and says what came of it. Asked to say hello, it does.
"""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

HELLO = ["Hello from ", "the weather ", "desk."]


@contextmanager
def stand_in() -> Generator[str, None, None]:
    """The address of a server, for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class Handler(BaseHTTPRequestHandler):
    """One request, one answer, one connection."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        words, city, output = asked(body)
        if path.endswith("/chat/completions"):
            self.answer(chat(words, city, output), streamed=body.get("stream", False), done=True)
        elif path.endswith("/responses"):
            self.answer(responses(words, city, output), streamed=True, names=True)
        elif path.endswith("/messages"):
            told = anthropic(words, city, output)
            self.answer(told, streamed=body.get("stream", False), names=True)
        else:
            self.answer(gemini(words, city, output), streamed="stream" in path)

    def answer(
        self, told: tuple[Any, list[Any]], *, streamed: bool, names: bool = False, done: bool = False
    ) -> None:
        whole, events = told
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.send_header("x-request-id", "never-the-same")
        self.send_header("set-cookie", "session=secret")
        self.end_headers()
        if not streamed:
            self.wfile.write(json.dumps(whole, indent=1).encode())
            return
        for event in events:
            head = f"event: {event['type']}\n" if names else ""
            self.wfile.write(f"{head}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
        if done:
            self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def asked(body: Any) -> tuple[list[str], str, str | None]:
    """What to say, the city that is meant, and what the tool has said of it."""
    text = json.dumps(body, ensure_ascii=False)
    city = re.search(r"weather in (\w+)\?", text)
    output = re.search(r'"(?:content|output)": "([a-z]+, -?\d+ degrees)"', text)
    if city is None:
        return HELLO, "", None
    said = [f"In {city[1]} it ", f"is {output[1]}", "."] if output else []
    return said, city[1], output[1] if output else None


def chat(words: list[str], city: str, output: str | None) -> tuple[Any, list[Any]]:
    call = {"id": f"call_{city}", "type": "function"}
    function = {"name": "weather", "arguments": json.dumps({"city": city}, ensure_ascii=False)}
    calls = bool(city) and output is None
    message: Any = {"role": "assistant", "content": None if calls else "".join(words)}
    if calls:
        message["tool_calls"] = [{**call, "function": function}]
    reason = "tool_calls" if calls else "stop"
    head = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": "gpt-5-mini"}
    usage = {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    deltas: list[Any] = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
    if calls:
        deltas.append({"tool_calls": [{"index": 0, **call, "function": function}]})
    chunk = {**head, "object": "chat.completion.chunk"}
    events = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return whole, [*events, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]


def responses(words: list[str], city: str, output: str | None) -> tuple[Any, list[Any]]:
    calls = bool(city) and output is None
    item: Any
    deltas: list[tuple[str, Any]]
    if calls:
        arguments = json.dumps({"city": city}, ensure_ascii=False)
        item = {"id": "fc_1", "type": "function_call", "call_id": f"call_{city}", "name": "weather"}
        item = {**item, "arguments": arguments, "status": "completed"}
        deltas = [("function_call_arguments.delta", {"delta": arguments})]
        opened: Any = {**item, "arguments": "", "status": "in_progress"}
    else:
        text: Any = {"type": "output_text", "text": "".join(words), "annotations": []}
        item = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [text],
            "status": "completed",
        }
        part: Any = {"content_index": 0, "part": {**text, "text": ""}}
        deltas = [("content_part.added", part)]
        deltas += [
            ("output_text.delta", {"content_index": 0, "delta": word, "logprobs": []}) for word in words
        ]
        opened = {**item, "content": [], "status": "in_progress"}
    head: Any = {"id": "resp_1", "object": "response", "created_at": 1_700_000_000, "model": "gpt-5"}
    head |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    whole = {**head, "status": "completed", "output": [item]}
    told: list[tuple[str, Any]] = [
        ("created", {"response": {**head, "status": "in_progress", "output": []}}),
        ("output_item.added", {"output_index": 0, "item": opened}),
        *((kind, {"output_index": 0, "item_id": item["id"], **more}) for kind, more in deltas),
        ("output_item.done", {"output_index": 0, "item": item}),
        ("completed", {"response": whole}),
    ]
    events = [
        {"type": f"response.{kind}", "sequence_number": number, **more}
        for number, (kind, more) in enumerate(told)
    ]
    return whole, events


def anthropic(words: list[str], city: str, output: str | None) -> tuple[Any, list[Any]]:
    calls = bool(city) and output is None
    use = {"type": "tool_use", "id": f"toolu_{city}", "name": "weather", "input": {"city": city}}
    block: Any = use if calls else {"type": "text", "text": "".join(words)}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5"}
    reason = "tool_use" if calls else "end_turn"
    usage = {"input_tokens": 20, "output_tokens": 8}
    whole = {**head, "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage}
    opened = {**use, "input": {}} if calls else {"type": "text", "text": ""}
    deltas: list[Any] = [{"type": "text_delta", "text": word} for word in words]
    if calls:
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(use["input"], ensure_ascii=False)}]
    start = {**whole, "content": [], "stop_reason": None, "usage": {"input_tokens": 20, "output_tokens": 1}}
    end = {"stop_reason": reason, "stop_sequence": None}
    events = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 8}},
        {"type": "message_stop"},
    ]
    return whole, events


def gemini(words: list[str], city: str, output: str | None) -> tuple[Any, list[Any]]:
    calls = bool(city) and output is None

    def told(part: Any, **more: Any) -> Any:
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, **more}
        usage = {"promptTokenCount": 20, "candidatesTokenCount": 8, "totalTokenCount": 28}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}

    if calls:
        whole = told({"functionCall": {"name": "weather", "args": {"city": city}}}, finishReason="STOP")
        return whole, [whole]
    whole = told({"text": "".join(words)}, finishReason="STOP")
    return whole, [
        *(told({"text": word}) for word in words[:-1]),
        told({"text": words[-1]}, finishReason="STOP"),
    ]
