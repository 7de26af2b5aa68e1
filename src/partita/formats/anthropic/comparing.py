"""What of canonical messages the blocks of a request do not say.

Each part is compared with what its block holds, member by member, so that nothing can be forgotten: what is
not named here as held is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from partita.formats.bare import is_bare, is_bare_message
from partita.formats.losses import Loss, Severity
from partita.formats.missing import lost
from partita.types.codec import to_json
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantPart, Message, Part, ToolCallPart, derive_type
from partita.types.parts import (
    CustomPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    StepStartPart,
    TextPart,
)
from partita.types.tools import (
    ContentOutput,
    ErrorTextOutput,
    TextOutput,
    ToolOutput,
)

from .media import media_block, media_part
from .results import MCP_MARK, block_of
from .words import (
    ANTHROPIC,
    APART,
    BLOCKS,
    FIELDS,
    FORM,
    INDEX,
    PLACE,
    RESULT_TYPE,
    own_of,
)

NO_PLACE: Final = "the API has no place for it"
OUTPUT: Final = "a result is text, or blocks of text, pictures and documents"
EMPTY: Final = "the API takes no empty text"
SPELLING: Final = "the input is written anew"
DIVIDES: Final = "turns begin where calls were answered"
CONVENIENT: Final = "it repeats what the parts say"

WHY: Final[Mapping[str, str]] = {
    "id": "messages of the API have no id",
    "createdAt": "messages of the API have no time",
    "usage": "messages of the API do not tell what they cost",
    "children": "the model does not see what a sub-agent said",
    "approval": "the model sees only what came of it",
    "networkExecution": "the model sees only what came of it",
}

MARKS: Final = (APART, FIELDS, FORM, PLACE)
"""What is said of a turn in our namespace, and shows in how it is written."""

CALL_MARKS: Final = ("caller", FIELDS, "type", "serverName", INDEX)
RESULT_MARKS: Final = ("caller", FIELDS, INDEX, FORM, RESULT_TYPE)


def is_held(part: Part) -> bool:
    """Whether a part is all in its block, or was told whole: most are, and need no closer look."""
    match part:
        case TextPart():
            return bool(part.text) and is_bare(part)
        case ReasoningPart():
            return is_bare(part)
        case ToolCallPart(output=TextOutput() as output, state="output-available"):
            return part.input is not None and is_bare(part) and is_bare(output)
        case _:
            return False


def part_losses(part: Part, path: str, *, is_models: bool = False, is_answer: bool = False) -> Iterator[Loss]:
    """What of a part is not in its block. A part that has none was told whole."""
    match part:
        case TextPart(text="") if not is_answer:
            yield Loss.of(path, part, EMPTY, "minor")
        case TextPart():
            yield from _text_losses(part, path)
        case ReasoningPart():
            yield from _reasoning_losses(part, path)
        case ImagePart() | FilePart() | ReasoningFilePart() if not is_models:
            yield from _media_losses(part, path)
        case ToolCallPart():
            yield from _call_losses(part, path)
        case CustomPart() if own_of(part.provider_metadata) is not None:
            own = own_of(part.provider_metadata) or {}
            held = {"type": "custom", "kind": f"{ANTHROPIC}.{own.get('type')}", **_held({ANTHROPIC: own})}
            yield from _lost(to_json(part), held, path)
        case ForeignPart(format=format) if format == ANTHROPIC:
            held = {"type": "foreign", "format": format, "value": part.value}
            yield from _lost(to_json(part), held, path)
        case _:
            return


def derived_losses(
    parts: Sequence[tuple[int, AssistantPart]], again: Sequence[AssistantPart], path: str
) -> Iterator[Loss]:
    """What citations and sources of a step say that is not made of what was sent, as `again` is."""
    texts = iter([part for part in again if isinstance(part, TextPart) and part.text.strip()])
    sources = [_source(part) for part in again if isinstance(part, SourceUrlPart | SourceDocumentPart)]
    for number, part in parts:
        where = f"{path}[{number}]"
        match part:
            case TextPart() if part.text.strip():
                own = own_of(part.provider_metadata) or {}
                other = None if own.get("type") == "compaction" else next(texts, None)
                if part.citations and own.get("citations"):
                    found = None if other is None else to_json(other).get("citations")
                    yield from _lost(to_json(part)["citations"], found, f"{where}.citations")
            case SourceUrlPart() | SourceDocumentPart() if own_of(part.provider_metadata) is not None:
                if _source(part) not in sources:
                    yield Loss.of(where, part, NO_PLACE)
            case _:
                pass


def shell_losses(message: Message, path: str, id_: str | None, *, is_string: bool) -> Iterator[Loss]:
    """What of a message around its parts is not in its turn, which is read with that id, if it begins one."""
    if is_bare_message(message):
        if message.id != id_:
            yield Loss.of(f"{path}.id", message.id, WHY["id"])
        return
    content: JsonObject = {"format": 2}
    own = own_of(message.content.provider_metadata)
    if own is not None:
        content["providerMetadata"] = {ANTHROPIC: {key: own[key] for key in MARKS if key in own}}
    if is_string:
        content["content"] = _words(message)
    plain: JsonObject = to_json(message)
    held = {"role": plain["role"], "id": id_, "type": derive_type(message.parts), "content": content}
    plain["content"] = {key: item for key, item in plain["content"].items() if key != "parts"}
    said = plain["content"].get("content")
    if said is not None and "content" not in content and said == _words(message):
        del plain["content"]["content"]
        yield Loss.of(f"{path}.content.content", said, CONVENIENT, "minor")
    yield from _lost(plain, held, path)


def start_losses(part: StepStartPart, path: str, *, divides: bool) -> Iterator[Loss]:
    """What of a step start is not there: all of it, unless a turn begins with it."""
    if divides and is_bare(part):
        return
    own = own_of(part.provider_metadata) or {}
    metadata = {ANTHROPIC: {key: own[key] for key in MARKS if key in own}} if divides else {}
    if not divides:
        yield Loss(path, "where a step begins", DIVIDES, "repaired")
    yield from _lost(to_json(part), {"type": "step-start", **_held(metadata)}, path)


def _text_losses(part: TextPart, path: str) -> Iterator[Loss]:
    if part.provider_metadata is None and part.citations is None and part.extra is None:
        if part.state == "streaming":
            yield Loss.of(f"{path}.state", part.state, NO_PLACE, "minor")
        return
    own = own_of(part.provider_metadata) or {}
    names = ("type",) if own.get("type") == "compaction" else ("citations", FIELDS)
    held: JsonObject = {"type": "text", "text": part.text, "state": "done", **_held(_kept(own, names))}
    plain: JsonObject = to_json(part)
    if own.get("citations"):
        plain.pop("citations", None)  # they are made of the raw ones, and told where all of a step is read
    yield from _lost(plain, held, path)


def _reasoning_losses(part: ReasoningPart, path: str) -> Iterator[Loss]:
    own = own_of(part.provider_metadata) or {}
    if isinstance(own.get("redactedData"), str):
        names, text = ("redactedData", FIELDS), ""
    elif isinstance(own.get("signature"), str):
        names, text = ("signature", FIELDS), part.text
    else:
        return
    held: JsonObject = {"type": "reasoning", "text": text, "state": "done", **_held(_kept(own, names))}
    if part.id is not None and part.id.isdigit():
        held["id"] = part.id  # the place of its block in the answer
        yield Loss.of(f"{path}.id", part.id, WHY["id"], "minor")
    yield from _lost(to_json(part), held, path)


def _media_losses(part: ImagePart | FilePart | ReasoningFilePart, path: str) -> Iterator[Loss]:
    block = media_block(part)
    if isinstance(block, str):
        return
    again = media_part(block)
    if again == part:
        return
    if isinstance(again, ForeignPart):
        yield Loss.of(path, part, NO_PLACE, "changed")
        return
    held: JsonObject = dict(to_json(again))
    plain: JsonObject = to_json(part)
    yield from _lost({**plain, "type": "file"}, {**held, "type": "file"}, path, severities=CHANGED)


def _call_losses(part: ToolCallPart, path: str) -> Iterator[Loss]:
    own, result = own_of(part.call_provider_metadata), own_of(part.result_provider_metadata)
    if part.provider_executed and own is None:
        return
    if part.input is None or not is_bare(part):
        yield from _around_losses(part, path, own, result)
    states = {"input-available", None if part.output is None else state_after(part.output)}
    if part.state not in states and part.approval is None:
        yield Loss.of(f"{path}.state", part.state, NO_PLACE, "changed")
    if part.output is not None:
        yield from _output_losses(part, part.output, f"{path}.output", result or {})


def _around_losses(
    part: ToolCallPart, path: str, own: JsonObject | None, result: JsonObject | None
) -> Iterator[Loss]:
    """What of a call besides its state and output is not in its blocks."""
    plain: JsonObject = {key: item for key, item in to_json(part).items() if key not in ("output", "state")}
    held: JsonObject = {"type": "tool-call", "id": part.id, "name": part.name}
    held |= {"input": plain.get("input")} if part.raw_input is UNSET else {"rawInput": part.raw_input}
    if part.provider_executed:
        held["providerExecuted"] = True
    if own is not None:
        held["callProviderMetadata"] = _kept(own, CALL_MARKS)
        held["dynamic"] = True if own.get("type") == MCP_MARK else None
        words = own.get("rawInput")
        if words is not None:
            held["callProviderMetadata"][ANTHROPIC]["rawInput"] = words
        if words:
            yield Loss.of(f"{path}.callProviderMetadata.{ANTHROPIC}.rawInput", words, SPELLING, "minor")
    if result is not None:
        of_server = {key: own[key] for key in ("type", "serverName") if key in (own or {})} if own else {}
        held["resultProviderMetadata"] = {ANTHROPIC: _kept(result, RESULT_MARKS)[ANTHROPIC] | of_server}
    yield from _lost(plain, held, path)


def _output_losses(part: ToolCallPart, output: ToolOutput, path: str, own: JsonObject) -> Iterator[Loss]:
    if part.provider_executed:
        if block_of(part.name, part.id, output, own) is not None:
            yield from _lost(to_json(output), {**to_json(output), "providerMetadata": None}, path)
        return
    is_list = own.get(FORM) == BLOCKS
    match output:
        case TextOutput() if is_bare(output):
            return
        case TextOutput() | ErrorTextOutput():
            yield from _lost(to_json(output), {"type": to_json(output)["type"], "value": output.value}, path)
        case ContentOutput(value=items):
            for index, item in enumerate(items):
                yield from part_losses(item, f"{path}.value[{index}]")
            yield from _lost({**to_json(output), "value": None}, {"type": "content", "value": None}, path)
        case _ if is_list:
            yield from _lost(to_json(output), {**to_json(output), "providerMetadata": None}, path)
        case _:
            yield Loss.of(path, output, OUTPUT, "changed")


CHANGED: Final[Mapping[str, Severity]] = {"url": "changed", "mediaType": "changed"}


def _lost(
    before: Json, after: Json, path: str, severities: Mapping[str, Severity] | None = None
) -> Iterator[Loss]:
    return lost(before, after, path, NO_PLACE, reasons=WHY, severities=severities)


def _kept(own: JsonObject, names: tuple[str, ...]) -> JsonObject:
    return {ANTHROPIC: {key: own[key] for key in names if key in own}}


def _source(part: SourceUrlPart | SourceDocumentPart) -> JsonObject:
    """A source without the id that it was given."""
    return {key: item for key, item in to_json(part).items() if key != "sourceId"}


def _held(metadata: JsonObject) -> JsonObject:
    return {"providerMetadata": metadata} if metadata else {}


def _words(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, TextPart))
