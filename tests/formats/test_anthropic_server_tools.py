"""Tools that Anthropic runs: calls, outputs and sources of recorded streams."""

from typing import Final

from partita.formats.anthropic.stream import AnthropicDecoder
from partita.stream.accumulator import accumulate
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, loads
from partita.types.messages import ToolCallPart
from tests.recordings import FIXTURES
from tests.tables import each_row

STREAMS: Final = FIXTURES / "providers" / "anthropic"


def parts(name: str) -> list[Json]:
    decoder = AnthropicDecoder()
    events = map(loads, (STREAMS / f"{name}.jsonl").read_bytes().splitlines())
    chunks = [chunk for event in events for chunk in decoder.feed(event)]
    return [to_json(part) for part in accumulate([*chunks, *decoder.finish()]).parts]


OUTPUTS: Final[dict[str, list[tuple[str, str, Json]]]] = {
    "search-with-citations": [
        (
            "web_search",
            "output-available",
            [
                {
                    "type": "web_search_result",
                    "title": "Tides",
                    "url": "https://tides.example/oban",
                    "encryptedContent": "ZW5j",
                    "pageAge": "2 days ago",
                },
                {
                    "type": "web_search_result",
                    "title": "Ports",
                    "url": "https://ports.example/",
                    "encryptedContent": "bW9yZQ==",
                    "pageAge": None,
                },
            ],
        ),
        (
            "web_search",
            "output-error",
            '{"type":"web_search_tool_result_error","errorCode":"max_uses_exceeded"}',
        ),
    ],
    "code-that-fetches": [
        (
            "code_execution",
            "output-available",
            {
                "type": "code_execution_result",
                "stdout": "HW 06:04",
                "stderr": "",
                "return_code": 0,
                "content": [],
                "abort_reason": None,
            },
        ),
        (
            "web_fetch",
            "output-available",
            {
                "type": "web_fetch_result",
                "url": "https://tides.example/",
                "retrievedAt": "2026-01-02T03:04:05Z",
                "content": {
                    "type": "document",
                    "title": "Tide tables",
                    "source": {"type": "text", "mediaType": "text/plain", "data": "HW 06:04, LW 12:10"},
                    "citations": {"enabled": True},
                },
            },
        ),
    ],
    "shell-and-editor": [
        (
            "bash_code_execution",
            "output-available",
            {
                "type": "bash_code_execution_result",
                "stdout": "a\n",
                "stderr": "",
                "return_code": 0,
                "content": [],
            },
        ),
        (
            "text_editor_code_execution",
            "output-available",
            {"type": "text_editor_code_execution_tool_result_error", "error_code": "unavailable"},
        ),
    ],
    "remote-server": [
        ("ask", "output-available", [{"type": "text", "text": "twice a day"}]),
        ("ask", "output-error", '[{"type":"text","text":"no such page"}]'),
    ],
    "advice-and-tool-search": [
        (
            "advisor",
            "output-available",
            {"type": "advisor_redacted_result", "encryptedContent": "aGlkZGVu", "stopReason": "end_turn"},
        ),
        (
            "tool_search_tool_regex",
            "output-available",
            [{"type": "tool_reference", "toolName": "tide"}],
        ),
    ],
}


@each_row("name", OUTPUTS)
def test_results_become_outputs_of_their_calls(name: str) -> None:
    calls = [part for part in parts(name) if part["type"] == "tool-call" and part.get("providerExecuted")]
    assert [(call["name"], call["state"], call["output"]["value"]) for call in calls] == OUTPUTS[name]


SOURCES: Final[dict[str, list[tuple[str, str, str]]]] = {
    "search-with-citations": [
        ("source-url", "srvtoolu_1-0", "Tides"),
        ("source-url", "srvtoolu_1-1", "Ports"),
    ],
    "code-that-fetches": [
        ("source-url", "srvtoolu_f-0", "Tide tables"),
        ("source-document", "msg_a-4-0", "Tide tables"),
    ],
}


@each_row("name", SOURCES)
def test_found_and_fetched_pages_become_sources(name: str) -> None:
    found = [part for part in parts(name) if part["type"].startswith("source")]
    assert [(part["type"], part["sourceId"], part["title"]) for part in found] == SOURCES[name]


def test_a_call_of_a_remote_server_keeps_the_server_name_and_the_input() -> None:
    call = next(part for part in parts("remote-server") if part["type"] == "tool-call")
    assert (call["input"], call["dynamic"]) == ({"about": "tides"}, True)
    own = call["callProviderMetadata"]["anthropic"]
    assert (own["type"], own["serverName"]) == ("mcp-tool-use", "harbour")
    assert call["resultProviderMetadata"]["anthropic"]["serverName"] == "harbour"


def test_an_input_in_the_start_event_is_complete() -> None:
    call = next(part for part in parts("code-that-fetches") if part.get("name") == "web_fetch")
    assert call["input"] == {"url": "https://tides.example/"}
    assert call["callProviderMetadata"]["anthropic"]["caller"]["toolId"] == "srvtoolu_c"


def test_a_call_with_an_interrupted_input_keeps_its_output() -> None:
    decoder = AnthropicDecoder()
    call: JsonObject = {"type": "server_tool_use", "id": "s", "name": "advisor", "input": {}}
    result = {"type": "advisor_tool_result", "tool_use_id": "s", "content": {"type": "advisor_result"}}
    chunks = [
        *decoder.feed({"type": "content_block_start", "index": 0, "content_block": call}),
        *decoder.feed(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": '{"a'},
            }
        ),
        *decoder.feed({"type": "content_block_start", "index": 1, "content_block": result}),
        *decoder.feed({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        *decoder.finish(),
    ]
    part = accumulate(chunks).parts[1]
    assert isinstance(part, ToolCallPart)
    assert (part.state, to_json(part.output)["type"]) == ("output-available", "json")
