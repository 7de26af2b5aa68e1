"""Tools that a provider runs: their results are blocks behind their calls, in the same message.

A result is the output of its call. If other blocks are between it and its call, a note says how many.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from partita.types.fold import state_after
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.tools import ToolOutput

from .report import Place
from .turns import Placed

BEHIND: Final = "behind"
"""The note of how many blocks are between a result and its call, or the result before it."""


def behind_note(count: int) -> JsonObject:
    """The note that a number of blocks is between a result and its call."""
    return {BEHIND: count} if count > 0 else {}


def with_result(call: ToolCallPart, output: ToolOutput, metadata: JsonObject | None) -> ToolCallPart:
    """The call of a server tool with its result."""
    return replace(call, state=state_after(output), output=output, result_provider_metadata=metadata)


def write_message_blocks(
    parts: Sequence[Placed],
    write: Callable[[Any], Sequence[Json]],
    write_results: Callable[[ToolCallPart], Sequence[tuple[Json, JsonObject]]],
) -> tuple[list[Json], list[Place | None]]:
    """The blocks of parts, and the number of each part's block.

    `write`: the blocks of a part; none if it is not written.
    `write_results`: the blocks of the results of a call that the provider ran, and the notes about them.
    """
    blocks: list[Json] = []
    places: list[Place | None] = []
    waiting: list[tuple[int, Json]] = []  # results, and where they go
    for part, _ in parts:
        written = write(part)
        while waiting and written and waiting[0][0] <= len(blocks):
            blocks.append(waiting.pop(0)[1])
        places.append(len(blocks) if written else None)
        blocks += written
        if type(part) is ToolCallPart and part.provider_executed and part.output is not None and written:
            at = len(blocks) - len(written) + 1
            for result, noted in write_results(part):
                behind = noted.get(BEHIND)
                at += behind if type(behind) is int else 0
                waiting.append((at, result))
                at += 1
            waiting.sort(key=lambda one: one[0])
    return [*blocks, *(result for _, result in waiting)], places
