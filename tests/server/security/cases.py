"""The requests for every route. Placeholders such as `<thread>` stand for ids, which tests fill in.

Every route needs requests in this table, with the ids of the data that it uses: otherwise tests fail.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from partita.types.json import is_array, is_object

from .multi_tenant import Ids


class Request(NamedTuple):
    """A request without its path."""

    json: Any = None
    query: Mapping[str, str] = {}
    body: str | None = None
    headers: Mapping[str, str] = {}

    def about(self, ids: Ids) -> "Request":
        """The request with ids instead of placeholders."""
        return Request(
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
AG_UI_MESSAGE: Final = {"id": "<message>", "role": "user", "content": "How tall?"}
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
OF_ALICE: Final = {"resourceId": "alice"}

PLAIN: Final = (Request(),)


def _memory(*requests: Request) -> tuple[Request, ...]:
    """The same request, and one with an owner."""
    return (*requests, *(request._replace(query={**request.query, **OF_ALICE}) for request in requests))


THREADS_OF_MASTRA: Final = {
    "GET": _memory(Request()),
    "POST": (
        Request({"threadId": "<thread>", "title": "Mine"}),
        Request({"threadId": "<thread>", "resourceId": "alice"}),
    ),
}
THREAD_OF_MASTRA: Final = {
    "GET": _memory(Request()),
    "PATCH": (Request({"title": "Mine"}), Request({"title": "Mine", "resourceId": "alice"})),
    "DELETE": _memory(Request()),
}
CLONE_OF_MASTRA: Final = (
    Request(),
    Request({"newThreadId": "copy", "resourceId": "alice"}),
    Request({"options": {"messageFilter": {"messageIds": ["<message>"]}}}),
)
MESSAGES_OF_MASTRA: Final = _memory(Request(), Request(query={"include": INCLUDED}))
SAVE_OF_MASTRA: Final = (
    Request({"messages": [MASTRA]}),
    Request({"messages": [{**MASTRA, "resourceId": "alice"}]}),
)
DELETE_OF_MASTRA: Final = _memory(
    Request({"messageIds": ["<message>", "<answer>"]}),
    Request({"messageIds": "<message>", "threadId": "<thread>"}),
)
MEMORY_OF_MASTRA: Final = {
    "GET": _memory(Request()),
    "POST": (
        Request({"workingMemory": "mine"}),
        Request({"workingMemory": "mine", "resourceId": "alice"}),
    ),
}

FOR_NO_OWNER: Final = (
    "/metrics",
    "/api/owners/{owner_id}",
    "/api/settings",
    "/api/sources",
    "/api/sources/import",
    "/api/prices",
    "/api/redaction",
    "/api/redaction/test",
)
"""Routes for administrators of all owners, or for the user of the server's machine."""

CASES: Final[Mapping[str, tuple[Request, ...]]] = {
    # The chat
    "POST /api/chat": (
        Request({"id": "<thread>", "messages": [QUESTION]}),
        Request({"id": "<thread>", "messages": [QUESTION, ALLOWED]}),
        Request({"id": "<thread>", "message": ALLOWED}),
        Request({"id": "<thread>", "messages": [], "trigger": "regenerate-message", "messageId": "<answer>"}),
    ),
    "GET /api/chat/{chat_id}/stream": (Request(), Request(headers={"last-event-id": "<run>:0"})),
    "POST /api/chat/{chat_id}/stop": (
        Request(),
        Request({"runId": "<run>"}),
        Request({"messageId": "<answer>"}),
    ),
    # Threads
    "GET /api/threads": (
        Request(),
        Request(query={"text": "marmalade"}),
        Request(query=OF_ALICE),
    ),
    "POST /api/threads": (
        Request({"id": "<thread>", "title": "Mine"}),
        Request({"id": "<thread>"}, OF_ALICE),
    ),
    "GET /api/threads/{thread_id}": (Request(), Request(query=OF_ALICE)),
    "PATCH /api/threads/{thread_id}": (
        Request({"title": None}),
        Request({"title": "Mine", "metadata": {"a": 1}}),
    ),
    "DELETE /api/threads/{thread_id}": (Request(), Request(query=OF_ALICE)),
    "DELETE /api/owners/{owner_id}": PLAIN,
    "POST /api/threads/{thread_id}/clone": (Request(), Request({"id": "copy"})),
    "POST /api/threads/{thread_id}/fork": (Request({"messageId": "<message>"}),),
    "POST /api/threads/{thread_id}/branch": (Request({"messageId": "<message>"}),),
    "GET /api/threads/{thread_id}/usage": PLAIN,
    "GET /api/summaries": (
        Request(),
        Request(query={"ids": "<thread>"}),
        Request(query=OF_ALICE),
    ),
    "GET /api/facets": (Request(), Request(query={"ids": "<thread>"}), Request(query=OF_ALICE)),
    "GET /api/feed": (Request(query={"seconds": "0"}), Request(query={"seconds": "0", **OF_ALICE})),
    # Messages
    "GET /api/threads/{thread_id}/messages": (
        Request(),
        Request(query={"around": "<message>"}),
        Request(query={"ids": "<message>", "timings": "true", "views": "true"}),
        Request(query={"format": "ai-sdk-ui-v7", "bare": "true"}),
    ),
    "POST /api/threads/{thread_id}/messages": (Request(STORED), Request([STORED], OF_ALICE)),
    "PUT /api/threads/{thread_id}/messages": (Request(STORED),),
    "POST /api/threads/{thread_id}/messages/delete": (Request({"ids": ["<message>", "<answer>"]}),),
    "GET /api/threads/{thread_id}/outline": (Request(), Request(query={"branch": "<message>"})),
    "GET /api/threads/{thread_id}/overview": (Request(), Request(query={"branch": "<message>"})),
    "GET /api/threads/{thread_id}/diff": (Request(), Request(query={"branch": "<message>"})),
    "GET /api/threads/{thread_id}/messages/{message_id}/raw": PLAIN,
    "GET /api/threads/{thread_id}/messages/{message_id}": PLAIN,
    "DELETE /api/threads/{thread_id}/messages/{message_id}": PLAIN,
    "PUT /api/threads/{thread_id}/messages/{message_id}/parts/{index}": (
        Request({"type": "text", "text": "mine"}),
    ),
    # Sharing
    "POST /api/threads/{thread_id}/share": (
        Request({"format": "markdown"}),
        Request({"format": "jsonl", "as": "ui", "messages": {"only": ["<message>"], "internal": True}}),
        Request({"format": "fixture"}, OF_ALICE),
    ),
    "POST /api/share": (
        Request({"format": "markdown", "ids": ["<thread>"]}),
        Request({"format": "html", "ids": ["<thread>"]}, OF_ALICE),
    ),
    "POST /api/threads/{thread_id}/share/preview": (
        Request({"format": "fixture"}),
        Request({"format": "jsonl"}, OF_ALICE),
    ),
    # Search and statistics
    "GET /api/search": (
        Request(query={"q": "marmalade"}),
        Request(query={"q": "marmalade", "thread": "<thread>"}),
        Request(query={"q": "marmalade", **OF_ALICE}),
    ),
    "GET /api/threads/{thread_id}/find": (Request(query={"q": "marmalade"}),),
    "GET /api/parts": (Request(), Request(query={"thread": "<thread>"}), Request(query=OF_ALICE)),
    "GET /api/stats": (
        Request(query={"by": "agent", "ids": "true"}),
        Request(query={"thread": "<thread>"}),
        Request(query=OF_ALICE),
    ),
    "GET /api/stats/tools": (Request(), Request(query=OF_ALICE)),
    "GET /api/stats/runs": (Request(), Request(query={"order": "duration", **OF_ALICE})),
    "GET /api/stats/threads": (Request(), Request(query={"order": "errors", **OF_ALICE})),
    "GET /api/threads/{thread_id}/growth": PLAIN,
    # Blobs
    "GET /api/blobs/{digest}": (
        Request(),
        Request(headers={"if-none-match": "*"}),
        Request(query=OF_ALICE),
    ),
    "HEAD /api/blobs/{digest}": (Request(), Request(headers={"if-none-match": '"<digest>"'})),
    "POST /api/blobs": (Request(body="bytes", headers={"content-type": "application/octet-stream"}),),
    # Runs
    "GET /api/runs": (
        Request(),
        Request(query={"threadId": "<thread>"}),
        Request(query=OF_ALICE),
    ),
    "GET /api/threads/{thread_id}/runs": PLAIN,
    "GET /api/runs/{run_id}": (Request(), Request(query=OF_ALICE)),
    "GET /api/runs/{run_id}/wait": (Request(query={"timeout": "0"}),),
    "POST /api/runs/{run_id}/stop": (Request(), Request({"reason": "mine"})),
    "POST /api/runs/{run_id}/approval": (Request({"approvalId": "<approval>", "approved": True}),),
    "POST /api/runs/{run_id}/output": (Request({"toolCallId": "<call>", "output": 1}),),
    "GET /api/runs/{run_id}/diff/{other_id}": PLAIN,
    "POST /api/runs/{run_id}/reproject": (Request(), Request(query={"force": "true"})),
    "GET /api/runs/{run_id}/log": (Request(), Request(headers={"accept": "application/x-ndjson"})),
    "GET /api/runs/{run_id}/raw": PLAIN,
    "GET /api/runs/{run_id}/stream": (
        Request(),
        Request(headers={"last-event-id": "<run>:0"}),
        Request(query={"as": "openai-chat"}),
        Request(query={"as": "ag-ui"}),
    ),
    "GET /api/runs/{run_id}/replay": (
        Request(query={"speed": "0"}),
        Request(query={"speed": "0", "as": "ag-ui"}),
    ),
    "GET /api/runs/{run_id}/at": PLAIN,
    "GET /api/runs/{run_id}/timeline": (
        Request(),
        Request(query={"wait": "0.01"}),
        Request(query=OF_ALICE),
    ),
    # Formats
    "GET /api/agents": PLAIN,
    "GET /api/formats": PLAIN,
    "POST /api/convert": (Request({"from": "canonical", "to": "ai-sdk-ui-v7", "payload": [STORED]}),),
    "POST /api/fold": (Request({"chunks": [{"type": "start", "messageId": "<answer>"}]}),),
    "POST /api/inspect": (
        Request([STORED], {"to": "ui"}),
        Request({"threadId": "<thread>", "id": "<message>"}),
    ),
    "POST /api/tool-views": (
        Request({"threadId": "<thread>", "calls": [{"type": "tool-call", "id": "<call>", "name": "Bash"}]}),
        Request({"threadId": "<thread>", "calls": [SHELL]}),
    ),
    "POST /api/import": (
        Request([STORED], {"threadId": "<thread>", "format": "canonical"}),
        Request([STORED], {"threadId": "<thread>", "format": "canonical", **OF_ALICE}),
    ),
    # Settings
    "GET /api/settings": PLAIN,
    "PATCH /api/settings": (Request({"import.agents": ["codex"]}),),
    "GET /api/sources": PLAIN,
    "GET /api/prices": PLAIN,
    "GET /api/redaction": PLAIN,
    "POST /api/redaction/test": (Request({"text": "password=hunter22"}),),
    "POST /api/sources/import": PLAIN,
    # The routes of Mastra, with both prefixes
    **{f"{method} /api/memory/threads": requests for method, requests in THREADS_OF_MASTRA.items()},
    **{f"{method} /api/memory/network/threads": requests for method, requests in THREADS_OF_MASTRA.items()},
    **{
        f"{method} /api/memory/threads/{{thread_id}}": requests
        for method, requests in THREAD_OF_MASTRA.items()
    },
    **{
        f"{method} /api/memory/network/threads/{{thread_id}}": requests
        for method, requests in THREAD_OF_MASTRA.items()
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
        f"{method} /api/memory/threads/{{thread_id}}/working-memory": requests
        for method, requests in MEMORY_OF_MASTRA.items()
    },
    **{
        f"{method} /api/memory/network/threads/{{thread_id}}/working-memory": requests
        for method, requests in MEMORY_OF_MASTRA.items()
    },
    "GET /api/memory/search": _memory(
        Request(query={"searchQuery": "marmalade"}),
        Request(query={"searchQuery": "marmalade", "threadId": "<thread>"}),
    ),
    # The routes of assistant-ui
    "GET /api/assistant-ui/threads": PLAIN,
    "POST /api/assistant-ui/threads": (Request({"id": "<thread>"}),),
    "GET /api/assistant-ui/threads/{thread_id}": PLAIN,
    "PATCH /api/assistant-ui/threads/{thread_id}": (Request({"status": "archived", "title": "Mine"}),),
    "DELETE /api/assistant-ui/threads/{thread_id}": PLAIN,
    "POST /api/assistant-ui/threads/{thread_id}/title": (
        Request(),
        Request({"messages": [QUESTION]}),
    ),
    "GET /api/assistant-ui/threads/{thread_id}/messages": (
        Request(),
        Request(query={"shape": "page"}),
    ),
    "POST /api/assistant-ui/threads/{thread_id}/messages": (
        Request({"id": "<message>", "content": ROW}),
        Request({"id": "m9", "parent_id": "<message>", "content": ROW}),
    ),
    "PUT /api/assistant-ui/threads/{thread_id}/messages/{message_id}": (Request({"content": ROW}),),
    "DELETE /api/assistant-ui/threads/{thread_id}/messages/{message_id}": PLAIN,
    # The routes of OpenAI and of AG-UI
    "GET /v1/models": PLAIN,
    "GET /v1/models/{model_id}": PLAIN,
    "POST /v1/chat/completions": (
        Request({"model": "quick", "messages": [{"role": "user", "content": "How tall?"}]}),
        Request(
            {
                "model": "quick",
                "messages": [{"role": "user", "content": "How tall?"}],
                "metadata": {"thread_id": "<thread>"},
            }
        ),
        Request(
            {
                "model": "asking",
                "messages": [{"role": "tool", "tool_call_id": "<call>", "content": "mine"}],
                "metadata": {"thread_id": "<thread>"},
            }
        ),
    ),
    "POST /api/ag-ui/{agent_name}": (
        Request({"threadId": "<thread>", "runId": "r", "messages": [AG_UI_MESSAGE]}),
        Request({"threadId": "<thread>", "runId": "r", "messages": [], "resume": [ALLOWED_IN_AG_UI]}),
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
    for name, placeholder in IN_PATHS.items():
        template = template.replace(name, placeholder)
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
