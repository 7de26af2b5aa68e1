"""Words of Smithers' rows that show in the form of what they become."""

from partita.formats.format import Implied
from partita.formats.rows import OTHER_ROLES, ROLES
from partita.formats.words import open_words

from .events import FIELDS

PARTS = ("text", "reasoning", "file", "image", "tool-call", "tool-result", "step-start", "dynamic-tool")


def implied() -> Implied:
    """What a reader of the rows has understood."""
    types = frozenset(FIELDS)
    return {
        "role": frozenset({*ROLES, *OTHER_ROLES, "tool"}),
        "type": open_words({*types, *PARTS}, "data-", "tool-"),
        "eventType": types,
        "event_type": types,
    }
