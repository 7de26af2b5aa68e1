"""One message of A2A ↔ one of ours: a context is a thread, a task is a run."""

from typing import Final

from msgspec import UNSET

from partita.errors import ConversionError
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.tools import ToolResultPart

from .parts import ASSISTANT_PART, NAMESPACE, TOOL_PART, USER_PART, own_part, read_part, write_part

USER: Final = "ROLE_USER"
AGENT: Final = "ROLE_AGENT"
ROLES: Final = {USER: USER, "user": USER, AGENT: AGENT, "agent": AGENT}
OWN: Final = frozenset({"role", "parts", "metadata"})
NAMES: Final = frozenset({"messageId", "contextId", "taskId"})
"""What is read of a message: these three if they are texts that are not empty."""

NO_ROLE: Final = "give ROLE_USER or ROLE_AGENT; before protocol 1.0, user or agent"


def read_message(raw: JsonObject, path: str, fallback: str) -> Message:
    """A message. `fallback` is its id if it has none."""
    told = raw.get("role")
    role = ROLES.get(told) if isinstance(told, str) else None
    if role is None:
        what = f"unknown role {told!r:.40}" if isinstance(told, str) else f"role is {kind_of(told)}"
        raise ConversionError(what, where=f"{path}.role", hint=NO_ROLE)
    parts = parts_of(raw, path)
    more = {key: value for key, value in raw.items() if not _is_known(key, value) and value is not None}
    id_ = _text(raw, "messageId") or fallback
    metadata = raw.get("metadata", UNSET)
    marks = {NAMESPACE: more} if more else None
    thread_id, run_id = _text(raw, "contextId"), _text(raw, "taskId")
    if role == USER:
        said = tuple(read_part(part, USER_PART) for part in parts)
        user = UserContent(parts=said, metadata=metadata, provider_metadata=marks)
        return UserMessage(id=id_, thread_id=thread_id, run_id=run_id, content=user)
    results = [part for part in map(_result, parts) if part is not None]
    if results and len(results) == len(parts):
        content = ToolContent(parts=tuple(results), metadata=metadata, provider_metadata=marks)
        return ToolMessage(id=id_, thread_id=thread_id, run_id=run_id, content=content)
    answered = tuple(read_part(part, ASSISTANT_PART) for part in parts)
    answer = AssistantContent(parts=answered, metadata=metadata, provider_metadata=marks)
    return AssistantMessage(id=id_, thread_id=thread_id, run_id=run_id, content=answer)


def _result(raw: Json) -> ToolResultPart | None:
    found = own_part(raw, TOOL_PART) if _is_result(raw) else None
    return found if isinstance(found, ToolResultPart) else None


def _is_result(raw: Json) -> bool:
    """Whether a part says that it is a result of ours, which few do."""
    data = raw.get("data") if is_object(raw) else None
    return is_object(data) and data.get("type") == "tool-result"


def write_message(message: Message) -> JsonObject:
    """A message of protocol 1.0."""
    is_user = isinstance(message, UserMessage | SystemMessage)
    marks = (message.content.provider_metadata or {}).get(NAMESPACE)
    metadata: Json = message.content.metadata
    found: JsonObject = {
        "messageId": message.id,
        "contextId": message.thread_id,
        "taskId": message.run_id,
        "role": USER if is_user else AGENT,
        "parts": [write_part(part) for part in message.parts],
        "metadata": metadata if is_object(metadata) else None,
    }
    kept = {key: value for key, value in found.items() if value is not None}
    return {**(marks if is_object(marks) else {}), **kept}


def parts_of(raw: JsonObject, path: str) -> list[Json]:
    """The parts of a message or an artifact."""
    parts = raw.get("parts", [])
    if not is_array(parts):
        raise ConversionError(
            f"the parts are {kind_of(parts)}", where=f"{path}.parts", hint="make them an array of parts"
        )
    for number, part in enumerate(parts):
        if not is_object(part):
            where = f"{path}.parts[{number}]"
            raise ConversionError(f"a part is {kind_of(part)}", where=where, hint="make it an object")
    return parts


def _is_known(key: str, value: Json) -> bool:
    if key in NAMES:
        return isinstance(value, str) and bool(value)
    return key in OWN or (key == "kind" and value == "message")


def _text(raw: JsonObject, key: str) -> str | None:
    value = raw.get(key)
    return value if isinstance(value, str) and value else None
