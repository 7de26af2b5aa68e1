"""Conversations as the turns that APIs have: instructions, prompts, steps of the model, results of tools.

A canonical assistant message has all steps of a response, with the results in their calls. `split` makes
turns of such messages; `join` puts results that were read from a payload back into their calls. Each part of
a turn has its path in the messages, for the report of losses. `rules` repairs turns for an API, `request`
writes them.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.formats.losses import ORDERED, Loss
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    derive_type,
    network_text,
    text_of,
)
from partita.types.parts import SteeringMessagePart, StepStartPart, ToolResultPart
from partita.types.tool_results import fold, implied_results_message, result_of, state_after, state_before

Position: TypeAlias = Hashable
"""Where a message or a block is in a payload. Each format chooses its own numbers."""

join = fold
"""Puts each result into its call: the inverse of `split`, for turns that were read as messages."""


class LocatedPart(NamedTuple):
    """A part, and its path in the messages."""

    part: Any
    path: str


class ReadPart(NamedTuple):
    """A part that was read from a payload, and its position there."""

    part: Any
    position: Any


class Instructions(NamedTuple):
    """A system message."""

    message: SystemMessage
    path: str
    parts: Sequence[LocatedPart]


class Prompt(NamedTuple):
    """A user message, or the parts of a steering message that the user sent while the assistant worked."""

    message: UserMessage
    path: str
    parts: Sequence[LocatedPart]
    steering: SteeringMessagePart | None = None


class Step(NamedTuple):
    """The output of one model call. Its calls have no outputs, unless the provider ran them."""

    message: AssistantMessage
    path: str
    parts: Sequence[LocatedPart]
    number: int
    """The number of the step in its message, from 1."""
    boundaries: Sequence[LocatedPart]
    """The step-start parts before the step."""
    text: str | None = None
    """The result of a network as text, if no part has it."""
    is_cut: bool = False
    """Whether the step has no step start: its first part cannot be in one step with the parts before it."""


class Results(NamedTuple):
    """Results of tools that arrived in one message. The path of a result is that of its call."""

    message: ToolMessage
    path: str
    """Empty if no message was stored, so that it follows from the message of the calls."""
    parts: Sequence[LocatedPart]
    step: Step | None
    """The step with the calls; `None` if the results have none. Then each result has a path of its own."""


Turn: TypeAlias = Instructions | Prompt | Step | Results


ResultTurns: TypeAlias = Literal["client", "all", "none"]
"""The results that become turns of their own: those of calls that the client ran, all, or none.

With `none`, one step may have several calls of the same id.
"""


class _SplitOptions(NamedTuple):
    """The options of `split`."""

    is_written: Callable[[AssistantPart], bool]
    must_cut: Callable[[Sequence[LocatedPart], AssistantPart], bool] | None
    results: ResultTurns


def split(
    messages: Sequence[Message],
    is_written: Callable[[AssistantPart], bool],
    *,
    must_cut: Callable[[Sequence[LocatedPart], AssistantPart], bool] | None = None,
    results: ResultTurns = "client",
    root: str = "$",
) -> list[Turn]:
    """Split messages into turns.

    A new step begins at a step start, at a steering message, and where a call id is used again, because APIs
    match calls and results by that id.

    `is_written`: whether the format writes a part. Other parts alone do not make a step.
    `must_cut`: whether a part cannot be in one step with the parts before it.
    `results`: the results that are turns of their own. Other calls keep their outputs.
    `root`: the path of the messages.
    """
    options = _SplitOptions(is_written, must_cut, results)
    turns: list[Turn] = []
    for index, message in enumerate(fold(messages)):
        path = f"{root}[{index}]"
        if type(message) is AssistantMessage:
            _add_steps(turns, message, path, options)
        elif type(message) is UserMessage:
            turns.append(Prompt(message, path, _located(message, path)))
        elif type(message) is SystemMessage:
            turns.append(Instructions(message, path, _located(message, path)))
        elif type(message) is ToolMessage:
            turns.append(Results(message, path, _located(message, path), None))
    return turns


def _located(message: Message, path: str) -> list[LocatedPart]:
    prefix = f"{path}.content.parts["
    return [LocatedPart(part, f"{prefix}{at}]") for at, part in enumerate(message.content.parts)]


def _add_steps(turns: list[Turn], message: AssistantMessage, path: str, options: _SplitOptions) -> None:
    """Add the steps of a message, their calls without outputs, and each followed by its results."""
    is_written, must_cut, which = options
    number = 1
    is_cut = False
    boundaries: list[LocatedPart] = []
    parts: list[LocatedPart] = []
    finished_calls: list[LocatedPart] = []
    call_ids: set[str] = set()
    for located in _located(message, path):
        part = located.part
        kind = type(part)
        is_boundary = kind is StepStartPart or kind is SteeringMessagePart
        begins = (
            is_boundary
            or (kind is ToolCallPart and part.id in call_ids)
            or (must_cut is not None and must_cut(parts, part))
        )
        if begins and any(is_written(one.part) for one in parts):
            _add_step(turns, Step(message, path, parts, number, boundaries, is_cut=is_cut), finished_calls)
            number, boundaries, parts, finished_calls, is_cut = number + 1, [], [], [], not is_boundary
            call_ids.clear()
        if kind is ToolCallPart:
            if which != "none":
                call_ids.add(part.id)
            if _has_result(part, which):
                finished_calls.append(located)
                parts.append(LocatedPart(_without_output(part), located.path))
            else:
                parts.append(located)
        elif kind is SteeringMessagePart:
            turns.append(_steering_prompt(message, part, located.path))
        elif kind is StepStartPart:
            boundaries.append(located)
        else:
            parts.append(located)
    text = network_text(message)
    if parts or boundaries or text is not None or number == 1:
        _add_step(turns, Step(message, path, parts, number, boundaries, text, is_cut), finished_calls)


def _add_step(turns: list[Turn], step: Step, finished_calls: Sequence[LocatedPart]) -> None:
    """Add a step and the results of its finished calls, those of one message as one turn."""
    turns.append(step)
    if not finished_calls:
        return
    implied = implied_results_message(step.message, step.number)
    origin: ToolMessage | None = None
    where, results = "", list[LocatedPart]()
    for call, call_path in finished_calls:
        if call.result_message is None:
            own = implied
        else:
            own = replace(call.result_message, content=replace(call.result_message.content, parts=()))
        if origin is not None and own is not origin and own != origin:
            turns.append(Results(origin, where, results, step))
            results = []
        origin, where = own, "" if call.result_message is None else f"{call_path}.resultMessage"
        results.append(LocatedPart(result_of(call), call_path))
    if origin is not None:
        turns.append(Results(origin, where, results, step))


def _without_output(call: ToolCallPart) -> AssistantPart:
    """Return the call as it was before it had an output."""
    follows = call.output is not None and call.state == state_after(call.output)
    state = state_before(call) if follows else call.state
    return replace(call, state=state, output=None, result_provider_metadata=None, result_message=None)


def _has_result(call: ToolCallPart, which: ResultTurns) -> bool:
    """Whether a call has an output that becomes a turn of its own."""
    if call.output is None:
        return False
    return which == "all" or (which == "client" and not call.provider_executed)


def _steering_prompt(message: AssistantMessage, part: SteeringMessagePart, path: str) -> Prompt:
    around: Any = {"thread_id": message.thread_id, "run_id": message.run_id}
    prompt = UserMessage(id=part.id, content=part.parts, **around)  # pyright: ignore[reportArgumentType] # a subset of a user's parts
    located = [LocatedPart(one, f"{path}.parts[{at}]") for at, one in enumerate(part.parts)]
    return Prompt(prompt, path, located, part)


def turn_losses(turn: Turn, why: str) -> Iterator[Loss]:
    """Yield the losses of a turn that is not written."""
    if isinstance(turn, Step):
        yield from (Loss.of(path, part, why) for part, path in (*turn.boundaries, *turn.parts))
        if turn.number == 1:
            yield Loss.of(turn.path, without_parts(turn.message), why)
    elif isinstance(turn, Results) and turn.step is not None:
        for part, path in turn.parts:
            fields: JsonObject = {"output": part.output, "resultProviderMetadata": part.provider_metadata}
            for name, value in fields.items():
                if value is not None:
                    yield Loss.of(f"{path}.{name}", value, why)
        if turn.path:
            yield Loss.of(turn.path, without_parts(turn.message), why)
    else:
        yield Loss.of(turn.path, turn.message, why)


def without_parts(message: Message) -> JsonObject:
    """Return a message as JSON, without its parts and without members that follow from the parts."""
    shell: JsonObject = to_json(message)
    shell["content"].pop("parts")
    if is_text_implied(message):
        del shell["content"]["content"]
    if message.type == derived_type(message):
        del shell["type"]
    return shell


def derived_type(message: Message) -> str:
    """Return the type that follows from the parts of a message."""
    return "tool" if isinstance(message, ToolMessage) else derive_type(message.parts)


def is_text_implied(message: Message) -> bool:
    """Whether the text of a message only repeats its parts."""
    return message.content.content is not None and message.content.content == text_of(message)


def misplaced_results(messages: Sequence[Message], paths: Sequence[str]) -> Iterator[Loss]:
    """Yield a loss for each result that `join` moves: one not right after its calls, or in another order."""
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
