"""The files of `partita export`: selecting threads, making and writing files, and reporting on them."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import click

from partita.cli.lookup import find_thread
from partita.cli.output import print_notice
from partita.cli.selection import Selection, select_messages
from partita.cli.thread_data import raw_entries, read_messages
from partita.cli.view.text import escaped, one_line
from partita.errors import NotFoundError, PartitaError
from partita.formats.losses import Loss
from partita.formats.redaction.kinds import BY_NAME, WANTED
from partita.formats.redaction.redactor import Finding
from partita.formats.redaction.removal import Leaving
from partita.formats.registry import get_dump
from partita.private_files import convert_write_errors, whole_file
from partita.server.sharing.request import (
    CustomSecret,
    LeaveOut,
    RedactRequest,
    ShareFormat,
    ShareRequest,
    WhichMessages,
)
from partita.server.sharing.shared_file import SUFFIXES, shared_file
from partita.server.sharing.thread_content import ThreadContent, read_content
from partita.store.store import Store
from partita.store.values import ThreadFilter
from partita.types.json import JsonObject
from partita.types.threads import Thread
from partita.version import __version__
from partita.views.text import counted, size_of

from .blocking import Wait
from .output import print_json_line
from .thread_data import runs_of

RAW: Final = "raw"
REMOVABLE_KINDS: Final[Sequence[str]] = get_args(Leaving)
NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]+")


class FileOptions(NamedTuple):
    """The format and content of the files. Without a request, they contain the raw logs."""

    format: str
    request: ShareRequest | None
    branch: str | None
    internal: bool


class ExportedFile:
    """The content of a file, and what was replaced, removed and lost in it.

    The notices of raw logs are complete when the content has been read.
    """

    def __init__(
        self, thread: Thread, options: FileOptions, title: str, suffix: str, pieces: Iterable[bytes]
    ) -> None:
        self.thread = thread
        self.format = options.format
        self.title = title
        self.suffix = suffix
        self.pieces = pieces
        self.size = 0
        self.messages: int | None = None
        self.findings: Sequence[Finding] = ()
        self.removed: dict[str, int] = {}
        self.losses: Sequence[Loss] = ()
        self.notices: list[str] = []

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.size += len(piece)
            yield piece


def file_options(
    format: str,
    *,
    redact: bool | None,
    kinds: Sequence[str],
    also: Sequence[str],
    leave_out: Sequence[str],
    branch: str | None,
    internal: bool,
) -> FileOptions:
    """Return the file options for the command-line options; raises a usage error if they are invalid."""
    if format == RAW:
        if redact or kinds or also or leave_out or branch or internal:
            raise click.UsageError("nothing can be replaced or left out in the format raw")
        return FileOptions(format, None, None, False)
    if redact is False and (kinds or also):
        raise click.UsageError("--no-redact cannot be used with --secret or --also")
    for kind in leave_out:
        if kind not in REMOVABLE_KINDS:
            raise click.UsageError(f"--leave-out {kind}: use one of {', '.join(REMOVABLE_KINDS)}")
    for kind in kinds:
        if kind not in BY_NAME:
            raise click.UsageError(f"--secret {kind}: use one of {', '.join(BY_NAME)}")
    known: dict[str, ShareFormat] = {one: one for one in SUFFIXES}
    target = "canonical"
    if format not in known:
        get_dump(format, hint="`partita formats` lists those that can")
        target = format
    request = ShareRequest(
        format=known.get(format, "jsonl"),
        target=target,
        redact=RedactRequest(
            kinds=[] if redact is False else sorted(WANTED.union(kinds)),
            custom=[CustomSecret(text) for text in also],
        ),
        leave_out=LeaveOut(kinds=[kind for kind in get_args(Leaving) if kind in leave_out]),
        messages=WhichMessages(internal=internal),
    )
    return FileOptions(format, request, branch, internal)


def make_file(store: Store, wait: Wait, thread: Thread, options: FileOptions) -> ExportedFile:
    """Return the file of a thread."""
    if options.request is None:
        return _raw_file(store, wait, thread, options)
    content = _read_content(store, wait, thread, options, options.request)
    shared = shared_file(content, options.request, __version__)
    suffix = SUFFIXES[options.request.format]
    title = shared.name.removesuffix(f".{suffix}")
    if options.format not in SUFFIXES:
        suffix = f"{NOT_ALPHANUMERIC.sub('-', options.format)}.{suffix}"
    file = ExportedFile(thread, options, title, suffix, shared.pieces)
    file.messages = len(shared.redacted.messages)
    file.findings = shared.redacted.findings
    file.removed = dict(shared.redacted.removed)
    file.losses = shared.losses
    file.notices = list(shared.notices)
    return file


def _read_content(
    store: Store, wait: Wait, thread: Thread, options: FileOptions, request: ShareRequest
) -> ThreadContent:
    logs = request.format == "fixture"
    if options.branch is None:
        return wait(read_content(store, thread, request.messages, logs=logs))
    selected = select_messages(store, wait, thread, Selection(options.branch, options.internal))
    content = wait(read_content(store, thread, WhichMessages(only=[]), logs=logs))
    return content._replace(messages=list(read_messages(store, wait, selected)))


def _raw_file(store: Store, wait: Wait, thread: Thread, options: FileOptions) -> ExportedFile:
    title = NOT_ALPHANUMERIC.sub("-", thread.title or "conversation").strip("-").lower()[:60]
    file = ExportedFile(thread, options, title or "conversation", "log", ())
    file.pieces = _raw_pieces(store, wait, file)
    return file


def _raw_pieces(store: Store, wait: Wait, file: ExportedFile) -> Iterator[bytes]:
    """Yield the raw log entries of all runs, each ended by a line break, and add notices to the file."""
    dropped = 0
    empty = True
    for run in runs_of(store, wait, file.thread.id):
        try:
            for raw in raw_entries(store, wait, run):
                yield raw if raw.endswith(b"\n") else raw + b"\n"
                empty = False
        except NotFoundError:
            dropped += 1
    if dropped:
        file.notices.append(f"{counted(dropped, 'log was', 'logs were')} deleted earlier")
    if empty:
        file.notices.append("the store has no log of this thread")
    else:
        file.notices.append("raw logs contain secrets: nothing is replaced in them")


def print_file(file: ExportedFile) -> None:
    """Write a file to stdout. On a terminal, control characters are escaped."""
    stdout: Any = sys.stdout.buffer
    terminal = stdout.isatty()
    for piece in file:
        stdout.write(escaped(piece.decode("utf-8", "backslashreplace")).encode() if terminal else piece)
    stdout.flush()


def save_file(exported: ExportedFile, path: Path, *, force: bool) -> None:
    """Write a file completely or not at all."""
    with whole_file(path, force=force) as file:
        for piece in exported:
            with convert_write_errors(path):
                file.write(piece)


SHOWN = 10
"""How many lines are printed about the files before the rest is only counted."""


class ExportReporter:
    """Reports what was replaced, left out and lost: on stderr, or with `as_json` as JSON lines on stdout."""

    def __init__(self, *, as_json: bool, several: bool) -> None:
        self._as_json = as_json
        self._several = several
        self._lines = 0
        self._files: list[Path] = []
        self._size = 0
        self.failed = 0

    def report(self, file: ExportedFile, path: Path | None) -> None:
        """Report on a file: in detail for a single file, counts for several."""
        if path is not None:
            self._files.append(path)
            self._size += file.size
        if self._as_json:
            print_json_line(_to_json(file, path))
        elif self._several:
            counts = _counts(file)
            self._print([f"thread {file.thread.id}: {', '.join(counts)}"] if counts else [])
        else:
            self._print(list(_lines(file)))

    def report_failure(self, thread: Thread, error: PartitaError) -> None:
        """Report that a file could not be written."""
        self.failed += 1
        if self._as_json:
            print_json_line(
                {"thread": thread.id, "error": error.what, "where": error.where, "hint": error.hint}
            )
        elif self.failed <= SHOWN:
            where = f" ({error.where})" if error.where else ""
            hint = f"; {error.hint}" if error.hint else ""
            print_notice(one_line(f"thread {thread.id} was not written: {error.what}{where}{hint}"))

    def _print(self, lines: Sequence[str]) -> None:
        for line in lines[: max(0, SHOWN - self._lines)]:
            print_notice(one_line(line))
        self._lines += len(lines)

    def finish(self) -> None:
        """Print the totals."""
        if self._lines > SHOWN:
            print_notice(f"… and {self._lines - SHOWN:,} more; -o FILE --json lists all")
        if self._files:
            one = f"wrote {one_line(str(self._files[0]))}"
            many = f"wrote {len(self._files):,} files to {one_line(str(self._files[0].parent))}"
            print_notice(f"{many if self._several else one}: {size_of(self._size)}")
        if self.failed:
            print_notice(f"{counted(self.failed, 'thread was', 'threads were')} not written")


def _counts(file: ExportedFile) -> list[str]:
    counts = [
        (len(_replaced(file)), "secret replaced", "secrets replaced"),
        (sum(file.removed.values()), "item left out", "items left out"),
        (len(file.losses), "loss", "losses"),
    ]
    return [counted(*one) for one in counts if one[0]] + file.notices


def _lines(file: ExportedFile) -> Iterator[str]:
    yield from file.notices
    for finding in _replaced(file):
        where = f", first at {finding.places[0]}" if finding.places else ""
        yield f"replaced {finding.kind} {finding.preview} with {finding.mark}, {_times(finding.times)}{where}"
    for what, count in file.removed.items():
        yield f"left out {what}, {_times(count)}"
    for loss in file.losses:
        yield f"lost {loss}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _replaced(file: ExportedFile) -> list[Finding]:
    return [finding for finding in file.findings if not finding.kept]


def _to_json(file: ExportedFile, path: Path | None) -> JsonObject:
    result: JsonObject = {
        "thread": file.thread.id,
        "file": None if path is None else str(path),
        "format": file.format,
        "bytes": file.size,
    }
    if file.messages is not None:
        result["messages"] = file.messages
    return result | {
        "replaced": [
            {
                "kind": one.kind,
                "preview": one.preview,
                "mark": one.mark,
                "times": one.times,
                "places": list(one.places),
            }
            for one in _replaced(file)
        ],
        "leftOut": dict(file.removed),
        "losses": [loss._asdict() for loss in file.losses],
        "notices": list(file.notices),
    }


PAGE = 500
FILE_NAME_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""An id that can be used in a file name. Upper case is excluded: some file systems ignore the case."""

INVALID_IN_ID = re.compile(r"[^a-z0-9_-]+")
ID_LENGTH = 24
DIGEST_LENGTH = 12


def find_threads(store: Store, wait: Wait, given: Sequence[str]) -> list[Thread]:
    """Return the threads that arguments name, without duplicates."""
    found = [wait(find_thread(store, one)) for one in given]
    return list({(thread.resource_id, thread.id): thread for thread in found}.values())


def list_threads(store: Store, wait: Wait, selected: ThreadFilter) -> list[Thread]:
    """Return all threads that a filter selects, newest first."""
    found: list[Thread] = []
    cursor: str | None = None
    while True:
        page = wait(store.threads.list(selected, limit=PAGE, cursor=cursor))
        found += page.items
        if (cursor := page.next) is None:
            break
    if not found:
        print_notice("no threads")
    return found


def file_name(file: ExportedFile) -> str:
    """Return a file name of date, title and id: always the same for a thread, and unique to it."""
    created = file.thread.created_at
    date = f"{created:%Y-%m-%d}-" if created else ""
    return f"{date}{file.title}-{_file_name_id(file.thread)}.{file.suffix}"


def _file_name_id(thread: Thread) -> str:
    if thread.resource_id is None and FILE_NAME_ID.fullmatch(thread.id):
        return thread.id
    digest = sha256(f"{thread.resource_id or ''}\0{thread.id}".encode("utf-8", "surrogatepass")).hexdigest()
    start = INVALID_IN_ID.sub("-", thread.id.lower())[:ID_LENGTH].strip("-")
    return f"{start}-{digest[:DIGEST_LENGTH]}".strip("-")
