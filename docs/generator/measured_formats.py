"""What each format keeps of a conversation with all features, and the meaning of the results."""

from functools import cache

from partita.formats.format import Format
from partita.formats.losses import Severity
from partita.formats.registry import all_formats
from partita.testing.features import Measured, Outcome, measure
from partita.testing.full_conversation import full_conversation
from partita.types.messages import AssistantMessage, Message

MARKS: dict[Outcome | None, str] = {"kept": "✓", "changed": "≈", "lost": "–", None: ""}
SEVERITIES: dict[Severity, str] = {
    "lost": "The value is gone.",
    "changed": "The value is present in another form.",
    "repaired": "Something was added, moved or renamed, because the format requires it.",
    "minor": "The value is gone, but readers of the messages do not need it.",
}


def is_response(format_: Format) -> bool:
    """Whether a format holds one response, not a conversation."""
    return format_.name.endswith("-response")


@cache
def measured(name: str) -> Measured:
    """Return what a format keeps of the full conversation, or of one response in it."""
    format_ = all_formats()[name]
    return measure(format_, messages_for(format_))


def messages_for(format_: Format) -> tuple[Message, ...]:
    """Return the messages that a format is measured with."""
    messages = tuple(full_conversation())
    if not is_response(format_):
        return messages
    responses = [one for one in messages if isinstance(one, AssistantMessage)]
    return (max(responses, key=lambda one: len(one.parts)),)
