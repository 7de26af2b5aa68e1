"""Rows of sessions in the words of an export."""

from typing import Final

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, loads

RENAMED: Final = {
    "project_id": "projectID",
    "workspace_id": "workspaceID",
    "parent_id": "parentID",
    "fork_session_id": "forkSessionID",
    "fork_boundary": "forkBoundary",
}
GROUPED: Final = ("time", "summary", "tokens")
"""Columns that begin with these are members of an object in an export."""


def session_of(row: JsonObject) -> JsonObject:
    """A row of the session table as an export has it: `time_created` is `time.created`, and so on."""
    info: JsonObject = {"time": {}}
    for column, value in row.items():
        if value is None:
            continue
        group, _, member = column.partition("_")
        if column == "share_url":
            info["share"] = {"url": value}
        elif group in GROUPED and member:
            info.setdefault(group, {})[member] = _unpacked(value)
        else:
            info[RENAMED.get(column, column)] = _unpacked(value)
    return info


def _unpacked(value: Json) -> Json:
    """A value of a column; those that hold objects and lists have them as text."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return loads(value)
    except DecodeError:
        return value
