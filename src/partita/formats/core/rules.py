"""The rules of an API about the order and the content of turns, and the repairs for turns that break them.

`turns.split` makes turns of messages, `arrange` repairs the turns, and a writer (see `request`) writes them.
Repairs leave out, add or move turns and parts. Each one is reported as a loss; the messages do not change.
How an API writes turns, such as neighbours of one role as one message, is not a rule but up to its writer.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.losses import BLANK, NO_CALL, NOT_MODEL, ORDERED, Loss
from partita.types.messages import ToolCallPart, UserMessage
from partita.types.parts import TextPart, ToolResultPart
from partita.types.tool_results import implied_results_message

from .tool_text import CUT_OFF, is_cut, missing_output
from .turns import Instructions, LocatedPart, Prompt, Results, Step, Turn, turn_losses

INSTRUCTIONS_FIRST: Final = "the API takes instructions only before the conversation"
TRAILING_SPACE: Final = "the API refuses a last response that ends in white space"
USER_FIRST: Final = "the API requires a conversation that begins with the user"

OPENING_PROMPT: Final = "Continue."
"""The text of the prompt that is added where an API requires one before the first step."""

DIGEST_LENGTH: Final = 8
"""The length of the digest at the end of a name that had to be changed."""


class Rules(NamedTuple):
    """What an API requires of the turns in a request. The defaults are what most APIs require."""

    hidden: Literal["skip", "send"] = "skip"
    """Whether notices (`type: event`) and internal messages are sent."""
    instructions: Literal["first", "anywhere"] = "anywhere"
    """Where system messages may be. Those that `is_pinned` of `arrange` accepts stay where they are."""
    begins: Literal["user", "any"] = "any"
    """Who begins the conversation."""
    calls: Literal["need-results", "any"] = "need-results"
    """Whether each call needs a result right after its step, and each result a call."""
    strays: Literal["drop", "keep"] = "drop"
    """What happens to results without a call."""
    order: Literal["calls-last", "any"] = "any"
    """Whether calls that wait for results come after all other parts of their step."""
    blank_text: Literal["drop", "keep"] | Callable[[TextPart], bool] = "keep"
    """What happens to texts of white space only; a function returns whether a text is dropped."""
    trailing_space: Literal["strip", "keep"] = "keep"
    """What happens to white space at the end of the conversation, if a step ends it."""


class Alphabet(NamedTuple):
    """The characters and the length that an API allows in an id or a name."""

    refused: re.Pattern[str]
    """Matches a character that is not allowed."""
    longest: int | None = None

    def fit(self, text: str) -> str:
        """Return the text if it is allowed, else an allowed one with a digest, so different texts stay so."""
        is_short = self.longest is None or len(text) <= self.longest
        if text and is_short and not self.refused.search(text):
            return text
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]
        length = len(text) if self.longest is None else self.longest - DIGEST_LENGTH - 1
        return f"{self.refused.sub('_', text)[:length]}_{digest}"


def arrange(
    turns: Iterable[Turn],
    rules: Rules,
    losses: list[Loss],
    is_pinned: Callable[[Instructions], bool] | None = None,
    is_written: Callable[[Any], bool] | None = None,
) -> list[Turn]:
    """Repair turns so that they meet the rules, and add a loss for each repair.

    `is_pinned`: whether instructions stay where they are. `is_written`: whether a part of the assistant is
    written; moving others is not reported.
    """
    arranged: list[Turn] = []
    for turn in turns:
        is_results = isinstance(turn, Results)
        message = turn.step.message if is_results and turn.step is not None else turn.message
        if rules.hidden == "skip" and (message.internal or message.type == "event"):
            losses.extend(turn_losses(turn, NOT_MODEL))
        elif is_results:
            _add_results(turn, arranged, rules, losses)
        else:
            sent = _without_refused_parts(turn, rules, losses)
            if rules.order == "calls-last" and isinstance(sent, Step):
                sent = _calls_last(sent, losses, is_written)
            arranged.append(sent)
    if rules.calls == "need-results":
        arranged = _with_all_results(arranged, losses)
    if rules.instructions == "first":
        arranged = _instructions_first(arranged, losses, is_pinned)
    if rules.begins == "user":
        _begin_with_user(arranged, losses)
    if rules.trailing_space == "strip":
        _strip_end(arranged, losses, is_written)
    return arranged


def _begin_with_user(turns: list[Turn], losses: list[Loss]) -> None:
    """Insert a prompt before the first step, if that step begins the conversation."""
    first = next(filter(_has_content, turns), None)
    if isinstance(first, Step):
        opening = UserMessage(id="", content=OPENING_PROMPT)
        turns.insert(turns.index(first), Prompt(opening, "", [LocatedPart(opening.parts[0], "")]))
        losses.append(Loss("$", OPENING_PROMPT, USER_FIRST, "repaired"))


def _strip_end(turns: list[Turn], losses: list[Loss], is_written: Callable[[Any], bool] | None) -> None:
    """Strip white space at the end of the conversation, if a step ends it."""
    last = next(filter(_has_content, reversed(turns)), None)
    if isinstance(last, Step):
        turns[turns.index(last)] = _stripped(last, losses, is_written)


def _has_content(turn: Turn) -> bool:
    """Whether a turn belongs to the conversation and has a part or a text."""
    if isinstance(turn, Instructions):
        return False
    return bool(turn.parts or (isinstance(turn, Step) and turn.text))


def _add_results(turn: Results, arranged: list[Turn], rules: Rules, losses: list[Loss]) -> None:
    """Add results if the step before has their calls. Results of calls that were left out are not added."""
    step = next((one for one in reversed(arranged) if isinstance(one, Step)), None)
    if rules.calls != "need-results" or (turn.step is None and rules.strays == "keep"):
        arranged.append(turn)
    elif turn.step is None:
        losses.extend(turn_losses(turn, NO_CALL))
    elif step is not None and step.message is turn.step.message:
        calls = {part.id for part, _ in step.parts if type(part) is ToolCallPart}
        kept = [one for one in turn.parts if type(one.part) is ToolResultPart and one.part.id in calls]
        if kept:
            arranged.append(turn if len(kept) == len(turn.parts) else turn._replace(parts=kept))


def _without_refused_parts(turn: Turn, rules: Rules, losses: list[Loss]) -> Turn:
    """Return the turn without blank texts, and without calls whose input was cut off."""
    is_refused = _is_blank if rules.blank_text == "drop" else rules.blank_text
    needs_results = rules.calls == "need-results"
    if is_refused == "keep" and not (needs_results and isinstance(turn, Step)):
        return turn
    kept: list[LocatedPart] = []
    for located in turn.parts:
        part = located.part
        if is_refused != "keep" and type(part) is TextPart and is_refused(part):
            severity: Literal["lost", "minor"] = "lost" if part.text else "minor"
            losses.append(Loss.of(located.path, part, BLANK, severity))
        elif needs_results and type(part) is ToolCallPart and _is_cut(located, turn):
            losses.append(Loss.of(located.path, part, CUT_OFF))
        else:
            kept.append(located)
    return turn if len(kept) == len(turn.parts) else turn._replace(parts=kept)


def _is_blank(part: TextPart) -> bool:
    return not part.text.strip()


def _calls_last(step: Step, losses: list[Loss], is_written: Callable[[Any], bool] | None) -> Step:
    """Return the step with its calls without a result after all other parts, and after its text."""
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
    """Whether the input of a call was cut off. Only the call in the message has the output that shows it."""
    call, path = located
    if path and isinstance(turn, Step) and (call.input is UNSET or call.raw_input is not UNSET):
        call = turn.message.parts[int(path[path.rindex("[") + 1 : -1])]
    return is_cut(call)


def _with_all_results(turns: Sequence[Turn], losses: list[Loss]) -> list[Turn]:
    """Return the turns with a result for each call right after its step, in the order of the calls."""
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
            arranged += _results_of_calls(turn, calls, results, losses)
        for one in results:
            if one.step is None and not _has_call(one, calls):
                arranged.append(one)
    return arranged


def _has_call(results: Results, calls: Sequence[LocatedPart]) -> bool:
    """Whether one of the results belongs to one of the calls."""
    ids = {call.id for call, _ in calls}
    return not ids.isdisjoint(getattr(part, "id", None) for part, _ in results.parts)


def _results_of_calls(
    step: Step, calls: Sequence[LocatedPart], results: Sequence[Results], losses: list[Loss]
) -> Iterator[Results]:
    """Yield the results of a step in the order of its calls, with a new one for each call that has none."""
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
    """Return the turns with all instructions that are not pinned before the others."""
    first: list[Turn] = []
    others: list[Turn] = []
    for turn in turns:
        if not isinstance(turn, Instructions) or (is_pinned is not None and is_pinned(turn)):
            others.append(turn)
            continue
        if others:
            losses.append(Loss(turn.path, "the place of the instructions", INSTRUCTIONS_FIRST, "repaired"))
        first.append(turn)
    return [*first, *others]


def _stripped(step: Step, losses: list[Loss], is_written: Callable[[Any], bool] | None) -> Step:
    """Return the step without white space at the end of the last text that is written."""
    if step.text is not None and step.text != step.text.rstrip():
        losses.append(Loss(step.path, "white space at the end", TRAILING_SPACE, "repaired"))
        return step._replace(text=step.text.rstrip())
    parts = list(step.parts)
    at = len(parts) - 1
    while at > 0 and is_written is not None and not is_written(parts[at].part):
        at -= 1
    last, path = parts[at] if parts else (None, "")
    if step.text is not None or not isinstance(last, TextPart) or last.text == last.text.rstrip():
        return step
    losses.append(Loss(path or step.path, "white space at the end", TRAILING_SPACE, "repaired"))
    parts[at] = LocatedPart(replace(last, text=last.text.rstrip()), path)
    return step._replace(parts=parts)
