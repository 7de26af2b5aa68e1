"""What a router sees of a task: its own turns, each with the result of what it chose."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.runtime.session.turn import goes_on, seed_of
from partita.store.ids import new_id
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    UserMessage,
    failure_of,
    result_text,
)
from partita.types.tools import ErrorTextOutput, TextOutput

from .routing import ROUTE, Choice, Unclear, decision_of

NO_TEXT: Final = "It ended without a text."


class Resumption(NamedTuple):
    """An execution that waited for a client, and the task it belongs to."""

    message: AssistantMessage
    choice: Choice
    iteration: int
    decided: AssistantMessage
    """The router's turn that chose it."""
    turns: tuple[Message, ...]
    """The turns before it, as the router sees them."""
    history: tuple[Message, ...]
    """The conversation before the task, and the task."""


def reported(
    decided: AssistantMessage, call_id: str | None, outcome: NetworkResult | str
) -> Sequence[Message]:
    """A router's turn with its outcome: a result, or what was wrong with the decision."""
    failed = isinstance(outcome, str) or failure_of(outcome) is not None
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
    """The execution that a conversation ends with, if it waited for a client and is to be continued."""
    message = seed_of(history, message_id or "")
    execution = None if message is None else message.content.network_execution
    if message is None or execution is None or not goes_on(message):
        return None
    task = max((place for place, one in enumerate(history) if isinstance(one, UserMessage)), default=-1)
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
            before += reported(turn, decision.call_id, known.final_result or NetworkResult())
        elif isinstance(decision, Unclear):
            before += reported(turn, decision.call_id, decision.complaint)
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
