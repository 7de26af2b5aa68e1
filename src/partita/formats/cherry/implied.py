"""Words of Cherry Studio's rows that show in the form of what they become."""

from typing import Final

from partita.formats.format import Implied
from partita.formats.rows import OTHER_ROLES, ROLES
from partita.formats.words import open_words

from .blocks import LOADERS

PARTS: Final = (
    *("text", "reasoning", "file", "step-start", "source-url", "source-document", "dynamic-tool"),
    *("image", "custom", "reasoning-file", "steering-message"),
)
CHUNKS: Final = (
    *("start", "finish", "start-step", "finish-step", "reset-step", "message-metadata", "error", "abort"),
    *("text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end"),
    *("tool-approval-request", "tool-approval-response"),
    *(f"tool-input-{name}" for name in ("start", "delta", "available", "error")),
    *(f"tool-output-{name}" for name in ("available", "error", "denied")),
)


def implied() -> Implied:
    """What a reader of session messages has understood."""
    return {
        "role": frozenset({*ROLES, *OTHER_ROLES}),
        "type": open_words({*PARTS, *CHUNKS, *LOADERS}, "data-", "tool-"),
        "status": frozenset({"success"}),
    }
