"""The two views of tool calls: `expand` separates calls and results, `fold` merges them.

In the merged view, which is stored and shown, an output is part of its call. In the view of model APIs, an
assistant message with calls is followed by tool messages with the results.

`expand` splits an assistant message with outputs into pieces, one for each step, and another one where a call
id is repeated. Each piece is followed by its results. The first piece is the message itself, piece `k` has
the id `ID#k`, and its results `ID#k:results`; both repeat the fields of the message except its content. A
call loses its output, the fields that belong to the output, and its state, which returns to the state before
the output. A state that does not follow from the output is kept. The output of a call whose state says that
it is not finished stays in the call.

`fold` is the inverse. A result is added to a call with its id and without an output: the nearest one before
it, otherwise the nearest one after it. The call keeps the message of the result, unless it is the one that
`expand` writes. A result without a call stays in its message, as do the other parts of a tool message. Pieces
are joined if only tool messages are between them; ids that end in `#` and a number are therefore reserved.

Messages of sub-agents, in `children`, are not changed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeGuard, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from .messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    Part,
    ToolCallPart,
    ToolContent,
    ToolMessage,
)
from .parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    StepStartPart,
    TextOutput,
    ToolOutput,
    ToolResultPart,
    ToolState,
)

FINISHED_STATES: frozenset[ToolState] = frozenset({"output-available", "output-error", "output-denied"})
"""The states of finished calls."""

STATES_AFTER: Mapping[type[ToolOutput], ToolState] = {
    TextOutput: "output-available",
    JsonOutput: "output-available",
    ContentOutput: "output-available",
    ErrorTextOutput: "output-error",
    ErrorJsonOutput: "output-error",
    InterruptedOutput: "output-error",
    ExecutionDeniedOutput: "output-denied",
}
"""The state of a call with an output of that type."""

OUTPUT_MOVED = JsonOutput(None)
"""Replaces the output in a result that is only kept for members that the call has no field for."""

NO_RESULTS = ToolContent(parts=())
"""The content of a message whose results are in their calls."""

Position: TypeAlias = tuple[int, int]
"""The position of a part: the index of its message, and its index in the message."""


class Origin(NamedTuple):
    """The positions that a folded message and its parts had before."""

    index: int
    parts: Sequence[Position]
    results: Mapping[Position, Position] = {}  # never modified
    """The positions of results by those of their calls."""


MessageT = TypeVar("MessageT", AssistantMessage, ToolMessage)


class _Result(Struct, frozen=True):
    """A result, its position and its message."""

    position: Position
    message: ToolMessage
    result: ToolResultPart


class _Piece(Struct, frozen=True):
    """An assistant message, its index, and which piece of which message it is."""

    index: int
    message: AssistantMessage
    number: int
    head_index: int
    head: AssistantMessage


def expand(messages: Iterable[Message]) -> list[Message]:
    """Move each output from its call to a tool message directly after the call's message."""
    view: list[Message] = []
    results: Message | None = None
    for message in messages:
        match message:
            case AssistantMessage() if any(map(is_separable, message.parts)):
                view.extend(_expanded(message))
                results = view[-1]
            case ToolMessage() if (
                results is not None and results is view[-1] and _is_remainder_of(results, message)
            ):
                view[-1] = _with_parts(message, [*results.parts, *message.parts])
            case _:
                view.append(message)
    return view


def fold(messages: Sequence[Message]) -> list[Message]:
    """Move each output into its call, and join the pieces of each message."""
    if AssistantMessage not in map(type, messages) or not any(map(_may_be_apart, messages)):
        return list(messages)
    results_by_call = _results_of_calls(messages)
    moved = {located.position for located in results_by_call.values()}
    joined = _joined(messages, results_by_call)
    folded: list[Message] = []
    for message_index, message in enumerate(messages):
        if type(message) is AssistantMessage:
            pieces = joined.get(message_index)
            if pieces is not None:
                is_same = len(pieces) == 1 and pieces[0] is message.content.parts
                folded.append(message if is_same else _with_parts(message, chain.from_iterable(pieces)))
        elif type(message) is ToolMessage:
            parts = message.content.parts
            remaining = [part for index, part in enumerate(parts) if (message_index, index) not in moved]
            if remaining or not parts:
                folded.append(_with_parts(message, remaining))
        else:
            folded.append(message)
    return folded


def origins(messages: Sequence[Message]) -> list[Origin]:
    """The original positions of the messages that `fold` returns, their parts and outputs."""
    results_by_call = _results_of_calls(messages)
    moved = {located.position for located in results_by_call.values()}
    joined: defaultdict[int, list[Position]] = defaultdict(list)
    for piece in _pieces(messages):
        joined[piece.head_index] += [(piece.index, index) for index in range(len(piece.message.parts))]
    found: list[Origin] = []
    for message_index, message in enumerate(messages):
        positions = [(message_index, index) for index in range(len(message.parts))]
        if type(message) is AssistantMessage:
            if message_index in joined:
                results = {
                    at: results_by_call[at].position for at in joined[message_index] if at in results_by_call
                }
                found.append(Origin(message_index, joined[message_index], results))
        elif type(message) is ToolMessage:
            remaining = [position for position in positions if position not in moved]
            if remaining or not positions:
                found.append(Origin(message_index, remaining))
        else:
            found.append(Origin(message_index, positions))
    return found


def _joined(
    messages: Sequence[Message], results_by_call: Mapping[Position, _Result]
) -> dict[int, list[Sequence[AssistantPart]]]:
    """The parts of each message with their results, one sequence per piece, by message index."""
    joined: dict[int, list[Sequence[AssistantPart]]] = {}
    origins: dict[int, ToolMessage] = {}
    for piece in _pieces(messages):
        joined.setdefault(piece.head_index, []).append(_parts_with_results(piece, results_by_call, origins))
    return joined


def _may_be_apart(message: Message) -> bool:
    """Whether a message contains results, or may be a piece of another."""
    return type(message) is ToolMessage or "#" in message.id


def state_after(output: ToolOutput) -> ToolState:
    """The state of a call with this output."""
    return STATES_AFTER[type(output)]


def state_before(call: ToolCallPart) -> ToolState:
    """The state of a call before it had an output."""
    if call.approval is None:
        return "input-available"
    return "approval-requested" if call.approval.approved is None else "approval-responded"


def _expanded(message: AssistantMessage) -> Iterator[Message]:
    for number, parts in enumerate(_steps(message.parts), 1):
        yield _piece(message, number, [without_output(part) for part in parts])
        yield from _results(message, number, parts)


def _steps(parts: Iterable[AssistantPart]) -> Iterator[list[AssistantPart]]:
    """The parts of each piece. No piece contains a call id twice, so that `fold` finds each call."""
    step: list[AssistantPart] = []
    call_ids: set[str] = set()
    for part in parts:
        call_id = part.id if type(part) is ToolCallPart else None
        if step and (type(part) is StepStartPart or call_id in call_ids):
            yield step
            step, call_ids = [], set()
        if call_id is not None:
            call_ids.add(call_id)
        step.append(part)
    yield step


def _piece(message: AssistantMessage, number: int, parts: Iterable[AssistantPart]) -> AssistantMessage:
    if number == 1:
        return _with_parts(message, parts)
    content = AssistantContent(parts=tuple(parts))
    return replace(message, id=f"{message.id}#{number}", content=content, extra=None)


def _results(message: AssistantMessage, number: int, parts: Iterable[AssistantPart]) -> Iterator[ToolMessage]:
    """The tool messages after a piece, in the order of the calls: one for each original message."""
    implied = implied_results_message(message, number)
    groups: list[tuple[ToolMessage, list[ToolResultPart]]] = []
    latest: dict[str, int] = {}
    for call in filter(is_separable, parts):
        origin = implied if call.result_message is None else _with_parts(call.result_message, [])
        at = latest.get(origin.id)
        if at is None or groups[at][0] != origin:
            at = latest[origin.id] = len(groups)
            groups.append((origin, []))
        groups[at][1].append(result_of(call))
    for origin, results in groups:
        yield _with_parts(origin, results)


def implied_results_message(message: AssistantMessage, number: int) -> ToolMessage:
    """The message that `expand` creates for results, without its parts."""
    return ToolMessage(
        id=results_id(message.id, number),
        thread_id=message.thread_id,
        type="tool",
        created_at=message.created_at,
        resource_id=message.resource_id,
        parent_id=message.parent_id,
        run_id=message.run_id,
        seq=message.seq,
        internal=message.internal,
        content=NO_RESULTS,
    )


def is_separable(part: AssistantPart) -> TypeGuard[ToolCallPart]:
    """Whether `part` is a call whose output `expand` can move, because `fold` restores it exactly."""
    if type(part) is not ToolCallPart or part.output is None or part.state not in FINISHED_STATES:
        return False
    origin = part.result_message
    return origin is None or origin.parts == _remainder(part, result_of(part))


def without_output(part: AssistantPart) -> AssistantPart:
    """A call as it was before it had an output; any other part unchanged."""
    if not is_separable(part) or part.output is None:
        return part
    follows = part.state == state_after(part.output)
    return replace(
        part,
        state=state_before(part) if follows else part.state,
        output=None,
        result_provider_metadata=None,
        result_message=None,
    )


def result_of(call: ToolCallPart) -> ToolResultPart:
    """The output of a call as a result part."""
    output = OUTPUT_MOVED if call.output is None else call.output
    match call.result_message.parts if call.result_message else ():
        case (ToolResultPart() as result,):
            return replace(result, id=call.id, output=output, provider_metadata=call.result_provider_metadata)
        case _:
            return ToolResultPart(call.id, call.name, output, provider_metadata=call.result_provider_metadata)


def _remainder(call: ToolCallPart, result: ToolResultPart) -> tuple[ToolResultPart, ...]:
    """The members of a result that its call has no field for; empty if there are none."""
    if result.name == call.name and not result.extra:
        return ()
    return (replace(result, output=OUTPUT_MOVED, provider_metadata=None),)


def _is_remainder_of(results: Message, message: ToolMessage) -> bool:
    """Whether `message` is the remainder that `fold` left of the message that contained `results`."""
    if not isinstance(results, ToolMessage) or not message.parts:
        return False
    return _with_parts(message, []) == _with_parts(results, [])


def _results_of_calls(messages: Sequence[Message]) -> dict[Position, _Result]:
    """The result of each open call that has one, by the position of the call."""
    found: dict[Position, _Result] = {}
    early: list[_Result] = []
    open_calls: defaultdict[str, list[Position]] = defaultdict(list)  # open calls by id, the next one last
    for message_index, message in enumerate(messages):
        if type(message) is AssistantMessage:
            for call_id, position in reversed(_open_calls(message_index, message)):
                open_calls[call_id].append(position)
        elif type(message) is ToolMessage:
            for located in _results_in(message_index, message):
                calls = open_calls[located.result.id]
                if calls:
                    found[calls.pop()] = located
                else:
                    early.append(located)
    return found | _early_results(early, open_calls)


def _early_results(
    early: Iterable[_Result], open_calls: Mapping[str, list[Position]]
) -> dict[Position, _Result]:
    """The calls of `early` results, which come after the results: no call before them was open."""
    found: dict[Position, _Result] = {}
    queues = {call_id: sorted(positions, reverse=True) for call_id, positions in open_calls.items()}
    for located in early:
        queue = queues[located.result.id]
        if queue:
            found[queue.pop()] = located
    return found


def _open_calls(message_index: int, message: AssistantMessage) -> list[tuple[str, Position]]:
    return [
        (part.id, (message_index, index))
        for index, part in enumerate(message.content.parts)
        if type(part) is ToolCallPart and _is_open(part)
    ]


def _results_in(message_index: int, message: ToolMessage) -> list[_Result]:
    return [
        _Result((message_index, index), message, part)
        for index, part in enumerate(message.content.parts)
        if type(part) is ToolResultPart
    ]


def _is_open(call: ToolCallPart) -> bool:
    """Whether a result can be added to `call` without replacing anything."""
    return call.output is None and call.result_message is None and call.result_provider_metadata is None


def _pieces(messages: Sequence[Message]) -> Iterator[_Piece]:
    """Every assistant message with the message that it is a piece of, which is often itself."""
    last: _Piece | None = None
    for message_index, message in enumerate(messages):
        if type(message) is AssistantMessage:
            last = _next_piece(last, message_index, message) or _Piece(
                message_index, message, 1, message_index, message
            )
            yield last
        elif type(message) is not ToolMessage:
            last = None


def _next_piece(last: _Piece | None, message_index: int, message: AssistantMessage) -> _Piece | None:
    if last is None or message.id != f"{last.head.id}#{last.number + 1}":
        return None
    if message != _piece(last.head, last.number + 1, message.parts):
        return None
    return _Piece(message_index, message, last.number + 1, last.head_index, last.head)


def _parts_with_results(
    piece: _Piece, results_by_call: Mapping[Position, _Result], origins: dict[int, ToolMessage]
) -> Sequence[AssistantPart]:
    """The parts of a piece with the results in its calls. `origins` caches messages of results."""
    message_index, originals = piece.index, piece.message.content.parts
    parts: list[AssistantPart] | None = None
    for index, part in enumerate(originals):
        if type(part) is ToolCallPart and (located := results_by_call.get((message_index, index))):
            parts = list(originals) if parts is None else parts
            parts[index] = _with_moved_result(piece, part, located, origins)
    return originals if parts is None else parts


def _with_moved_result(
    piece: _Piece, call: ToolCallPart, located: _Result, origins: dict[int, ToolMessage]
) -> ToolCallPart:
    result = located.result
    origin = _origin(located, _remainder(call, result), origins)
    is_implied = origin.id == results_id(piece.head.id, piece.number) and origin == implied_results_message(
        piece.head, piece.number
    )
    return _with_result(call, result, None if is_implied else origin)


def _with_result(call: ToolCallPart, result: ToolResultPart, origin: ToolMessage | None) -> ToolCallPart:
    return replace(
        call,
        state=call.state if call.state in FINISHED_STATES else state_after(result.output),
        output=result.output,
        result_provider_metadata=result.provider_metadata,
        result_message=origin,
    )


def add_result(call: ToolCallPart, result: ToolResultPart, message_id: str, number: int) -> ToolCallPart:
    """An open call with a result from the message that `expand` would create for its step."""
    left = _remainder(call, result)
    origin = ToolMessage(id=results_id(message_id, number), content=left) if left else None
    return _with_result(call, result, origin)


def _origin(
    located: _Result, remainder: tuple[ToolResultPart, ...], origins: dict[int, ToolMessage]
) -> ToolMessage:
    """The message of a result, reduced to what the call has no field for."""
    if remainder:
        return _with_parts(located.message, remainder)
    message_index, _ = located.position
    if message_index not in origins:
        origins[message_index] = _with_parts(located.message, ())
    return origins[message_index]


def results_id(message_id: str, number: int) -> str:
    """The id of the tool message after a piece of a message."""
    return f"{message_id}#{number}:results"


def _with_parts(message: MessageT, parts: Iterable[Part]) -> MessageT:
    return replace(message, content=replace(message.content, parts=tuple(parts)))
