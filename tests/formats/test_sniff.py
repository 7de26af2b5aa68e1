"""Which format is this?"""

import pytest
from hypothesis import given

from partita.errors import FormatError
from partita.formats.claude_code.dump.session import dump
from partita.formats.sniff import guess_format, sniff
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import UserMessage
from tests import strategies

CALL: JsonObject = {"type": "tool-w", "toolCallId": "c", "state": "input-available", "input": {}}

GUESSES: dict[str, tuple[Json, str]] = {
    "ours": (to_json(UserMessage(id="u", content="hi")), "canonical"),
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
    "invocations beside the content": (
        [{"role": "assistant", "content": "", "toolInvocations": []}],
        "ai-sdk-ui-v4",
    ),
    "a bare file": (
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
    "a session that was written": (dump([UserMessage(id="u", content="hi")]).payload, "claude-code-log"),
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
    "text and a time": (
        [{"role": "agent", "content": "hi", "created_at": "2026-01-01T00:00:00Z"}],
        "plain",
    ),
}


@pytest.mark.parametrize(("payload", "name"), GUESSES.values(), ids=GUESSES)
def test_a_payload_gives_itself_away(payload: Json, name: str) -> None:
    guess = guess_format(payload)
    assert guess.format == name
    assert 0 < guess.confidence <= 1
    assert guess.why


@pytest.mark.parametrize("payload", [None, 5, "x", [], {}, [5], [{"a": 1}], [{"role": 5}]])
def test_what_says_nothing_is_not_guessed(payload: Json) -> None:
    assert sniff(payload) == []
    with pytest.raises(FormatError, match="cannot tell"):
        guess_format(payload)


def test_a_plain_content_is_a_weak_sign() -> None:
    assert guess_format([{"role": "user", "content": "hi"}]).confidence <= 0.5


@given(payload=strategies.json_values(10))
def test_any_json_may_be_sniffed(payload: Json) -> None:
    confidences = [guess.confidence for guess in sniff(payload)]
    assert confidences == sorted(confidences, reverse=True)
