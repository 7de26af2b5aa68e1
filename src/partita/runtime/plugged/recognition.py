"""Whose event is this, does it end an answer, does it begin one? Told by what no other format has."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from partita.errors import AgentError, DecodeError
from partita.types.chunks import UnknownChunk
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, dumps, is_array, is_object

CHUNKS: Final = "ai-sdk-chunks"

Test: TypeAlias = Callable[[JsonObject], bool]

SHOWN: Final = 100
"""How many characters of what nobody knows its error shows."""


class Sort(NamedTuple):
    """How the events of one format are known."""

    is_one: Test
    is_last: Test
    """Whether an answer is whole with it, but for what may trail behind."""
    is_next: Test
    """Whether, after the last, it is of another answer."""


def _never(event: JsonObject) -> bool:
    return False


def _always(event: JsonObject) -> bool:
    return True


def _type(event: JsonObject) -> str:
    type_: Json = event.get("type")
    return type_ if isinstance(type_, str) else ""


def _first(event: JsonObject, name: str) -> JsonObject:
    items: Json = event.get(name)
    return items[0] if is_array(items) and items and is_object(items[0]) else {}


ANTHROPIC: Final = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
    }
)


def _is_anthropic(event: JsonObject) -> bool:
    if _type(event) == "message":
        return event.get("role") == "assistant" and is_array(event.get("content"))
    return _type(event) in ANTHROPIC or (_type(event) == "error" and is_object(event.get("error")))


def _is_chat(event: JsonObject) -> bool:
    named: Json = event.get("object")
    return is_array(event.get("choices")) or (isinstance(named, str) and named.startswith("chat.completion"))


def _is_response(event: JsonObject) -> bool:
    return _type(event).startswith("response.") or event.get("object") == "response"


def _is_gemini(event: JsonObject) -> bool:
    return "type" not in event and bool({"candidates", "usageMetadata", "promptFeedback"} & event.keys())


def _is_claude(event: JsonObject) -> bool:
    match event:
        case {"type": "system" | "result", "subtype": str()}:
            return True
        case {"type": "assistant" | "user", "message": {"role": str()}}:
            return True
        case {"type": "stream_event", "event": {"type": str()}}:
            return True
        case _:
            return False


def _is_chunk(event: JsonObject) -> bool:
    if not _type(event):
        return False
    try:
        return not isinstance(read_chunk(event), UnknownChunk)
    except DecodeError:
        return False


RESPONSE_ENDS: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)


def _ends_message(event: JsonObject) -> bool:
    return _type(event) in ("message_stop", "message")


def _begins_message(event: JsonObject) -> bool:
    return _type(event) in ("message_start", "message")


def _ends_response(event: JsonObject) -> bool:
    return _type(event) in RESPONSE_ENDS or event.get("object") == "response"


def _ends_choice(event: JsonObject) -> bool:
    return _first(event, "choices").get("finish_reason") is not None


def _has_choice(event: JsonObject) -> bool:
    return bool(_first(event, "choices"))


def _ends_candidate(event: JsonObject) -> bool:
    return _first(event, "candidates").get("finishReason") is not None


def _has_candidate(event: JsonObject) -> bool:
    return bool(_first(event, "candidates"))


SORTS: Final[Mapping[str, Sort]] = {
    "anthropic": Sort(_is_anthropic, _ends_message, _begins_message),
    "openai-responses": Sort(_is_response, _ends_response, _is_response),
    # What was consumed comes behind the last choice or candidate, without any.
    "openai-chat": Sort(_is_chat, _ends_choice, _has_choice),
    "gemini": Sort(_is_gemini, _ends_candidate, _has_candidate),
    "claude-code-stream": Sort(_is_claude, _never, _never),  # one decoder reads all turns
    CHUNKS: Sort(_is_chunk, _always, _never),  # a chunk stands for itself: it can be left at any time
}

OTHER: Final = Sort(_never, _never, _never)


def sort_of(format_name: str) -> Sort:
    """How events of a format are known. Chat servers with a name of their own speak as OpenAI does."""
    return SORTS.get("openai-chat" if format_name.startswith("openai-chat") else format_name, OTHER)


def recognise(event: Json) -> str:
    """The format of a first event; an `AgentError` if that cannot be told for certain."""
    found = [name for name, sort in SORTS.items() if is_object(event) and sort.is_one(event)]
    if len(found) == 1:
        return found[0]
    shown = dumps(event).decode()[:SHOWN]
    raise AgentError(
        f"cannot tell whose event this is: {shown}",
        hint=f'as_agent(f, format="…"), such as {", ".join(SORTS)}; or yield text or chunks',
    )
