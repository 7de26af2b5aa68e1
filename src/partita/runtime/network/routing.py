"""What a router sees, and how its decisions are read."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.format import ToolSpec
from partita.runtime.session.turn import can_continue, seed_of
from partita.store.ids import new_id
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    PrimitiveType,
    ToolCallPart,
    UserMessage,
    failure_text,
    result_text,
)
from partita.types.parts import ErrorTextOutput, TextOutput, TextPart
from partita.types.tool_results import state_after

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
    """The task is done: the text for the user."""

    call_id: str | None
    answer: str


class Invalid(NamedTuple):
    """A response without a valid decision: the error for the router."""

    call_id: str | None
    error: str


class Description(NamedTuple):
    """A primitive as the router sees it."""

    primitive_type: PrimitiveType
    id: str
    description: str
    input_schema: JsonObject | None = None


def instructions_for(primitives: Sequence[Description], instructions: str | None) -> str:
    """The instructions of the router, after those of the network."""
    listed = "\n".join(f"- {one.primitive_type} {one.id}: {one.description}" for one in primitives)
    task = (
        "You coordinate others and do no work yourself. Read the task and what was done so far. "
        f"To have something done, call `{ROUTE}` with one of the primitives below, the input it needs, and "
        f"why you chose it. When the task is done, call `{FINISH}` with the answer for the user."
    )
    return "\n\n".join(part for part in (instructions, task, f"Primitives:\n{listed}") if part)


def tools_for(primitives: Sequence[Description]) -> tuple[ToolSpec, ...]:
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
                "properties": {"answer": {"type": "string", "description": "The answer for the user."}},
                "required": ["answer"],
            },
        ),
    )


def _inputs(primitives: Sequence[Description]) -> str:
    schemas = [f"for {one.id} {dumps(one.input_schema).decode()}" for one in primitives if one.input_schema]
    objects = f" Otherwise an object that fits a schema: {'; '.join(schemas)}" if schemas else ""
    return f"For an agent its task, in words.{objects}"


def decision_of(
    message: AssistantMessage, primitives: Mapping[tuple[str, str], object]
) -> Choice | Done | Invalid:
    """The decision of a router. Text without a call is the answer, unless it is a decision as JSON."""
    for part in message.parts:
        if isinstance(part, ToolCallPart) and part.name in (ROUTE, FINISH):
            given: Json = {} if part.input is UNSET else part.input
            return _read(part.id, part.name, given if is_object(given) else {}, primitives)
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
    decision = _json(text)
    if decision is not None and "primitiveId" in decision:
        return _read("", ROUTE, decision, primitives)
    if not text:
        return Invalid(None, f"Call `{ROUTE}` or `{FINISH}`.")
    return Done(None, text)


def _read(
    call_id: str, name: str, given: JsonObject, primitives: Mapping[tuple[str, str], object]
) -> Choice | Done | Invalid:
    if name == FINISH:
        return Done(call_id or None, str(given.get("answer", "")))
    kind, named = given.get("primitiveType"), given.get("primitiveId")
    key = next((known for known in primitives if known == (kind, named)), None)
    key = key or next((known for known in primitives if known[1] == named), None)
    if key is None:
        known = ", ".join(" ".join(each) for each in primitives)
        return Invalid(call_id or None, f"There is no {kind} {named!r}. There are: {known}.")
    reason = given.get("selectionReason")
    type_: PrimitiveType = "agent" if key[0] == "agent" else "workflow" if key[0] == "workflow" else "tool"
    chosen: Json = given.get("input", given.get("prompt"))
    return Choice(call_id or None, type_, key[1], chosen, reason if isinstance(reason, str) else None)


def _json(text: str) -> JsonObject | None:
    try:
        value = loads(text) if text.startswith("{") else None
    except DecodeError:
        return None
    return value if is_object(value) else None


NO_TEXT: Final = "It ended without a text."


class Resumption(NamedTuple):
    """An execution that waited for a client, and its task."""

    message: AssistantMessage
    choice: Choice
    iteration: int
    decided: AssistantMessage
    """The router's turn that chose it."""
    turns: tuple[Message, ...]
    """The turns before it, as the router sees them."""
    history: tuple[Message, ...]
    """The conversation before the task, and the task."""


def with_result(
    decided: AssistantMessage, call_id: str | None, outcome: NetworkResult | str
) -> Sequence[Message]:
    """A router's turn with its result, or with the error of an invalid decision."""
    failed = isinstance(outcome, str) or failure_text(outcome) is not None
    text = outcome if isinstance(outcome, str) else result_text(outcome) or NO_TEXT
    turn = replace(decided, internal=False)  # it is part of the router's own conversation
    if call_id is None:
        return [turn, UserMessage(id=new_id(), content=text)]
    output = ErrorTextOutput(text) if failed else TextOutput(text)
    parts = tuple(
        replace(part, state=state_after(output), output=output)
        if isinstance(part, ToolCallPart) and part.id == call_id
        else part
        for part in turn.parts
    )
    return [replace(turn, content=replace(turn.content, parts=parts))]


def resumption_of(
    history: Sequence[Message], message_id: str | None, primitives: Mapping[tuple[str, str], object]
) -> Resumption | None:
    """The execution that a conversation ends with, if it waited for a client and can be continued."""
    message = seed_of(history, message_id or "")
    execution = None if message is None else message.content.network_execution
    if message is None or execution is None or not can_continue(message):
        return None
    task = max((index for index, one in enumerate(history) if isinstance(one, UserMessage)), default=-1)
    since = history[task + 1 :]
    results = {known.iteration: known for one in since if (known := _execution_of(one)) is not None}
    turns = {
        number: one
        for one in since
        if isinstance(one, AssistantMessage) and (number := _iteration_of(one)) is not None
    }
    iteration = execution.iteration or len(results)
    before: list[Message] = []
    for number in sorted({*turns, *(known for known in results if known is not None)} - {iteration}):
        known = results.get(number)
        turn = turns.get(number) or _rebuilt(known or execution)
        decision = decision_of(turn, primitives)
        if known is not None:
            before += with_result(turn, decision.call_id, known.final_result or NetworkResult())
        elif isinstance(decision, Invalid):
            before += with_result(turn, decision.call_id, decision.error)
    decided = turns.get(iteration) or _rebuilt(execution)
    choice = Choice(
        decision_of(decided, primitives).call_id,
        execution.primitive_type,
        execution.primitive_id,
        None if execution.input is UNSET else execution.input,
        execution.selection_reason,
    )
    kept = [one for one in since if _execution_of(one) is None and not one.internal]
    return Resumption(message, choice, iteration, decided, tuple(before), (*history[: task + 1], *kept))


def _execution_of(message: Message) -> NetworkExecution | None:
    return message.content.network_execution if isinstance(message, AssistantMessage) else None


def _iteration_of(message: AssistantMessage) -> int | None:
    """The number of a router's turn; `None` for any other message."""
    metadata: Json = message.content.metadata
    network: Json = metadata.get("network") if is_object(metadata) and message.internal else None
    number = network.get("iteration") if is_object(network) else None
    return number if isinstance(number, int) else None


def _rebuilt(execution: NetworkExecution) -> AssistantMessage:
    """The router's turn that chose an execution, where only the execution is known."""
    given: JsonObject = {
        "primitiveType": execution.primitive_type,
        "primitiveId": execution.primitive_id,
        "input": None if execution.input is UNSET else execution.input,
        "selectionReason": execution.selection_reason,
    }
    call = ToolCallPart(new_id(), ROUTE, "input-available", given)
    return AssistantMessage(id=new_id(), content=[call])
