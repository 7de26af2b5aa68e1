"""Canonical parts → parts, attachments and annotations of a UI message of version 4."""

from collections.abc import Container
from typing import assert_never

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.formats.bare import is_bare, plain_result
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantPart,
    SystemPart,
    ToolCallPart,
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
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)
from partita.types.value import Value, unkept

from .aside import put
from .downgrade import DENIED
from .dump import dump_part
from .v4_shape import (
    ANY_IMAGE,
    ATTACHMENT,
    BARE,
    BESIDE,
    DATA,
    FAILED,
    FORMAT,
    MEMBERS,
    NO_PLACE,
    OTHER_STATES,
    PROVIDER,
    REDACTED,
    SIGNATURE,
    STATES,
    WHOLE,
    belongs_in_parts,
    type_of,
)


class PartWriter:
    """The parts of a message while they are written, and what of them stands elsewhere."""

    def __init__(self, role: str, losses: list[Loss]) -> None:
        self.parts: list[Json] = []
        self.annotations: list[Json] = []
        self.attachments: list[Json] = []
        self.data: Json | UnsetType = UNSET  # of a data message
        self._role = role
        self._losses = losses
        self._step = 0
        self._moved: list[str] = []  # paths of parts that stand elsewhere, while no other part follows
        self._reasoning: JsonObject | None = None  # the part that the next detail joins
        self._whole = False  # whether its text was kept, details or not

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
                self.data = part.data
                self._moved.append(path)
            case DataPart() | SourceDocumentPart() | CustomPart() | SteeringMessagePart():
                self._lose(f"{path}.type", _tag(part), "version 4 has no such parts: it is an annotation")
                self.annotations.append(dump_part(part, path, self._losses, 7))
            case ForeignPart():
                self._add_foreign(part, path)
            case UnknownPart():
                self._push(to_json(part))
            case _:
                assert_never(part)

    def add_bare(self, part: SystemPart | UserPart | AssistantPart) -> bool:
        """Write the next part if it is words and no more, or a call with its result; whether it was."""
        if isinstance(part, ToolCallPart):
            value = plain_result(part)
            if value is UNSET:
                return False
            named = {"toolCallId": part.id, "toolName": part.name, "args": part.input}
            call: JsonObject = {"state": "result", "step": self._step, **named, "result": value}
            self._push({"type": "tool-invocation", "toolInvocation": call})
        elif isinstance(part, TextPart) and is_bare(part):
            self._push({"type": "text", "text": part.text})
        elif isinstance(part, StepStartPart) and is_bare(part):
            self._push({"type": "step-start"})
        else:
            return False
        return True

    def add_shown(self, call: ToolCallPart) -> None:
        """Write a call that stands for something whose losses are reported elsewhere."""
        losses, self._losses = self._losses, []
        self._add_call(call, "")
        self._losses = losses

    def _push(self, raw: Json) -> None:
        self._step += bool(self.parts) and type_of(raw) == "step-start"
        self._reasoning = None
        self.parts.append(raw)
        if self._moved:
            why = "attachments and data stand behind the parts"
            self._losses.extend(Loss(path, "its place", why) for path in self._moved)
            self._moved.clear()

    def _attach(self, raw: Json, path: str) -> None:
        self.attachments.append(raw)
        self._moved.append(path)

    def _is_data_of_message(self, part: DataPart) -> bool:
        bare = part.data is not UNSET and part == DataPart(DATA, part.data)
        return bare and self._role == DATA and self.data is UNSET

    def _lose(self, path: str, value: Json, why: str) -> None:
        self._losses.append(Loss.of(path, value, why))

    def _tell(self, part: PartBase, carried: Container[str], path: str) -> None:
        """Tell the members of a part that are not carried; those that a bare one has always are."""
        if is_bare(part):
            return
        plain: JsonObject = to_json(replace(part, extra=None))
        for key, value in plain.items():
            if key != "type" and key not in carried:
                self._lose(f"{path}.{key}", value, NO_PLACE)

    def _carried(self, part: PartBase, raw: JsonObject, carried: Container[str], path: str) -> JsonObject:
        """`raw` with what was kept aside of the part, once the rest is told."""
        self._tell(part, carried, path)
        if part.extra:
            put(raw, unkept(part.extra), path, self._losses)
        return raw

    def _around(self, type_: str, inside: JsonObject, part: PartBase, path: str) -> JsonObject:
        """A part that holds all it has in one member, with what was kept aside of both."""
        aside, beside = _apart(part)
        put(inside, aside, path, self._losses)
        raw: JsonObject = {"type": type_, MEMBERS[type_]: inside}
        put(raw, beside, path, self._losses)
        return raw

    def _add_source(self, part: SourceUrlPart, path: str) -> None:
        self._tell(part, ("sourceId", "url", "title", "providerMetadata"), path)
        source: JsonObject = {"sourceType": "url", "id": part.source_id, "url": part.url}
        if part.title is not None:
            source["title"] = part.title
        if part.provider_metadata is not None:
            source["providerMetadata"] = part.provider_metadata
        self._push(self._around("source", source, part, path))

    def _add_file(self, part: FilePart | ImagePart | ReasoningFilePart, path: str) -> None:
        media_type = ANY_IMAGE if part.media_type is None else part.media_type
        name = part.name if isinstance(part, ImagePart) else part.filename
        aside = unkept(part.extra)
        among_parts = belongs_in_parts(self._role, part.url, media_type)
        if aside.get(FORMAT) in ("parts", "attachments"):
            among_parts = aside.pop(FORMAT) == "parts"
        if not isinstance(part, FilePart):
            self._lose(f"{path}.type", _tag(part), "version 4 keeps it as a file")
        if among_parts:
            self._tell(part, ("url", "mediaType"), path)
            data = part.url.removeprefix(f"data:{media_type};base64,")
            raw: JsonObject = {"type": "file", "mimeType": media_type, "data": data}
            self._push(raw)
        else:
            self._tell(part, ("url", "mediaType", "name", "filename"), path)
            raw = {"contentType": media_type, "url": part.url}
            if not media_type:
                self._lose(f"{path}.mediaType", media_type, "an empty one is read as not known")
            if name is not None:
                raw["name"] = name
            self._attach(raw, path)
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
            self._attach(part.value, path)

    def _add_reasoning(self, part: ReasoningPart, path: str) -> None:
        self._tell(part, ("text", "providerMetadata"), path)
        aside, beside = _apart(part)
        whole = aside.pop(WHOLE) if isinstance(aside.get(WHOLE), str) else None
        if self._reasoning is None or whole is not None:
            begun: JsonObject = {"type": "reasoning", "reasoning": whole or "", "details": []}
            self._push(begun)
            self._reasoning, self._whole = begun, whole is not None
        raw = self._reasoning
        if not self._whole:
            raw["reasoning"] += part.text
        detail, left = _dump_detail(part)
        if left is not None:
            self._lose(f"{path}.providerMetadata", left, NO_PLACE)
        put(detail, aside, path, self._losses)
        raw["details"].append(detail)
        put(raw, beside, path, self._losses)

    def _add_call(self, part: ToolCallPart, path: str) -> None:
        if not is_bare(part):
            self._tell(replace(part, output=None), ("id", "name", "state", "input"), path)
        state = STATES.get(part.state)
        if state is None:
            state, why = OTHER_STATES[part.state]
            self._lose(f"{path}.state", part.state, why)
        step = part.extra.get("step", self._step) if part.extra else self._step
        call: JsonObject = {"state": state, "step": step, "toolCallId": part.id, "toolName": part.name}
        if part.input is not UNSET:
            call["args"] = part.input
        call |= _dump_result(part, f"{path}.output", self._losses)
        self._push(self._around("tool-invocation", call, part, path))


def _tag(part: Value) -> str:
    return str(part.__struct_config__.tag)


def _apart(part: PartBase) -> tuple[JsonObject, JsonObject]:
    """What was kept aside of a part: of what it held, and of the part itself."""
    if not part.extra:
        return {}, {}
    aside = unkept(part.extra)
    beside = {key.removeprefix(BESIDE): aside.pop(key) for key in list(aside) if key.startswith(BESIDE)}
    return aside, beside


def _dump_detail(part: ReasoningPart) -> tuple[JsonObject, JsonObject | None]:
    """Text with its signature, or redacted data; and what of the metadata has no place there."""
    metadata = part.provider_metadata
    said: Json = metadata.get(PROVIDER) if metadata else None
    detail: JsonObject = {"type": "text", "text": part.text}
    if metadata is None or not is_object(said):
        return detail, metadata
    if not part.text and isinstance(said.get(REDACTED), str):
        return {"type": "redacted", "data": said[REDACTED]}, _without(metadata, REDACTED)
    if isinstance(said.get(SIGNATURE), str):
        return detail | {SIGNATURE: said[SIGNATURE]}, _without(metadata, SIGNATURE)
    return detail, metadata


def _without(metadata: JsonObject, name: str) -> JsonObject | None:
    inner = {key: value for key, value in metadata[PROVIDER].items() if key != name}
    left = {key: value for key, value in metadata.items() if key != PROVIDER}
    return left | ({PROVIDER: inner} if inner else {}) or None


def _dump_result(part: ToolCallPart, path: str, losses: list[Loss]) -> JsonObject:
    """The `result` of a call that has one, or that came to its end in a way version 4 does not know."""
    if part.output is not None:
        return {"result": _dump_output(part.output, _denial(part), path, losses)}
    if part.state == "output-error":
        return {"result": FAILED}
    return {"result": _denial(part)} if part.state == "output-denied" else {}


def _denial(part: ToolCallPart) -> str:
    reason = part.approval.reason if part.approval else None
    return DENIED if reason is None else reason


def _dump_output(output: ToolOutput, denial: str, path: str, losses: list[Loss]) -> Json:
    if output.provider_metadata is not None or output.extra:
        aside = {"providerMetadata": output.provider_metadata, **(output.extra or {})}
        losses.append(Loss.of(path, aside, BARE))
    match output:
        case TextOutput(value=value):
            return value
        case JsonOutput(value=value):
            if isinstance(value, str):
                losses.append(Loss(f"{path}.type", "json", "a bare string is read as text"))
            return value
        case ErrorTextOutput(value=value) | ErrorJsonOutput(value=value):
            losses.append(Loss(f"{path}.type", _tag(output), OTHER_STATES["output-error"][1]))
            return value
        case ContentOutput():
            losses.append(Loss(f"{path}.type", "content", BARE))
            return to_json(replace(output, provider_metadata=None, extra=None))
        case ExecutionDeniedOutput(reason=reason):
            losses.append(Loss.of(path, to_json(output), OTHER_STATES["output-denied"][1]))
            return denial if reason is None else reason
        case InterruptedOutput(reason=interruption, message=message):
            losses.append(Loss.of(path, to_json(output), "version 4 knows no interrupted calls"))
            return f"The tool call was interrupted: {interruption}." if message is None else message
        case _:
            assert_never(output)
