"""The texts of the OpenAPI document: descriptions, tags, security schemes, problems, examples."""

from collections.abc import Iterable, Mapping
from typing import Final

from partita.types.json import JsonObject

REF: Final = "#/components/schemas/"
"""The start of references to schemas in the document."""

DESCRIPTION: Final = """\
Threads, messages and runs of AI agents, stored completely and streamed live.

**Authentication.** If the server uses keys, send one as `Authorization: Bearer …` or as `x-api-key`. \
Without keys, only this machine is served: send the token that `partita serve` prints in the same way. Data \
of other owners is not found.

**Streams** are server-sent events with the chunks of the AI SDK. Disconnecting does not stop a run; a \
client can reconnect and read all of it.

**Problems** are `application/problem+json`: what is wrong, where, and how to fix it.

**Lists** are paginated: `next` of a page is the `cursor` of the following page.
"""

TAGS: Final = {
    "chat": "Routes of `useChat` of the AI SDK.",
    "threads": "Conversations.",
    "messages": "Messages of threads, in any format.",
    "runs": "Runs of agents: follow, stop, answer, replay and compare them.",
    "run logs": "The log of each run, entry by entry, and the raw bytes of the agent.",
    "agents": "The available agents.",
    "search": "Full-text search in messages and titles.",
    "analytics": "Usage, costs and tool calls.",
    "import": "Import agent logs and messages.",
    "settings": "Settings of the user of the server's machine, and where logs are searched for.",
    "formats": "Conversion between message formats, with a report of losses.",
    "blobs": "Files and images.",
    "sharing": "Export a thread as a file.",
    "mastra": "Routes of Mastra's clients.",
    "assistant-ui": "Routes of assistant-ui's clients.",
    "openai": "Routes of clients of OpenAI's Chat Completions.",
    "ag-ui": "Routes of clients of AG-UI.",
    "health": "Monitoring of the server.",
}

DIALECTS: Final = ("mastra", "assistant-ui")
"""Tags of routes for clients of other projects. Their operation ids have the tag as prefix."""

SECURITY: Final[list[JsonObject]] = [{"bearer": []}, {"apiKey": []}, {}]
"""Any of these is sufficient; a server without keys may need none."""

SECURITY_SCHEMES: Final[JsonObject] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key of `partita keys create`, or the token of the server.",
    },
    "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "The same key."},
}

EXAMPLES: Final[JsonObject] = {
    "Thread": {
        "id": "chat-1",
        "title": "Lighthouses",
        "agent": "demo",
        "messageCount": 2,
        "activeLeafId": "m2",
        "createdAt": "2026-03-01T09:00:00Z",
        "updatedAt": "2026-03-01T09:00:04Z",
    },
    "Run": {
        "id": "run-1",
        "threadId": "chat-1",
        "status": "completed",
        "messageId": "m2",
        "agent": "demo",
        "model": "scripted",
        "usage": {"inputTokens": 40, "outputTokens": 16, "totalTokens": 56},
        "startedAt": "2026-03-01T09:00:01Z",
        "finishedAt": "2026-03-01T09:00:04Z",
    },
    "Message": {
        "role": "assistant",
        "id": "m2",
        "threadId": "chat-1",
        "type": "tool",
        "createdAt": "2026-03-01T09:00:04Z",
        "content": {
            "format": 2,
            "parts": [
                {"type": "reasoning", "text": "The tower is in the register."},
                {
                    "type": "tool-call",
                    "id": "call-1",
                    "name": "look_up",
                    "state": "output-available",
                    "input": {"tower": "Slettnes"},
                    "output": {"type": "json", "value": {"metres": 39}},
                },
                {"type": "text", "text": "It is 39 metres high."},
            ],
        },
    },
    "Chunk": {"type": "text-delta", "id": "0", "delta": "Forty-one metres."},
}
"""Examples by the name of the schema."""


PROBLEM: Final[JsonObject] = {
    "title": "Problem",
    "description": "Why a request was refused or has failed: RFC 9457.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "default": "about:blank"},
        "title": {"type": "string", "description": "The name of the status."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What is wrong."},
        "where": {"type": "string", "description": "Where: a path such as `$.messages[2].id`."},
        "hint": {"type": "string", "description": "How to fix it."},
        "instance": {"type": "string", "format": "uri", "description": "Its id in the log of the server."},
        "errors": {
            "type": "array",
            "description": "All errors of parameters and body.",
            "items": {
                "type": "object",
                "required": ["what", "where"],
                "properties": {"what": {"type": "string"}, "where": {"type": "string"}},
            },
        },
    },
    "additionalProperties": True,
    "examples": [
        {
            "type": "about:blank",
            "title": "Not Found",
            "status": 404,
            "detail": "no thread 'chat-7'",
        }
    ],
}
"""The schema of problem details."""

PROBLEMS: Final[Mapping[str, str]] = {
    "400": "The request is not valid.",
    "401": "The caller is unknown.",
    "404": "It does not exist, or belongs to another owner.",
    "default": "Any other problem.",
}
"""The problems that every operation may respond with; 404 if the path has a parameter."""

SUCCESSES: Final[Mapping[int, str]] = {
    200: "OK.",
    201: "Created.",
    202: "Accepted.",
    204: "Done, without content.",
}
"""The description of a success, by its status, unless the endpoint has one."""

EVENTS: Final[JsonObject] = {
    "schema": {
        "type": "string",
        "description": (
            "Server-sent events. Each `data:` line has one chunk as JSON, for the client's release of the "
            "AI SDK; the last one has `[DONE]`. Lines that start with a colon are keep-alive comments."
        ),
        "x-event": {"$ref": f"{REF}Chunk"},
    },
    "example": (
        'data: {"type":"start","messageId":"m2"}\n\n'
        'data: {"type":"text-start","id":"0"}\n\n'
        'data: {"type":"text-delta","id":"0","delta":"Forty-one metres."}\n\n'
        'data: {"type":"text-end","id":"0"}\n\n'
        'data: {"type":"finish","finishReason":"stop"}\n\n'
        "data: [DONE]\n\n"
    ),
}
"""The content of a response that is an event stream."""


def tags_of(used: Iterable[str]) -> list[JsonObject]:
    """The used tags in the order of `TAGS`, then all others."""
    names = dict.fromkeys(used)
    ordered = [name for name in TAGS if name in names] + [name for name in names if name not in TAGS]
    return [{"name": name, **({"description": TAGS[name]} if name in TAGS else {})} for name in ordered]
