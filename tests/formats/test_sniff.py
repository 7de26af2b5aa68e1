"""Detection of the format of a payload."""

import pytest
from hypothesis import given

from partita.errors import FormatError
from partita.formats.claude_code.format import dump
from partita.formats.detection.guess import SAMPLE_SIZE, SIGNS, guess_format, sniff
from partita.formats.registry import all_formats
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import UserMessage
from tests import strategies
from tests.tables import each_row

CALL: JsonObject = {"type": "tool-w", "toolCallId": "c", "state": "input-available", "input": {}}

GUESSES: dict[str, tuple[Json, str]] = {
    "a canonical message": (to_json(UserMessage(id="u", content="hi")), "canonical"),
    "one content and a timestamp": (
        {
            "id": "1",
            "role": "user",
            "content": {"type": "text", "text": "x"},
            "timestamp": "2026-01-01T00:00:00Z",
        },
        "legacy",
    ),
    "a role and parts": ([{"role": "user", "parts": [{"type": "text", "text": "x"}]}], "ai-sdk-ui-v7"),
    "an approval": (
        [{"role": "assistant", "parts": [CALL | {"state": "approval-requested", "approval": {"id": "a"}}]}],
        "ai-sdk-ui-v6",
    ),
    "an automatic approval": (
        [{"role": "assistant", "parts": [CALL | {"approval": {"id": "a", "isAutomatic": True}}]}],
        "ai-sdk-ui-v7",
    ),
    "a custom part": ([{"role": "assistant", "parts": [{"type": "custom", "kind": "a.b"}]}], "ai-sdk-ui-v7"),
    "a tool invocation": ([{"role": "assistant", "parts": [{"type": "tool-invocation"}]}], "ai-sdk-ui-v4"),
    "invocations next to the content": (
        [{"role": "assistant", "content": "", "toolInvocations": []}],
        "ai-sdk-ui-v4",
    ),
    "a file part": (
        [{"role": "user", "parts": [{"type": "file", "mimeType": "a/b", "data": ""}]}],
        "ai-sdk-ui-v4",
    ),
    "a role and a content": ([{"role": "user", "content": "hi"}], "ai-sdk-model-v7"),
    "a call with input": (
        [{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "input": {}}]}],
        "ai-sdk-model-v7",
    ),
    "a call with args": (
        [{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "args": {}}]}],
        "ai-sdk-model-v4",
    ),
    "chunks": ([{"type": "start"}, {"type": "text-delta", "id": "a", "delta": "x"}], "ai-sdk-chunks"),
    "data chunks": ([{"type": "data-weather", "data": 1}], "ai-sdk-chunks"),
    "stream parts": (
        [{"type": "start"}, {"type": "text-delta", "id": "a", "text": "x"}],
        "ai-sdk-full-stream-v7",
    ),
    "a row of Mastra's table": (
        [{"id": "1", "thread_id": "t", "role": "user", "content": '{"format":2,"parts":[]}'}],
        "mastra-v2",
    ),
    "an invocation in a content": (
        [{"role": "assistant", "content": {"format": 2, "parts": [{"type": "tool-invocation"}]}}],
        "mastra-v2",
    ),
    "a core message of a thread": (
        [{"role": "user", "threadId": "t", "type": "text", "content": "hi"}],
        "mastra-v1",
    ),
    "a row of a session": (
        [{"id": "1", "sessionId": "s", "role": "user", "data": '{"parts":[]}'}],
        "cherry",
    ),
    "a row of an agent": (
        [{"id": "1", "execution_id": "e", "prompt": "go", "result": "done", "model": "m"}],
        "smithers",
    ),
    "lines of a session file": (
        [{"type": "summary"}, {"type": "user", "parentUuid": None, "isSidechain": False, "message": {}}],
        "claude-code-log",
    ),
    "a written session": (dump([UserMessage(id="u", content="hi")]).payload, "claude-code-log"),
    "messages with a session": (
        [{"type": "system", "subtype": "init", "session_id": "s", "tools": []}],
        "claude-code-stream",
    ),
    "events of items": ([{"type": "thread.started", "thread_id": "t"}], "codex-exec"),
    "older events": ([{"id": "0", "msg": {"type": "agent_message", "message": "hi"}}], "codex-exec"),
    "calls with a tool_id": (
        [
            {"type": "message", "role": "user", "content": "hi"},
            {"type": "tool_use", "tool_id": "c", "tool_name": "oven", "parameters": {}},
        ],
        "gemini-cli-stream",
    ),
    "a chat with calls": (
        [
            {"role": "user", "content": "tides?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
            },
        ],
        "openai-chat",
    ),
    "a chat with an image": (
        [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}],
            }
        ],
        "openai-chat",
    ),
    "a request with functions": (
        {
            "model": "claude-x",
            "messages": [{"role": "user", "content": "tides?"}],
            "tools": [{"type": "function", "function": {"name": "t", "parameters": {}}}],
        },
        "openai-chat",
    ),
    "a completion": (
        {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "06:12"}}]},
        "openai-chat",
    ),
    "a chunk of a completion of OpenRouter": (
        [{"object": "chat.completion.chunk", "choices": [{"delta": {}, "native_finish_reason": None}]}],
        "openai-chat-openrouter",
    ),
    "a completion of Groq": (
        {"object": "chat.completion", "choices": [], "x_groq": {"id": "req"}},
        "openai-chat-groq",
    ),
    "a completion of DeepSeek": (
        {"object": "chat.completion", "choices": [], "usage": {"prompt_cache_hit_tokens": 1}},
        "openai-chat-deepseek",
    ),
    "thinking of Mistral": (
        {
            "object": "chat.completion",
            "choices": [{"message": {"content": [{"type": "thinking", "thinking": [{"type": "text"}]}]}}],
        },
        "openai-chat-mistral",
    ),
    "a completion of Ollama": (
        {"object": "chat.completion", "choices": [], "system_fingerprint": "fp_ollama"},
        "openai-chat-ollama",
    ),
    "a completion of vLLM": (
        {"object": "chat.completion", "choices": [], "prompt_logprobs": None},
        "openai-chat-vllm",
    ),
    "a request to xAI": (
        {"model": "grok-9", "messages": [{"role": "user", "content": "tides?"}]},
        "openai-chat-xai",
    ),
    "items of a response": (
        [
            {"role": "user", "content": "tides?"},
            {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"},
        ],
        "openai-responses",
    ),
    "a request with items": (
        {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "tides?"}]}]},
        "openai-responses",
    ),
    "a request with a text": ({"model": "m", "input": "tides?"}, "openai-responses"),
    "a response": ({"object": "response", "output": []}, "openai-responses"),
    "events of a response": ([{"type": "response.created", "response": {}}], "openai-responses"),
    "items of a run": (
        [{"type": "message_output_item", "agent": {"name": "keeper"}, "raw_item": {"type": "message"}}],
        "openai-agents",
    ),
    "a handoff": (
        [{"type": "function_call", "call_id": "c", "name": "transfer_to_keeper", "arguments": "{}"}],
        "openai-agents",
    ),
    "blocks of Anthropic": (
        [
            {"role": "user", "content": "tides?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}]},
        ],
        "anthropic",
    ),
    "a request with a system": (
        {"system": "Keep the light.", "messages": [{"role": "user", "content": "tides?"}]},
        "anthropic",
    ),
    "a message of Anthropic": (
        {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"},
        "anthropic",
    ),
    "contents of Gemini": ([{"role": "model", "parts": [{"text": "06:12"}]}], "gemini"),
    "a request to Gemini": ({"contents": [{"parts": [{"text": "tides?"}]}]}, "gemini"),
    "candidates": ({"candidates": []}, "gemini"),
    "the result of a tool": ({"content": [{"type": "text", "text": "x"}], "isError": False}, "mcp"),
    "a message with one block": ([{"role": "user", "content": {"type": "text", "text": "tides?"}}], "mcp"),
    "a message to an agent": (
        {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "tides?"}]},
        "a2a",
    ),
    "an older message to an agent": (
        {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "tides?"}]},
        "a2a",
    ),
    "a status update of a task": (
        {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}},
        "a2a",
    ),
    "chunks with a payload": (
        [{"type": "text-delta", "runId": "r", "from": "AGENT", "payload": {"id": "t", "text": "x"}}],
        "mastra-stream",
    ),
    "a message and its data": ([{"type": "human", "data": {"content": "tides?"}}], "langchain"),
    "a constructor of a message": (
        [{"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": "x"}}],
        "langchain",
    ),
    "a dumped message": (
        {"messages": [{"type": "ai", "content": "x", "additional_kwargs": {}, "response_metadata": {}}]},
        "langchain",
    ),
    "requests and responses": (
        [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "tides?"}]}],
        "pydantic-ai",
    ),
    "attributes of a span": ({"gen_ai.input.messages": "[]"}, "otel-genai"),
    "messages of a span": (
        [{"role": "user", "parts": [{"type": "text", "content": "tides?"}]}],
        "otel-genai",
    ),
    "events of a run": ([{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}], "ag-ui"),
    "the input of a run": ({"threadId": "t", "runId": "r", "messages": []}, "ag-ui"),
    "messages of a run": (
        [
            {
                "id": "m",
                "role": "assistant",
                "toolCalls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": ""}}],
            }
        ],
        "ag-ui",
    ),
    "turns of humans and models": (
        {"conversations": [{"from": "human", "value": "tides?"}]},
        "sharegpt",
    ),
    "a marked text": ("<|im_start|>user\ntides?<|im_end|>\n", "chatml"),
    "calls of a client": ([{"jsonrpc": "2.0", "method": "session/prompt", "id": 1, "params": {}}], "acp"),
    "text and a time": (
        [{"role": "agent", "content": "hi", "created_at": "2026-01-01T00:00:00Z"}],
        "plain",
    ),
}


@each_row(("payload", "name"), GUESSES.values(), ids=GUESSES)
def test_the_format_of_a_payload_is_detected(payload: Json, name: str) -> None:
    guess = guess_format(payload)
    assert guess.format == name
    assert 0 < guess.confidence <= 1
    assert guess.why


@each_row("payload", [None, 5, "x", [], {}, [5], [{"a": 1}], [{"role": 5}]])
def test_unspecific_payloads_are_not_detected(payload: Json) -> None:
    assert sniff(payload) == []
    with pytest.raises(FormatError, match="cannot detect"):
        guess_format(payload)


def test_plain_content_is_a_weak_sign() -> None:
    guess = guess_format([{"role": "user", "content": "hi"}])
    assert guess.confidence <= 0.5
    assert {"openai-chat", "anthropic", "chatml"} <= {one.format for one in guess.rivals}
    assert "nothing in it distinguishes them" in guess.explained()


def test_a_clear_sign_has_no_rivals() -> None:
    guess = guess_format({"object": "chat.completion", "choices": []})
    assert guess.rivals == ()
    assert guess.explained() == "openai-chat: a chat completion, or a chunk of one (96% sure)"


def test_rivals_are_sorted_and_have_reasons() -> None:
    guess = guess_format({"messages": [{"role": "user", "content": "hi"}]})
    assert guess.format == "openai-chat"
    confidences = [guess.confidence, *(one.confidence for one in guess.rivals)]
    assert confidences == sorted(confidences, reverse=True)
    assert all(one.why and not one.rivals for one in guess.rivals)


def test_only_the_first_items_are_examined() -> None:
    silent: Json = {"note": "nothing"}
    assert sniff([silent] * SAMPLE_SIZE + [{"type": "RUN_STARTED"}]) == []
    assert sniff([silent] * (SAMPLE_SIZE - 1) + [{"type": "RUN_STARTED"}]) != []


def test_signs_belong_to_readable_formats() -> None:
    known = all_formats()
    unread = {sign.format for sign in SIGNS if sign.format not in known}
    assert unread == set()
    assert all(known[sign.format].load or known[sign.format].decoder for sign in SIGNS)
    assert not any(sign.format.endswith("-response") for sign in SIGNS), "the plain name also reads responses"
    assert all(0 < sign.confidence <= 1 and sign.why for sign in SIGNS)


FAMILIES = (
    "ai-sdk-ui-v",
    "ai-sdk-model-v",
    "openai-chat",
    "langchain",
    "openai-responses",
    "gemini",
    "anthropic",
    "bedrock-converse",
    "cohere",
)


def family(name: str) -> str:
    """Return the family of formats that are read alike: versions, servers, responses."""
    return next((start for start in FAMILIES if name.startswith(start)), name)


BOTH_WAYS = [name for name, one in all_formats().items() if one.dump and one.load]


@each_row("name", BOTH_WAYS)
def test_written_payloads_are_detected(name: str) -> None:
    dump_ = all_formats()[name].dump
    assert dump_ is not None
    assert family(guess_format(dump_(full_conversation()).payload).format) == family(name)


@given(payload=strategies.json_values(10))
def test_any_json_can_be_examined(payload: Json) -> None:
    confidences = [guess.confidence for guess in sniff(payload)]
    assert confidences == sorted(confidences, reverse=True)
