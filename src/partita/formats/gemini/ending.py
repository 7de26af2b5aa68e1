"""Why an answer ended, and what it consumed."""

from collections.abc import Mapping
from typing import Final

from partita.formats.answers.outlet import INTERRUPTED
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage
from partita.types.value import Extra

from .looking import count_at

STOP: Final = "STOP"
TOOL_CALLS: Final = "tool-calls"
ERROR: Final = "error"
BLOCKED: Final = "content-filter"

REASONS: Final[Mapping[str, str]] = {
    STOP: "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
        BLOCKED,
    ),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), BLOCKED),
    **dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), ERROR),
}
"""Their reasons in our words. Any other is `other`: new ones appear."""

NO_BLOCK: Final = frozenset({"BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"})
"""Reasons for a block that say there was none."""


class Ending:
    """What an answer has said so far about its end. The last word counts."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.block: str | None = None
        self.failed = False
        self.usage: Usage | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the answer said that it ended, and why."""
        return self.reason is not None or self.block is not None

    @property
    def raw(self) -> str | None:
        """Why it ended, in the provider's words. A prompt can be blocked for what ends answers too."""
        return self.reason if self.block is None else f"promptFeedback:{self.block}"

    def unified(self, *, has_calls: bool) -> str:
        """Why it ended, in our words. `STOP` does not tell whether the client has calls to run."""
        if self.failed:
            return ERROR
        if self.block is not None:
            return BLOCKED
        if self.reason is None:
            return INTERRUPTED
        return TOOL_CALLS if self.reason == STOP and has_calls else REASONS.get(self.reason, "other")

    def take_usage(self, metadata: Json) -> None:
        """Counts are told again and again, and grow."""
        if is_object(metadata):
            self.usage = usage_of(metadata)


def usage_of(metadata: JsonObject) -> Usage:
    """Token counts: what tools added to the prompt and what was thought stand apart there, not here."""
    tools = count_at(metadata, "toolUsePromptTokenCount")
    return Usage(
        input_tokens=_sum(count_at(metadata, "promptTokenCount"), tools),
        output_tokens=_sum(
            count_at(metadata, "candidatesTokenCount"), count_at(metadata, "thoughtsTokenCount")
        ),
        total_tokens=count_at(metadata, "totalTokenCount"),
        reasoning_tokens=count_at(metadata, "thoughtsTokenCount"),
        cached_input_tokens=count_at(metadata, "cachedContentTokenCount"),
        raw=metadata,
        extra=None if tools is None else Extra({"toolUsePromptTokens": tools}),
    )


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
