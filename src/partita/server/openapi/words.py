"""What the description of the API says of itself: words, tags, keys, examples."""

from collections.abc import Iterable
from typing import Final

from partita.types.json import JsonObject

DESCRIPTION: Final = """\
Threads, messages and runs of agents, kept whole and streamed live.

**Who may ask.** With keys, send one as `Authorization: Bearer …` or as `x-api-key`. Without keys, this \
machine alone: `partita serve` prints a token, to be sent likewise. What belongs to another resource is not \
found.

**Streams** are server-sent events with the chunks of the AI SDK. A client that goes away does not stop a \
run; it can come back and read all of it.

**Problems** are `application/problem+json`: what is wrong, where, and how to fix it.

**Lists** come in pages: `next` of a page is the `cursor` of the one after it.
"""

TAGS: Final = {
    "chat": "What `useChat` of the AI SDK calls.",
    "threads": "Conversations.",
    "messages": "What was said in them, in any format.",
    "runs": "The work of agents: watched, stopped, answered, replayed.",
    "run logs": "What every run said, entry by entry, and the raw bytes behind it.",
    "agents": "Who can be asked.",
    "search": "Words, anywhere.",
    "analytics": "What was used, and what it cost.",
    "import": "Bringing in what others have kept.",
    "formats": "One format to another, losses told.",
    "blobs": "Files and pictures.",
    "sharing": "A thread as a file, for somebody else to read.",
    "mastra": "As clients of Mastra expect it.",
    "assistant-ui": "As clients of assistant-ui expect it.",
    "openai": "As clients of OpenAI's Chat Completions expect it.",
    "ag-ui": "As clients of AG-UI expect it.",
    "keys": "Who may ask.",
    "health": "For those who look after the server.",
}

DIALECTS: Final = ("mastra", "assistant-ui")
"""Tags of what is ours in the words of others: their operations bear their names."""

SECURITY: Final[list[JsonObject]] = [{"bearer": []}, {"apiKey": []}, {}]
"""Any of these will do; without keys, nothing is asked for."""

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
"""One of each, to look at: by the name of its schema."""


def tags_of(used: Iterable[str]) -> list[JsonObject]:
    """The tags that are used, in our order; others behind them."""
    there = dict.fromkeys(used)
    ordered = [name for name in TAGS if name in there] + [name for name in there if name not in TAGS]
    return [{"name": name, **({"description": TAGS[name]} if name in TAGS else {})} for name in ordered]
