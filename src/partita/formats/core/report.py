"""The losses of a dump: what is not there when its payload is read back.

A writer records the position in the payload of everything that it writes, a reader that of everything that
it reads. What is at each position is compared: a value that was not written, or is read back as another
value, is a loss. The reason is looked up by the name of the field.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, get_args

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from partita.formats.losses import (
    DERIVED,
    DISPLAY,
    FINAL,
    NO_PLACE,
    NOT_MODEL,
    OTHER_ID,
    REQUIRED,
    SHOWN,
    STEPS,
    Loss,
    json_losses,
)
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import StepStartPart
from partita.types.tool_results import state_before
from partita.types.value import EXTRA_NAME, Value

from .files import FILES, file_name
from .metadata import KIND
from .turns import (
    Instructions,
    LocatedPart,
    Position,
    Prompt,
    Results,
    Step,
    Turn,
    derived_type,
    is_text_implied,
    without_parts,
)
from .wire import RESPELLED

REPORTED: Final = "reported"
"""The position of a part whose loss the writer reports itself."""


COMMON: Final[Mapping[str, str]] = {
    "data": NOT_MODEL,
    "foreign": "it is content of another format",
    "source-url": NOT_MODEL,
    "source-document": NOT_MODEL,
    "id": OTHER_ID,
    "parentId": "messages form one line, without branches",
    "internal": SHOWN,
    "state": DERIVED,
    "preliminary": FINAL,
    "title": DISPLAY,
    "toolMetadata": DISPLAY,
}
"""Why a field is missing, by its name, or a part, by its type."""


RESPELLING: Final = "it only describes how this was written in its source"
STEERING: Final = "it is written as a prompt of the user"

METADATA: Final = frozenset({"providerMetadata", "callProviderMetadata", "resultProviderMetadata"})
MESSAGES: Final = frozenset(get_args(Message))
FILE_NAMES: Final[Mapping[str, str]] = {"filename": "name", "name": "filename"}
"""The field for the name of a file, and the one that other types of parts have for it."""
MINOR: Final[Mapping[str, Any]] = {"state": "done", "type": "source"}
"""Values whose loss is minor, by the name of their field."""

RESULT_FIELDS: Final[Mapping[str, str]] = {
    "providerMetadata": "resultProviderMetadata",
    "name": "resultMessage.content.parts[0].name",
}
"""Fields of results, and where they are in a call."""
RESULT_METADATA: Final[Mapping[str, str]] = {"providerMetadata": "resultProviderMetadata"}
"""The same for results whose message is implied by the call."""


class Entry(Struct, frozen=True):
    """Something that was to be written: a part, or a message without its parts.

    `position` is where it was written, `None` if it was not. `names` are other names of its fields in paths.
    """

    value: Any
    path: str
    position: Position | None
    names: Mapping[str, str] = {}


class Record:
    """What a writer has written, and where."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.losses: list[Loss] = []
        """What the writer reports itself, such as repairs."""
        self._messages: list[tuple[Message, str, Position, Sequence[Position | None]]] = []
        self._turns: list[tuple[Turn, Position | None, Sequence[Position | None]]] = []

    def add_message(
        self, message: Message, path: str, position: Position, parts: Sequence[Position | None]
    ) -> None:
        """A message was written at a position, and each of its parts at another."""
        self._messages.append((message, path, position, parts))

    def add(self, turn: Turn, position: Position | None, parts: Sequence[Position | None]) -> None:
        """The message of a turn was written at a position, and each of its parts at another."""
        self._turns.append((turn, position, parts))

    def complete(self) -> None:
        """Make the entries of all turns."""
        for turn, position, parts in self._turns:
            self._enter(turn, position, parts)
        self._turns = []

    def complete_messages(self, read: Mapping[Position, Any]) -> None:
        """Make the entries of all messages that are not read back as they are."""
        for message, path, position, parts in self._messages:
            if message != read.get(position):
                self.entries.append(Entry(message, path, position))
                for number, (part, where) in enumerate(zip(message.content.parts, parts, strict=True)):
                    if where is not REPORTED:
                        self.entries.append(Entry(part, f"{path}.content.parts[{number}]", where))
        self._messages = []

    def _enter(self, turn: Turn, position: Position | None, parts: Sequence[Position | None]) -> None:
        """A step after the first has no message of its own, nor have results in a message that is implied."""
        names: Mapping[str, str] = {}
        match turn:
            case _ if not turn.path and not isinstance(turn, Results):
                return  # added by a repair
            case Step():
                if turn.number == 1:
                    self.entries.append(Entry(turn.message, turn.path, position))
                    self.losses += _unsettled_states(turn.message, turn.path)
            case Results():
                if turn.path:
                    self.entries.append(Entry(turn.message, turn.path, position))
                if turn.step is not None:
                    names = RESULT_FIELDS if turn.path else RESULT_METADATA
            case Prompt() if turn.steering is not None:
                about = replace(turn.steering, parts=())
                self.losses.append(Loss.of(turn.path, about, STEERING, "changed"))
            case Prompt() | Instructions():
                self.entries.append(Entry(turn.message, turn.path, position))
        for (part, path), where in zip(turn.parts, parts, strict=True):
            if path:  # others were added by a repair
                self.entries.append(Entry(part, path, where, names))

    def add_boundaries(self, boundaries: Sequence[LocatedPart], why: str) -> None:
        """Report step starts that have no block in the payload."""
        for part, path in boundaries:
            self.losses.append(Loss.of(path, {"type": "step-start"}, STEPS, "minor"))
            if part != StepStartPart():
                self.losses.append(Loss.of(path, part, why))


class Report:
    """Finds losses, given what a format is called and its reasons beyond the common ones."""

    def __init__(
        self,
        namespace: str,
        default: str = NO_PLACE,
        reasons: Mapping[str, str] | None = None,
        spelling: frozenset[str] = frozenset(),
    ) -> None:
        """`reasons`: by field, or by type and field (`tool-call.id`); `default`: for all other fields.

        `spelling`: notes that only describe how something was written.
        """
        self.namespace, self.default = namespace, default
        self._reasons = {**COMMON, **(reasons or {})}
        self._spelling = spelling | {RESPELLED, KIND}

    def compare(self, record: Record, read: Mapping[Position, Any]) -> list[Loss]:
        """What of the recorded values is not in those that were read back, by their positions."""
        record.complete()
        record.complete_messages(read)
        losses = list(record.losses)
        for entry in record.entries:
            value, path = entry.value, entry.path
            again = None if entry.position is None else read.get(entry.position)
            if again is None:
                losses.append(self._missing(value, path))
            elif value == again:
                continue
            elif type(value) in MESSAGES:
                losses.extend(self._message(value, again, path))
            else:
                losses.extend(self._values(value, again, path, self.default, entry.names))
        return losses

    def _missing(self, value: Any, path: str) -> Loss:
        if type(value) in MESSAGES:
            return Loss.of(path, without_parts(value), self.default)
        return Loss.of(path, value, self._reasons.get(str(value.__struct_config__.tag), self.default))

    def _message(self, message: Message, again: Message, path: str) -> Iterator[Loss]:
        """What is missing of a message, apart from its parts."""
        if type(message) is not type(again):
            yield Loss.of(f"{path}.role", message.role, self._reasons.get("role", self.default), "changed")
        skip = {"content"} if message.type != derived_type(message) else {"content", "type"}
        yield from self._fields(message, again, path, self.default, skip, {})
        skip = {"parts", "content"} if is_text_implied(message) else {"parts"}
        yield from self._fields(message.content, again.content, f"{path}.content", self.default, skip, {})

    def _values(
        self, before: Any, after: Any, path: str, why: str, names: Mapping[str, str] = {}
    ) -> Iterator[Loss]:
        if isinstance(before, Value):
            if type(before) is type(after):
                skip: tuple[str, ...] = ()
                if type(before) is ToolCallPart and _follows_from_approval(before):
                    skip = ("state",)
                elif names:
                    skip = ("id",) if "name" in names else ("id", "name")  # those of its call
                yield from self._fields(before, after, path, why, skip, names)
                if type(before) is ToolCallPart and _has_no_input(before) and not _has_no_input(after):
                    yield Loss(f"{path}.input", "no input", REQUIRED, "repaired")
            elif isinstance(before, FILES) and isinstance(after, FILES):
                yield Loss.of(f"{path}.type", before.type, why, "changed")
                is_named = file_name(before) == file_name(after)
                skip = ("name", "filename") if is_named else ()
                yield from self._fields(before, after, path, why, skip, names)
            else:
                yield Loss.of(path, before, why, "changed")
        elif isinstance(before, tuple) and isinstance(after, tuple) and 0 < len(before) == len(after):
            for index, (one, other) in enumerate(zip(before, after, strict=True)):
                if one != other:
                    yield from self._values(one, other, f"{path}[{index}]", why)
        elif is_object(before) or is_array(before):
            yield from json_losses(before, after, path, why)
        else:
            yield Loss.of(path, before, why, "changed")

    def _fields(
        self, before: Any, after: Any, path: str, why: str, skip: Any, names: Mapping[str, str]
    ) -> Iterator[Loss]:
        tag = type(before).__struct_config__.tag
        for name, wire_name, default in fields_of(type(before)):
            one = getattr(before, name)
            if one is default or name in skip:
                continue
            other = getattr(after, name, None)
            if other is None and name in FILE_NAMES:
                other = getattr(after, FILE_NAMES[name], None)
            if one is other or (one == other and type(one) is type(other)):
                continue
            shown = names.get(wire_name, wire_name)
            where = path if wire_name == EXTRA_NAME else f"{path}.{shown}"
            reason = self._reasons.get(f"{tag}.{wire_name}") or self._reasons.get(wire_name, why)
            if wire_name == EXTRA_NAME:
                yield from json_losses(dict(one), dict(other or {}), where, reason)
            elif shown in METADATA:
                yield from self._metadata(one, other or {}, where, reason)
            elif tag == "tool-call" and wire_name in ("id", "name"):
                yield Loss.of(where, one, reason, "repaired")  # it was renamed because the API demands it
            elif other is None or other is default or other == ():
                yield Loss.of(where, one, reason, "minor" if MINOR.get(wire_name, UNSET) == one else "lost")
            else:
                yield from self._values(one, other, where, reason)

    def _metadata(self, before: JsonObject, after: JsonObject, path: str, why: str) -> Iterator[Loss]:
        if not after and self.namespace not in before:
            if all(map(_is_spelling, before.values())):
                yield Loss.of(path, before, RESPELLING if before else why, "minor")
            else:
                yield Loss.of(path, before, why)
            return
        for namespace, value in before.items():
            where, other = f"{path}.{namespace}", after.get(namespace)
            if namespace != self.namespace or not is_object(value):
                yield from json_losses({namespace: value}, after, path, why)
                continue
            own = other if is_object(other) else {}
            for key, note in value.items():
                if key not in own or dumps(own[key]) != dumps(note):
                    if key in self._spelling:
                        yield Loss.of(f"{where}.{key}", note, RESPELLING, "minor")
                    else:
                        for loss in json_losses({key: note}, own, where, why):
                            name = loss.path.rpartition(".")[2]
                            yield loss._replace(why=self._reasons.get(f"{key}.{name}", why))


def _is_spelling(notes: Json) -> bool:
    """Whether the notes of a format only describe how something was written."""
    return is_object(notes) and notes.keys() <= {RESPELLED, KIND}


def _unsettled_states(message: Message, path: str) -> Iterator[Loss]:
    """The states of calls that have an output and yet the state of a call without one.

    A call and its result are written apart and compared apart, so this is not found by reading back.
    """
    for index, part in enumerate(message.parts):
        if type(part) is ToolCallPart and part.output is not None and part.state == state_before(part):
            yield Loss.of(f"{path}.content.parts[{index}].state", part.state, DERIVED, "changed")


def _follows_from_approval(call: ToolCallPart) -> bool:
    """Whether the state of a call follows from its approval, which is compared too."""
    if call.approval is None:
        return False
    return call.state == state_before(call) or (
        call.state == "output-denied" and call.approval.approved is False
    )


def _has_no_input(call: ToolCallPart) -> bool:
    return call.input is UNSET and call.raw_input is UNSET


@cache
def fields_of(type_: type[Value]) -> tuple[tuple[str, str, Any], ...]:
    """The fields of a value: name, name on the wire, default."""
    return tuple((one.name, one.encode_name, one.default) for one in msgspec.structs.fields(type_))
