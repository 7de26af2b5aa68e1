"""Words of Mastra's streams that show in the form of what they become: the types of its chunks."""

from typing import Final, get_args

from partita.formats.format import Implied
from partita.formats.words import open_words
from partita.types.messages import PrimitiveType

from .network import Network
from .speaker import Speaker
from .things import DATA, MAKING, RESULTS

OPEN: Final = (DATA, *(f"{name}-execution-event-" for name in get_args(PrimitiveType)))
"""Beginnings of types whose rest says what is inside."""

REPEATED: Final = 100
"""Up to here, the number of an iteration is one that a network's chunks say again and again."""


def implied() -> Implied:
    """What a reader of a stream has understood."""
    speaker = Speaker([], [])
    types = {*speaker.types, *Network(speaker).types, *MAKING, *RESULTS, "suspension"}
    return {
        "type": open_words(types, *OPEN),
        "sourceType": frozenset({"url", "document"}),
        "primitiveType": frozenset({*get_args(PrimitiveType), "none"}),
        "isError": frozenset({True, False}),
        "dynamic": frozenset({True, False}),
        "base64": frozenset({True, False}),
        "transient": frozenset({True, False}),
        "isComplete": frozenset({True, False}),
        "iteration": frozenset(range(REPEATED)),
    }
