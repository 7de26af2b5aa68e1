"""Samples of Responses API requests, with every kind of item."""

from collections.abc import Sequence
from typing import Final

from partita.formats.format import Dumped, Loaded, ToolSpec
from partita.formats.openai_responses.format import dump, dump_response
from partita.runtime.providers.vendors import OpenAIResponsesService
from partita.types.json import JsonObject
from partita.types.messages import Message


def build_request(
    view: Sequence[Message],
    *,
    model: str,
    tools: Sequence[ToolSpec] = (),
    settings: JsonObject | None = None,
) -> Dumped:
    """Return a request as the runtime sends it."""
    return OpenAIResponsesService(model).build_request(view, model, tools, settings or {})


def written(loaded: Loaded) -> Dumped:
    return dump(loaded.messages) if loaded.request is None else dump(loaded.messages, loaded.request)


def written_response(loaded: Loaded) -> Dumped:
    if loaded.request is None:
        return dump_response(loaded.messages)
    return dump_response(loaded.messages, loaded.request)


PICTURE: Final = "data:image/png;base64,iVBORw0KGgo="

USER: Final[list[JsonObject]] = [
    {"role": "developer", "content": "Heights in metres."},
    {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
    {"role": "user", "content": "Tide at Slettnes?"},
    {
        "type": "message",
        "role": "user",
        "id": "msg_u1",
        "status": "completed",
        "content": [
            {"type": "input_text", "text": "And this?", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "input_image", "image_url": "https://sea.example/a.png", "detail": "low"},
            {"type": "input_image", "image_url": PICTURE, "detail": "auto"},
            {"type": "input_image", "file_id": "file_1", "detail": "high"},
            {"type": "input_file", "file_id": "file_2"},
            {"type": "input_file", "file_url": "https://sea.example/a.pdf", "filename": "a.pdf"},
            {"type": "input_file", "file_data": "data:text/csv;base64,YQ==", "filename": "a.csv"},
            {"type": "input_file", "file_data": "YQ==", "filename": "bare"},
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
            {"type": "input_smell", "smell": "kelp", "strength": 3},
        ],
    },
]

ASSISTANT: Final[list[JsonObject]] = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [
            {"type": "summary_text", "text": "The moon"},
            {"type": "summary_text", "text": "pulls the sea"},
        ],
        "encrypted_content": "gAAAA",
        "status": None,
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [
            {
                "type": "output_text",
                "text": "Looking.",
                "annotations": [
                    {
                        "type": "url_citation",
                        "url": "https://sea.example/tide",
                        "title": "Tide",
                        "start_index": 0,
                        "end_index": 3,
                    },
                    {"type": "file_citation", "file_id": "file_9", "filename": "log.txt", "index": 2},
                    {"type": "smell_citation", "smell": "kelp"},
                ],
                "logprobs": [{"token": "Look", "logprob": -0.25, "bytes": [76], "top_logprobs": []}],
            },
            {"type": "refusal", "refusal": "Not that."},
            {"type": "output_smell", "smell": "salt"},
        ],
    },
    {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Deep"}]},
    {"role": "assistant", "content": "In short: high."},
    {
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Or"}, {"type": "output_text", "text": "low"}],
    },
    {"type": "message", "role": "assistant", "id": "msg_1", "content": [], "status": "completed"},
]

CALLS: Final[list[JsonObject]] = [
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "tide",
        "arguments": '{"place": "Slettnes"}',
        "status": "completed",
        "namespace": "sea",
        "caller": {"type": "program", "caller_id": "prog_1"},
    },
    {"type": "function_call", "call_id": "call_2", "name": "tide", "arguments": '{"place": '},
    {"type": "function_call", "call_id": "call_3", "name": "moon", "arguments": ""},
    {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "call_4",
        "name": "note",
        "input": "high at noon",
        "status": "completed",
    },
    {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "call_5",
        "action": {"type": "click", "x": 3, "y": 4, "button": "left"},
        "pending_safety_checks": [{"id": "sc_1", "code": "odd", "message": "Sure?"}],
        "status": "completed",
    },
    {
        "type": "local_shell_call",
        "id": "lsh_1",
        "call_id": "call_6",
        "action": {"type": "exec", "command": ["ls"], "env": {"A": "b"}},
        "status": "completed",
    },
    {
        "type": "shell_call",
        "id": "sh_1",
        "call_id": "call_7",
        "action": {"commands": ["ls"], "timeout_ms": 100, "max_output_length": None},
        "status": "completed",
    },
    {
        "type": "apply_patch_call",
        "id": "apc_1",
        "call_id": "call_8",
        "operation": {"type": "update_file", "path": "a.txt", "diff": "+a"},
        "status": "completed",
    },
    {
        "type": "tool_search_call",
        "id": "tsc_1",
        "call_id": "call_9",
        "execution": "client",
        "arguments": {"queries": ["tide"]},
        "status": "completed",
    },
]

OUTPUTS: Final[list[JsonObject]] = [
    {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": "3 metres",
        "id": "fco_1",
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "call_2", "output": "no JSON"},
    {
        "type": "function_call_output",
        "call_id": "call_3",
        "output": [
            {"type": "input_text", "text": "full"},
            {"type": "input_image", "image_url": PICTURE},
            {"type": "input_file", "file_id": "file_3"},
        ],
    },
    {"type": "custom_tool_call_output", "call_id": "call_4", "output": "noted"},
    {
        "type": "computer_call_output",
        "call_id": "call_5",
        "output": {"type": "computer_screenshot", "image_url": PICTURE},
        "acknowledged_safety_checks": [{"id": "sc_1"}],
    },
    {"type": "local_shell_call_output", "id": "call_6", "output": '{"stdout":"a.txt"}'},
    {
        "type": "shell_call_output",
        "call_id": "call_7",
        "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        "max_output_length": 100,
    },
    {"type": "apply_patch_call_output", "call_id": "call_8", "status": "failed", "output": "no such file"},
    {
        "type": "tool_search_output",
        "call_id": "call_9",
        "execution": "client",
        "status": "completed",
        "tools": [{"type": "function", "name": "tide", "parameters": {}, "strict": False}],
    },
]

HOSTED: Final[list[JsonObject]] = [
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {
            "type": "search",
            "query": "tide",
            "sources": [{"type": "url", "url": "https://sea.example"}],
        },
    },
    {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["tide"],
        "results": [{"file_id": "file_4", "filename": "log.txt", "score": 0.5, "text": "high"}],
    },
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "code": "print(3)",
        "container_id": "cntr_1",
        "outputs": [{"type": "logs", "logs": "3"}],
    },
    {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": "iVBORw0KGgo=",
        "output_format": "webp",
        "revised_prompt": "a tower",
    },
    {
        "type": "mcp_list_tools",
        "id": "mcpl_1",
        "server_label": "sea",
        "tools": [{"name": "ask", "input_schema": {}}],
    },
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "sea",
        "name": "ask",
        "arguments": '{"q": "tide"}',
        "output": "high",
        "error": None,
        "approval_request_id": "mcpr_0",
    },
    {
        "type": "mcp_call",
        "id": "mcp_2",
        "server_label": "sea",
        "name": "ask",
        "arguments": "{}",
        "error": {"type": "http_error", "code": 500, "message": "down"},
        "status": "failed",
    },
    {
        "type": "tool_search_call",
        "id": "tsc_2",
        "call_id": None,
        "execution": "server",
        "arguments": {"q": ["tide"]},
    },
    {"type": "tool_search_output", "id": "tso_2", "call_id": None, "execution": "server", "tools": []},
    {
        "type": "shell_call",
        "id": "sh_2",
        "call_id": "call_10",
        "action": {"commands": ["pwd"]},
        "environment": {"type": "container_reference", "container_id": "cntr_2"},
        "status": "completed",
    },
    {
        "type": "shell_call_output",
        "id": "sho_2",
        "call_id": "call_10",
        "output": [{"stdout": "/", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        "status": "completed",
    },
    {"type": "program", "id": "prog_1", "call_id": "call_11", "code": "tide()", "fingerprint": "fp"},
    {"type": "program_output", "id": "po_1", "call_id": "call_11", "result": "3", "status": "completed"},
    {"type": "item_reference", "id": "rs_7"},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "gBBBB"},
    {"type": "additional_tools", "role": "developer", "tools": [{"type": "web_search"}]},
    {"type": "smell_call", "id": "sm_1", "smell": {"name": "kelp", "strong": True}},
    {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "server_label": "sea",
        "name": "ask",
        "arguments": '{"q":1}',
    },
    {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": False,
        "reason": "no need",
        "id": "mcpa_1",
    },
    {"type": "message", "id": "msg_9", "role": "assistant", "content": [], "status": "completed"},
]

ITEMS: Final[list[JsonObject]] = [*USER, *ASSISTANT, *CALLS, *OUTPUTS, *HOSTED]

REQUEST: Final[JsonObject] = {
    "model": "tide-1",
    "instructions": "You keep the tide tables.",
    "input": ITEMS,
    "tools": [
        {
            "type": "function",
            "name": "tide",
            "description": "Height of the sea",
            "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
            "strict": True,
        },
        {"type": "function", "name": "moon", "description": None, "parameters": None, "defer_loading": True},
        {"type": "web_search", "search_context_size": "low"},
    ],
    "reasoning": {"effort": "low"},
    "store": True,
    "include": ["reasoning.encrypted_content"],
    "metadata": {"place": "Slettnes"},
}

RESPONSE: Final[JsonObject] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1772355600,
    "completed_at": 1772355601,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": "You keep the tide tables.",
    "model": "tide-1-2026",
    "output": [*ASSISTANT[:2], *CALLS[:1], *CALLS[3:], *HOSTED[:-3]],
    "parallel_tool_calls": True,
    "previous_response_id": "resp_0",
    "tool_choice": "auto",
    "tools": [{"type": "function", "name": "tide", "parameters": {"type": "object"}, "strict": False}],
    "temperature": 0.5,
    "service_tier": "default",
    "metadata": {},
    "usage": {
        "input_tokens": 40,
        "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 4},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 52,
    },
}
