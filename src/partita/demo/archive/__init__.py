"""A few conversations to look at when there are none: a file each, its thread first, then its messages."""

from collections.abc import Iterator
from importlib.resources import files

from partita.store.facade.store import Store
from partita.types.codec import Codec, decode_message
from partita.types.messages import Message
from partita.types.threads import Thread

THREAD: Codec[Thread] = Codec(Thread)


def threads() -> Iterator[tuple[Thread, list[Message]]]:
    """Every conversation of the archive, the oldest first."""
    found = [file for file in files(__name__).iterdir() if file.name.endswith(".jsonl")]
    for file in sorted(found, key=lambda file: file.name):
        first, *rest = file.read_bytes().splitlines()
        yield THREAD.decode(first), [decode_message(line) for line in rest]


async def load_archive(store: Store) -> int:
    """Put the archive into a store; how many threads there were. Done again it changes nothing."""
    count = 0
    for thread, messages in threads():
        await store.save_thread(thread)
        await store.save_messages(messages, thread_id=thread.id)
        count += 1
    return count
