"""The requests for every route. Placeholders such as `<thread>` stand for ids, which tests fill in.

Every route needs requests in this table, with the ids of the data that it uses: otherwise tests fail.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from partita.types.json import is_array, is_object

from .harbour import Ids


class Ask(NamedTuple):
    """A request without its path."""

    json: Any = None
    query: Mapping[str, str] = {}
    body: str | None = None
    headers: Mapping[str, str] = {}

    def about(self, ids: Ids) -> "Ask":
        """The request with ids instead of placeholders."""
        return Ask(
            filled(self.json, ids),
            {name: _text(value, ids) for name, value in self.query.items()},
            None if self.body is None else _text(self.body, ids),
            {name: _text(value, ids) for name, value in self.headers.items()},
        )


IN_PATHS: Final[Mapping[str, str]] = {
    "{thread_id}": "<thread>",
    "{chat_id}": "<thread>",
    "{message_id}": "<message>",
    "{run_id}": "<run>",
    "{other_id}": "<other>",
    "{digest}": "<digest>",
    "{index}": "0",
    "{agent_name}": "quick",
    "{model_id}": "quick",
}
"""The placeholders of path parameters."""

SHELL: Final = {"type": "tool-call", "id": "<call>", "name": "Bash", "state": "input-available", "input": {}}
QUESTION: Final = {"id": "<message>", "role": "user", "parts": [{"type": "text", "text": "How tall?"}]}
ALLOWED: Final = {
    "id": "<answer>",
    "role": "assistant",
    "parts": [
        {
            "type": "tool-switch_off",
            "toolCallId": "<call>",
            "state": "approval-responded",
            "input": {"name": "Bell"},
            "approval": {"id": "<approval>", "approved": True},
        }
    ],
}
SAID_TO_AG_UI: Final = {"id": "<message>", "role": "user", "content": "How tall?"}
ALLOWED_IN_AG_UI: Final = {
    "interruptId": "<approval>",
    "status": "resolved",
    "payload": {"approved": True},
}
STORED: Final = {"id": "<message>", "role": "user", "content": "Mine now."}
MASTRA: Final = {
    "id": "<message>",
    "threadId": "<thread>",
    "role": "user",
    "content": {"format": 2, "parts": [{"type": "text", "text": "Mine now."}]},
}
ROW: Final = {"role": "user", "parts": [{"type": "text", "text": "Mine now."}]}
INCLUDED: Final = '[{"id":"<message>","threadId":"<thread>","withPreviousMessages":5}]'
HERS: Final = {"resourceId": "alice"}

PLAIN: Final = (Ask(),)


def _memory(*asks: Ask) -> tuple[Ask, ...]:
    """The same request, and one with an owner."""
    return (*asks, *(ask._replace(query={**ask.query, **HERS}) for ask in asks))


THREADS_OF_MASTRA: Final = {
    "GET": _memory(Ask()),
    "POST": (
        Ask({"threadId": "<thread>", "title": "Mine"}),
        Ask({"threadId": "<thread>", "resourceId": "alice"}),
    ),
}
THREAD_OF_MASTRA: Final = {
    "GET": _memory(Ask()),
    "PATCH": (Ask({"title": "Mine"}), Ask({"title": "Mine", "resourceId": "alice"})),
    "DELETE": _memory(Ask()),
}
CLONE_OF_MASTRA: Final = (
    Ask(),
    Ask({"newThreadId": "copy", "resourceId": "alice"}),
    Ask({"options": {"messageFilter": {"messageIds": ["<message>"]}}}),
)
MESSAGES_OF_MASTRA: Final = _memory(Ask(), Ask(query={"include": INCLUDED}))
SAVE_OF_MASTRA: Final = (Ask({"messages": [MASTRA]}), Ask({"messages": [{**MASTRA, "resourceId": "alice"}]}))
DELETE_OF_MASTRA: Final = _memory(
    Ask({"messageIds": ["<message>", "<answer>"]}), Ask({"messageIds": "<message>", "threadId": "<thread>"})
)
MEMORY_OF_MASTRA: Final = {
    "GET": _memory(Ask()),
    "POST": (Ask({"workingMemory": "mine"}), Ask({"workingMemory": "mine", "resourceId": "alice"})),
}

MCP_REQUESTS: Final[tuple[tuple[str, Any], ...]] = (
    ("tools/call", {"name": "read_session", "arguments": {"session": "<thread>"}}),
    ("tools/call", {"name": "read_tool_output", "arguments": {"session": "<thread>", "call": "<call>"}}),
    ("tools/call", {"name": "search_sessions", "arguments": {"query": "question", "session": "<thread>"}}),
    ("resources/read", {"uri": "partita://thread/<thread>"}),
)

CASES: Final[Mapping[str, tuple[Ask, ...]]] = {
    # The chat
    "POST /api/chat": (
        Ask({"id": "<thread>", "messages": [QUESTION]}),
        Ask({"id": "<thread>", "messages": [QUESTION, ALLOWED]}),
        Ask({"id": "<thread>", "message": ALLOWED}),
        Ask({"id": "<thread>", "messages": [], "trigger": "regenerate-message", "messageId": "<answer>"}),
    ),
    "GET /api/chat/{chat_id}/stream": (Ask(), Ask(headers={"last-event-id": "<run>:0"})),
    "POST /api/chat/{chat_id}/stop": (Ask(), Ask({"runId": "<run>"}), Ask({"messageId": "<answer>"})),
    # Threads
    "GET /api/threads": (Ask(), Ask(query={"text": "marmalade"}), Ask(query=HERS)),
    "POST /api/threads": (Ask({"id": "<thread>", "title": "Mine"}), Ask({"id": "<thread>"}, HERS)),
    "GET /api/threads/{thread_id}": (Ask(), Ask(query=HERS)),
    "PATCH /api/threads/{thread_id}": (Ask({"title": None}), Ask({"title": "Mine", "metadata": {"a": 1}})),
    "DELETE /api/threads/{thread_id}": (Ask(), Ask(query=HERS)),
    "POST /api/threads/{thread_id}/clone": (Ask(), Ask({"id": "copy"})),
    "POST /api/threads/{thread_id}/fork": (Ask({"messageId": "<message>"}),),
    "POST /api/threads/{thread_id}/branch": (Ask({"messageId": "<message>"}),),
    "GET /api/threads/{thread_id}/usage": PLAIN,
    "GET /api/summaries": (Ask(), Ask(query={"ids": "<thread>"}), Ask(query=HERS)),
    "GET /api/facets": (Ask(), Ask(query={"ids": "<thread>"}), Ask(query=HERS)),
    "GET /api/feed": (Ask(query={"seconds": "0"}), Ask(query={"seconds": "0", **HERS})),
    # Messages
    "GET /api/threads/{thread_id}/messages": (
        Ask(),
        Ask(query={"around": "<message>"}),
        Ask(query={"ids": "<message>", "timings": "true", "views": "true"}),
        Ask(query={"format": "ai-sdk-ui-v7", "bare": "true"}),
    ),
    "POST /api/threads/{thread_id}/messages": (Ask(STORED), Ask([STORED], HERS)),
    "PUT /api/threads/{thread_id}/messages": (Ask(STORED),),
    "POST /api/threads/{thread_id}/messages/delete": (Ask({"ids": ["<message>", "<answer>"]}),),
    "GET /api/threads/{thread_id}/outline": (Ask(), Ask(query={"branch": "<message>"})),
    "GET /api/threads/{thread_id}/messages/{message_id}/raw": PLAIN,
    "GET /api/threads/{thread_id}/messages/{message_id}": PLAIN,
    "DELETE /api/threads/{thread_id}/messages/{message_id}": PLAIN,
    "PUT /api/threads/{thread_id}/messages/{message_id}/parts/{index}": (
        Ask({"type": "text", "text": "mine"}),
    ),
    # Sharing
    "POST /api/threads/{thread_id}/share": (
        Ask({"format": "markdown"}),
        Ask({"format": "jsonl", "as": "ui", "messages": {"only": ["<message>"], "internal": True}}),
        Ask({"format": "fixture"}, HERS),
    ),
    "POST /api/threads/{thread_id}/share/preview": (
        Ask({"format": "fixture"}),
        Ask({"format": "jsonl"}, HERS),
    ),
    # Search and statistics
    "GET /api/search": (
        Ask(query={"q": "marmalade"}),
        Ask(query={"q": "marmalade", "thread": "<thread>"}),
        Ask(query={"q": "marmalade", **HERS}),
    ),
    "GET /api/parts": (Ask(), Ask(query={"thread": "<thread>"}), Ask(query=HERS)),
    "GET /api/stats": (
        Ask(query={"by": "agent", "ids": "true"}),
        Ask(query={"thread": "<thread>"}),
        Ask(query=HERS),
    ),
    "GET /api/stats/tools": (Ask(), Ask(query=HERS)),
    "GET /api/stats/runs": (Ask(), Ask(query={"order": "duration", **HERS})),
    "GET /api/stats/threads": (Ask(), Ask(query={"order": "errors", **HERS})),
    "GET /api/threads/{thread_id}/growth": PLAIN,
    # Blobs
    "GET /api/blobs/{digest}": (Ask(), Ask(headers={"if-none-match": "*"}), Ask(query=HERS)),
    "HEAD /api/blobs/{digest}": (Ask(), Ask(headers={"if-none-match": '"<digest>"'})),
    "POST /api/blobs": (Ask(body="bytes", headers={"content-type": "application/octet-stream"}),),
    # Runs
    "GET /api/runs": (Ask(), Ask(query={"threadId": "<thread>"}), Ask(query=HERS)),
    "GET /api/threads/{thread_id}/runs": PLAIN,
    "GET /api/runs/{run_id}": (Ask(), Ask(query=HERS)),
    "GET /api/runs/{run_id}/wait": (Ask(query={"timeout": "0"}),),
    "POST /api/runs/{run_id}/stop": (Ask(), Ask({"reason": "mine"})),
    "POST /api/runs/{run_id}/answer": (Ask({"approvalId": "<approval>", "approved": True}),),
    "POST /api/runs/{run_id}/output": (Ask({"toolCallId": "<call>", "output": 1}),),
    "GET /api/runs/{run_id}/diff/{other_id}": PLAIN,
    "POST /api/runs/{run_id}/reproject": (Ask(), Ask(query={"force": "true"})),
    "GET /api/runs/{run_id}/log": (Ask(), Ask(headers={"accept": "application/x-ndjson"})),
    "GET /api/runs/{run_id}/raw": PLAIN,
    "GET /api/runs/{run_id}/stream": (
        Ask(),
        Ask(headers={"last-event-id": "<run>:0"}),
        Ask(query={"as": "openai-chat"}),
        Ask(query={"as": "ag-ui"}),
    ),
    "GET /api/runs/{run_id}/replay": (Ask(query={"speed": "0"}), Ask(query={"speed": "0", "as": "ag-ui"})),
    "GET /api/runs/{run_id}/at": PLAIN,
    "GET /api/runs/{run_id}/timeline": (Ask(), Ask(query={"wait": "0.01"}), Ask(query=HERS)),
    # Formats
    "GET /api/agents": PLAIN,
    "GET /api/formats": PLAIN,
    "POST /api/convert": (Ask({"from": "canonical", "to": "ai-sdk-ui-v7", "payload": [STORED]}),),
    "POST /api/fold": (Ask({"chunks": [{"type": "start", "messageId": "<answer>"}]}),),
    "POST /api/inspect": (Ask([STORED], {"to": "ui"}), Ask({"threadId": "<thread>", "id": "<message>"})),
    "POST /api/tool-views": (
        Ask({"threadId": "<thread>", "calls": [{"type": "tool-call", "id": "<call>", "name": "Bash"}]}),
        Ask({"threadId": "<thread>", "calls": [SHELL]}),
    ),
    "POST /api/import": (
        Ask([STORED], {"threadId": "<thread>", "format": "canonical"}),
        Ask([STORED], {"threadId": "<thread>", "format": "canonical", **HERS}),
    ),
    # The routes of Mastra, with both prefixes
    **{f"{method} /api/memory/threads": asks for method, asks in THREADS_OF_MASTRA.items()},
    **{f"{method} /api/memory/network/threads": asks for method, asks in THREADS_OF_MASTRA.items()},
    **{f"{method} /api/memory/threads/{{thread_id}}": asks for method, asks in THREAD_OF_MASTRA.items()},
    **{
        f"{method} /api/memory/network/threads/{{thread_id}}": asks
        for method, asks in THREAD_OF_MASTRA.items()
    },
    "POST /api/memory/threads/{thread_id}/clone": CLONE_OF_MASTRA,
    "POST /api/memory/network/threads/{thread_id}/clone": CLONE_OF_MASTRA,
    "GET /api/memory/threads/{thread_id}/messages": MESSAGES_OF_MASTRA,
    "GET /api/memory/network/threads/{thread_id}/messages": MESSAGES_OF_MASTRA,
    "POST /api/memory/save-messages": SAVE_OF_MASTRA,
    "POST /api/memory/network/save-messages": SAVE_OF_MASTRA,
    "POST /api/memory/messages/delete": DELETE_OF_MASTRA,
    "POST /api/memory/network/messages/delete": DELETE_OF_MASTRA,
    "GET /api/memory/status": PLAIN,
    "GET /api/memory/network/status": PLAIN,
    "GET /api/memory/config": PLAIN,
    **{
        f"{method} /api/memory/threads/{{thread_id}}/working-memory": asks
        for method, asks in MEMORY_OF_MASTRA.items()
    },
    **{
        f"{method} /api/memory/network/threads/{{thread_id}}/working-memory": asks
        for method, asks in MEMORY_OF_MASTRA.items()
    },
    "GET /api/memory/search": _memory(
        Ask(query={"searchQuery": "marmalade"}),
        Ask(query={"searchQuery": "marmalade", "threadId": "<thread>"}),
    ),
    # The routes of assistant-ui
    "GET /api/assistant-ui/threads": PLAIN,
    "POST /api/assistant-ui/threads": (Ask({"id": "<thread>"}),),
    "GET /api/assistant-ui/threads/{thread_id}": PLAIN,
    "PATCH /api/assistant-ui/threads/{thread_id}": (Ask({"status": "archived", "title": "Mine"}),),
    "DELETE /api/assistant-ui/threads/{thread_id}": PLAIN,
    "POST /api/assistant-ui/threads/{thread_id}/title": (Ask(), Ask({"messages": [QUESTION]})),
    "GET /api/assistant-ui/threads/{thread_id}/messages": (Ask(), Ask(query={"shape": "page"})),
    "POST /api/assistant-ui/threads/{thread_id}/messages": (
        Ask({"id": "<message>", "content": ROW}),
        Ask({"id": "m9", "parent_id": "<message>", "content": ROW}),
    ),
    "PUT /api/assistant-ui/threads/{thread_id}/messages/{message_id}": (Ask({"content": ROW}),),
    "DELETE /api/assistant-ui/threads/{thread_id}/messages/{message_id}": PLAIN,
    # The routes of OpenAI and of AG-UI
    "GET /v1/models": PLAIN,
    "GET /v1/models/{model_id}": PLAIN,
    "POST /v1/chat/completions": (
        Ask({"model": "quick", "messages": [{"role": "user", "content": "How tall?"}]}),
        Ask(
            {
                "model": "quick",
                "messages": [{"role": "user", "content": "How tall?"}],
                "metadata": {"thread_id": "<thread>"},
            }
        ),
        Ask(
            {
                "model": "asking",
                "messages": [{"role": "tool", "tool_call_id": "<call>", "content": "mine"}],
                "metadata": {"thread_id": "<thread>"},
            }
        ),
    ),
    "POST /api/ag-ui/{agent_name}": (
        Ask({"threadId": "<thread>", "runId": "r", "messages": [SAID_TO_AG_UI]}),
        Ask({"threadId": "<thread>", "runId": "r", "messages": [], "resume": [ALLOWED_IN_AG_UI]}),
    ),
    "POST /mcp": tuple(
        Ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        for method, params in MCP_REQUESTS
    ),
    # The server
    "GET /api/openapi.json": PLAIN,
    "GET /api/docs": PLAIN,
    "GET /api/docs/openapi.json": PLAIN,
    "GET /healthz": PLAIN,
    "GET /readyz": PLAIN,
    "GET /metrics": PLAIN,
}


def path_of(template: str, ids: Ids) -> str:
    """A path with ids instead of parameters."""
    for name, stands_for in IN_PATHS.items():
        template = template.replace(name, stands_for)
    return _text(template, ids)


def _text(text: str, ids: Ids) -> str:
    for name, value in ids.items():
        text = text.replace(f"<{name}>", value)
    return text


def filled(value: Any, ids: Ids) -> Any:
    """A value with ids instead of placeholders."""
    if isinstance(value, str):
        return _text(value, ids)
    if is_array(value):
        return [filled(one, ids) for one in value]
    if is_object(value):
        return {name: filled(one, ids) for name, one in value.items()}
    return value
