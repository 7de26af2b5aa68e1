"""Shared by writers of session files: facts about the session, ids, and reports of losses."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, assert_never
from uuid import UUID, uuid5

from msgspec import UNSET

from partita.formats.losses import NO_PLACE, OTHER_ID, SHOWN, Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.parts import ContentItem, FilePart, ForeignPart, ImagePart, TextPart, UnknownPart
from partita.types.value import Value, fields_of


class SessionFacts(NamedTuple):
    """Facts about a session, which a file has in its header or on every line."""

    agent: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    git_commit: str | None = None
    git_repository: str | None = None
    model: str | None = None
    created_at: datetime | None = None


UNKNOWN_MODEL: Final = "unknown"
"""The name that a file has for a model that is not known."""


def model_of(message: Message) -> str | None:
    """The model of a message. Claude Code names it `<synthetic>` if no model wrote the message."""
    metadata: Json = message.content.metadata
    model = metadata.get("model") if is_object(metadata) and isinstance(message, AssistantMessage) else None
    return model if isinstance(model, str) and model and not model.startswith("<") else None


# Ids: always the same for the same messages

NAMESPACE: Final = UUID("6d1f2c0e-5a86-5c7b-9d0e-3b7a51f0c2a4")
CALL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The ids of calls that APIs accept."""


class Names:
    """Makes the ids of one file. None is used twice."""

    def __init__(self, thread_id: str, taken: Iterable[str] = (), *, calls: str = "toolu_{}") -> None:
        """`calls`: the form of new ids of calls."""
        self._thread_id = thread_id
        self._taken = set(taken)
        self._calls = calls

    def line(self, message_id: str, number: int) -> str:
        """Return a new id for a line of a message."""
        return self._new("line", message_id, number, "{}")

    def response(self, message_id: str, number: int) -> str:
        """Return a new id for a response in a message."""
        return self._new("response", message_id, number, "msg_{}")

    def call(self, call_id: str, message_id: str) -> str:
        """Return the id of a call if the API accepts it and no other call has it, else a new one."""
        if CALL_ID.fullmatch(call_id) and call_id not in self._taken:
            self._taken.add(call_id)
            return call_id
        return self._new(f"call {call_id}", message_id, 0, self._calls)

    def _new(self, kind: str, message_id: str, number: int, form: str) -> str:
        while True:
            derived = derived_uuid(kind, self._thread_id, message_id, str(number))
            name = form.format(derived if form == "{}" else derived.hex)
            if name not in self._taken:
                self._taken.add(name)
                return name
            kind += "+"


def derived_uuid(*names: str) -> UUID:
    """Return the UUID of these names, which is always the same."""
    return uuid5(NAMESPACE, "\n".join(names).encode("utf-8", "backslashreplace").decode())


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID in canonical form."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


# Losses

OTHER_FILE: Final = "a sub-agent has a file of its own"

REASONS: Final[Mapping[str, str]] = {
    "id": OTHER_ID,
    "children": OTHER_FILE,
    "internal": SHOWN,
}
"""The reasons why members are lost, by their names."""


class Losses:
    """The losses of one file."""

    def __init__(self) -> None:
        self.found: list[Loss] = []

    def add(self, path: str, value: Json, why: str) -> None:
        """Report the loss of a JSON value."""
        self.found.append(Loss.of(path, value, why))

    def add_whole(self, value: Value, path: str, why: str) -> None:
        """Report the loss of a whole part or message."""
        self.add(path, to_json(value), why)

    def add_members(self, value: Value, path: str, *carried: str) -> None:
        """Report the loss of the members of a value, except the carried ones."""
        for field, name, default in fields_of(type(value)):
            found = getattr(value, field)
            if found is None or found is UNSET or found == default or field in carried:
                continue
            if field == "extra":
                self.add(path, dict(found), NO_PLACE)
            else:
                self.add(f"{path}.{name}", to_json(found), REASONS.get(name, NO_PLACE))


def content_blocks(
    items: Sequence[ContentItem],
    path: str,
    losses: Losses,
    *,
    text_blocks: Callable[[str], Iterable[JsonObject]],
    file_blocks: Callable[[ImagePart | FilePart, str, Losses], Iterable[JsonObject]],
) -> list[JsonObject]:
    """Return the blocks of the content of a tool output; what blocks cannot contain is reported."""
    blocks: list[JsonObject] = []
    for index, item in enumerate(items):
        where = f"{path}.value[{index}]"
        match item:
            case TextPart(text=text):
                losses.add_members(item, where, "text", "state")
                blocks += text_blocks(text)
            case ImagePart() | FilePart():
                blocks += file_blocks(item, where, losses)
            case ForeignPart() | UnknownPart():
                losses.add_whole(item, where, NO_PLACE)
            case _:
                assert_never(item)
    return blocks
