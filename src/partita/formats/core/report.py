"""The losses of a dump, which are found by reading its payload back. No format lists them by hand.

A writer keeps a `Record` of what it has written at which position of the payload. A reader collects what it
has read at which position. `Report.compare` compares both: a message or part that was not written, or is read
back with another value, is a loss. The reason is looked up by the name of the field.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

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
from partita.types.value import EXTRA_NAME, Value, fields_of

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
"""The position of a part whose loss the writer has reported itself."""


COMMON_REASONS: Final[Mapping[str, str]] = {
    "data": NOT_MODEL,
    "foreign": "it is content of another format",
    "source-url": NOT_MODEL,
    "source-document": NOT_MODEL,
    "id": OTHER_ID,
    "parentId": "the format has no branches",
    "internal": SHOWN,
    "state": DERIVED,
    "preliminary": FINAL,
    "title": DISPLAY,
    "toolMetadata": DISPLAY,
}
"""The reason for the loss of a field, by its name, or of a part, by its type."""


RESPELLING: Final = "it only describes how the source wrote the value"
STEERING: Final = "it is written as a prompt of the user"

METADATA: Final = frozenset({"providerMetadata", "callProviderMetadata", "resultProviderMetadata"})
MESSAGES: Final = frozenset(get_args(Message))
FILE_NAMES: Final[Mapping[str, str]] = {"filename": "name", "name": "filename"}
"""The field for the name of a file in some types of parts, and its name in the others."""
MINOR: Final[Mapping[str, Any]] = {"state": "done", "type": "source"}
"""Values whose loss is minor, by field."""

RESULT_FIELDS: Final[Mapping[str, str]] = {
    "providerMetadata": "resultProviderMetadata",
    "name": "resultMessage.content.parts[0].name",
}
"""Fields of a result, and the fields of its call that hold them."""
RESULT_METADATA: Final[Mapping[str, str]] = {"providerMetadata": "resultProviderMetadata"}
"""The same for a result whose message is not stored in the call."""


class Entry(Struct, frozen=True):
    """A part, or a message without its parts, that is to be found in the payload.

    `position`: where it was written; `None` if it was not. `names`: names that its fields have in paths, if
    they have others there.
    """

    value: Any
    path: str
    position: Position | None
    names: Mapping[str, str] = {}


class Record:
    """What a writer has written, and at which positions."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.losses: list[Loss] = []
        """The losses that the writer reports itself, such as repairs."""
        self._messages: list[tuple[Message, str, Position, Sequence[Position | None]]] = []
        self._turns: list[tuple[Turn, Position | None, Sequence[Position | None]]] = []

    def add_message(
        self, message: Message, path: str, position: Position, parts: Sequence[Position | None]
    ) -> None:
        """Record the position of a message, and that of each of its parts."""
        self._messages.append((message, path, position, parts))

    def add(self, turn: Turn, position: Position | None, parts: Sequence[Position | None]) -> None:
        """Record the position of a turn's message, and that of each of its parts; `None`: not written."""
        self._turns.append((turn, position, parts))

    def complete(self) -> None:
        """Make the entries of all turns. This is put off because losses are seldom read."""
        for turn, position, parts in self._turns:
            self._add_entries(turn, position, parts)
        self._turns = []

    def complete_messages(self, read: Mapping[Position, Any]) -> None:
        """Make the entries of all messages, except those that are read back unchanged."""
        for message, path, position, parts in self._messages:
            if message != read.get(position):
                self.entries.append(Entry(message, path, position))
                for number, (part, where) in enumerate(zip(message.content.parts, parts, strict=True)):
                    if where is not REPORTED:
                        self.entries.append(Entry(part, f"{path}.content.parts[{number}]", where))
        self._messages = []

    def _add_entries(self, turn: Turn, position: Position | None, parts: Sequence[Position | None]) -> None:
        """Make the entries of a turn.

        Later steps have no entry for their message, which the first step has, and results have none if their
        message follows from that of the calls.
        """
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
            if path:  # the others were added by a repair
                self.entries.append(Entry(part, path, where, names))

    def add_boundaries(self, boundaries: Sequence[LocatedPart], why: str) -> None:
        """Report step starts that are not written, for a format that has no block for them."""
        for part, path in boundaries:
            self.losses.append(Loss.of(path, {"type": "step-start"}, STEPS, "minor"))
            if part != StepStartPart():
                self.losses.append(Loss.of(path, part, why))


class Report:
    """Finds the losses of a format by comparing what was written with what is read back."""

    def __init__(
        self,
        namespace: str,
        default: str = NO_PLACE,
        reasons: Mapping[str, str] | None = None,
        spelling: frozenset[str] = frozenset(),
    ) -> None:
        """`reasons`: by field, or by type and field (`tool-call.id`), besides the common ones.

        `default`: the reason for all other fields.
        `spelling`: notes that only describe how something was written, so that their loss is minor.
        """
        self.namespace, self.default = namespace, default
        self._reasons = {**COMMON_REASONS, **(reasons or {})}
        self._spelling = spelling | {RESPELLED, KIND}

    def compare(self, record: Record, read: Mapping[Position, Any]) -> list[Loss]:
        """Return the losses: what was recorded and is not in `read`, what was read back at each position."""
        record.complete()
        record.complete_messages(read)
        losses = list(record.losses)
        for entry in record.entries:
            before, path = entry.value, entry.path
            after = None if entry.position is None else read.get(entry.position)
            if after is None:
                losses.append(self._missing(before, path))
            elif before == after:
                continue
            elif type(before) in MESSAGES:
                losses.extend(self._message(before, after, path))
            else:
                losses.extend(self._values(before, after, path, self.default, entry.names))
        return losses

    def _missing(self, value: Any, path: str) -> Loss:
        """Return the loss of a whole message or part."""
        if type(value) in MESSAGES:
            return Loss.of(path, without_parts(value), self.default)
        return Loss.of(path, value, self._reasons.get(str(value.__struct_config__.tag), self.default))

    def _message(self, before: Message, after: Message, path: str) -> Iterator[Loss]:
        """Compare two messages, apart from their parts."""
        if type(before) is not type(after):
            yield Loss.of(f"{path}.role", before.role, self._reasons.get("role", self.default), "changed")
        skip = {"content"} if before.type != derived_type(before) else {"content", "type"}
        yield from self._fields(before, after, path, self.default, skip, {})
        skip = {"parts", "content"} if is_text_implied(before) else {"parts"}
        yield from self._fields(before.content, after.content, f"{path}.content", self.default, skip, {})

    def _values(
        self, before: Any, after: Any, path: str, why: str, names: Mapping[str, str] = {}
    ) -> Iterator[Loss]:
        """Compare two values that are not equal: parts, outputs, tuples of these, or JSON."""
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
        """Compare the fields of two values. `before` decides which fields there are."""
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
            path_name = names.get(wire_name, wire_name)
            where = path if wire_name == EXTRA_NAME else f"{path}.{path_name}"
            reason = self._reasons.get(f"{tag}.{wire_name}") or self._reasons.get(wire_name, why)
            if wire_name == EXTRA_NAME:
                yield from json_losses(dict(one), dict(other or {}), where, reason)
            elif path_name in METADATA:
                yield from self._metadata(one, other or {}, where, reason)
            elif tag == "tool-call" and wire_name in ("id", "name"):
                yield Loss.of(where, one, reason, "repaired")  # it was renamed for the API
            elif other is None or other is default or other == ():
                yield Loss.of(where, one, reason, "minor" if MINOR.get(wire_name, UNSET) == one else "lost")
            else:
                yield from self._values(one, other, where, reason)

    def _metadata(self, before: JsonObject, after: JsonObject, path: str, why: str) -> Iterator[Loss]:
        """Compare provider metadata. The format's own namespace is compared note by note."""
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
    """Yield the states of calls that have an output, but the state of a call without one.

    A call and its result are written and compared separately, so reading back does not find this.
    """
    for index, part in enumerate(message.parts):
        if type(part) is ToolCallPart and part.output is not None and part.state == state_before(part):
            yield Loss.of(f"{path}.content.parts[{index}].state", part.state, DERIVED, "changed")


def _follows_from_approval(call: ToolCallPart) -> bool:
    """Whether the state of a call follows from its approval, which is compared as well."""
    if call.approval is None:
        return False
    return call.state == state_before(call) or (
        call.state == "output-denied" and call.approval.approved is False
    )


def _has_no_input(call: ToolCallPart) -> bool:
    return call.input is UNSET and call.raw_input is UNSET
