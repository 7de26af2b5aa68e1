"""Parts and attachments of UI messages of AI SDK 4 ↔ canonical parts.

Each detail of a reasoning is a canonical part. A file of an assistant is a part, any other file an
attachment, unless a note places it elsewhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import force_setattr, replace

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.repairs import FAILED
from partita.formats.ai_sdk.versions import REDACTED, SIGNATURE, signature_in, signed
from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import ANY_IMAGE, FILES, AnyFile, file_name, file_url, guess_media_type
from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.wire import Wire, residue, restore, to_json
from partita.stream.targets import DENIED
from partita.types.codec import reserved_tags
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Part, ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolState,
    UnknownPart,
    interruption_text,
)
from partita.types.value import Extra

from .wire import (
    ATTACHMENT,
    ATTACHMENT_NAME,
    BLOCK,
    EVERY_TYPE,
    NAME,
    TYPES,
    Attachment,
    File,
    Invocation,
    InvocationBlock,
    Reasoning,
    RedactedDetail,
    Source,
    SourceBlock,
    StepStart,
    Text,
    TextDetail,
    UnknownBlock,
)

# Notes
REASONING: Final = "reasoning"  # the reasoning that a first detail was in, without its details
PLACE: Final = "place"  # "parts" or "attachments", if a file is not where files of its message are
SHAPE: Final = "data"  # "url" if the data of a file is not base64
IMPLIED: Final = "implied"  # of a message: its step starts are not in the payload

_RESERVED: Final = frozenset({REASONING, PLACE, SHAPE})


def type_of(raw: Json) -> str | None:
    """The type of a part, if it is one."""
    kind: Json = raw.get("type") if isinstance(raw, dict) else None
    return kind if isinstance(kind, str) else None


# Texts, step starts and sources


def read_text(block: Text, _: None) -> TextPart:
    return TextPart(block.text)


def write_text(part: TextPart) -> Wire:
    return Text(text=part.text)


def read_step_start(block: StepStart, _: None) -> StepStartPart:
    return StepStartPart()


def write_step_start(part: StepStartPart) -> Wire:
    return StepStart()


def read_source(block: SourceBlock, _: None) -> SourceUrlPart:
    source = block.source
    title = None if source.title is UNSET else source.title
    return SourceUrlPart(source.id, source.url, title, provider_metadata=source.providerMetadata or None)


def write_source(part: SourceUrlPart) -> Wire:
    metadata = {name: value for name, value in (part.provider_metadata or {}).items() if name != NAME}
    title = UNSET if part.title is None else part.title
    source = Source(id=part.source_id, url=part.url, title=title, providerMetadata=metadata or UNSET)
    return SourceBlock(source=source)


# Calls

STATES: Final[Mapping[str, ToolState]] = {
    "partial-call": "input-streaming",
    "call": "input-available",
    "result": "output-available",
}
_WRITTEN_STATES: Final[Mapping[ToolState, Any]] = {
    **{state: name for name, state in STATES.items()},
    "approval-requested": "call",
    "approval-responded": "call",
    "output-error": "result",
    "output-denied": "result",
}
"""The states of calls. Version 4 has no approvals, and failed and denied calls have results."""


def read_call(block: InvocationBlock, _: None) -> ToolCallPart:
    call = block.toolInvocation
    state = call.state
    if state is UNSET:
        state = "call" if call.result is UNSET else "result"
    output = TextOutput(call.result) if isinstance(call.result, str) else JsonOutput(call.result)
    return ToolCallPart(
        call.toolCallId,
        call.toolName,
        STATES[state],
        call.args,
        output=None if call.result is UNSET else output,
    )


def write_call(part: ToolCallPart) -> Wire:
    """Return the block of a call, without the number of its step."""
    call = Invocation(
        state=_WRITTEN_STATES[part.state],
        toolCallId=part.id,
        toolName=part.name,
        args=part.input,
        result=_result(part),
    )
    return InvocationBlock(toolInvocation=call)


def _result(part: ToolCallPart) -> Json:
    """Return the result of a call, also of one that ended in a way that version 4 does not have."""
    reason = part.approval.reason if part.approval else None
    match part.output:
        case None if part.state == "output-error":
            return FAILED
        case None:
            return UNSET if part.state != "output-denied" else DENIED if reason is None else reason
        case ExecutionDeniedOutput(reason=own):
            denial = DENIED if reason is None else reason
            return denial if own is None else own
        case InterruptedOutput():
            return interruption_text(part.output)
        case ContentOutput():
            return to_json(replace(part.output, provider_metadata=None, extra=None))
        case output:
            return output.value


# Files


def read_file(block: File, _: None) -> FilePart:
    url = file_url(block.data, block.mimeType)
    shape = {SHAPE: "url"} if url == block.data else {}
    return FilePart(url, block.mimeType, provider_metadata=add_notes(None, NAME, shape))


def write_file(part: AnyFile) -> Wire:
    media_type = ANY_IMAGE if part.media_type is None else part.media_type
    is_url = notes(part.provider_metadata, NAME).get(SHAPE) == "url"
    data = part.url if is_url else part.url.removeprefix(f"data:{media_type};base64,")
    return File(mimeType=media_type, data=data)


def read_attachment(block: Attachment, _: None) -> FilePart:
    """Return the file of an attachment. Browsers send an empty type for unknown files."""
    name = None if block.name is UNSET else block.name
    return FilePart(block.url, block.contentType or guess_media_type(block.url, name), name)


def write_attachment(part: AnyFile) -> Wire:
    name = file_name(part)
    media_type = ANY_IMAGE if part.media_type is None else part.media_type
    return Attachment(url=part.url, name=UNSET if name is None else name, contentType=media_type)


def is_attached(part: AnyFile, role: str) -> bool:
    """Whether a file is an attachment: by a note, or else as version 4 places files."""
    place = notes(part.provider_metadata, NAME).get(PLACE)
    if place in ("parts", "attachments"):
        return bool(place == "attachments")
    media_type = ANY_IMAGE if part.media_type is None else part.media_type
    return role not in ("assistant", "data") or not part.url.startswith(f"data:{media_type};base64,")


# Reasoning


def read_detail(block: TextDetail, _: None) -> ReasoningPart:
    own = None if block.signature is UNSET else signed(None, SIGNATURE, block.signature)
    return ReasoningPart(block.text, provider_metadata=own)


def write_detail(part: ReasoningPart) -> Wire:
    signature = signature_in(part.provider_metadata, SIGNATURE)
    return TextDetail(text=part.text, signature=UNSET if signature is None else signature)


def read_redacted(block: RedactedDetail, _: None) -> ReasoningPart:
    return ReasoningPart("", provider_metadata=signed(None, REDACTED, block.data))


def write_redacted(part: ReasoningPart) -> Wire | None:
    data = signature_in(part.provider_metadata, REDACTED)
    return None if part.text or data is None else RedactedDetail(data=data)


PARTS: Final = PartCodecs[None](
    NAME,
    PartCodec(Text, TextPart, read_text, write_text),
    PartCodec(StepStart, StepStartPart, read_step_start, write_step_start),
    PartCodec(SourceBlock, SourceUrlPart, read_source, write_source),
    PartCodec(InvocationBlock, ToolCallPart, read_call, write_call),
    PartCodec(File, FILES, read_file, write_file),
    reserved=_RESERVED,
)
DETAILS: Final = PartCodecs[None](
    NAME,
    PartCodec(RedactedDetail, ReasoningPart, read_redacted, write_redacted),
    PartCodec(TextDetail, ReasoningPart, read_detail, write_detail),
    reserved=_RESERVED,
)
ATTACHMENTS: Final = PartCodecs[None](
    NAME,
    PartCodec(Attachment, FILES, read_attachment, write_attachment),
    reserved=_RESERVED,
    format_name=ATTACHMENT_NAME,
)


def read_part(
    raw: Json, kind: str | None, role: str, step: int, *, follows_reasoning: bool
) -> Sequence[Part]:
    """Read a part: one canonical part, or one for each detail of a reasoning.

    `step`: the number of the step; `follows_reasoning`: the part before it is reasoning.
    """
    block = BLOCK.read(raw) if kind in TYPES[role] else None
    if block is None or type(block) is UnknownBlock:
        return (_kept(raw),)
    if type(block) is Reasoning:
        return _read_reasoning(block, follows_reasoning) or (_kept(raw),)
    if type(block) is InvocationBlock and block.toolInvocation.step == step:
        force_setattr(block.toolInvocation, "step", UNSET)  # nothing else has a reference to it
    part = PARTS.read(block, None)
    if type(part) is FilePart and is_attached(part, role):
        part = _with_notes(part, {PLACE: "parts"})
    return (part,)


def _kept(raw: Json) -> ForeignPart | UnknownPart:
    """Keep a part that does not fit: as an unknown part if no version has its type."""
    kind = type_of(raw)
    is_known = kind is None or kind in EVERY_TYPE or kind in reserved_tags(UnknownPart)
    return ForeignPart(NAME, raw) if is_known else UnknownPart(Extra(raw))


def _with_notes(part: Any, more: JsonObject) -> Any:
    return replace(part, provider_metadata=add_notes(part.provider_metadata, NAME, more))


def _read_reasoning(block: Reasoning, follows_reasoning: bool) -> Sequence[ReasoningPart]:
    """Return the parts of a reasoning, or none if it does not fit. Without details, its text is one."""
    others = block.extra or {}
    details = block.details or (TextDetail(text=block.reasoning),)
    parts = [DETAILS.read(one, None) for one in details]
    if others.get("details") or set(map(type, parts)) != {ReasoningPart}:
        return ()
    is_empty = block.details == () or "details" in others
    text = "".join([part.text for part in parts])
    # Each detail has its own residue
    kept = residue(Reasoning(reasoning=text, details=details if is_empty else block.details), block)
    if kept or follows_reasoning:
        parts[0] = _with_notes(parts[0], {REASONING: kept})
    return parts


def begins_reasoning(part: ReasoningPart) -> bool:
    """Whether a part was the first detail of a reasoning that follows another."""
    return REASONING in notes(part.provider_metadata, NAME)


def write_reasoning(parts: Sequence[ReasoningPart]) -> Wire:
    """Return the reasoning whose details are these parts."""
    details: Any = tuple([DETAILS.write(part) for part in parts])
    written = Reasoning(reasoning="".join([part.text for part in parts]), details=details)
    kept = notes(parts[0].provider_metadata, NAME).get(REASONING)
    return restore(written, kept) if is_object(kept) else written


def read_attached(raw: Json, role: str) -> FilePart | ForeignPart:
    """Return the file of an attachment."""
    try:
        part = ATTACHMENTS.read(ATTACHMENT.read(raw), None)
    except DecodeError:
        return ForeignPart(ATTACHMENT_NAME, raw)
    return part if is_attached(part, role) else _with_notes(part, {PLACE: "attachments"})
