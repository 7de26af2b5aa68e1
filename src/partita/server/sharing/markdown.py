"""A thread as Markdown: words as they are, reasoning as a quotation, tools as fenced blocks."""

from collections.abc import Iterator, Sequence

from partita.formats.exports.markdown import document, moment_text
from partita.types.messages import Message
from partita.types.threads import Thread


def markdown(thread: Thread, messages: Sequence[Message]) -> Iterator[str]:
    """The text, piece by piece."""
    facts = {
        "Agent": thread.agent,
        "Project": thread.project,
        "Began": moment_text(thread.created_at),
        "Messages": str(len(messages)),
    }
    return document(messages, thread.title or "A conversation", facts)
