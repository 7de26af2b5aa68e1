"""What formats make of a conversation that has everything; each is measured once."""

from functools import cache

from partita.formats.format import Format
from partita.formats.registry import all_formats
from partita.testing.features import Measured, Outcome, measure
from partita.testing.full_conversation import full_conversation
from partita.types.messages import AssistantMessage, Message

SIGNS: dict[Outcome | None, str] = {"kept": "✓", "changed": "≈", "lost": "–", None: ""}
RESPONSE = "-response"
"""How the names of formats end that hold one response and no conversation."""


def is_measured(format_: Format) -> bool:
    """Whether something can be written in it."""
    return format_.dump is not None


@cache
def measured(name: str) -> Measured:
    """What a format makes of everything; one that holds an answer, of the answer that has the most."""
    format_ = all_formats()[name]
    return measure(format_, said_in(format_))


def said_in(format_: Format) -> tuple[Message, ...]:
    """What a format is measured with."""
    messages = tuple(full_conversation())
    if not format_.name.endswith(RESPONSE):
        return messages
    answers = [one for one in messages if isinstance(one, AssistantMessage)]
    return (max(answers, key=lambda one: len(one.parts)),)
