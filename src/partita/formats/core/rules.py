"""What an API demands of a conversation, as data, and the repairs that make a conversation meet it.

`arrange` changes turns, never messages, and reports each repair. What is only a property of how an API writes
something (one message for neighbours of one role, for example) is up to the writer of the format.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.answers.model_view import CUT, is_cut, missing_output
from partita.formats.losses import Loss
from partita.formats.reasons import BLANK, NO_CALL, NOT_MODEL, ORDERED
from partita.types.fold import own_origin
from partita.types.messages import ToolCallPart, UserMessage
from partita.types.parts import TextPart
from partita.types.tools import ToolResultPart

from .report import Record
from .turns import Instructions, Placed, Prompt, Results, Step, Turn

MOVED: Final = "the API takes instructions only before the conversation"
TRAILING: Final = "the API refuses a last answer that ends in white space"
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
    """Whether each call needs a result right behind its step, and a result a call."""
    strays: Literal["drop", "keep"] = "drop"
    """Results without a call."""
    order: Literal["calls-last", "any"] = "any"
    """Whether calls that wait for results come after everything else in their step."""
    blank_text: Literal["drop", "keep"] = "keep"
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
    record: Record,
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
            record.drop(turn, NOT_MODEL)
        elif is_results:
            _take_results(turn, arranged, rules, record)
        else:
            sent = _without_unsent(turn, rules, record)
            if rules.order == "calls-last" and isinstance(sent, Step):
                sent = _calls_last(sent, record, is_written)
            arranged.append(sent)
    if rules.calls == "answered":
        arranged = _answered(arranged, record)
    if rules.instructions == "first":
        arranged = _instructions_first(arranged, record, is_pinned)
    if rules.begins == "user":
        _begin_with_user(arranged, record)
    if rules.trailing_space == "strip":
        _strip_last(arranged, record, is_written)
    return arranged


def _begin_with_user(turns: list[Turn], record: Record) -> None:
    """Put a prompt before the first step, if that begins the conversation."""
    first = next(filter(_has_content, turns), None)
    if isinstance(first, Step):
        opening = UserMessage(id="", content=OPENING)
        turns.insert(turns.index(first), Prompt(opening, "", [Placed(opening.parts[0], "")]))
        record.losses.append(Loss("$", OPENING, FIRST, "repaired"))


def _strip_last(turns: list[Turn], record: Record, is_written: Callable[[Any], bool] | None) -> None:
    """Strip the white space at the end of the last step, if that ends the conversation."""
    last = next(filter(_has_content, reversed(turns)), None)
    if isinstance(last, Step):
        turns[turns.index(last)] = _stripped(last, record, is_written)


def _has_content(turn: Turn) -> bool:
    """Whether a turn is part of the conversation, and has something in it."""
    return not isinstance(turn, Instructions) and bool(turn.parts or _text(turn))


def _text(turn: Turn) -> str | None:
    return turn.text if isinstance(turn, Step) else None


def _take_results(turn: Results, arranged: list[Turn], rules: Rules, record: Record) -> None:
    """Results after the step that they belong to. Those of calls that were left out are left out too."""
    step = next((one for one in reversed(arranged) if isinstance(one, Step)), None)
    if rules.calls != "answered" or (turn.step is None and rules.strays == "keep"):
        arranged.append(turn)
    elif turn.step is None:
        record.drop(turn, NO_CALL)
    elif step is not None and step.message is turn.step.message:
        calls = {part.id for part, _ in step.parts if type(part) is ToolCallPart}
        kept = [one for one in turn.parts if type(one.part) is ToolResultPart and one.part.id in calls]
        if kept:
            arranged.append(turn if len(kept) == len(turn.parts) else turn._replace(parts=kept))


def _without_unsent(turn: Turn, rules: Rules, record: Record) -> Turn:
    """A turn without blank texts, and without calls whose input was cut off."""
    drops_blank, needs_results = rules.blank_text == "drop", rules.calls == "answered"
    if not drops_blank and not (needs_results and isinstance(turn, Step)):
        return turn
    kept: list[Placed] = []
    for placed in turn.parts:
        part = placed.part
        if drops_blank and type(part) is TextPart and not part.text.strip():
            severity: Literal["lost", "minor"] = "lost" if part.text else "minor"
            record.losses.append(Loss.of(placed.path, part, BLANK, severity))
        elif needs_results and type(part) is ToolCallPart and _is_cut(placed, turn):
            record.losses.append(Loss.of(placed.path, part, CUT))
        else:
            kept.append(placed)
    return turn if len(kept) == len(turn.parts) else turn._replace(parts=kept)


def _calls_last(step: Step, record: Record, is_written: Callable[[Any], bool] | None) -> Step:
    """A step whose calls without a result are behind all other parts, and behind its text."""
    if step.text is not None:
        step = step._replace(parts=[*step.parts, Placed(TextPart(step.text), "")], text=None)
    waits = [type(part) is ToolCallPart and part.output is None for part, _ in step.parts]
    if waits == sorted(waits):
        return step
    moved = [one.part for one, is_call in zip(step.parts, waits, strict=True) if not is_call]
    moved = moved[waits.index(True) :]  # the others stay before all calls
    if is_written is None or any(map(is_written, moved)):
        record.losses.append(Loss(step.path, "the order of calls and texts", ORDERED, "repaired"))
    order = sorted(range(len(waits)), key=waits.__getitem__)
    return step._replace(parts=[step.parts[at] for at in order])


def _is_cut(placed: Placed, turn: Turn) -> bool:
    """Whether the input of a call was cut off. The output that says so is in the message, not in the step."""
    call, path = placed
    if path and isinstance(turn, Step) and (call.input is UNSET or call.raw_input is not UNSET):
        call = turn.message.parts[int(path[path.rindex("[") + 1 : -1])]
    return is_cut(call)


def _answered(turns: Sequence[Turn], record: Record) -> list[Turn]:
    """The turns, with all results of a step in one turn behind it, in the order of the calls."""
    arranged: list[Turn] = []
    at = 0
    while at < len(turns):
        turn = turns[at]
        at += 1
        arranged.append(turn)
        if not isinstance(turn, Step):
            continue
        calls = [placed for placed in turn.parts if type(placed.part) is ToolCallPart]
        results: list[Results] = []
        while at < len(turns) and isinstance(one := turns[at], Results):
            results.append(one)
            at += 1
        if calls:
            arranged += _in_order(turn, calls, results, record)
        for one in results:
            if one.step is None and not _has_call(one, calls):
                arranged.append(one)
    return arranged


def _has_call(results: Results, calls: Sequence[Placed]) -> bool:
    """Whether one of the results is that of one of the calls."""
    ids = {call.id for call, _ in calls}
    return not ids.isdisjoint(getattr(part, "id", None) for part, _ in results.parts)


def _in_order(
    step: Step, calls: Sequence[Placed], results: Sequence[Results], record: Record
) -> Iterator[Results]:
    """The results of a step in the order of its calls, with one for each call that has none."""
    wanted = [call.id for call, _ in calls if not call.provider_executed]
    if len(results) == 1 and wanted == [getattr(part, "id", None) for part, _ in results[0].parts]:
        yield results[0]
        return
    placed_results = ((turn, one) for turn in results for one in turn.parts)
    found = {one.part.id: (turn, one) for turn, one in placed_results if isinstance(one.part, ToolResultPart)}
    last: Results | None = None
    for call, path in calls:
        if call.provider_executed:
            continue
        if call.id in found:
            turn, placed = found[call.id]
        else:
            output, why = missing_output(call)
            if why is not None:
                record.losses.append(Loss.of(f"{path}.output", call.id, why, "repaired"))
            turn = Results(own_origin(step.message, step.number), "", (), step)
            placed = Placed(ToolResultPart(call.id, call.name, output), "")
        if last is not None and (last.message is turn.message or not turn.path):
            last = last._replace(parts=[*last.parts, placed])
            continue
        if last is not None:
            yield last
        last = turn._replace(parts=[placed])
    if last is not None:
        yield last


def _instructions_first(
    turns: Sequence[Turn], record: Record, is_pinned: Callable[[Instructions], bool] | None
) -> list[Turn]:
    first: list[Turn] = []
    others: list[Turn] = []
    for turn in turns:
        if not isinstance(turn, Instructions) or (is_pinned is not None and is_pinned(turn)):
            others.append(turn)
            continue
        if others:
            record.losses.append(Loss(turn.path, "the place of the instructions", MOVED, "repaired"))
        first.append(turn)
    return [*first, *others]


def _stripped(step: Step, record: Record, is_written: Callable[[Any], bool] | None) -> Step:
    """A step without white space at the end of the last text that is written."""
    if step.text is not None and step.text != step.text.rstrip():
        record.losses.append(Loss(step.path, "white space at the end", TRAILING, "repaired"))
        return step._replace(text=step.text.rstrip())
    parts = list(step.parts)
    at = len(parts) - 1
    while at > 0 and is_written is not None and not is_written(parts[at].part):
        at -= 1
    last, path = parts[at] if parts else (None, "")
    if step.text is not None or not isinstance(last, TextPart) or last.text == last.text.rstrip():
        return step
    record.losses.append(Loss(path or step.path, "white space at the end", TRAILING, "repaired"))
    parts[at] = Placed(replace(last, text=last.text.rstrip()), path)
    return step._replace(parts=parts)
