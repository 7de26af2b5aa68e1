"""Rows of OpenCode's part table, one a line → messages.

Rows as they are name their message by its id. Those that recorders dump have no ids, but keys of the
recorder's, which begin with an underscore: `_role`, `_ts`, `_cwd`, `_model`, `_error`. There, a call of the
model is a message, and begins with `step-start`.
"""

from collections import OrderedDict
from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject

from .content import is_injected
from .times import time_in

REMEMBERED: Final = 1024
"""How many messages can still get parts."""


def is_row(record: JsonObject) -> bool:
    """Whether a record is such a row."""
    return isinstance(record.get("type"), str) and (
        isinstance(record.get("_role"), str) or isinstance(record.get("messageID"), str)
    )


class Message(NamedTuple):
    """A message as far as its rows have come."""

    info: JsonObject
    parts: list[JsonObject]

    def with_part(self, part: JsonObject, said: JsonObject) -> "Message":
        """The message with a part in it; one of the same id is replaced."""
        ids = [one.get("id") for one in self.parts]
        if part.get("id") is None or part["id"] not in ids:
            return Message({**self.info, **said}, [*self.parts, part])
        parts = [part if one.get("id") == part["id"] else one for one in self.parts]
        return Message({**self.info, **said}, parts)


class Rows:
    """Rows in, the message that each belongs to out, as far as it has come."""

    def __init__(self) -> None:
        self._count = 0
        self._messages: OrderedDict[str, Message] = OrderedDict()
        self._last = ""
        self._model: Json = None

    def feed(self, row: JsonObject) -> JsonObject:
        """The message with the row in it."""
        self._count += 1
        part = {key: value for key, value in row.items() if not key.startswith("_")}
        id_ = part.get("messageID")
        if not isinstance(id_, str):
            id_ = f"row-{self._count}" if self._begins(row, part) else self._last
        self._last = id_
        message = self._messages.get(id_) or Message(_info(id_, row, part), [])
        message = message.with_part(part, self._said(message.info["role"], row, part))
        self._messages[id_] = message
        if len(self._messages) > REMEMBERED:
            self._messages.popitem(last=False)
        return {"info": message.info, "parts": message.parts}

    def _begins(self, row: JsonObject, part: JsonObject) -> bool:
        """Whether a row without ids begins a message."""
        message = self._messages.get(self._last)
        if message is None or row.get("_role") != message.info["role"]:
            return True
        if row.get("_role") == "user":
            return part["type"] == "text" and not is_injected(part)
        return part["type"] == "step-start" and any(one["type"] == "step-start" for one in message.parts)

    def _said(self, role: str, row: JsonObject, part: JsonObject) -> JsonObject:
        """What a row says of its message."""
        said: JsonObject = {"path": {"cwd": row["_cwd"]}} if "_cwd" in row else {}
        if role == "user" and row.get("_model") is not None:
            self._model = row["_model"]
        model = self._model if row.get("_model") is None else row["_model"]
        if model is not None:
            said |= {"model": {"modelID": model}} if role == "user" else {"modelID": model}
        if part["type"] == "step-finish":
            said["finish"] = part.get("reason")
        if row.get("_error") is not None:
            said["error"] = row["_error"]
        return said


def _info(id_: str, row: JsonObject, part: JsonObject) -> JsonObject:
    """A message of which nothing is known but its first row. What a model says begins with a step."""
    role = row.get("_role")
    if not isinstance(role, str):
        role = "assistant" if part["type"] == "step-start" else "user"
    created = row.get("_ts")
    if created is None and time_in(part, "start") is not None:
        created = part["time"]["start"]
    return {"id": id_, "role": role, "time": {"created": created}}
