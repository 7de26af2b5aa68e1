"""A small server with the APIs of all providers and fixed responses.

It calls the tool `weather` for the city in the prompt and reports the result. Without a city it says hello.
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
def fake_provider() -> Generator[str, None, None]:
    """The address of a server that runs during the block."""
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
    """Responds to one request for each connection."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        words, city, output = parse(body)
        if path.endswith("/chat/completions"):
            self.respond(chat(words, city, output), streamed=body.get("stream", False), done=True)
        elif path.endswith("/responses"):
            self.respond(responses(words, city, output), streamed=True, names=True)
        elif path.endswith("/messages"):
            self.respond(anthropic(words, city, output), streamed=body.get("stream", False), names=True)
        else:
            self.respond(gemini(words, city, output), streamed="stream" in path)

    def respond(
        self, response: tuple[Any, list[Any]], *, streamed: bool, names: bool = False, done: bool = False
    ) -> None:
        whole, events = response
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
        """Print nothing."""


def parse(body: Any) -> tuple[list[str], str, str | None]:
    """The words of the response, the city, and the output of the tool."""
    text = json.dumps(body, ensure_ascii=False)
    city = re.search(r"weather in (\w+)\?", text)
    output = re.search(r'"(?:content|output)": "([a-z]+, -?\d+ degrees)"', text)
    if city is None:
        return HELLO, "", None
    words = [f"In {city[1]} it ", f"is {output[1]}", "."] if output else []
    return words, city[1], output[1] if output else None


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
    parts: list[tuple[str, Any]] = [
        ("created", {"response": {**head, "status": "in_progress", "output": []}}),
        ("output_item.added", {"output_index": 0, "item": opened}),
        *((kind, {"output_index": 0, "item_id": item["id"], **more}) for kind, more in deltas),
        ("output_item.done", {"output_index": 0, "item": item}),
        ("completed", {"response": whole}),
    ]
    events = [
        {"type": f"response.{kind}", "sequence_number": number, **more}
        for number, (kind, more) in enumerate(parts)
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

    def chunk(part: Any, **more: Any) -> Any:
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, **more}
        usage = {"promptTokenCount": 20, "candidatesTokenCount": 8, "totalTokenCount": 28}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}

    if calls:
        whole = chunk({"functionCall": {"name": "weather", "args": {"city": city}}}, finishReason="STOP")
        return whole, [whole]
    whole = chunk({"text": "".join(words)}, finishReason="STOP")
    return whole, [
        *(chunk({"text": word}) for word in words[:-1]),
        chunk({"text": words[-1]}, finishReason="STOP"),
    ]
