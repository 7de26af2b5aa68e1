"""How versions 5.0.277, 6.0.326 and 7.0.169 of the SDK differ in what they send to a model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from .parts import (
    Converter,
    bare_file,
    custom,
    plain_file,
    reasoning,
    reasoning_file,
    tagged_file,
    text,
)

COMPLETE_STATES: Final = frozenset(
    {"approval-responded", "output-available", "output-error", "output-denied"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One version's rules."""

    version: int
    user_parts: Mapping[str, Converter]
    assistant_parts: Mapping[str, Converter]
    incomplete_states: frozenset[str] | None
    """Tool states that count as incomplete; None: all that are not in `COMPLETE_STATES`."""
    empty_messages: bool
    """A step whose parts give nothing still gives messages, without content."""
    dynamic_is_static: bool
    """Dynamic tools are converted like static ones, also when the provider ran them."""
    result_options: bool
    """`resultProviderMetadata` is looked at."""
    approvals: bool
    """Requests for approval and the answers to them are sent."""
    automatic_approvals: bool
    """A request says why it was made and whether a policy answers it."""
    refusal_results: bool
    """A call that was refused, and never ran, gets a result that says so."""
    user_supersedes: bool
    """A request for approval that a later user message passed over is dropped."""
    steering: bool
    """User messages may stand between the steps of an assistant message."""
    needs_parts: bool
    """An assistant message without parts is an error."""


_5: Final = Rules(
    version=5,
    user_parts={"text": text, "file": plain_file},
    assistant_parts={"text": text, "reasoning": reasoning, "file": bare_file},
    incomplete_states=frozenset({"input-streaming", "input-available"}),
    empty_messages=True,
    dynamic_is_static=False,
    result_options=False,
    approvals=False,
    automatic_approvals=False,
    refusal_results=False,
    user_supersedes=False,
    steering=False,
    needs_parts=False,
)
_6: Final = replace(
    _5,
    version=6,
    assistant_parts={"text": text, "reasoning": reasoning, "file": plain_file},
    incomplete_states=None,
    empty_messages=False,
    dynamic_is_static=True,
    result_options=True,
    approvals=True,
)
_7: Final = replace(
    _6,
    version=7,
    user_parts={"text": text, "file": tagged_file},
    assistant_parts={
        "text": text,
        "reasoning": reasoning,
        "file": tagged_file,
        "reasoning-file": reasoning_file,
        "custom": custom,
    },
    automatic_approvals=True,
    refusal_results=True,
    user_supersedes=True,
    steering=True,
    needs_parts=True,
)
RULES: Final[Mapping[int, Rules]] = {5: _5, 6: _6, 7: _7}
