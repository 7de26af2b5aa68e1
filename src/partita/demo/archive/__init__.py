"""Demo threads.

Most are a file each: the thread on the first line, then its messages. One is the log of a coding agent with
the log of its sub-agent, and is imported as such.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import as_file, files
from typing import Final

from partita.importers.logs.importer import import_logs
from partita.logs.files import find_logs
from partita.store.bulk.rows import ThreadRows
from partita.store.bulk.writer import write_threads
from partita.store.messages.prepared import prepare
from partita.store.store import Store
from partita.types.codec import Codec, decode_message
from partita.types.messages import Message
from partita.types.threads import Thread

THREAD: Codec[Thread] = Codec(Thread)
CODING = "coding"

WRITTEN: Final = int(datetime(2026, 3, 31, tzinfo=UTC).timestamp()) * 10**9
"""The modification time of the logs. With that of the installation, the agent might count as running."""


def threads() -> Iterator[tuple[Thread, list[Message]]]:
    """Yield the threads of the archive with their messages, oldest first."""
    found = [file for file in files(__name__).iterdir() if file.name.endswith(".jsonl")]
    for file in sorted(found, key=lambda file: file.name):
        first, *rest = file.read_bytes().splitlines()
        yield THREAD.decode(first), [decode_message(line) for line in rest]


async def load_archive(store: Store) -> int:
    """Add the demo threads to a store and return their number. Repeating it changes nothing."""
    batches = [
        ThreadRows(thread, [prepare(message, thread.id) for message in messages])
        for thread, messages in threads()
    ]
    await store.write(write_threads, batches)
    return len(batches) + await _load_logs(store)


async def _load_logs(store: Store) -> int:
    with as_file(files(__name__).joinpath(CODING)) as folder:
        found = [file._replace(mtime_ns=WRITTEN) for file in find_logs([folder]).files]
        await import_logs(store, found, restore=True)
    sessions = [file.session for file in found if file.kind == "session" and file.session]
    for session in sessions:
        await store.threads.update_metadata(session, {"demo": True})
    return len(sessions)
