"""How small does a sealed log get? The lines of agents' logs as raw data of runs, beside `zstd -19`.

    python -m benchmarks.store_size [FOLDER]     (default: a generated log; FOLDER: all *.jsonl below it)

A picture inside a line is kept as a blob, once, and shared with the message that shows it. So pictures are
counted twice over: as what a log takes alone, and as what it adds to a store that holds its messages.
"""

import asyncio
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
from sqlalchemy import func, select

from partita.store.connection import open_store
from partita.store.ids import new_id
from partita.store.logs.run_log import LogEntry
from partita.store.schema import blobs, run_log
from partita.store.sql.transaction import Transaction
from partita.types.json import Json, dumps
from partita.types.messages import UserMessage
from partita.types.parts import FilePart

from .store_messages import words
from .table import print_table

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Sizes(NamedTuple):
    """The bytes of the lines, the sealed log, its images, the log beside its messages, and `zstd -19`."""

    lines: int
    original: int
    sealed: int
    pictures: int
    more_pictures: int
    rival: int


def generated() -> Iterator[tuple[str, bytes]]:
    """A log like that of a coding agent: long records, the same keys, some output, an image."""
    random = Random(7)
    records: list[bytes] = []
    for number in range(800):
        output = words(random, random.randrange(40, 4000))
        content: list[Json] = [{"type": "tool_result", "content": output}]
        if number % 200 == 100:
            data = b64encode(random.randbytes(30_000)).decode()
            content.append({"type": "image", "source": {"media_type": "image/png", "data": data}})
        record = {
            "parent": f"{number - 1:032x}",
            "id": f"{number:032x}",
            "session": "5c1f7a52-6a60-4d0e-9f0e-3f6f4b1f2a11",
            "cwd": "/home/user/projects/lighthouse",
            "time": f"2026-01-01T10:{number // 60 % 60:02}:{number % 60:02}.{number:03}Z",
            "message": {"role": "user", "content": content},
            "result": {"stdout": output, "stderr": "", "interrupted": False},
        }
        records.append(dumps(record))
    yield "generated", b"\n".join(records) + b"\n"


def found(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All logs below a folder, by the folder they are in."""
    for path in sorted(folder.rglob("*.jsonl")):
        yield path.relative_to(folder).parts[0], path.read_bytes()


async def sizes(data: bytes) -> Sizes:
    """Store the lines of a file as the raw data of a run, seal it, and measure; then beside its messages."""
    lines = data.splitlines(keepends=True)
    sealed, pictures = await kept(lines, [])
    _, more_pictures = await kept(lines, [message for line in lines for message in shown(line)])
    return Sizes(len(lines), len(data), sealed, pictures, more_pictures, len(zstd.compress(data, 19)))


async def kept(lines: list[bytes], messages: list[UserMessage]) -> tuple[int, int]:
    """The bytes of a sealed log, and of the blobs it adds to a store that holds the messages."""
    async with open_store("memory:") as store:
        thread = await store.threads.create()
        await store.messages.save(messages, thread_id=thread.id)
        before = await store.read(_blob_bytes)
        run = await store.runs.open(thread.id)
        for start in range(0, len(lines), 100):
            await store.logs.append(run.id, [LogEntry(NOW, raw=line) for line in lines[start : start + 100]])
        await store.runs.finish(run.id)
        await store.logs.seal(run.id)
        assert [record.raw for record in await store.logs.read(run.id)] == lines, "the log is unchanged"
        return await store.read(_log_bytes, run.id), await store.read(_blob_bytes) - before


class Source(msgspec.Struct):
    """The bytes of an image."""

    media_type: str
    data: str


class Block(msgspec.Struct):
    """A content block of Anthropic: an image, or the result of a tool."""

    source: Source | None = None
    content: "str | list[Block] | None" = None


class Line(msgspec.Struct):
    """A line of a log with a message in it."""

    message: Block


def shown(line: bytes) -> Iterator[UserMessage]:
    """The message of a line with its images, as an importer stores it."""
    with suppress(msgspec.MsgspecError):  # other lines have other members
        files = list(pictures_in(msgspec.json.decode(line, type=Line).message))
        if files:
            yield UserMessage(id=new_id(), content=files)


def pictures_in(block: Block) -> Iterator[FilePart]:
    """The images of a message, including those in tool results."""
    if block.source is not None:
        url = f"data:{block.source.media_type};base64,{block.source.data}"
        yield FilePart(url=url, media_type=block.source.media_type)
    for inner in block.content if isinstance(block.content, list) else []:
        yield from pictures_in(inner)


def _log_bytes(tx: Transaction, run_id: str) -> int:
    query = select(func.sum(func.length(run_log.c.data))).where(run_log.c.run_id == run_id)
    return int(tx.run(query).scalar() or 0)


def _blob_bytes(tx: Transaction) -> int:
    return int(tx.run(select(func.sum(func.length(blobs.c.data)))).scalar() or 0)


async def measure(logs: Iterator[tuple[str, bytes]]) -> dict[str, list[Sizes]]:
    """The sizes of every file, by group."""
    groups: dict[str, list[Sizes]] = {}
    for group, data in logs:
        if data:
            groups.setdefault(group, []).append(await sizes(data))
    return groups


def _row(name: str, group: list[Sizes]) -> list[str]:
    total = Sizes(*(sum(column) for column in zip(*group, strict=True)))
    return [
        name,
        str(len(group)),
        f"{total.original:,}",
        f"{total.sealed / total.original:.1%}",
        f"{total.pictures / total.original:.1%}",
        f"{total.more_pictures / total.original:.1%}",
        f"{total.rival / total.original:.1%}",
        f"{total.sealed / total.lines:.0f}",
        f"{total.rival / total.lines:.0f}",
    ]


def main(folder: str | None = None) -> None:
    """Measure and print."""
    groups = asyncio.run(measure(generated() if folder is None else found(Path(folder))))
    rows = [_row(name, group) for name, group in groups.items()]
    if len(groups) > 1:
        rows.append(_row("all", [size for group in groups.values() for size in group]))
    print_table(
        "Sealed logs",
        [
            *("logs", "files", "bytes", "sealed", "pictures, alone", "beside messages"),
            *("zstd -19", "bytes a line", "zstd -19 a line"),
        ],
        rows,
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
