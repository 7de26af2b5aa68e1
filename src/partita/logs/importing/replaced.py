"""Sub-agents that were read as sessions of their own, before their session was: they move to its thread."""

from collections.abc import Iterable, Mapping

from partita.errors import PartitaError
from partita.logs.places.log_file import LogFile
from partita.store.facade.store import Store
from partita.store.values import Source
from partita.types.json import is_object

from .units import Unit


def was_alone(source: Source | None) -> bool:
    """Whether a sub-agent's file was read as a session of its own."""
    return source is not None and is_object(source.state) and not source.state.get("part")


async def drop_replaced(
    store: Store, units: Iterable[Unit], known: Mapping[str, Source], resource_id: str | None
) -> list[tuple[str, str]]:
    """Delete the threads of such sub-agents; the paths of those that could not be, and why.

    `known` are the sources as they were before the sessions were read.
    """
    mine = store if resource_id is None else store.scoped(resource_id)
    problems: list[tuple[str, str]] = []
    for file in (file for unit in units for file in unit.agents):
        source = known.get(str(file.path))
        if source is not None and source.thread_id is not None and was_alone(source):
            try:
                await _drop(mine, file, source.thread_id)
            except PartitaError as error:
                problems.append((str(file.path), str(error)))
    return problems


async def _drop(store: Store, file: LogFile, thread_id: str) -> None:
    """Delete a thread if all of it came from a file that is told in another thread now."""
    now = await store.get_source(str(file.path))
    if now is None or was_alone(now) or now.thread_id == thread_id:
        return
    if await store.get_thread_by_id(thread_id) is None:
        return
    messages = (await store.list_messages(thread_id, limit=None)).items
    if all((message.run_id or "").startswith(f"{thread_id}@") for message in messages):
        await store.delete_thread(thread_id)
