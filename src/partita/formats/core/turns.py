"""A conversation as turns: instructions, prompts, steps of the model, and results of tools.

`split` cuts an assistant message where a step starts, where the user steered it, and where a call id is used
again, because APIs match calls and results by that id. Calls and results are apart, as APIs have them. Each
part has the path that it has in the messages.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.formats.reasons import ORDERED
from partita.types.fold import fold, own_origin, result_of, state_after, state_before
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    network_text,
)
from partita.types.parts import SteeringMessagePart, StepStartPart
from partita.types.tools import ToolResultPart

join = fold
"""Messages in which each result is in its call: the inverse of `split`, once turns are messages."""


class Placed(NamedTuple):
    """A part and its path."""

    part: Any
    path: str


class Instructions(NamedTuple):
    """A system message."""

    message: SystemMessage
    path: str
    parts: Sequence[Placed]


class Prompt(NamedTuple):
    """A user message, or what the user wrote while the assistant was working."""

    message: UserMessage
    path: str
    parts: Sequence[Placed]
    steering: SteeringMessagePart | None = None


class Step(NamedTuple):
    """What the assistant produced in one model call. Its calls have no outputs, except those of providers."""

    message: AssistantMessage
    path: str
    parts: Sequence[Placed]
    number: int
    boundaries: Sequence[Placed]
    """The step starts before it."""
    text: str | None = None
    """The result of a network as text, if no part has it."""
    is_cut: bool = False
    """Whether it starts because its first part cannot be in one message with the parts before it."""


class Results(NamedTuple):
    """Results of tools that arrived in one message. Their paths are those of their calls."""

    message: ToolMessage
    path: str
    """Empty if the message is implied by the message of the calls."""
    parts: Sequence[Placed]
    step: Step | None
    """The step with the calls; `None` if the results have no calls. Then the paths are their own."""


Turn: TypeAlias = Instructions | Prompt | Step | Results


ResultTurns: TypeAlias = Literal["client", "all", "none"]
"""Which results are apart from their calls: those of the client, also those of providers, or none.

If none is, a step may use a call id again.
"""


class _Cuts(NamedTuple):
    """How assistant messages are cut: see `split`."""

    is_written: Callable[[AssistantPart], bool]
    must_cut: Callable[[Sequence[Placed], AssistantPart], bool] | None
    results: ResultTurns


def split(
    messages: Sequence[Message],
    is_written: Callable[[AssistantPart], bool],
    *,
    must_cut: Callable[[Sequence[Placed], AssistantPart], bool] | None = None,
    results: ResultTurns = "client",
    root: str = "$",
) -> list[Turn]:
    """The turns of a conversation. Parts that are not written do not make a step.

    `must_cut`: whether a part cannot be in one step with the parts before it.
    `results`: which results are turns of their own. Other calls keep their outputs.
    `root`: the path of the messages.
    """
    cuts = _Cuts(is_written, must_cut, results)
    turns: list[Turn] = []
    for index, message in enumerate(fold(messages)):
        path = f"{root}[{index}]"
        if type(message) is AssistantMessage:
            _add_steps(turns, message, path, cuts)
        elif type(message) is UserMessage:
            turns.append(Prompt(message, path, _placed(message, path)))
        elif type(message) is SystemMessage:
            turns.append(Instructions(message, path, _placed(message, path)))
        elif type(message) is ToolMessage:
            turns.append(Results(message, path, _placed(message, path), None))
    return turns


def _placed(message: Message, path: str) -> list[Placed]:
    prefix = f"{path}.content.parts["
    return [Placed(part, f"{prefix}{at}]") for at, part in enumerate(message.content.parts)]


def _add_steps(turns: list[Turn], message: AssistantMessage, path: str, cuts: _Cuts) -> None:
    """Add the steps of a message, each with its calls open, and their results."""
    is_written, must_cut, which = cuts
    number = 1
    is_cut = False
    boundaries: list[Placed] = []
    parts: list[Placed] = []
    answered: list[Placed] = []
    calls: set[str] = set()
    for placed in _placed(message, path):
        part = placed.part
        kind = type(part)
        is_boundary = kind is StepStartPart or kind is SteeringMessagePart
        begins = (
            is_boundary
            or (kind is ToolCallPart and part.id in calls)
            or (must_cut is not None and must_cut(parts, part))
        )
        if begins and any(is_written(one.part) for one in parts):
            _add_step(turns, Step(message, path, parts, number, boundaries, is_cut=is_cut), answered)
            number, boundaries, parts, answered, is_cut = number + 1, [], [], [], not is_boundary
            calls.clear()
        if kind is ToolCallPart:
            if which != "none":
                calls.add(part.id)
            if _has_result(part, which):
                answered.append(placed)
                parts.append(Placed(_opened(part), placed.path))
            else:
                parts.append(placed)
        elif kind is SteeringMessagePart:
            turns.append(_steering(message, part, placed.path))
        elif kind is StepStartPart:
            boundaries.append(placed)
        else:
            parts.append(placed)
    text = network_text(message)
    if parts or boundaries or text is not None or number == 1:
        _add_step(turns, Step(message, path, parts, number, boundaries, text, is_cut), answered)


def _add_step(turns: list[Turn], step: Step, answered: Sequence[Placed]) -> None:
    """Add a step, then the results of those of its calls that have one."""
    turns.append(step)
    if not answered:
        return
    implied = own_origin(step.message, step.number)
    origin: ToolMessage | None = None
    where, results = "", list[Placed]()
    for call, call_path in answered:
        if call.result_message is None:
            own = implied
        else:
            own = replace(call.result_message, content=replace(call.result_message.content, parts=()))
        if origin is not None and own is not origin and own != origin:
            turns.append(Results(origin, where, results, step))
            results = []
        origin, where = own, "" if call.result_message is None else f"{call_path}.resultMessage"
        results.append(Placed(result_of(call), call_path))
    if origin is not None:
        turns.append(Results(origin, where, results, step))


def _opened(call: ToolCallPart) -> AssistantPart:
    """A call without its output, in the state that it had before."""
    follows = call.output is not None and call.state == state_after(call.output)
    state = state_before(call) if follows else call.state
    return replace(call, state=state, output=None, result_provider_metadata=None, result_message=None)


def _has_result(call: ToolCallPart, which: ResultTurns) -> bool:
    """Whether the output of a call is a turn of its own."""
    if call.output is None:
        return False
    return which == "all" or (which == "client" and not call.provider_executed)


def _steering(message: AssistantMessage, part: SteeringMessagePart, path: str) -> Prompt:
    around: Any = {"thread_id": message.thread_id, "run_id": message.run_id}
    prompt = UserMessage(id=part.id, content=part.parts, **around)  # pyright: ignore[reportArgumentType] # a subset of a user's parts
    placed = [Placed(one, f"{path}.parts[{at}]") for at, one in enumerate(part.parts)]
    return Prompt(prompt, path, placed, part)


def misplaced_results(messages: Sequence[Message], paths: Sequence[str]) -> Iterator[Loss]:
    """Results whose place `join` does not keep: not after their calls, or in another order."""
    if ToolMessage not in map(type, messages):
        return
    known = {part.id for message in messages for part in message.parts if type(part) is ToolCallPart}
    calls: list[str] = []
    last = -1
    for message, path in zip(messages, paths, strict=True):
        if type(message) is not ToolMessage:
            calls = [part.id for part in message.parts if type(part) is ToolCallPart]
            last = -1
            continue
        for part in message.parts:
            if type(part) is not ToolResultPart or part.id not in known:
                continue
            at = calls.index(part.id) if part.id in calls else -1
            if at < 0:
                yield Loss.of(path, part.id, ORDERED, "changed")
            elif at < last:
                yield Loss.of(path, part.id, ORDERED, "minor")
            last = max(at, last)
