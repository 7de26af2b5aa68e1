"""The last step of a conversation, for formats that hold one response of a model."""

from collections.abc import Callable, Sequence
from typing import Final

from partita.formats.events import UNNAMED
from partita.formats.losses import Loss
from partita.types.messages import AssistantMessage, AssistantPart, Message

from .report import Record
from .turns import Results, Step, split

ONE: Final = "a body is one response"
EARLIER: Final = "an earlier step was a response of its own"
NO_OUTPUT: Final = "a response ends with its calls, before their results"
NONE: Final = "a body is a response: it is empty"


def last_step(
    messages: Sequence[Message], is_written: Callable[[AssistantPart], bool], record: Record
) -> Step:
    """The last step of the model. Everything else is reported as lost."""
    turns = list(split(messages, is_written))
    steps = [turn for turn in turns if isinstance(turn, Step) and not _is_hidden(turn)]
    step = steps[-1] if steps else Step(AssistantMessage(id=UNNAMED, content=[]), "", [], 1, [])
    if not steps:
        record.losses.append(Loss("$", "no response", NONE, "repaired"))
    for turn in turns:
        if turn is step:
            continue
        if isinstance(turn, Results) and turn.step is not None and turn.step.message is step.message:
            record.drop(turn, NO_OUTPUT)
        elif isinstance(turn, Step) and turn.message is step.message:
            record.losses += [Loss.of(path, part, EARLIER) for part, path in turn.parts]
        else:
            record.drop(turn, ONE)
    return step


def _is_hidden(step: Step) -> bool:
    return step.message.internal or step.message.type == "event"
