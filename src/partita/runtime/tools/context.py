"""The context of a tool call."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partita.runtime.principal import LOCAL, Principal
from partita.runtime.service import InvokeOptions
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage

if TYPE_CHECKING:
    from partita.store.store import Store  # heavy, and most tools do not use it


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The thread, the run and the call that a tool runs for. Models do not see parameters of this type."""

    thread_id: str = ""
    run_id: str = ""
    message_id: str = ""
    tool_call_id: str = ""
    store: "Store | None" = None
    """The store, limited to the data that the caller may see; without a server, that of the agent."""
    owner: str | None = None
    """The owner of the thread. Thread ids are unique within an owner only: see `conversation_key`."""
    caller: Principal = LOCAL
    """Who sent the request: owner, role, and the claims that `user` returned."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The headers of the HTTP request, names in lower case."""
    body: JsonObject = field(default_factory=dict[str, Json])
    """Members of the request's body that Partita itself does not use."""
    conversation_key: str | None = None
    """A key for the conversation that no other owner's thread has: use it in stores of your own."""
    continued: AssistantMessage | None = None
    """The message that the response continues, as it was before; else `None`."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set it to stop every call of the run."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set once the output of this call is no longer needed: it was stopped, or timed out."""

    @classmethod
    def from_options(
        cls,
        options: InvokeOptions,
        *,
        store: "Store | None" = None,
        continued: AssistantMessage | None = None,
    ) -> "ToolContext":
        """The context of a run's calls. `store` is used if the options have none."""
        return cls(
            thread_id=options.thread_id or "",
            run_id=options.run_id or "",
            message_id=options.message_id or "",
            store=options.store or store,
            owner=options.owner,
            caller=options.caller,
            headers=options.headers,
            body=options.body,
            conversation_key=options.conversation_key,
            continued=continued,
        )

    @property
    def is_cancelled(self) -> bool:
        """Whether the tool should stop. Thread-safe."""
        return self.over.is_set() or self.cancelled.is_set()
