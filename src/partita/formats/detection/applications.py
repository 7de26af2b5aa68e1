"""What gives the rows of Cherry Studio and Smithers away."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .sign import Sign, has_role


def _is_cherry(row: JsonObject) -> bool:
    """A row of a session, whose `data` or `content` is as Cherry Studio writes it, parsed or still text."""
    in_session = bool({"sessionId", "session_id"} & row.keys())
    for name, members in (("data", {"parts"}), ("content", {"blocks", "aiSDKChunks"})):
        value: Json = row.get(name)
        if isinstance(value, str):
            shows = in_session and value.lstrip().startswith("{")
        else:
            shows = is_object(value) and bool(members & value.keys())
        if shows and has_role(row):
            return True
    return False


def _is_smithers(row: JsonObject) -> bool:
    if {"contentJson", "content_json"} & row.keys():
        return has_role(row)
    tables = ("agents", "events", "toolCalls", "agent_stream_events", "tool_calls")
    signs = ({"execution_id", "prompt"}, {"agent_id", "event_type"}, {"agent_id", "tool_name"})
    is_dump = "role" not in row and "type" not in row and any(is_array(row.get(name)) for name in tables)
    return is_dump or any(sign <= row.keys() for sign in signs)


SIGNS: Final = (
    Sign("cherry", 0.9, "a row of a session, with parts, blocks or chunks", _is_cherry),
    Sign("smithers", 0.9, "columns of Smithers' tables", _is_smithers),
)
