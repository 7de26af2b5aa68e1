"""Messages of LangChain → canonical messages.

Read are message dicts, constructors, plain dumps and pieces of streams, with standard content blocks or with
those of providers. Calls in blocks and beside them are one by id; tool messages are merged into their calls.
What LangChain alone knows is kept under its name in provider metadata. A message without an id is
`message-N`, counted from one. Messages of other types than these are kept whole, as notices.

Lost: the path of a class, the cuts of a stream, the place of a result that stands elsewhere than behind its
call, and the order of results that are not in the order of their calls.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from partita.formats.bare import is_bare_answer
from partita.formats.format import Loaded, Request
from partita.formats.framework.members import Members, metadata_of, noted
from partita.formats.framework.places import told_places
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import FilePart, ForeignPart, ImagePart, StepStartPart, TextPart

from .answers import read_answer
from .blocks import read_block
from .chunks import joined_chunks
from .envelope import NAME, TYPES, VOID_AROUND, Kept, Messages, messages_in, opened
from .plainly import read_plainly
from .results import read_result
from .shapes import standard

CHAT_ROLES = {"assistant": "ai", "ai": "ai", "system": "system", "developer": "system"}


def load(payload: Json) -> Loaded:
    """Messages of LangChain, one or a list of them or a state that has them, as canonical messages."""
    found = messages_in(payload)
    request = Request(settings=found.beside) if found.beside else None
    plain = read_plainly(found.items)
    if plain is not None:
        return Loaded(tuple(plain), (), request)
    return load_slowly(found, request)


def load_slowly(found: Messages, request: Request | None = None) -> Loaded:
    """The same for messages that may have anything unusual about them."""
    losses: list[Loss] = []
    messages = _Reader(joined_chunks(opened(found, losses), losses)).read()
    losses += told_places(messages.read, messages.paths)
    return Loaded(tuple(fold(messages.read)), tuple(losses), request)


class _Reader:
    """One payload on its way."""

    def __init__(self, kept: Sequence[Kept]) -> None:
        self.kept = kept
        self.read_: list[Message] = []
        self.names: dict[str, str] = {}
        self.steps = 0
        self.head: AssistantMessage | None = None
        self.begun = 0
        """Where the message begins that the answers at hand are steps of."""
        self.answered = {str(one.data.get("tool_call_id")) for one in kept if one.type == "tool"}

    def read(self) -> "_Read":
        """All of it."""
        for index, one in enumerate(self.kept):
            self.read_.append(self._message(one, f"message-{index + 1}"))
        return _Read(self.read_, [one.path for one in self.kept])

    def _message(self, kept: Kept, made_id: str) -> Message:
        members = Members(kept.data)
        named = members.left.get("id")
        id_ = named if isinstance(named, str) else made_id
        if named is None or id_ is named:
            members.any("id")
        role = kept.type
        if role == "chat":
            members.left["role_"] = kept.data.get("role")
            members.any("role")
            role = CHAT_ROLES.get(str(kept.data.get("role")), "human")
        message: Message | None = None
        if role == "ai":
            message = self._answer(members, id_, kept)
        elif role == "tool":
            message = self._result(members, id_, made_id)
        elif role in {"human", "system"}:
            message = said(members, id_, role)
        if role not in {"ai", "tool"} or message is None:
            self.head = None
        if message is None or kept.type not in TYPES:
            whole = ForeignPart(NAME, kept.raw)
            return UserMessage(id=id_, type="event", content=UserContent(parts=(whole,)))
        return message

    def _answer(self, members: Members, id_: str, kept: Kept) -> Message | None:
        message = read_answer(members, id_, kept.path, self.answered)
        if message is None:
            return None
        for part in message.parts:
            if type(part) is ToolCallPart:
                self.names[part.id] = part.name
        head = self.head
        if head is not None and id_ == f"{head.id}#{self.steps + 1}":
            self.steps += 1
            return self._of_one_type(_piece(message, head), head)
        self.head, self.begun, self.steps = message, len(self.read_), 1
        return message

    def _of_one_type(self, piece: AssistantMessage, head: AssistantMessage) -> AssistantMessage:
        """A step that can be joined to its message: all are of type `tool` if one of them is."""
        if piece.type == head.type or not is_bare_answer(piece.content):
            return piece
        for index, message in enumerate(self.read_[self.begun :], self.begun):
            if type(message) is AssistantMessage and message.type != "tool":
                self.read_[index] = replace(message, type="tool")
        self.head = replace(head, type="tool")
        return replace(piece, type="tool")

    def _result(self, members: Members, id_: str, made_id: str) -> Message | None:
        result = read_result(members, self.names.get(str(members.left.get("tool_call_id"))))
        if result is None:
            return None
        if id_ == made_id and self.head is not None:
            id_ = f"{self.head.id}#{self.steps}:results"
        content = ToolContent(parts=(result,), provider_metadata=metadata_of(NAME, members.left))
        return ToolMessage(id=id_, content=content, type="tool")


class _Read:
    def __init__(self, read: list[Message], paths: list[str]) -> None:
        self.read, self.paths = read, paths


def _piece(message: AssistantMessage, head: AssistantMessage) -> AssistantMessage:
    """A step with its boundary, and without what it only says because its head does."""
    content = message.content
    metadata = content.provider_metadata
    if metadata is not None:
        note = dict(noted(metadata, NAME))
        about = note.get("response_metadata")
        if is_object(about) and about == {"model_provider": _provider_of(head)}:
            del note["response_metadata"]
        note.pop("string", None)
        note.pop("list", None)
        metadata = metadata_of(NAME, note, {key: value for key, value in metadata.items() if key != NAME})
    parts: tuple[AssistantPart, ...] = (StepStartPart(), *content.parts)
    return replace(message, content=replace(content, content=None, provider_metadata=metadata, parts=parts))


def _provider_of(head: AssistantMessage) -> Json:
    about = noted(head.content.provider_metadata, NAME).get("response_metadata")
    return about.get("model_provider") if is_object(about) else None


def said(members: Members, id_: str, role: str) -> Message | None:
    """A message of the user or the system."""
    content: Json = members.left.get("content")
    if not isinstance(content, str) and not is_array(content):
        return None
    members.any("content")
    members.forget(VOID_AROUND)
    text = content if isinstance(content, str) else None
    parts: list[Any] = [TextPart(content)] if isinstance(content, str) else _parts(content, role)
    if text is None and len(parts) == 1 and parts[0] == TextPart(getattr(parts[0], "text", "")):
        members.left["list"] = True
    metadata = metadata_of(NAME, members.left)
    if role == "system":
        system = SystemContent(parts=tuple(parts), content=text, provider_metadata=metadata)
        return SystemMessage(id=id_, content=system, type="text")
    user = UserContent(parts=tuple(parts), content=text, provider_metadata=metadata)
    return UserMessage(id=id_, content=user, type="text")


def _parts(content: list[Any], role: str) -> list[Any]:
    fitting = (TextPart,) if role == "system" else (TextPart, ImagePart, FilePart)
    parts: list[Any] = []
    for raw in content:
        blocks = standard(raw)
        part = read_block(blocks[0], None) if len(blocks) == 1 else None
        parts.append(part if isinstance(part, fitting) else ForeignPart(NAME, raw))
    return parts
