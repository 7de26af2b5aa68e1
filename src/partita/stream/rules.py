"""Where the readers of AI SDK 5, 6 and 7 differ. Releases meant: 5.0.277, 6.0.326, 7.0.169."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from partita.types.chunks import (
    Chunk,
    CustomChunk,
    ReasoningFileChunk,
    SteeringMessageChunk,
    StepReset,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolOutputDenied,
)

Version: TypeAlias = Literal[5, 6, 7]


@dataclass(frozen=True, slots=True)
class Rules:
    """How one major version reads a stream. The defaults are those of the newest."""

    version: Version = 7
    ignored: frozenset[type[Chunk]] = frozenset()
    step_end_closes_blocks: bool = False  # a delta after it is an error
    bad_input_is_raw: bool = False  # of a static call: `rawInput` holds it, not `input`
    citations: bool = True
    approval_reasons: bool = True  # `reason` and `isAutomatic` of an approval request
    outputs_match_kind: bool = False  # static and dynamic calls are found apart
    renames: bool = True  # a later name of a static call replaces the first
    describes_calls: bool = True  # titles, tool metadata, input encodings
    result_metadata: bool = True  # metadata of outputs has a place of its own
    file_metadata: bool = True


_SEVEN_ONLY: frozenset[type[Chunk]] = frozenset(
    {CustomChunk, ReasoningFileChunk, SteeringMessageChunk, StepReset, ToolApprovalResponse}
)

SEVEN = Rules()
SIX = Rules(
    version=6,
    ignored=_SEVEN_ONLY,
    step_end_closes_blocks=True,
    bad_input_is_raw=True,
    citations=False,
    approval_reasons=False,
)
FIVE = Rules(
    version=5,
    ignored=_SEVEN_ONLY | {ToolApprovalRequest, ToolOutputDenied},
    step_end_closes_blocks=True,
    bad_input_is_raw=True,
    citations=False,
    approval_reasons=False,
    outputs_match_kind=True,
    renames=False,
    describes_calls=False,
    result_metadata=False,
    file_metadata=False,
)

RULES: dict[Version, Rules] = {5: FIVE, 6: SIX, 7: SEVEN}
