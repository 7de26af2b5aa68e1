"""Recorded messages, one after the other → messages of the model's view."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from partita.formats.framework.members import metadata_of
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    derive_type,
)
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart
from partita.types.tools import ToolResultPart

from .calls import BACK, SERVER, read_back, read_call, read_result
from .parts import read_plain
from .wrapping import NAME

ROLES: Final[Mapping[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
}
RESULT: Final = "tool_call_response"


class Reader:
    """One recording on its way."""

    def __init__(self, thread_id: str | None, before: int = 0) -> None:
        self.thread_id, self.before = thread_id, before
        self.messages: list[Message] = []
        self.paths: list[str] = []
        self.names: dict[str, str] = {}
        self.open: list[str] = []
        self.head: str | None = None
        self.path = "$"

    def instruct(self, parts: list[Json]) -> None:
        """Read system instructions, which are parts without a message."""
        self._append(_system(parts, self._around(), {"instructions": True}))

    def add(self, raw: JsonObject, path: str, *, is_made: bool, is_last: bool) -> None:
        """Read one message. Results among other parts are messages of their own."""
        self.path = path
        role, parts = raw["role"], raw["parts"]
        ours = ROLES.get(role, "user")
        note = {key: value for key, value in raw.items() if key not in {"role", "parts"}}
        if role != ours:
            note["role"] = role
        if is_made != (is_last and ours == "assistant"):
            note["made"] = is_made
        if ours == "assistant":
            self._assistant(parts, note)
        elif ours == "system":
            self._append(_system(parts, self._around(), note))
        else:
            self._others(parts, ours, note)

    def _others(self, parts: list[Json], role: str, note: JsonObject) -> None:
        """A message of the user or of tools, in runs of results and of other parts."""
        run: list[Any] = []
        is_first = True
        for raw in [*parts, None]:
            result = self._result(raw) if is_object(raw) and raw.get("type") == RESULT else None
            part: Any = result if result is not None else raw
            if run and (raw is None or (type(run[-1]) is ToolResultPart) != (result is not None)):
                self._run(run, role, note if is_first else {"joined": True})
                run, is_first = [], False
            if raw is not None:
                run.append(part)
        if not parts:
            self._run([], role, note)

    def _run(self, run: list[Any], role: str, note: JsonObject) -> None:
        if (run and type(run[0]) is ToolResultPart) or (not run and role == "tool"):
            marked = note if role == "tool" else {"role": role, **note}
            content = ToolContent(parts=tuple(run), provider_metadata=metadata_of(NAME, marked))
            around = self._around()
            if self.head is not None and not note.get("joined"):
                around["id"] = f"{self.head}#1:results"
            self.head = None
            self._append(ToolMessage(content=content, type=derive_type(run), **around))
            return
        self.head = None
        marked = note if role == "user" else {"role": role, **note}
        parts = tuple(_fitting(read_plain(raw), raw, (TextPart, ImagePart, FilePart)) for raw in run)
        self._append(
            UserMessage(
                content=UserContent(parts=parts, provider_metadata=metadata_of(NAME, marked)),
                type="text",
                **self._around(),
            )
        )

    def _result(self, raw: JsonObject) -> ToolResultPart | None:
        call_id = raw.get("id") if isinstance(raw.get("id"), str) else None
        if call_id is None:
            named = [one for one in self.open if raw.get("name") in (None, self.names.get(one))]
            call_id = named[0] if named else f"message-{self._count() + 1}:result"
        if call_id in self.open:
            self.open.remove(call_id)
        return read_result(raw, call_id, self.names.get(call_id))

    def _assistant(self, raws: list[Json], note: JsonObject) -> None:
        around = self._around()
        parts: list[Any] = []
        calls: dict[str, int] = {}
        for at, raw in enumerate(raws):
            type_ = raw.get("type") if is_object(raw) else None
            if is_object(raw) and type_ in (BACK, RESULT) and _settle(raw, at, parts, calls):
                continue
            call = None
            if is_object(raw) and type_ in ("tool_call", SERVER):
                call = read_call(raw, f"{around['id']}:call-{at + 1}")
            if call is not None:
                calls[call.id] = len(parts)
            parts.append(call if call is not None else read_plain(raw))
        content = AssistantContent(parts=tuple(parts), provider_metadata=metadata_of(NAME, note))
        self.head = around["id"]
        mine = [one for one in parts if type(one) is ToolCallPart and not one.provider_executed]
        self.names.update({call.id: call.name for call in mine})
        self.open = [call.id for call in mine]
        self._append(AssistantMessage(content=content, type=derive_type(parts), **around))

    def _append(self, message: Message) -> None:
        self.messages.append(message)
        self.paths.append(self.path)

    def _count(self) -> int:
        return self.before + len(self.messages)

    def _around(self) -> dict[str, Any]:
        return {"id": f"message-{self._count() + 1}", "thread_id": self.thread_id}


def _system(raws: list[Json], around: dict[str, Any], note: JsonObject) -> SystemMessage:
    parts = tuple(_fitting(read_plain(raw), raw, (TextPart,)) for raw in raws)
    return SystemMessage(
        content=SystemContent(parts=parts, provider_metadata=metadata_of(NAME, note)), **around
    )


def _fitting(part: Any, raw: Json, types: tuple[type, ...]) -> Any:
    return part if isinstance(part, types) else ForeignPart(NAME, raw)


def _settle(raw: JsonObject, at: int, parts: list[Any], calls: dict[str, int]) -> bool:
    """Put what came of a provider's call into it."""
    place = calls.get(str(raw.get("id")))
    call = None if place is None else parts[place]
    if place is None or not isinstance(call, ToolCallPart) or call.output is not None:
        return False
    settled = read_back(call, raw, None if place == len(parts) - 1 else at)
    if settled is None:
        return False
    parts[place] = replace(settled)
    return True
