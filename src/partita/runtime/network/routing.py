"""What a router is told, what it may answer, and what its answer means."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.format import ToolSpec
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import AssistantMessage, PrimitiveType, ToolCallPart
from partita.types.parts import TextPart

ROUTE: Final = "route"
FINISH: Final = "finish"


class Choice(NamedTuple):
    """What runs next, with which input, and why."""

    call_id: str | None
    primitive_type: PrimitiveType
    primitive_id: str
    input: Json
    reason: str | None


class Done(NamedTuple):
    """The task is done: the answer for the user."""

    call_id: str | None
    answer: str


class Unclear(NamedTuple):
    """An answer that means nothing: what the router is told about it."""

    call_id: str | None
    complaint: str


class Described(NamedTuple):
    """A primitive as the router knows it."""

    primitive_type: PrimitiveType
    id: str
    description: str
    input_schema: JsonObject | None = None


def instructions_for(primitives: Sequence[Described], own: str | None) -> str:
    """What the router is told at the start."""
    listed = "\n".join(f"- {one.primitive_type} {one.id}: {one.description}" for one in primitives)
    task = (
        "You coordinate others and do no work yourself. Read the task and what was done so far. "
        f"To have something done, call `{ROUTE}` with one of the primitives below, the input it needs, and "
        f"why you chose it. When the task is done, call `{FINISH}` with the answer for the user."
    )
    return "\n\n".join(part for part in (own, task, f"Primitives:\n{listed}") if part)


def tools_for(primitives: Sequence[Described]) -> tuple[ToolSpec, ...]:
    """The two tools of a router."""
    kinds = sorted({one.primitive_type for one in primitives})
    return (
        ToolSpec(
            name=ROUTE,
            description="Have a primitive do the next piece of work.",
            input_schema={
                "type": "object",
                "properties": {
                    "primitiveType": {"type": "string", "enum": kinds},
                    "primitiveId": {"type": "string", "enum": [one.id for one in primitives]},
                    "input": {"description": _inputs(primitives)},
                    "selectionReason": {"type": "string", "description": "Why this one, in a sentence."},
                },
                "required": ["primitiveType", "primitiveId", "input", "selectionReason"],
            },
        ),
        ToolSpec(
            name=FINISH,
            description="The task is done.",
            input_schema={
                "type": "object",
                "properties": {"answer": {"type": "string", "description": "What the user is told."}},
                "required": ["answer"],
            },
        ),
    )


def _inputs(primitives: Sequence[Described]) -> str:
    fitting = [f"for {one.id} {dumps(one.input_schema).decode()}" for one in primitives if one.input_schema]
    objects = f" Otherwise an object that fits a schema: {'; '.join(fitting)}" if fitting else ""
    return f"For an agent its task, in words.{objects}"


def decision_of(
    message: AssistantMessage, primitives: Mapping[tuple[str, str], object]
) -> Choice | Done | Unclear:
    """What a router decided. Words without a call are its answer, unless they are a decision in JSON."""
    for part in message.parts:
        if isinstance(part, ToolCallPart) and part.name in (ROUTE, FINISH):
            given: Json = {} if part.input is UNSET else part.input
            return _read(part.id, part.name, given if is_object(given) else {}, primitives)
    words = "".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
    written = _json(words)
    if written is not None and "primitiveId" in written:
        return _read("", ROUTE, written, primitives)
    if not words:
        return Unclear(None, f"Call `{ROUTE}` or `{FINISH}`.")
    return Done(None, words)


def _read(
    call_id: str, name: str, given: JsonObject, primitives: Mapping[tuple[str, str], object]
) -> Choice | Done | Unclear:
    if name == FINISH:
        return Done(call_id or None, str(given.get("answer", "")))
    kind, named = given.get("primitiveType"), given.get("primitiveId")
    key = next((known for known in primitives if known == (kind, named)), None)
    key = key or next((known for known in primitives if known[1] == named), None)
    if key is None:
        known = ", ".join(" ".join(each) for each in primitives)
        return Unclear(call_id or None, f"There is no {kind} {named!r}. There are: {known}.")
    reason = given.get("selectionReason")
    chosen: Json = given.get("input", given.get("prompt"))
    return Choice(call_id or None, _kind(key[0]), key[1], chosen, reason if isinstance(reason, str) else None)


def _kind(word: str) -> PrimitiveType:
    return "agent" if word == "agent" else "workflow" if word == "workflow" else "tool"


def _json(words: str) -> JsonObject | None:
    try:
        value = loads(words) if words.startswith("{") else None
    except DecodeError:
        return None
    return value if is_object(value) else None
