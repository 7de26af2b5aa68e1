"""Messages of the assistant ↔ parts: in requests and responses.

They need a module of their own because what a step contains is in four members of its message: the tool plan,
the content, the calls, and the citations of all of these. A tool plan is reasoning with a note: it is what
the model wrote for itself before its calls, and readers of an answer do not expect it in the text.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.report import Place, PlacedPart
from partita.formats.core.residue import residue
from partita.formats.core.role_messages import FORM, STRING
from partita.formats.core.turns import Placed
from partita.types.json import JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ForeignPart, ReasoningPart, TextPart

from . import wire
from .parts import ASSISTANT_BLOCKS, CALLS, CITATIONS, FIELDS, PLAN, read_citation
from .wire import NAME

SEPARATOR: Final = "\n"
"""Between texts that become one tool plan."""


_CITED: Final[Mapping[str, type[TextPart | ReasoningPart]]] = {
    "TEXT_CONTENT": TextPart,
    "THINKING_CONTENT": ReasoningPart,
    "PLAN": ReasoningPart,
}


def read_assistant(message: wire.Assistant) -> tuple[list[PlacedPart], JsonObject]:
    """The parts of a message, and notes about it. A place is `plan`, or a member and a number."""
    found: list[PlacedPart] = []
    if message.tool_plan:
        found.append(
            PlacedPart(ReasoningPart(message.tool_plan, provider_metadata={NAME: {PLAN: True}}), PLAN)
        )
    content = message.content or ()
    blocks = (wire.Text(text=content),) if isinstance(content, str) else content
    found += [PlacedPart(read_block(block), ("content", number)) for number, block in enumerate(blocks)]
    for number, call in enumerate(message.tool_calls or ()):
        found.append(PlacedPart(read_call(call), ("tool_calls", number)))
    for raw in message.citations or ():
        at = _cited(found, raw) if is_object(raw) else None
        if at is not None:
            found[at] = found[at]._replace(part=add_citation(found[at].part, raw))
    noted: JsonObject = {FORM: STRING} if isinstance(content, str) and content else {}
    written, _ = write_assistant([Placed(part, "") for part, _ in found], is_request=False)
    kept = residue(as_string(written) if noted else written, message)
    return found, {**noted, **({FIELDS: kept} if kept else {})}


def read_block(block: Any) -> Any:
    """The part of a block of the content."""
    part = ASSISTANT_BLOCKS.read(block, None)
    return custom("content", part.value) if isinstance(part, ForeignPart) else part


def read_call(call: Any) -> Any:
    """The part of a call."""
    part = CALLS.read(call, None)
    return custom("tool_calls", part.value) if isinstance(part, ForeignPart) else part


def custom(member: str, raw: JsonObject) -> CustomPart:
    """The part of a block that has no other."""
    return CustomPart(f"{NAME}.{raw.get('type')}", provider_metadata={NAME: {"member": member, "block": raw}})


def _cited(parts: Sequence[PlacedPart], raw: JsonObject) -> int | None:
    """The number of the part that a citation is about.

    `type` is TEXT_CONTENT, THINKING_CONTENT or PLAN; `content_index` may be absent.
    """
    kind, index = str(raw.get("type", "TEXT_CONTENT")), raw.get("content_index")
    type_ = _CITED.get(kind)
    for at, (part, place) in enumerate(parts):
        is_plan = place == PLAN
        is_kind = type_ is not None and isinstance(part, type_) and is_plan == (kind == "PLAN")
        if is_kind and (index is None or is_plan or place == ("content", index)):
            return at
    return None


def add_citation(part: Any, raw: JsonObject) -> Any:
    """A text or reasoning with a citation."""
    before = notes(part.provider_metadata, NAME).get(CITATIONS, [])
    part = replace(
        part, provider_metadata=add_notes(part.provider_metadata, NAME, {CITATIONS: [*before, raw]})
    )
    if isinstance(part, TextPart):
        citations = (*(part.citations or ()), *read_citation(raw))
        part = replace(part, citations=citations or None)
    return part


def write_assistant(
    parts: Sequence[Placed], *, is_request: bool, text: str | None = None
) -> tuple[wire.Assistant, list[Place | None]]:
    """The message of a step, and the place of each part.

    In a request, text beside calls becomes the tool plan: "text content is not allowed when tool_calls are
    provided" (https://github.com/vercel/ai/issues/5794).
    """
    plan: list[str] = []
    content: list[Any] = []
    calls: list[Any] = []
    citations: list[Any] = []
    places: list[Place | None] = []
    has_calls = any(isinstance(part, ToolCallPart) and CALLS.can_write(part) for part, _ in parts)
    for part, _ in parts:
        own = notes(getattr(part, "provider_metadata", None), NAME)
        if isinstance(part, ReasoningPart) and own.get(PLAN) is True:
            plan.append(part.text)
            places.append(PLAN)
        elif isinstance(part, TextPart) and has_calls and is_request:
            plan.append(part.text)
            places.append(PLAN)
            continue
        else:
            member, block = _write_block(part, own)
            target = calls if member == "tool_calls" else content
            places.append(None if block is None else (member, len(target)))
            if block is None:
                continue
            target.append(block)
        if is_array(cited := own.get(CITATIONS)):
            citations += cited
    if text is not None and has_calls and is_request:
        plan.append(text)
    elif text is not None:
        content.append(wire.Text(text=text))
    message = wire.Assistant(
        content=tuple(content) or UNSET,
        tool_plan=SEPARATOR.join(plan) or UNSET,
        tool_calls=tuple(calls) or UNSET,
        citations=citations or UNSET,
    )
    return message, places


def _write_block(part: Any, own: JsonObject) -> tuple[str, Any]:
    match part:
        case CustomPart(kind=str(kind)) if kind.startswith(f"{NAME}.") and is_object(own.get("block")):
            return str(own.get("member")), own["block"]
        case ToolCallPart():
            return "tool_calls", CALLS.write(part)
        case _:
            return "content", ASSISTANT_BLOCKS.write(part)


def is_written(part: AssistantPart) -> bool:
    """Whether a part is written."""
    own = notes(getattr(part, "provider_metadata", None), NAME)
    return own.get(PLAN) is True or _write_block(part, own)[1] is not None


def as_string(message: Any) -> Any:
    """A message whose content is one text, as a string."""
    match message.content:
        case (wire.Text() as only,) if only == wire.Text(text=only.text):
            return replace(message, content=only.text)
        case _:
            return message
