"""A request → messages: system prompts, what tools gave back, what the user said."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import ErrorJsonOutput, ErrorTextOutput, ToolOutput, ToolResultPart

from .items import read_item
from .moments import moment_in, written_moment
from .outputs import read_output
from .shapes import NAME, members_of

FEEDBACK = ("retry-prompt", "retry-feedback")


class RequestReader:
    """One request on its way. What is said around its parts is kept with its first message."""

    def __init__(
        self, members: Members, head: AssistantMessage | None, names: Mapping[str, str], before: int
    ) -> None:
        self.members, self.head, self.names, self.before = members, head, names, before
        self.thread_id, self.run_id = members.text("conversation_id"), members.text("run_id")
        self.messages: list[Message] = []

    def instruct(self, text: str) -> None:
        """Begin with instructions that were not there before."""
        metadata = {NAME: {"instructions": True}}
        content = SystemContent(parts=(TextPart(text),), provider_metadata=metadata)
        self.messages.append(SystemMessage(id=self._id(), content=content, **self._around()))

    def add(self, raw: JsonObject) -> None:
        """Read one part."""
        kind: str = raw["part_kind"]
        message: Message | None = None
        if kind == "system-prompt":
            message = self._system(raw)
        elif kind == "user-prompt":
            message = self._user(raw)
        elif kind == "tool-return" or (kind == "retry-prompt" and isinstance(raw.get("tool_name"), str)):
            result = read_return(raw, self.names)
            if result is not None:
                self._result(result)
                return
        elif kind in FEEDBACK:
            message = self._feedback(raw, kind)
        if message is None:
            content = UserContent(parts=(ForeignPart(NAME, raw),))
            message = UserMessage(id=self._id(), content=content, type="event", **self._around())
        self.messages.append(message)

    def finish(self) -> Iterator[Message]:
        """The messages of the request."""
        if not self.messages:
            empty = UserContent(parts=(), provider_metadata={NAME: {"empty": True}})
            self.messages.append(UserMessage(id=self._id(), content=empty, **self._around()))
        note = self._about(self.messages[0])
        first = self.messages[0]
        if note:
            own = {**noted(first.content.provider_metadata, NAME), "request": note}
            others = {k: v for k, v in (first.content.provider_metadata or {}).items() if k != NAME}
            metadata = metadata_of(NAME, own, others)
            first = replace(first, content=replace(first.content, provider_metadata=metadata))  # pyright: ignore[reportArgumentType] # each role takes its own content
        yield first
        yield from self.messages[1:]

    def _about(self, first: Message) -> JsonObject:
        """What is said around the parts, beyond what follows from the first message."""
        left = self.members.left
        stamp = left.pop("timestamp", None)
        moment = None if first.created_at is None else written_moment(first.created_at)
        if isinstance(first, ToolMessage) and moment is None and moment_in(stamp) is not None:
            self.messages[0] = replace(first, created_at=moment_in(stamp))
        elif stamp != moment:
            left["timestamp"] = stamp
        return left

    def _id(self) -> str:
        return f"message-{self.before + len(self.messages) + 1}"

    def _around(self, stamp: Json = None) -> Any:
        return {"thread_id": self.thread_id, "run_id": self.run_id, "created_at": moment_in(stamp)}

    def _system(self, raw: JsonObject) -> Message | None:
        if not isinstance(raw.get("content"), str):
            return None
        members = members_of(raw, "system-prompt", "part_kind", "content")
        around = self._around(members.left.get("timestamp"))
        if around["created_at"] is not None:
            members.any("timestamp")
        metadata = metadata_of(NAME, {"part": members.left} if members.left else {})
        content = SystemContent(
            parts=(TextPart(raw["content"]),), content=raw["content"], provider_metadata=metadata
        )
        return SystemMessage(id=self._id(), content=content, **around)

    def _user(self, raw: JsonObject) -> Message | None:
        said: Json = raw.get("content")
        if not isinstance(said, str) and not is_array(said):
            return None
        members = members_of(raw, "user-prompt", "part_kind", "content")
        around = self._around(members.left.get("timestamp"))
        if around["created_at"] is not None:
            members.any("timestamp")
        parts = [TextPart(said)] if isinstance(said, str) else [read_item(item) for item in said]
        note: JsonObject = {"part": members.left} if members.left else {}
        if is_array(said) and (not said or (len(said) == 1 and isinstance(said[0], str))):
            note["list"] = True
        content = UserContent(
            parts=tuple(parts),
            content=said if isinstance(said, str) else None,
            provider_metadata=metadata_of(NAME, note),
        )
        given = self.members.left.get("metadata")
        if is_object(given) and not any(isinstance(one, UserMessage) for one in self.messages):
            self.members.any("metadata")
            content = replace(content, metadata=given)
        return UserMessage(id=self._id(), content=content, **around)

    def _feedback(self, raw: JsonObject, kind: str) -> Message | None:
        if not isinstance(raw.get("content"), str):
            return None
        members = members_of(raw, kind, "part_kind", "content")
        around = self._around(members.left.get("timestamp"))
        if around["created_at"] is not None:
            members.any("timestamp")
        note: JsonObject = {"of": kind, **({"part": members.left} if members.left else {})}
        content = UserContent(parts=(TextPart(raw["content"]),), provider_metadata={NAME: note})
        return UserMessage(id=self._id(), content=content, **around)

    def _result(self, result: ToolResultPart) -> None:
        last = self.messages[-1] if self.messages else None
        if type(last) is ToolMessage:
            parts = (*last.parts, result)
            self.messages[-1] = replace(last, content=replace(last.content, parts=parts))
            return
        id_ = self._id()
        if self.head is not None and not any(type(one) is ToolMessage for one in self.messages):
            id_ = f"{self.head.id}#1:results"
        self.messages.append(ToolMessage(id=id_, content=ToolContent(parts=(result,)), **self._around()))


def read_return(raw: JsonObject, names: Mapping[str, str]) -> ToolResultPart | None:
    """What a tool gave back, or that the model should try again."""
    kind: str = raw["part_kind"]
    members = members_of(raw, kind, "part_kind")
    name, call_id = members.text("tool_name"), members.text("tool_call_id")
    if call_id is None or (name is None and call_id not in names):
        return None
    output: ToolOutput | None
    if kind == "retry-prompt":
        said = members.any("content")
        output = ErrorTextOutput(said) if isinstance(said, str) else ErrorJsonOutput(said)
        members.left["of"] = kind
    else:
        output = read_output(members)
    if output is None:
        return None
    return ToolResultPart(
        call_id, names[call_id] if name is None else name, output, metadata_of(NAME, members.left)
    )
