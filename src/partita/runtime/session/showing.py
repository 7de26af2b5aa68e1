"""What of a run a client is shown: not our own notes in its log, and no messages that are internal."""

from collections.abc import Sequence
from typing import Final

from partita.formats.ai_sdk.ui.chat import APPROVALS, approval_fact
from partita.runtime.error_mask import ErrorMask
from partita.runtime.folding import DECISION, with_decision
from partita.store.facade.store import Store
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    DataChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    starts_internal,
)
from partita.types.codec import encode
from partita.types.json import is_object
from partita.types.tools import Approval

from .following import seen_of
from .live_run import Seen

MATTERS: Final = frozenset({MessageStart, MessageFinish, DataChunk, ChildChunk})
"""Chunks that say whether something is shown, or may themselves not be."""


def decision_of(chunk: Chunk) -> MessageMetadata | None:
    """The metadata that a client receives for the note that an approval was answered."""
    if not isinstance(chunk, DataChunk) or chunk.type != DECISION or not is_object(chunk.data):
        return None
    approval_id = str(chunk.data.get("approvalId"))
    fact = approval_fact(with_decision(Approval(approval_id), chunk.data))
    return MessageMetadata({APPROVALS: {approval_id: fact}})


class Showing:
    """Goes along with a run, and knows whether the message at hand is internal."""

    def __init__(
        self, approvals: bool = False, *, everything: bool = False, mask: ErrorMask | None = None
    ) -> None:
        """With `approvals`, the note of who answered one is shown as metadata of the message.

        With `everything`, nothing is left out. A `mask` replaces the text of errors.
        """
        self._everything = everything
        self._mask = mask
        self._internal = False
        self._internal_below: set[tuple[str, ...]] = set()  # paths of sub-agents whose message is internal
        self._approvals = approvals

    async def catch_up(self, store: Store, run_id: str, after: int) -> None:
        """Read what came up to a number: what is shown after it depends on that."""
        if after > 0 and not (self._everything and self._mask is None):
            self.of(seen_of(await store.read_log(run_id, limit=after)))

    def of(self, seen: Sequence[Seen]) -> Sequence[Seen]:
        """What of these is shown, as it is shown."""
        shown = seen if self._everything else self._shown(seen)
        return shown if self._mask is None else _masked(shown, self._mask)

    def _shown(self, seen: Sequence[Seen]) -> Sequence[Seen]:
        if not self._internal and MATTERS.isdisjoint([type(one.chunk) for one in seen]):
            return seen
        shown: list[Seen] = []
        for one in seen:
            chunk = one.chunk
            if type(chunk) not in MATTERS:
                if not self._internal:
                    shown.append(one)
                continue
            if isinstance(chunk, MessageStart):
                self._internal = starts_internal(chunk)
                self._internal_below.clear()
            hidden = isinstance(chunk, ChildChunk) and self._is_internal_below(chunk)
            if not self._internal and not hidden and not one.is_note:
                shown.append(one)
            elif self._approvals and not self._internal and (fact := decision_of(chunk)) is not None:
                shown.append(one._replace(chunk=fact, json=encode(fact)))
            if isinstance(chunk, MessageFinish):
                self._internal = False
        return shown

    def _is_internal_below(self, child: ChildChunk) -> bool:
        """Whether the chunk of a sub-agent belongs to a message of it that is internal."""
        path, chunk = child.path, child.chunk
        while isinstance(chunk, ChildChunk):
            path, chunk = (*path, *chunk.path), chunk.chunk
        if isinstance(chunk, MessageStart):
            (self._internal_below.add if starts_internal(chunk) else self._internal_below.discard)(path)
        return path in self._internal_below


def _masked(seen: Sequence[Seen], mask: ErrorMask) -> list[Seen]:
    pairs = [(one, mask.chunk(one.chunk)) for one in seen]
    return [
        one if chunk is one.chunk else one._replace(chunk=chunk, json=encode(chunk))
        for one, chunk in pairs
        if chunk is not None
    ]
