"""Canonical messages → UI messages of AI SDK 4.

What `ui_v4_load` read comes back as it was. Added, where it was not there: an id, `content`, `parts` and
the mirrors of parts that version 4 itself keeps (`toolInvocations`, `reasoning`); the `step` of a call
and the `step-start` of a step; the one `detail` of a reasoning without; a guessed `contentType`. A data
URL in a file part becomes bare base64.

Version 4 has no failed, denied, interrupted or approved calls: they become results. Parts it does not
know stand among the annotations, as version 7 writes them; other files than those an assistant made stand
among the attachments. Lost: what stands around a message but its time, metadata but `annotations`, and
the members of parts that version 4 does not know. All of it is told.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    SystemPart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    PartBase,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    UnknownPart,
)
from partita.types.times import in_utc
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolState,
)
from partita.types.value import unkept

from .ui_downgrade import DENIED
from .ui_dump import AROUND, dump_part

FORMAT = "ai-sdk-ui-v4"
"""The name of a foreign part, and of the mark on a file that is not where files of its message go."""

ATTACHMENT = "ai-sdk-ui-v4-attachment"
"""The name of a foreign part that was an attachment."""

BESIDE = "part:"
"""Marks a kept member that stood in the part itself, not in the invocation, source or detail inside it."""

WHOLE = "reasoning"
"""The kept text of a whole reasoning part of version 4, on the first of our parts that it became."""

DATA = "data"
"""The role, the member and the part of what an application sent in messages of their own."""

PROVIDER = "anthropic"
SIGNATURE = "signature"
REDACTED = "redactedData"

STATES: Mapping[ToolState, str] = {
    "input-streaming": "partial-call",
    "input-available": "call",
    "output-available": "result",
}

OTHER_STATES: Mapping[ToolState, tuple[str, str]] = {
    "approval-requested": ("call", "version 4 knows no approvals"),
    "approval-responded": ("call", "version 4 knows no approvals"),
    "output-error": ("result", "version 4 knows no failed calls"),
    "output-denied": ("result", "version 4 knows no denied calls"),
}
"""States that version 4 does not know, what they look like there, and why."""

NO_PLACE = "version 4 has no place for it"
BARE = "version 4 keeps the bare result"
FAILED = "Tool call failed."


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as the list that `useChat` of version 4 takes."""
    losses: list[Loss] = []
    payload: list[JsonObject] = []
    for index, message in enumerate(fold(messages)):
        if isinstance(message, ToolMessage):
            losses.append(Loss.of(f"$[{index}]", to_json(message), "its results belong to no call here"))
        else:
            payload.append(dump_message(message, f"$[{index}]", losses))
    return Dumped(payload, tuple(losses))


def dump_message(
    message: SystemMessage | UserMessage | AssistantMessage, path: str, losses: list[Loss]
) -> JsonObject:
    """One message, with what it loses."""
    content = message.content
    plain: JsonObject = to_json(replace(message, content=replace(content, parts=()), extra=None))  # pyright: ignore[reportArgumentType] # each role takes its own content
    losses.extend(_losses_around(plain, path))
    aside = unkept(message.extra)
    result: JsonObject = {"id": message.id, "role": _role_of(message, aside)}
    writer = _Writer(result["role"], losses)
    for index, part in enumerate(content.parts):
        writer.add(part, f"{path}.content.parts[{index}]")
    if message.created_at is not None:
        known = read_time(aside.get("createdAt")) == message.created_at
        result["createdAt"] = aside.pop("createdAt") if known else written_time(message.created_at)
    result["content"] = _spoken(writer.parts) if content.content is None else content.content
    result |= {name: aside.pop(name, mirror) for name, mirror in mirrors(writer.parts).items()}
    annotations = _dump_metadata(plain["content"], f"{path}.content.metadata", losses)
    if writer.annotations or annotations is not None:
        result["annotations"] = [*(annotations or ()), *writer.annotations]
    result |= writer.members
    result["parts"] = writer.parts
    put(result, aside, path, losses)
    return result


def _role_of(message: Message, aside: JsonObject) -> str:
    if isinstance(message, AssistantMessage) and aside.get("role") == DATA:
        return str(aside.pop("role"))
    return str(message.__struct_config__.tag)


def _losses_around(plain: JsonObject, path: str) -> Iterator[Loss]:
    for key, why in AROUND.items():
        if key in plain and key != "createdAt":
            yield Loss.of(f"{path}.{key}", plain[key], why)
    for key, value in plain["content"].items():
        if key not in ("format", "parts", "content", "metadata"):
            yield Loss.of(f"{path}.content.{key}", value, NO_PLACE)
    if plain["type"] == "event":
        yield Loss(f"{path}.type", "event", "UI messages have no kinds")


def _dump_metadata(content: JsonObject, path: str, losses: list[Loss]) -> list[Json] | None:
    """The annotations, if the metadata has any. Nothing else of it has a place."""
    if "metadata" not in content:
        return None
    metadata = content["metadata"]
    if not is_object(metadata) or not metadata:
        losses.append(Loss.of(path, metadata, NO_PLACE))
        return None
    rest = dict(metadata)
    annotations = rest.pop("annotations") if is_array(metadata.get("annotations")) else None
    losses.extend(Loss.of(f"{path}.{key}", value, NO_PLACE) for key, value in rest.items())
    return annotations


def _spoken(parts: Sequence[Json]) -> str:
    texts = [part.get("text") for part in parts if type_of(part) == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def put(result: JsonObject, aside: Mapping[str, Json], path: str, losses: list[Loss]) -> None:
    """Put back what was kept aside. Where something else stands already, it is lost."""
    for key, value in aside.items():
        if key not in result:
            result[key] = value
        elif not same(result[key], value):
            losses.append(Loss.of(f"{path}.{key}", value, "another member has taken its place"))


# What version 4 writes, in words that its reader needs too


def mirrors(parts: Sequence[Json]) -> JsonObject:
    """What version 4 repeats of the parts in the message: `toolInvocations` and `reasoning`."""
    calls = [part["toolInvocation"] for part in parts if type_of(part) == "tool-invocation" and "toolInvocation" in part]
    texts = [part.get("reasoning") for part in parts if type_of(part) == "reasoning"]
    reasoning = "".join(text for text in texts if isinstance(text, str))
    return ({"toolInvocations": calls} if calls else {}) | ({"reasoning": reasoning} if reasoning else {})


def same(a: Json, b: Json) -> bool:
    """Whether two values are the same JSON. Python alone would take `1` for `true`."""
    return dumps(a) == dumps(b)


def type_of(part: Json) -> Json:
    """The type of a part, if it is one at all."""
    return part.get("type") if is_object(part) else None


def read_time(value: Json) -> datetime | None:
    """The moment that a string names, if it names one with its zone."""
    try:
        return in_utc(datetime.fromisoformat(value), "createdAt") if isinstance(value, str) else None
    except (ValueError, DecodeError):
        return None


def written_time(moment: datetime) -> str:
    """A moment as JavaScript writes dates, with more digits if it has more."""
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def belongs_in_parts(role: str, url: str, media_type: str) -> bool:
    """Whether version 4 keeps a file among the parts: the files of assistants do, all others are attached."""
    return role in ("assistant", DATA) and url.startswith(f"data:{media_type};base64,")


class _Writer:
    """The parts of a message while they are written, and what of them stands elsewhere."""

    def __init__(self, role: str, losses: list[Loss]) -> None:
        self.parts: list[Json] = []
        self.annotations: list[Json] = []
        self.members: JsonObject = {}  # made of parts: attachments, and the data of a data message
        self._role = role
        self._losses = losses
        self._step = 0
        self._reasoning: JsonObject | None = None  # the part that the next detail joins
        self._moved: list[str] = []  # paths of parts that became members, while no other part follows

    def add(self, part: SystemPart | UserPart | AssistantPart, path: str) -> None:
        """Write the next part where it goes."""
        match part:
            case TextPart(text=text):
                self._push(self._carried(part, {"type": "text", "text": text}, ("text",), path))
            case StepStartPart():
                self._push(self._carried(part, {"type": "step-start"}, (), path))
            case ReasoningPart():
                self._add_reasoning(part, path)
            case ToolCallPart():
                self._add_call(part, path)
            case SourceUrlPart():
                self._add_source(part, path)
            case FilePart() | ImagePart() | ReasoningFilePart():
                self._add_file(part, path)
            case DataPart() if self._is_data_of_message(part):
                self._move(DATA, part.data, path)
            case DataPart() | SourceDocumentPart() | CustomPart() | SteeringMessagePart():
                tag = str(part.__struct_config__.tag)
                self._lose(f"{path}.type", tag, "version 4 has no such parts: it is an annotation")
                self.annotations.append(dump_part(part, path, self._losses, 7))
            case ForeignPart():
                self._add_foreign(part, path)
            case UnknownPart():
                self._push(to_json(part))
            case _:
                assert_never(part)

    def _lose(self, path: str, value: Json, why: str) -> None:
        self._losses.append(Loss.of(path, value, why))

    def _push(self, raw: Json) -> None:
        self._step += bool(self.parts) and type_of(raw) == "step-start"
        self._reasoning = None
        self.parts.append(raw)
        for path in self._moved:
            self._losses.append(Loss(path, "its place", "attachments and data stand behind the parts"))
        self._moved.clear()

    def _move(self, member: str, value: Json, path: str) -> None:
        self.members[member] = value
        self._moved.append(path)

    def _is_data_of_message(self, part: DataPart) -> bool:
        bare = part.data is not UNSET and part == DataPart(DATA, part.data)
        return bare and self._role == DATA and DATA not in self.members

    def _tell(self, part: PartBase, carried: Container[str], path: str) -> None:
        """Tell the members of a part that are not carried."""
        plain: JsonObject = to_json(replace(part, extra=None))
        for key, value in plain.items():
            if key != "type" and key not in carried:
                self._lose(f"{path}.{key}", value, NO_PLACE)

    def _carried(self, part: PartBase, raw: JsonObject, carried: Container[str], path: str) -> JsonObject:
        """`raw` with what was kept aside of the part, once the rest is told."""
        self._tell(part, carried, path)
        put(raw, unkept(part.extra), path, self._losses)
        return raw

    def _add_source(self, part: SourceUrlPart, path: str) -> None:
        self._tell(part, ("sourceId", "url", "title", "providerMetadata"), path)
        source: JsonObject = {"sourceType": "url", "id": part.source_id, "url": part.url}
        if part.title is not None:
            source["title"] = part.title
        if part.provider_metadata is not None:
            source["providerMetadata"] = part.provider_metadata
        self._push(self._around("source", source, part, path))

    def _around(self, type_: str, inside: JsonObject, part: PartBase, path: str) -> JsonObject:
        """A part that holds all it has in one member, with what was kept aside of both."""
        raw: JsonObject = {"type": type_, MEMBERS.get(type_, type_): inside}
        aside = unkept(part.extra)
        put(raw, _beside(aside), path, self._losses)
        put(inside, aside, path, self._losses)
        return raw

    def _add_file(self, part: FilePart | ImagePart | ReasoningFilePart, path: str) -> None:
        media_type = part.media_type or ANY_IMAGE
        name = part.name if isinstance(part, ImagePart) else part.filename
        aside = unkept(part.extra)
        home = aside.get(FORMAT)
        if home in HOMES:
            del aside[FORMAT]
        elif belongs_in_parts(self._role, part.url, media_type):
            home = "parts"
        if not isinstance(part, FilePart):
            self._lose(f"{path}.type", str(part.__struct_config__.tag), "version 4 keeps it as a file")
        if home == "parts":
            data = part.url.removeprefix(f"data:{media_type};base64,")
            raw: JsonObject = {"type": "file", "mimeType": media_type, "data": data}
            self._tell(part, ("url", "mediaType"), path)
            self._push(raw)
        else:
            raw = {**({} if name is None else {"name": name}), "contentType": media_type, "url": part.url}
            self._tell(part, ("url", "mediaType", "name", "filename"), path)
            self._move(ATTACHMENTS, [*self.members.get(ATTACHMENTS, ()), raw], path)
        put(raw, aside, path, self._losses)

    def _add_foreign(self, part: ForeignPart, path: str) -> None:
        if part.format not in (FORMAT, ATTACHMENT):
            self._lose(path, to_json(part), "it has no form in version 4")
            return
        self._tell(part, ("format", "value"), path)
        if part.extra:
            self._lose(path, dict(part.extra), NO_PLACE)
        if part.format == FORMAT:
            self._push(part.value)
        else:
            self._move(ATTACHMENTS, [*self.members.get(ATTACHMENTS, ()), part.value], path)

    def _add_reasoning(self, part: ReasoningPart, path: str) -> None:
        self._tell(part, ("text", "providerMetadata"), path)
        aside = unkept(part.extra)
        beside = _beside(aside)
        whole = aside.pop(WHOLE) if isinstance(aside.get(WHOLE), str) else None
        detail = self._detail(part, path)
        put(detail, aside, path, self._losses)
        if self._reasoning is None or whole is not None:
            raw: JsonObject = {"type": "reasoning", "reasoning": "", "details": []}
            self._push(raw)
            self._reasoning = raw
        ...
