"""A few conversations to look at when there are none.

Most are a file each, its thread first, then its messages. One is the log of a coding agent, with that of its
sub-agent beside it, and is brought in as such logs are.
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
"""When the last word of the logs was written, whenever the package was installed: no agent is at work."""


def threads() -> Iterator[tuple[Thread, list[Message]]]:
    """Every conversation of the archive, the oldest first."""
    found = [file for file in files(__name__).iterdir() if file.name.endswith(".jsonl")]
    for file in sorted(found, key=lambda file: file.name):
        first, *rest = file.read_bytes().splitlines()
        yield THREAD.decode(first), [decode_message(line) for line in rest]


async def load_archive(store: Store) -> int:
    """Put the archive into a store; how many threads there were. Done again it changes nothing."""
    batches = [
        ThreadRows(thread, [prepare(message, thread.id) for message in messages])
        for thread, messages in threads()
    ]
    await store.write(write_threads, batches)
    return len(batches) + await _load_logs(store)


async def _load_logs(store: Store) -> int:
    with as_file(files(__name__).joinpath(CODING)) as folder:
        found = [file._replace(mtime_ns=WRITTEN) for file in find_logs([folder]).files]
        await import_logs(store, found)
    sessions = [file.session for file in found if file.kind == "session" and file.session]
    for session in sessions:
        await store.threads.update_metadata(session, {"demo": True})
    return len(sessions)
