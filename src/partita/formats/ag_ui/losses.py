"""What of canonical messages has no place in AG-UI messages."""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import fields

from partita.formats.losses import Loss, Severity
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, ToolMessage, derive_type
from partita.types.value import Value

from .notes import NAMESPACE, others_in

NO_PLACE: Final = "AG-UI messages have no place for it"

WHY: Final[Mapping[str, str]] = {
    "threadId": "messages do not name their thread",
    "createdAt": "messages have no time",
    "resourceId": "messages do not name their owner",
    "parentId": "messages form one line, without branches",
    "runId": "messages do not name their run",
    "seq": "messages are in order by their place in the list",
    "internal": "all messages are shown",
    "usage": "only the end of a run tells what it cost",
    "networkExecution": "there is no word for networks",
    "approval": "approvals are interrupts of a run, not part of a message",
    "citations": "there are no citations",
    "title": "calls have no title",
    "providerReference": "a file that has an address is told by its address",
}
"""Why a member is lost, where there is more to say."""

MINOR: Final = frozenset({"state", "inputEncoding", "tokenCount"})
"""Members that nobody who reads the messages will miss."""

ENVELOPE: Final = ("id", "content", "type")


class Members(NamedTuple):
    """The members of a type of values that do not arrive."""

    names: tuple[tuple[str, str], ...]
    """What they are called here and on the wire."""
    read: Callable[[Value], tuple[Any, ...]]
    """Their values, behind the type of the whole."""
    unset: tuple[Any, ...]
    """What is read of a value that has none of them."""


@cache
def members_but(type_: type[Value], carried: tuple[str, ...]) -> Members:
    """The members of a type, without those that are carried."""
    left = [field for field in fields(type_) if field.name not in carried]
    return Members(
        tuple((field.name, field.encode_name) for field in left),
        attrgetter("__class__", *(field.name for field in left)),
        (type_, *(field.default for field in left)),
    )


class Losses:
    """The losses of one payload, told one after the other."""

    def __init__(self) -> None:
        self.told: list[Loss] = []

    def say(self, path: str, value: Json, why: str, severity: Severity = "lost") -> None:
        """Tell the loss of a JSON value."""
        self.told.append(Loss.of(path, value, why, severity))

    def whole(self, value: Value, path: str, why: str = NO_PLACE) -> None:
        """Tell that nothing of a value arrives."""
        self.say(path, to_json(value), why)

    def rest(self, value: Value, path: str, *carried: str) -> None:
        """Tell which members of a value do not arrive: all that it has but the carried ones."""
        members = members_but(type(value), carried)
        found = members.read(value)
        if found == members.unset:
            return
        for (name, wire), item, unset in zip(members.names, found[1:], members.unset[1:], strict=True):
            if item is not None and item is not UNSET and item != unset:
                self._member(path, name, wire, item)

    def _member(self, path: str, name: str, wire: str, value: Any) -> None:
        if name == "extra":
            self.say(path, dict(value), NO_PLACE)
        elif name == "provider_metadata":
            self.metadata(f"{path}.{wire}", value)
        else:
            severity: Severity = "minor" if wire in MINOR else "lost"
            self.say(f"{path}.{wire}", to_json(value), WHY.get(wire, NO_PLACE), severity)

    def empty(self, path: str, metadata: JsonObject | None) -> None:
        """Tell metadata that say nothing: nobody will miss them."""
        if metadata == {} or (metadata is not None and metadata.get(NAMESPACE) == {}):
            self.say(path, metadata, "it says nothing", "minor")

    def metadata(self, path: str, metadata: JsonObject | None) -> None:
        """Tell the metadata of other providers."""
        if metadata is None:
            return
        self.empty(path, metadata)
        for name, value in others_in(metadata).items():
            self.say(f"{path}.{name}", value, NO_PLACE)

    def envelope(self, message: Message, path: str, *carried: str) -> None:
        """Tell what stands around a content and does not arrive."""
        self.rest(message, path, *ENVELOPE, *carried)
        if "type" in carried or isinstance(message, ToolMessage):
            return
        if message.type != derive_type(message.parts):
            self.say(f"{path}.type", message.type, NO_PLACE)
