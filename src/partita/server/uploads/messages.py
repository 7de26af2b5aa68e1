"""Import uploaded messages of any format into threads."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.format import GENERATED_ID, Loaded
from partita.formats.losses import Loss
from partita.formats.registry import get_format
from partita.server.problems import Problem
from partita.server.routes.convert import fold_payload
from partita.server.uploads.files import UNNAMED, DetectedUpload, Upload
from partita.store.bulk.rows import ThreadRows
from partita.store.bulk.writer import Counts, compare_threads, sum_counts, write_threads
from partita.store.messages.prepared import Prepared, prepare
from partita.store.store import Store
from partita.stream.accumulator import close_message
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import Message
from partita.types.threads import Thread

MAX_BYTES: Final = 256 * 1024 * 1024
"""The largest number of bytes of messages: unlike a log, they are read as a whole."""


class Payload(NamedTuple):
    """The messages of an upload, by thread, ready to be written."""

    threads: dict[str, list[Prepared]]
    losses: tuple[Loss, ...]


class ImportedMessages(NamedTuple):
    """The result of importing messages."""

    counts: Counts
    threads: list[Thread]


def read_payload(detected: DetectedUpload, thread_id: str | None) -> Payload:
    """The messages of an upload: for a given thread, for those that they name, or for one of the upload."""
    upload = detected.upload
    check_size(upload)
    payload = values_in(upload.path.read_bytes(), upload.name)
    try:
        loaded = _load(payload, detected.format)
    except (DecodeError, ConversionError) as error:
        error.where = f"{upload.name}, {error.where}" if error.where else upload.name
        raise
    threads: dict[str, list[Message]] = {}
    for message in _with_ids(loaded.messages, payload, upload):
        thread = thread_id or message.thread_id or f"upload-{upload.digest[:24]}"
        threads.setdefault(thread, []).append(replace(message, thread_id=thread, resource_id=None))
    for thread, messages in threads.items():
        _check_ids(messages, thread, upload)
    prepared = {
        thread: [prepare(message, thread) for message in messages] for thread, messages in threads.items()
    }
    return Payload(prepared, loaded.losses)


def check_size(upload: Upload) -> None:
    """Refuse an upload that is too large to read as a whole."""
    if upload.size > MAX_BYTES:
        raise Problem(
            413,
            f"{upload.name} has more than {MAX_BYTES} bytes of messages",
            hint="send it in several pieces",
        )


async def import_payload(store: Store, payload: Payload, title: str, *, dry_run: bool) -> ImportedMessages:
    """Write the messages that differ from the stored ones, all or none. With `dry_run`, only compare them."""
    batches: list[ThreadRows] = []
    for thread_id, prepared in payload.threads.items():
        stored = await store.threads.get(thread_id)
        times = [one.message.created_at for one in prepared if one.message.created_at is not None]
        thread = Thread(
            id=thread_id,
            title=None if stored is not None or title == UNNAMED else title,
            metadata={"upload": title} if stored is None else None,
            created_at=min(times, default=None) if stored is None else None,
            updated_at=max(times, default=None),
        )
        batches.append(ThreadRows(thread, prepared))
    if dry_run:
        written = await store.read(compare_threads, batches)
    else:
        written = await store.write(write_threads, batches)
    return ImportedMessages(sum_counts(written), [batch.thread for batch in batches])


def values_in(data: bytes, name: str) -> Json:
    """The value of a JSON document, or the values of JSON lines."""
    try:
        return loads(data)
    except DecodeError as error:
        document_error = error
    lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    values: list[Json] = []
    for number, line in lines:
        try:
            values.append(loads(line))
        except DecodeError as error:
            if not values:  # not JSON lines either: the error of the document is more helpful
                where = document_error.where
                document_error.where = f"{name}, {where}" if where else name
                raise document_error from None
            error.where = f"{name}, line {number}"
            raise
    return values


def _load(payload: Json, format: str) -> Loaded:
    reading = get_format(format)
    if reading.load is not None:
        return reading.load(payload)
    events = payload if is_array(payload) else [payload]
    folded = fold_payload(events, format)
    return Loaded(tuple([close_message(message) for message in folded.messages]), folded.losses)


def _with_ids(messages: Sequence[Message], payload: Json, upload: Upload) -> list[Message]:
    """The messages. Those without an id get one that no other upload has."""
    items = payload if is_array(payload) else [payload]
    ids = {item.get("id") for item in items if is_object(item) and isinstance(item.get("id"), str)}
    return [
        replace(message, id=f"{upload.digest[:12]}-{number}")
        if message.id not in ids and (not message.id or GENERATED_ID.fullmatch(message.id))
        else message
        for number, message in enumerate(messages, 1)
    ]


def _check_ids(messages: Sequence[Message], thread_id: str, upload: Upload) -> None:
    known: set[str] = set()
    for message in messages:
        if message.id in known:
            raise ConversionError(
                f"two messages of thread {thread_id!r} have the id {message.id!r}",
                where=upload.name,
                hint="give each message a unique id",
            )
        known.add(message.id)
