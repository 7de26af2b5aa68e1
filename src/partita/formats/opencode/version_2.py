"""Records of OpenCode 2 → the messages and parts of version 1.

A record is one object with a `type`: a prompt, a response with all its parts, or an event. Members that
version 1 does not have keep their names. Seen in recordings.
"""

from typing import Final

from partita.formats.core.members import text_or, without
from partita.formats.log.sink import TurnEnd
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object

from .parts import KEY

VERSION_KEY: Final = "generation"
"""The member that marks a message of version 2."""

PREFIX: Final = "msg_"
FIRST: Final = frozenset({"info", "role", "messageID"})
"""Members that only records of version 1 have."""

PROMPTS: Final = frozenset({"user", "synthetic", "system", "skill"})
"""Types of inputs of the model. OpenCode adds all except the first."""

EVENTS: Final = frozenset(
    {"shell", "compaction", "idle", "agent-switched", "model-switched", "location-switched"}
)
ENDS: Final[dict[str, TurnEnd]] = {
    "succeeded": "completed",
    "failed": "failed",
    "interrupted": "interrupted",
}
STATUSES: Final = {"streaming": "pending"}
RENAMED: Final = {"uri": "url", "name": "filename"}


def is_version_2(record: JsonObject) -> bool:
    """Whether a record is one of version 2."""
    id_ = record.get("id")
    is_message = isinstance(id_, str) and id_.startswith(PREFIX)
    return is_message and isinstance(record.get("type"), str) and not record.keys() & FIRST


def prompt_of(record: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """Return an input of the model as a user message and its parts."""
    kind = record["type"]
    info: JsonObject = {**without(record, "type", "text", "files", "agents", "skills"), "role": "user"}
    text: JsonObject = {"type": "text", "text": record.get("text")}
    if kind != "user":
        text |= {"synthetic": True, "source": kind}
    parts = [text, *map(_file, _items(record, "files"))]
    for name, type_ in (("agents", "agent"), ("skills", "skill")):
        parts += [{**_object(item), "type": type_} for item in _items(record, name)]
    return {**info, VERSION_KEY: 2}, parts


def response_of(record: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """Return a response of a model as a message and its parts."""
    info: JsonObject = {**without(record, "type", "content", "model"), "role": "assistant", VERSION_KEY: 2}
    info |= response_names(_object(record.get("model")))
    return info, [{"type": "step-start"}, *map(_part, _items(record, "content"))]


def response_names(model: JsonObject) -> JsonObject:
    """Return the names of the model in version 1."""
    names = (("modelID", "id"), ("providerID", "providerID"), ("variant", "variant"))
    return {ours: model[theirs] for ours, theirs in names if theirs in model}


def event_text(record: JsonObject) -> str:
    """The text of an event, for display."""
    match record["type"]:
        case "shell":
            output = _object(record.get("output")).get("output", record.get("output"))
            return "\n".join(filter(None, (f"$ {record.get('command')}", text_or(output, ""))))
        case "compaction":
            failure = text_or(_object(record.get("error")).get("message"), "")
            return text_or(record.get("summary"), "") or failure
        case "agent-switched":
            return f"Agent: {record.get('agent')}"
        case "model-switched":
            return f"Model: {_object(record.get('model')).get('id')}"
        case "location-switched":
            return f"Folder: {_object(record.get('location')).get('directory')}"
        case _:
            return ""


def _part(part: Json) -> JsonObject:
    own = _object(part)
    match own.get("type"):
        case "tool":
            return _call(own)
        case "reasoning" if is_object(time := own.get("time")):
            return {**own, "time": _span(time, "created")}
        case _:
            return own if is_object(part) else {"value": part}


def _call(part: JsonObject) -> JsonObject:
    """Return a call with its state. An unfinished input is text."""
    state, time = _object(part.get("state")), _object(part.get("time"))
    status = state.get("status")
    made: JsonObject = {
        **without(state, "status", "input", "content", "error"),
        "status": STATUSES.get(status, status) if isinstance(status, str) else status,
        "time": _span(time, "ran" if "ran" in time else "created"),
        ("raw" if isinstance(state.get("input"), str) else "input"): state.get("input"),
    }
    if "content" in state:
        made["content"] = [_file(item) for item in _items(state, "content")]
    error = state.get("error")
    if error is not None:
        made["error"] = _object(error).get("message", error)
        made["errorType"] = _object(error).get("type")
    kept_part = without(part, "type", "id", "name", "state", "time")
    return {
        "type": "tool",
        "callID": part.get("id"),
        "tool": part.get("name"),
        "state": made,
        "executed": part.get("executed"),
        **({"metadata": {KEY: kept_part}} if kept_part else {}),
    }


def _file(item: Json) -> JsonObject:
    """A file, or a text beside files. Data becomes a URL."""
    own = _object(item)
    if own.get("type") == "text":
        return own
    file: JsonObject = {RENAMED.get(key, key): value for key, value in own.items()}
    data = file.get("data")
    if "url" not in file and isinstance(data, str):
        del file["data"]
        file["url"] = data if data.startswith("data:") else data_url(data, str(file.get("mime")))
    return {**file, "type": "file"} if is_object(item) else {"value": item}


def _span(time: JsonObject, start: str) -> JsonObject:
    """Return times in the form of version 1."""
    span: JsonObject = {"start": time.get(start)}
    if time.get("completed") is not None:
        span["end"] = time["completed"]
    return span


def _items(record: JsonObject, name: str) -> list[Json]:
    value = record.get(name)
    return value if is_array(value) else []


def _object(value: Json) -> JsonObject:
    return value if is_object(value) else {}
