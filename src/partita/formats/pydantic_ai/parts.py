"""The parts of a response ↔ parts of an assistant message. Parts of other kinds are kept whole."""

from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.framework.members import Members, metadata_of, noted
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, FilePart, ForeignPart, ImagePart, ReasoningPart, TextPart

from .citations import OTHERS, read_citations, write_citations
from .items import read_binary, write_binary
from .outputs import read_output, write_output
from .shapes import NAME, members_of, written
from .signing import REDACTED, SAYING, THINKING, given, taken

COMPACTION: Final = f"{NAME}.compaction"


def read_part(raw: Json, provider: Json, made_id: str) -> AssistantPart:
    """The part of a response; `provider` is whose model answered."""
    part: AssistantPart | None = None
    if is_object(raw):
        match raw.get("part_kind"):
            case "text":
                part = _read_text(raw, provider)
            case "thinking":
                part = _read_thinking(raw, provider)
            case "tool-call" | "builtin-tool-call":
                part = _read_call(raw, provider, made_id)
            case "file":
                part = _read_file(raw)
            case "compaction":
                left = members_of(raw, "compaction", "part_kind").left
                part = CustomPart(COMPACTION, provider_metadata={NAME: left})
            case _:
                pass
    return ForeignPart(NAME, raw) if part is None else part


def write_part(part: AssistantPart) -> JsonObject | None:
    """The part of a response that holds a part; `None` if there is none for it."""
    match part:
        case TextPart():
            return _write_text(part)
        case ReasoningPart():
            return _write_thinking(part)
        case ToolCallPart():
            return _write_call(part)
        case ImagePart() | FilePart():
            return _write_file(part)
        case CustomPart(kind=kind) if kind == COMPACTION:
            note = noted(part.provider_metadata, NAME)
            return written("compaction", {"content": None}, note, {"part_kind": "compaction"})
        case ForeignPart(format="pydantic-ai", value=value) if is_object(value) and "part_kind" in value:
            return value
        case _:
            return None


def _read_text(raw: JsonObject, provider: Json) -> TextPart | None:
    if not isinstance(raw.get("content"), str):
        return None
    members = members_of(raw, "text", "part_kind", "content")
    if not members.left:
        return TextPart(raw["content"])
    citations = None
    raws = members.left.get("citations")
    if is_array(raws):
        del members.left["citations"]
        citations, others = read_citations(raws)
        if others:
            members.left[OTHERS] = others
    return TextPart(raw["content"], citations=citations, provider_metadata=taken(members, SAYING, provider))


def _write_text(part: TextPart) -> JsonObject:
    about = given(part.provider_metadata, SAYING)
    others = about.pop(OTHERS, None)
    if others is not None or part.citations is not None:
        about["citations"] = write_citations(part.citations or (), others)
    return written("text", about, {"content": part.text, "part_kind": "text"})


def _read_thinking(raw: JsonObject, provider: Json) -> ReasoningPart | None:
    if not isinstance(raw.get("content"), str):
        return None
    members = members_of(raw, "thinking", "part_kind", "content")
    if not members.left:
        return ReasoningPart(raw["content"])
    is_hidden = raw.get("id") == REDACTED and raw["content"] == "" and isinstance(raw.get("signature"), str)
    if is_hidden and raw.get("provider_name") == "anthropic":
        for name in ("id", "signature", "provider_name"):
            members.any(name)
        hidden = {"anthropic": {"redactedData": raw["signature"]}}
        return ReasoningPart("", provider_metadata=metadata_of(NAME, members.left, hidden))
    metadata = taken(members, THINKING, provider)
    id_ = members.text("id")
    if metadata is not None and id_ is not None:
        rest = {key: value for key, value in metadata.items() if key != NAME}
        metadata = metadata_of(NAME, members.left, rest)
    return ReasoningPart(raw["content"], id=id_, provider_metadata=metadata)


def _write_thinking(part: ReasoningPart) -> JsonObject:
    said = {"content": part.text, "part_kind": "thinking"}
    hidden = noted(part.provider_metadata, "anthropic").get("redactedData")
    if isinstance(hidden, str) and not part.text:
        about = {"id": REDACTED, "signature": hidden, "provider_name": "anthropic"}
        return written("thinking", noted(part.provider_metadata, NAME), about, said)
    about = {"id": part.id} if part.id is not None else {}
    return written("thinking", about, given(part.provider_metadata, THINKING), said)


def _read_call(raw: JsonObject, provider: Json, made_id: str) -> ToolCallPart | None:
    if not isinstance(raw.get("tool_name"), str):
        return None
    kind: str = raw["part_kind"]
    members = members_of(raw, kind, "part_kind", "tool_name")
    call_id = members.text("tool_call_id")
    if call_id is None:
        members.left["made"] = True
    arguments = members.any("args", UNSET)
    input_, raw_input = read_arguments(arguments, members)
    metadata = taken(members, SAYING, provider) if members.left else None
    return ToolCallPart(
        made_id if call_id is None else call_id,
        raw["tool_name"],
        "input-available",
        input_,
        raw_input=raw_input,
        provider_executed=True if kind == "builtin-tool-call" else None,
        call_provider_metadata=metadata,
    )


def read_arguments(arguments: Json, members: Members) -> tuple[Json, Json]:
    """The input, and its text if it cannot be read."""
    if isinstance(arguments, str):
        try:
            value = loads(arguments)
        except DecodeError:
            return UNSET, arguments
        members.left["args"] = True if dumps(value).decode() == arguments else arguments
        return value, UNSET
    if arguments is None or arguments is UNSET:
        if arguments is UNSET:
            members.left["bare"] = True
        return UNSET, UNSET
    return arguments, UNSET


def _write_call(call: ToolCallPart) -> JsonObject:
    kind = "builtin-tool-call" if call.provider_executed else "tool-call"
    note = given(call.call_provider_metadata, SAYING)
    said: JsonObject = {"tool_name": call.name, "args": _write_arguments(call, note), "part_kind": kind}
    if note.pop("bare", False) and said["args"] is None:
        del said["args"]
    if not note.pop("made", False):
        said["tool_call_id"] = call.id
    return written(kind, note, said)


def _write_arguments(call: ToolCallPart, note: JsonObject) -> Json:
    spelt = note.pop("args", None)
    if call.input is UNSET:
        raw = call.raw_input
        return None if raw is UNSET else raw if isinstance(raw, str) else dumps(raw).decode()
    if spelt is not None or not is_object(call.input):
        text = dumps(call.input).decode()
        return spelt if isinstance(spelt, str) and _is_same(spelt, text) else text
    return call.input


def _is_same(spelt: str, text: str) -> bool:
    try:
        return dumps(loads(spelt)).decode() == text
    except DecodeError:
        return False


def _read_file(raw: JsonObject) -> ImagePart | FilePart | None:
    content = raw.get("content")
    part = read_binary(content) if is_object(content) and content.get("kind", "binary") == "binary" else None
    if part is None:
        return None
    about = members_of(raw, "file", "part_kind", "content").left
    note = noted(part.provider_metadata, NAME)
    return replace(part, provider_metadata=metadata_of(NAME, {**note, **({"part": about} if about else {})}))


def _write_file(part: ImagePart | FilePart) -> JsonObject | None:
    note = dict(noted(part.provider_metadata, NAME))
    about = note.pop("part", None)
    content = write_binary(replace(part, provider_metadata={NAME: note}))
    if content is None:
        return None
    return written("file", about if is_object(about) else {}, {"content": content, "part_kind": "file"})


def read_builtin_return(call: ToolCallPart, raw: JsonObject, at: int | None) -> ToolCallPart | None:
    """A call of the provider with what came of it; `at`: where that stood, unless behind the call."""
    members = members_of(raw, "builtin-tool-return", "part_kind", "tool_call_id")
    name = members.text("tool_name")
    output = read_output(members)
    if output is None or name is None:
        return None
    note = {
        **members.left,
        **({} if at is None else {"at": at}),
        **({} if name == call.name else {"of": name}),
    }
    return replace(
        call, state=state_after(output), output=output, result_provider_metadata=metadata_of(NAME, note)
    )


def write_builtin_return(call: ToolCallPart) -> JsonObject | None:
    """What came of a call of the provider."""
    if call.output is None or not call.provider_executed:
        return None
    note = dict(noted(call.result_provider_metadata, NAME))
    output = write_output(call.output, note)
    of = note.pop("of", None)
    name = of if isinstance(of, str) else call.name
    said: JsonObject = {"tool_name": name, "tool_call_id": call.id, "part_kind": "builtin-tool-return"}
    if not noted(call.result_provider_metadata, NAME):
        said |= {key: value for key, value in _provider(call).items() if value is not None}
    return written("builtin-tool-return", note, output, said)


def _provider(call: ToolCallPart) -> dict[str, Any]:
    return {"provider_name": noted(call.call_provider_metadata, NAME).get("provider_name")}
