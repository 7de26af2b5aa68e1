"""Rows whose content is plain text, or a JSON string, where a content should be → messages."""

from partita.store.messages.legacy_content import upgrade
from partita.types.messages import Message

from .migration import Changed, Migration, StoredRow, is_today, type_lost, with_content

DONE = {
    "plain text": "plain text as a message of one part, marked as reconstructed",
    "string": "a content out of the string it was in",
}


def change(message: Message, row: StoredRow) -> Changed | None:
    """The message that the text is: of one part and marked, unless the string holds a whole content."""
    if is_today(row):
        return None
    found = upgrade(row.role, row.text)
    done = DONE.get(found.shape)
    if done is None:
        return None
    return Changed(with_content(message, found.content), done, (*found.losses, *type_lost(message)))


PLAIN_TEXT = Migration("plain-text", "Plain text in the place of a message, as one that says so", change)
