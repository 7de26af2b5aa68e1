"""What a tool may know about the call it is run for."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partita.store.facade.store import Store  # heavy: whoever writes a tool shall not wait for a database


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a call belongs, and whether it shall stop. Parameters of this type are not for the model."""

    thread_id: str = ""
    run_id: str = ""
    message_id: str = ""
    tool_call_id: str = ""
    store: "Store | None" = None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set it to stop every call of the run."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set once nobody waits for this one call any more: it was stopped, or took too long."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the tool shall stop. Safe to ask from any thread."""
        return self.over.is_set() or self.cancelled.is_set()
