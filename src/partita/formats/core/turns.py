"""A conversation as turns (instructions, prompts, steps, results of tools), and what APIs demand of it.

`split` cuts an assistant message where a step starts, where the user steered it, and where a call id is used
again, because APIs match calls and results by that id. Calls and results are separate, as APIs have them.
Each part has the path that it has in the messages.

`Rules` are what an API demands of a conversation, as data. `arrange` repairs turns so that they meet the
rules, and reports each repair; it never changes messages. What is only a property of how an API writes
something (one message for neighbours of one role, for example) is up to the writer of the format.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.losses import BLANK, NO_CALL, NOT_MODEL, ORDERED, Loss
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
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart, ToolResultPart
from partita.types.tool_results import fold, implied_results_message, result_of, state_after, state_before

from .tool_text import CUT, is_cut, missing_output

Position: TypeAlias = Hashable
"""Where something is in a payload, as a format numbers it: of a message, or of a block in a message."""

join = fold
"""Messages in which each result is in its call: the inverse of `split`, once turns are messages."""


class LocatedPart(NamedTuple):
    """A part of messages, and its path."""

    part: Any
    path: str


class ReadPart(NamedTuple):
    """A part that was read from a payload, and its place."""

    part: Any
    position: Any


class Instructions(NamedTuple):
    """A system message."""

    message: SystemMessage
    path: str
    parts: Sequence[LocatedPart]


class Prompt(NamedTuple):
    """A user message, or what the user wrote while the assistant was working."""

    message: UserMessage
    path: str
    parts: Sequence[LocatedPart]
    steering: SteeringMessagePart | None = None


class Step(NamedTuple):
    """What the assistant produced in one model call. Its calls have no outputs, except those of providers."""

    message: AssistantMessage
    path: str
    parts: Sequence[LocatedPart]
    number: int
    boundaries: Sequence[LocatedPart]
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
    parts: Sequence[LocatedPart]
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
            turns.append(Prompt(message, path, _located(message, path)))
        elif type(message) is SystemMessage:
            turns.append(Instructions(message, path, _located(message, path)))
        elif type(message) is ToolMessage:
            turns.append(Results(message, path, _located(message, path), None))
    return turns


def _located(message: Message, path: str) -> list[LocatedPart]:
    prefix = f"{path}.content.parts["
    return [LocatedPart(part, f"{prefix}{at}]") for at, part in enumerate(message.content.parts)]


def _add_steps(turns: list[Turn], message: AssistantMessage, path: str, cuts: _Cuts) -> None:
    """Add the steps of a message, each with its calls open, and their results."""
    is_written, must_cut, which = cuts
    number = 1
    is_cut = False
    boundaries: list[LocatedPart] = []
    parts: list[LocatedPart] = []
    answered: list[LocatedPart] = []
    calls: set[str] = set()
    for located in _located(message, path):
        part = located.part
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
                answered.append(located)
                parts.append(LocatedPart(_opened(part), located.path))
            else:
                parts.append(located)
        elif kind is SteeringMessagePart:
            turns.append(_steering(message, part, located.path))
        elif kind is StepStartPart:
            boundaries.append(located)
        else:
            parts.append(located)
    text = network_text(message)
    if parts or boundaries or text is not None or number == 1:
        _add_step(turns, Step(message, path, parts, number, boundaries, text, is_cut), answered)


def _add_step(turns: list[Turn], step: Step, answered: Sequence[LocatedPart]) -> None:
    """Add a step, then the results of those of its calls that have one."""
    turns.append(step)
    if not answered:
        return
    implied = implied_results_message(step.message, step.number)
    origin: ToolMessage | None = None
    where, results = "", list[LocatedPart]()
    for call, call_path in answered:
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
    located = [LocatedPart(one, f"{path}.parts[{at}]") for at, one in enumerate(part.parts)]
    return Prompt(prompt, path, located, part)


def turn_losses(turn: Turn, why: str) -> Iterator[Loss]:
    """The losses of a turn that is not written."""
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
    """A message as JSON, without its parts and what follows from them."""
    shell: JsonObject = to_json(message)
    shell["content"].pop("parts")
    if is_text_implied(message):
        del shell["content"]["content"]
    if message.type == derived_type(message):
        del shell["type"]
    return shell


def derived_type(message: Message) -> str:
    """The type that a message has by its parts."""
    return "tool" if isinstance(message, ToolMessage) else derive_type(message.parts)


def is_text_implied(message: Message) -> bool:
    """Whether the text next to the parts repeats them."""
    return message.content.content is not None and message.content.content == text_of(message)


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


# What an API demands

MOVED: Final = "the API takes instructions only before the conversation"
TRAILING: Final = "the API refuses a last response that ends in white space"
FIRST: Final = "the API demands a conversation that begins with the user"

OPENING: Final = "Continue."
"""The prompt that is added where an API demands one before the assistant."""

DIGEST: Final = 8
"""The length of the digest at the end of a name that had to be changed."""


class Rules(NamedTuple):
    """What an API demands."""

    hidden: Literal["skip", "send"] = "skip"
    """Notices (`type: event`) and internal messages."""
    instructions: Literal["first", "anywhere"] = "anywhere"
    """Where system messages may be. One that `is_pinned` accepts stays where it is."""
    begins: Literal["user", "any"] = "any"
    calls: Literal["answered", "any"] = "answered"
    """Whether each call needs a result right after its step, and each result a call."""
    strays: Literal["drop", "keep"] = "drop"
    """Results without a call."""
    order: Literal["calls-last", "any"] = "any"
    """Whether calls that wait for results come after everything else in their step."""
    blank_text: Literal["drop", "keep"] | Callable[[TextPart], bool] = "keep"
    """Texts of white space; or which texts are dropped."""
    trailing_space: Literal["strip", "keep"] = "keep"
    """Of the last text, if it is the assistant's."""


class Alphabet(NamedTuple):
    """The characters and the length that an API allows in an id or a name."""

    refused: re.Pattern[str]
    """A character that is not allowed."""
    longest: int | None = None

    def fit(self, text: str) -> str:
        """The text, if it is allowed. Otherwise one with a digest, so that different texts stay different."""
        is_short = self.longest is None or len(text) <= self.longest
        if text and is_short and not self.refused.search(text):
            return text
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]
        length = len(text) if self.longest is None else self.longest - DIGEST - 1
        return f"{self.refused.sub('_', text)[:length]}_{digest}"


def arrange(
    turns: Iterable[Turn],
    rules: Rules,
    losses: list[Loss],
    is_pinned: Callable[[Instructions], bool] | None = None,
    is_written: Callable[[Any], bool] | None = None,
) -> list[Turn]:
    """Turns that meet the rules. What is left out, added or moved is reported.

    `is_written`: whether a part of the assistant is written. Others are moved without a report.
    """
    arranged: list[Turn] = []
    for turn in turns:
        is_results = isinstance(turn, Results)
        message = turn.step.message if is_results and turn.step is not None else turn.message
        if rules.hidden == "skip" and (message.internal or message.type == "event"):
            losses.extend(turn_losses(turn, NOT_MODEL))
        elif is_results:
            _take_results(turn, arranged, rules, losses)
        else:
            sent = _without_unsent(turn, rules, losses)
            if rules.order == "calls-last" and isinstance(sent, Step):
                sent = _calls_last(sent, losses, is_written)
            arranged.append(sent)
    if rules.calls == "answered":
        arranged = _answered(arranged, losses)
    if rules.instructions == "first":
        arranged = _instructions_first(arranged, losses, is_pinned)
    if rules.begins == "user":
        _begin_with_user(arranged, losses)
    if rules.trailing_space == "strip":
        _strip_last(arranged, losses, is_written)
    return arranged


def _begin_with_user(turns: list[Turn], losses: list[Loss]) -> None:
    """Put a prompt before the first step, if that starts the conversation."""
    first = next(filter(_has_content, turns), None)
    if isinstance(first, Step):
        opening = UserMessage(id="", content=OPENING)
        turns.insert(turns.index(first), Prompt(opening, "", [LocatedPart(opening.parts[0], "")]))
        losses.append(Loss("$", OPENING, FIRST, "repaired"))


def _strip_last(turns: list[Turn], losses: list[Loss], is_written: Callable[[Any], bool] | None) -> None:
    """Strip the white space at the end of the last step, if that ends the conversation."""
    last = next(filter(_has_content, reversed(turns)), None)
    if isinstance(last, Step):
        turns[turns.index(last)] = _stripped(last, losses, is_written)


def _has_content(turn: Turn) -> bool:
    """Whether a turn is part of the conversation, and has something in it."""
    return not isinstance(turn, Instructions) and bool(turn.parts or _text(turn))


def _text(turn: Turn) -> str | None:
    return turn.text if isinstance(turn, Step) else None


def _take_results(turn: Results, arranged: list[Turn], rules: Rules, losses: list[Loss]) -> None:
    """Results after the step that they belong to. Those of calls that were left out are left out too."""
    step = next((one for one in reversed(arranged) if isinstance(one, Step)), None)
    if rules.calls != "answered" or (turn.step is None and rules.strays == "keep"):
        arranged.append(turn)
    elif turn.step is None:
        losses.extend(turn_losses(turn, NO_CALL))
    elif step is not None and step.message is turn.step.message:
        calls = {part.id for part, _ in step.parts if type(part) is ToolCallPart}
        kept = [one for one in turn.parts if type(one.part) is ToolResultPart and one.part.id in calls]
        if kept:
            arranged.append(turn if len(kept) == len(turn.parts) else turn._replace(parts=kept))


def _without_unsent(turn: Turn, rules: Rules, losses: list[Loss]) -> Turn:
    """A turn without blank texts, and without calls whose input was cut off."""
    is_refused = _is_blank if rules.blank_text == "drop" else rules.blank_text
    needs_results = rules.calls == "answered"
    if is_refused == "keep" and not (needs_results and isinstance(turn, Step)):
        return turn
    kept: list[LocatedPart] = []
    for located in turn.parts:
        part = located.part
        if is_refused != "keep" and type(part) is TextPart and is_refused(part):
            severity: Literal["lost", "minor"] = "lost" if part.text else "minor"
            losses.append(Loss.of(located.path, part, BLANK, severity))
        elif needs_results and type(part) is ToolCallPart and _is_cut(located, turn):
            losses.append(Loss.of(located.path, part, CUT))
        else:
            kept.append(located)
    return turn if len(kept) == len(turn.parts) else turn._replace(parts=kept)


def _is_blank(part: TextPart) -> bool:
    return not part.text.strip()


def _calls_last(step: Step, losses: list[Loss], is_written: Callable[[Any], bool] | None) -> Step:
    """A step whose calls without a result are after all other parts, and after its text."""
    if step.text is not None:
        step = step._replace(parts=[*step.parts, LocatedPart(TextPart(step.text), "")], text=None)
    waits = [type(part) is ToolCallPart and part.output is None for part, _ in step.parts]
    if waits == sorted(waits):
        return step
    moved = [one.part for one, is_call in zip(step.parts, waits, strict=True) if not is_call]
    moved = moved[waits.index(True) :]  # the others stay before all calls
    if is_written is None or any(map(is_written, moved)):
        losses.append(Loss(step.path, "the order of calls and texts", ORDERED, "repaired"))
    order = sorted(range(len(waits)), key=waits.__getitem__)
    return step._replace(parts=[step.parts[at] for at in order])


def _is_cut(located: LocatedPart, turn: Turn) -> bool:
    """Whether the input of a call was cut off. The output that shows it is in the message only."""
    call, path = located
    if path and isinstance(turn, Step) and (call.input is UNSET or call.raw_input is not UNSET):
        call = turn.message.parts[int(path[path.rindex("[") + 1 : -1])]
    return is_cut(call)


def _answered(turns: Sequence[Turn], losses: list[Loss]) -> list[Turn]:
    """The turns, with all results of a step in one turn after it, in the order of the calls."""
    arranged: list[Turn] = []
    at = 0
    while at < len(turns):
        turn = turns[at]
        at += 1
        arranged.append(turn)
        if not isinstance(turn, Step):
            continue
        calls = [located for located in turn.parts if type(located.part) is ToolCallPart]
        results: list[Results] = []
        while at < len(turns) and isinstance(one := turns[at], Results):
            results.append(one)
            at += 1
        if calls:
            arranged += _in_order(turn, calls, results, losses)
        for one in results:
            if one.step is None and not _has_call(one, calls):
                arranged.append(one)
    return arranged


def _has_call(results: Results, calls: Sequence[LocatedPart]) -> bool:
    """Whether one of the results is that of one of the calls."""
    ids = {call.id for call, _ in calls}
    return not ids.isdisjoint(getattr(part, "id", None) for part, _ in results.parts)


def _in_order(
    step: Step, calls: Sequence[LocatedPart], results: Sequence[Results], losses: list[Loss]
) -> Iterator[Results]:
    """The results of a step in the order of its calls, with one for each call that has none."""
    wanted = [call.id for call, _ in calls if not call.provider_executed]
    if len(results) == 1 and wanted == [getattr(part, "id", None) for part, _ in results[0].parts]:
        yield results[0]
        return
    located_results = ((turn, one) for turn in results for one in turn.parts)
    found = {
        one.part.id: (turn, one) for turn, one in located_results if isinstance(one.part, ToolResultPart)
    }
    last: Results | None = None
    for call, path in calls:
        if call.provider_executed:
            continue
        if call.id in found:
            turn, located = found[call.id]
        else:
            output, why = missing_output(call)
            if why is not None:
                losses.append(Loss.of(f"{path}.output", call.id, why, "repaired"))
            turn = Results(implied_results_message(step.message, step.number), "", (), step)
            located = LocatedPart(ToolResultPart(call.id, call.name, output), "")
        if last is not None and (last.message is turn.message or not turn.path):
            last = last._replace(parts=[*last.parts, located])
            continue
        if last is not None:
            yield last
        last = turn._replace(parts=[located])
    if last is not None:
        yield last


def _instructions_first(
    turns: Sequence[Turn], losses: list[Loss], is_pinned: Callable[[Instructions], bool] | None
) -> list[Turn]:
    first: list[Turn] = []
    others: list[Turn] = []
    for turn in turns:
        if not isinstance(turn, Instructions) or (is_pinned is not None and is_pinned(turn)):
            others.append(turn)
            continue
        if others:
            losses.append(Loss(turn.path, "the place of the instructions", MOVED, "repaired"))
        first.append(turn)
    return [*first, *others]


def _stripped(step: Step, losses: list[Loss], is_written: Callable[[Any], bool] | None) -> Step:
    """A step without white space at the end of the last text that is written."""
    if step.text is not None and step.text != step.text.rstrip():
        losses.append(Loss(step.path, "white space at the end", TRAILING, "repaired"))
        return step._replace(text=step.text.rstrip())
    parts = list(step.parts)
    at = len(parts) - 1
    while at > 0 and is_written is not None and not is_written(parts[at].part):
        at -= 1
    last, path = parts[at] if parts else (None, "")
    if step.text is not None or not isinstance(last, TextPart) or last.text == last.text.rstrip():
        return step
    losses.append(Loss(path or step.path, "white space at the end", TRAILING, "repaired"))
    parts[at] = LocatedPart(replace(last, text=last.text.rstrip()), path)
    return step._replace(parts=parts)
