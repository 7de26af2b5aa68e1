"""The two views of tool calls: `expand` sets calls and results apart, `fold` brings them together.

The merged view is stored and shown: an output is part of its call. The model's view is what providers
speak: an assistant message with calls, then tool messages with their results.

`expand` cuts an assistant message that holds outputs into pieces: one a step, and a new one where a call
id comes again. Behind each piece stand its results. The first piece is the message itself, piece `k` is
`ID#k`, and the results of piece `k` are `ID#k:results`; both repeat the fields around the content, no
more. A call keeps all but its output, what came with the output, and its state, which goes back to what
it was before. A state that does not follow from the output stays. An output stays with a call whose state
says that it is still open.

`fold` is the inverse. A result goes to a call with its id and no output: the nearest before it, else the
nearest after it, however far. The call remembers the message the result came in, unless it is the one
that `expand` writes anyway. A result that finds no call stays where it is, as do the other parts of a
tool message. Pieces are joined when nothing but tool messages stands between them; so ids that end in
`#` and a number are for `expand` to make.

Only the messages given are rewritten: those of sub-agents, in `children`, stay as they are.
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
from .parts import StepStartPart
from .tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
    ToolState,
)

SETTLED: frozenset[ToolState] = frozenset({"output-available", "output-error", "output-denied"})
"""The states of a call that has come to its end."""

STATES_AFTER: Mapping[type[ToolOutput], ToolState] = {
    TextOutput: "output-available",
    JsonOutput: "output-available",
    ContentOutput: "output-available",
    ErrorTextOutput: "output-error",
    ErrorJsonOutput: "output-error",
    InterruptedOutput: "output-error",
    ExecutionDeniedOutput: "output-denied",
}
"""The state of a call once it has an output of that type."""

TAKEN_OUT = JsonOutput(None)
"""Stands for the output in a result that is kept only for what its call has no field for."""

NO_RESULTS = ToolContent(parts=())
"""The content of a message whose results are in their calls."""

Position: TypeAlias = tuple[int, int]
"""Where a part is: the index of its message, and its own index in there."""


class Origin(NamedTuple):
    """Where a folded message and its parts were."""

    place: int
    parts: Sequence[Position]
    results: Mapping[Position, Position] = {}  # never changed
    """By the position of a call, where its result was."""


MessageT = TypeVar("MessageT", AssistantMessage, ToolMessage)


class _Answer(Struct, frozen=True):
    """A result, where it is, and the message it came in."""

    position: Position
    message: ToolMessage
    result: ToolResultPart


class _Piece(Struct, frozen=True):
    """An assistant message, where it is, and which piece it is of which message."""

    place: int
    message: AssistantMessage
    number: int
    head_place: int
    head: AssistantMessage


def expand(messages: Iterable[Message]) -> list[Message]:
    """The model's view: every output apart from its call, in a tool message right behind it."""
    view: list[Message] = []
    results: Message | None = None
    for message in messages:
        match message:
            case AssistantMessage() if any(map(is_answered, message.parts)):
                view.extend(_expanded(message))
                results = view[-1]
            case ToolMessage() if (
                results is not None and results is view[-1] and _is_rest_of(results, message)
            ):
                view[-1] = _with_parts(message, [*results.parts, *message.parts])
            case _:
                view.append(message)
    return view


def fold(messages: Sequence[Message]) -> list[Message]:
    """The merged view: every output in its call, every message in one piece."""
    if AssistantMessage not in map(type, messages) or not any(map(_may_be_apart, messages)):
        return list(messages)
    answers = _answers(messages)
    taken = {answer.position for answer in answers.values()}
    joined = _joined(messages, answers)
    folded: list[Message] = []
    for place, message in enumerate(messages):
        if type(message) is AssistantMessage:
            pieces = joined.get(place)
            if pieces is not None:
                is_same = len(pieces) == 1 and pieces[0] is message.content.parts
                folded.append(message if is_same else _with_parts(message, chain.from_iterable(pieces)))
        elif type(message) is ToolMessage:
            parts = message.content.parts
            left = [part for index, part in enumerate(parts) if (place, index) not in taken]
            if left or not parts:
                folded.append(_with_parts(message, left))
        else:
            folded.append(message)
    return folded


def origins(messages: Sequence[Message]) -> list[Origin]:
    """Where each message that `fold` returns, each of its parts and each output of its calls was."""
    answers = _answers(messages)
    taken = {answer.position for answer in answers.values()}
    joined: defaultdict[int, list[Position]] = defaultdict(list)
    for piece in _pieces(messages):
        joined[piece.head_place] += [(piece.place, index) for index in range(len(piece.message.parts))]
    found: list[Origin] = []
    for place, message in enumerate(messages):
        positions = [(place, index) for index in range(len(message.parts))]
        if type(message) is AssistantMessage:
            if place in joined:
                results = {at: answers[at].position for at in joined[place] if at in answers}
                found.append(Origin(place, joined[place], results))
        elif type(message) is ToolMessage:
            left = [position for position in positions if position not in taken]
            if left or not positions:
                found.append(Origin(place, left))
        else:
            found.append(Origin(place, positions))
    return found


def _joined(
    messages: Sequence[Message], answers: Mapping[Position, _Answer]
) -> dict[int, list[Sequence[AssistantPart]]]:
    """The parts of the pieces of every message that is whole, by its place, with their answers."""
    joined: dict[int, list[Sequence[AssistantPart]]] = {}
    origins: dict[int, ToolMessage] = {}
    for piece in _pieces(messages):
        joined.setdefault(piece.head_place, []).append(_answered_parts(piece, answers, origins))
    return joined


def _may_be_apart(message: Message) -> bool:
    """Whether a message holds results, or may be a piece of another."""
    return type(message) is ToolMessage or "#" in message.id


def state_after(output: ToolOutput) -> ToolState:
    """The state of a call once it has this output."""
    return STATES_AFTER[type(output)]


def state_before(call: ToolCallPart) -> ToolState:
    """The state a call had before its output came."""
    if call.approval is None:
        return "input-available"
    return "approval-requested" if call.approval.approved is None else "approval-responded"


def _expanded(message: AssistantMessage) -> Iterator[Message]:
    for number, parts in enumerate(_steps(message.parts), 1):
        yield _piece(message, number, [open_again(part) for part in parts])
        yield from _results(message, number, parts)


def _steps(parts: Iterable[AssistantPart]) -> Iterator[list[AssistantPart]]:
    """The parts of each piece. No call id stands twice in one, so that `fold` finds each call again."""
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
    """The tool messages behind a piece, in the order of the calls; one a message the results came in."""
    own = own_origin(message, number)
    groups: list[tuple[ToolMessage, list[ToolResultPart]]] = []
    latest: dict[str, int] = {}
    for call in filter(is_answered, parts):
        origin = own if call.result_message is None else _with_parts(call.result_message, [])
        at = latest.get(origin.id)
        if at is None or groups[at][0] != origin:
            at = latest[origin.id] = len(groups)
            groups.append((origin, []))
        groups[at][1].append(result_of(call))
    for origin, results in groups:
        yield _with_parts(origin, results)


def own_origin(message: AssistantMessage, number: int) -> ToolMessage:
    """The message that results come in when they have none of their own, without its parts."""
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


def is_answered(part: AssistantPart) -> TypeGuard[ToolCallPart]:
    """Whether `part` is a call whose output may leave it, because `fold` can bring it back as it was."""
    if type(part) is not ToolCallPart or part.output is None or part.state not in SETTLED:
        return False
    origin = part.result_message
    return origin is None or origin.parts == _remainder(part, result_of(part))


def open_again(part: AssistantPart) -> AssistantPart:
    """A call as it was before its output came; any other part as it is."""
    if not is_answered(part) or part.output is None:
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
    """The output of a call as the result that it came in."""
    output = TAKEN_OUT if call.output is None else call.output
    match call.result_message.parts if call.result_message else ():
        case (ToolResultPart() as result,):
            return replace(result, id=call.id, output=output, provider_metadata=call.result_provider_metadata)
        case _:
            return ToolResultPart(call.id, call.name, output, provider_metadata=call.result_provider_metadata)


def _remainder(call: ToolCallPart, result: ToolResultPart) -> tuple[ToolResultPart, ...]:
    """What a result says beyond the fields of its call: another name, fields nobody knows."""
    if result.name == call.name and not result.extra:
        return ()
    return (replace(result, output=TAKEN_OUT, provider_metadata=None),)


def _is_rest_of(results: Message, message: ToolMessage) -> bool:
    """Whether `message` is what `fold` left of the message that `results` came in."""
    if not isinstance(results, ToolMessage) or not message.parts:
        return False
    return _with_parts(message, []) == _with_parts(results, [])


def _answers(messages: Sequence[Message]) -> dict[Position, _Answer]:
    """The result of each open call that has one, by the position of the call."""
    found: dict[Position, _Answer] = {}
    early: list[_Answer] = []
    waiting: defaultdict[str, list[Position]] = defaultdict(list)  # open calls by id, the next one last
    for place, message in enumerate(messages):
        if type(message) is AssistantMessage:
            for call_id, position in reversed(_open_calls(place, message)):
                waiting[call_id].append(position)
        elif type(message) is ToolMessage:
            for answer in _answers_in(place, message):
                calls = waiting[answer.result.id]
                if calls:
                    found[calls.pop()] = answer
                else:
                    early.append(answer)
    return found | _answers_before_calls(early, waiting)


def _answers_before_calls(
    early: Iterable[_Answer], waiting: Mapping[str, list[Position]]
) -> dict[Position, _Answer]:
    """The calls that `early` results answer: no call before them was open, so all that wait come later."""
    found: dict[Position, _Answer] = {}
    queues = {call_id: sorted(positions, reverse=True) for call_id, positions in waiting.items()}
    for answer in early:
        queue = queues[answer.result.id]
        if queue:
            found[queue.pop()] = answer
    return found


def _open_calls(place: int, message: AssistantMessage) -> list[tuple[str, Position]]:
    return [
        (part.id, (place, index))
        for index, part in enumerate(message.content.parts)
        if type(part) is ToolCallPart and _is_open(part)
    ]


def _answers_in(place: int, message: ToolMessage) -> list[_Answer]:
    return [
        _Answer((place, index), message, part)
        for index, part in enumerate(message.content.parts)
        if type(part) is ToolResultPart
    ]


def _is_open(call: ToolCallPart) -> bool:
    """Whether a result can be put into `call` without pushing anything out."""
    return call.output is None and call.result_message is None and call.result_provider_metadata is None


def _pieces(messages: Sequence[Message]) -> Iterator[_Piece]:
    """Every assistant message, with the message it is a piece of: often itself."""
    last: _Piece | None = None
    for place, message in enumerate(messages):
        if type(message) is AssistantMessage:
            last = _next_piece(last, place, message) or _Piece(place, message, 1, place, message)
            yield last
        elif type(message) is not ToolMessage:
            last = None


def _next_piece(last: _Piece | None, place: int, message: AssistantMessage) -> _Piece | None:
    if last is None or message.id != f"{last.head.id}#{last.number + 1}":
        return None
    if message != _piece(last.head, last.number + 1, message.parts):
        return None
    return _Piece(place, message, last.number + 1, last.head_place, last.head)


def _answered_parts(
    piece: _Piece, answers: Mapping[Position, _Answer], origins: dict[int, ToolMessage]
) -> Sequence[AssistantPart]:
    """The parts of a piece, with the answers in its calls. `origins` are known messages of results."""
    place, given = piece.place, piece.message.content.parts
    parts: list[AssistantPart] | None = None
    for index, part in enumerate(given):
        if type(part) is ToolCallPart and (answer := answers.get((place, index))):
            parts = list(given) if parts is None else parts
            parts[index] = _answered(piece, part, answer, origins)
    return given if parts is None else parts


def _answered(
    piece: _Piece, call: ToolCallPart, answer: _Answer, origins: dict[int, ToolMessage]
) -> ToolCallPart:
    result = answer.result
    origin = _origin(answer, _remainder(call, result), origins)
    is_own = origin.id == results_id(piece.head.id, piece.number) and origin == own_origin(
        piece.head, piece.number
    )
    return _with_result(call, result, None if is_own else origin)


def _with_result(call: ToolCallPart, result: ToolResultPart, origin: ToolMessage | None) -> ToolCallPart:
    return replace(
        call,
        state=call.state if call.state in SETTLED else state_after(result.output),
        output=result.output,
        result_provider_metadata=result.provider_metadata,
        result_message=origin,
    )


def answer(call: ToolCallPart, result: ToolResultPart, message_id: str, number: int) -> ToolCallPart:
    """A call of a step, which is open, with its result from the message that is implied by the step."""
    left = _remainder(call, result)
    origin = ToolMessage(id=results_id(message_id, number), content=left) if left else None
    return _with_result(call, result, origin)


def _origin(
    answer: _Answer, remainder: tuple[ToolResultPart, ...], origins: dict[int, ToolMessage]
) -> ToolMessage:
    """The message that an answer came in, with no more than what its call has no field for."""
    if remainder:
        return _with_parts(answer.message, remainder)
    place, _ = answer.position
    if place not in origins:
        origins[place] = _with_parts(answer.message, ())
    return origins[place]


def results_id(message_id: str, number: int) -> str:
    """The id of the tool message behind a piece of a message."""
    return f"{message_id}#{number}:results"


def _with_parts(message: MessageT, parts: Iterable[Part]) -> MessageT:
    return replace(message, content=replace(message.content, parts=tuple(parts)))
