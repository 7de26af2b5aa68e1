"""What items of the Agents SDK say that shows in the form of the messages made of them."""

from partita.formats.format import Implied
from partita.formats.openai_responses.implied import IMPLIED

from .notes import FAKE_ID


def implied() -> Implied:
    """What those of the Responses API say, and the id that stands for none."""
    return {**IMPLIED, "id": frozenset({FAKE_ID})}
