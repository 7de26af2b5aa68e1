"""Words of Mastra's messages and streams that show in the form of what they become."""

from typing import Final, get_args

from partita.formats.format import Implied
from partita.formats.words import open_words
from partita.types.messages import PrimitiveType

from .calls import STATES

ROLES: Final = ("system", "user", "assistant", "tool", "signal")
V1_PARTS: Final = ("text", "image", "file", "reasoning", "redacted-reasoning", "tool-call", "tool-result")
V2_PARTS: Final = (
    *("text", "reasoning", "redacted", "tool-invocation", "file", "source", "source-document", "step-start"),
    *("dynamic-tool", "custom", "reasoning-file", "source-url", "steering-message", "image"),
)
DATA: Final = "data-"


def implied_v2() -> Implied:
    """What a reader of V2 messages has understood."""
    return {
        "role": frozenset(ROLES),
        "format": frozenset({2}),
        "type": open_words({*V2_PARTS, *V1_PARTS, "v2"}, DATA),
        "state": frozenset(STATES),
        "sourceType": frozenset({"url", "document"}),
        "isNetwork": frozenset({True}),
        "isError": frozenset({True, False}),
        "primitiveType": frozenset(get_args(PrimitiveType)),
        "resourceType": frozenset(get_args(PrimitiveType)),
    }


def implied_v1() -> Implied:
    """What a reader of V1 messages has understood."""
    return {"role": frozenset(ROLES), "type": frozenset(V1_PARTS), "isNetwork": frozenset({True})}
