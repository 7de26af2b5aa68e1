"""An agent's own name for a conversation, noted with its runs, to go on with it later."""

from typing import Final

from msgspec.structs import replace

from partita.store.facade.store import Store
from partita.types.json import Json, is_object
from partita.types.runs import Run

AGENT_SESSION: Final = "agentSession"
"""Where the metadata of a run keeps it."""


async def known_session(store: Store, run: Run) -> str | None:
    """The name that the last run of the thread with the same agent noted."""
    page = await store.list_runs(thread_id=run.thread_id, agent=run.agent, limit=10)
    for earlier in page.items:
        known = (earlier.metadata or {}).get(AGENT_SESSION)
        if isinstance(known, str):
            return known
    return None


async def note_session(store: Store, run: Run, result: Json) -> None:
    """Note the name that an agent told with its result, if it did."""
    known = result.get("sessionId") if is_object(result) else None
    ended = await store.get_run(run.id) if isinstance(known, str) else None
    if ended is not None:
        await store.save_run(replace(ended, metadata={**(ended.metadata or {}), AGENT_SESSION: known}))
