"""The files of `partita export`: selecting threads, making and writing files, and reporting on them."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple, TypeAlias, get_args

import click

from partita.cli.lookup import find_thread
from partita.cli.output import Bar, print_losses, print_notice
from partita.cli.selection import Selection, select_messages
from partita.cli.thread_data import raw_lines, read_messages
from partita.cli.view.text import escaped as without_control
from partita.cli.view.text import one_line
from partita.errors import ConflictError, FormatError, NotFoundError, PartitaError, StoreError
from partita.formats.log.session_file import OTHER_FILE
from partita.formats.losses import Loss
from partita.formats.redaction.defaults import default_kinds
from partita.formats.redaction.kinds import BY_NAME
from partita.formats.redaction.redactor import Finding
from partita.formats.redaction.removal import Leaving
from partita.formats.registry import get_format
from partita.private_files import convert_write_errors, whole_file
from partita.server.sharing.request import (
    CustomSecret,
    LeaveOut,
    RedactRequest,
    ShareFormat,
    ShareRequest,
    WhichMessages,
)
from partita.server.sharing.shared_file import SUFFIXES, SharedFile, shared_file
from partita.server.sharing.thread_content import ThreadContent, read_content
from partita.server.sharing.threads_file import CANONICAL, ThreadsFile
from partita.store.store import Store
from partita.store.values import ThreadFilter
from partita.types.json import JsonObject
from partita.types.threads import Thread
from partita.version import __version__
from partita.views.text import counted, size_of

from .blocking import Wait
from .output import print_json_line

RAW: Final = "raw"
FILE_FORMATS: Final[Mapping[str, ShareFormat]] = {
    "html": "html",
    "markdown": "markdown",
    "json": "json",
    "jsonl": "jsonl",
}
"""The formats of files that are not formats of messages."""

FORMAT_BY_SUFFIX: Final[Mapping[str, str]] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
DEFAULT_FORMAT: Final = "markdown"
REMOVABLE_KINDS: Final[Sequence[str]] = get_args(Leaving)
NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]+")


class Destination(NamedTuple):
    """Where the files are written. Without a path, to stdout."""

    path: Path | None
    is_folder: bool

    @property
    def suffix(self) -> str:
        """The suffix of the file; empty if it is a folder or stdout."""
        return "" if self.path is None or self.is_folder else self.path.suffix.lower()


def find_destination(output: str | None, *, several: bool) -> Destination:
    """Return where to write; raises an error if the folder does not exist."""
    if output is None:
        return Destination(None, False)
    path = Path(output).expanduser()
    is_folder = output.endswith(("/", "\\")) or path.is_dir() or (several and not path.suffix)
    if is_folder and path.exists() and not path.is_dir():
        raise StoreError("not a folder", where=str(path), hint="several threads need a folder, or one .html")
    if not path.parent.is_dir():
        raise NotFoundError(
            "no such folder", where=str(path.parent), hint=f"create it: mkdir -p {path.parent}"
        )
    return Destination(path, is_folder)


def format_of(target: str | None, destination: Destination) -> str:
    """Return the name of the format: that of `--to`, or of the suffix of the file."""
    if target is not None:
        return target
    if destination.path is None or destination.is_folder:
        return DEFAULT_FORMAT
    found = FORMAT_BY_SUFFIX.get(destination.suffix)
    if found is None:
        known = ", ".join(FORMAT_BY_SUFFIX)
        raise FormatError(
            f"unknown file extension {destination.suffix!r}" if destination.suffix else "no file extension",
            where=str(destination.path),
            hint=f"use one of {known}, or name the format with --to; the name of a folder ends with /",
        )
    return found


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
        self.session_name = ""
        self.agents: Mapping[str, bytes] = {}
        self.notices: list[str] = []

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.size += len(piece)
            yield piece


def file_options(
    format: str,
    suffix: str,
    *,
    redact: bool | None,
    kinds: Sequence[str],
    replace: Sequence[str],
    leave_out: Sequence[str],
    branch: str | None,
    internal: bool,
) -> FileOptions:
    """Return the file options for the command-line options; raises a usage error if they are invalid.

    `suffix`: that of the file. With `.json`, a format of messages is one JSON document, otherwise JSON lines.
    """
    if format == RAW:
        if redact or kinds or replace or leave_out or branch or internal:
            raise click.UsageError("nothing can be replaced or left out in the format raw")
        return FileOptions(format, None, None, False)
    if redact is False and (kinds or replace):
        raise click.UsageError("--no-redact cannot be used with --secret or --replace")
    for kind in leave_out:
        if kind not in REMOVABLE_KINDS:
            raise click.UsageError(f"--leave-out {kind}: use one of {', '.join(REMOVABLE_KINDS)}")
    for kind in kinds:
        if kind not in BY_NAME:
            raise click.UsageError(f"--secret {kind}: use one of {', '.join(BY_NAME)}")
    shape: ShareFormat = FILE_FORMATS.get(format, "json" if suffix == ".json" else "jsonl")
    if format not in FILE_FORMATS:
        if format == "fixture":
            raise FormatError("a recording is not an export", hint="use `partita fixture`")
        get_format(format, "written")
    request = ShareRequest(
        format=shape,
        target=CANONICAL if format in FILE_FORMATS else format,
        redact=RedactRequest(
            kinds=[] if redact is False else sorted(default_kinds().union(kinds)),
            custom=[CustomSecret(text) for text in replace],
        ),
        leave_out=LeaveOut(kinds=[kind for kind in get_args(Leaving) if kind in leave_out]),
        messages=WhichMessages(internal=internal),
    )
    return FileOptions(format, request, branch, internal)


def suffix_of(options: FileOptions) -> str:
    """Return the end of the names of files in a folder, without the dot."""
    if options.request is None:
        return "log"
    suffix = SUFFIXES[options.request.format]
    if options.format in FILE_FORMATS:
        return suffix
    return f"{NOT_ALPHANUMERIC.sub('-', options.format)}.{suffix}"


def make_file(store: Store, wait: Wait, thread: Thread, options: FileOptions) -> ExportedFile:
    """Return the file of a thread."""
    if options.request is None:
        return _raw_file(store, wait, thread, options)
    content = _read_content(store, wait, thread, options, options.request)
    shared = shared_file(content, options.request, __version__)
    title = shared.name.removesuffix(f".{SUFFIXES[options.request.format]}")
    return _with_report(ExportedFile(thread, options, title, suffix_of(options), shared.pieces), shared)


def _with_report(file: ExportedFile, shared: SharedFile) -> ExportedFile:
    file.messages = len(shared.redacted.messages)
    file.findings = shared.redacted.findings
    file.removed = dict(shared.redacted.removed)
    file.losses = shared.losses
    file.session_name = shared.session_name
    file.agents = shared.agents
    file.notices = list(shared.notices)
    return file


def _read_content(
    store: Store, wait: Wait, thread: Thread, options: FileOptions, request: ShareRequest
) -> ThreadContent:
    if options.branch is None:
        return wait(read_content(store, thread, request.messages, logs=False))
    selected = select_messages(store, wait, thread, Selection(options.branch, options.internal))
    content = wait(read_content(store, thread, WhichMessages(only=[]), logs=False))
    return content._replace(messages=list(read_messages(store, wait, selected)))


def _raw_file(store: Store, wait: Wait, thread: Thread, options: FileOptions) -> ExportedFile:
    title = NOT_ALPHANUMERIC.sub("-", thread.title or "conversation").strip("-").lower()[:60]
    file = ExportedFile(thread, options, title or "conversation", "log", ())
    file.pieces = _raw_pieces(store, wait, file)
    return file


def _raw_pieces(store: Store, wait: Wait, file: ExportedFile) -> Iterator[bytes]:
    """Yield the raw logs of all runs, and add notices to the file."""
    empty = True
    for raw in raw_lines(store, wait, file.thread, file.notices):
        yield raw
        empty = False
    if not empty:
        file.notices.append("raw logs contain secrets: nothing is replaced in them")


def print_file(file: ExportedFile) -> None:
    """Write a file to stdout. On a terminal, control characters are escaped."""
    stdout: Any = sys.stdout.buffer
    terminal = stdout.isatty()
    for piece in file:
        stdout.write(
            without_control(piece.decode("utf-8", "backslashreplace")).encode() if terminal else piece
        )
    stdout.flush()


Outcome: TypeAlias = Literal["written", "unchanged", "skipped"]
"""What happened to a file. It is unchanged if it exists with the same content."""


def save_file(exported: ExportedFile, path: Path, *, force: bool) -> Outcome:
    """Write a file completely or not at all, and those of its sub-agents."""
    if not force and path.is_file() and _is_same(exported, path):
        return "unchanged"
    with whole_file(path, force=force) as file:
        _write_pieces(file, path, exported)
    beside = path.parent / path.name.partition(".")[0]
    for name, data in exported.agents.items():
        with whole_file(beside / name, force=True) as file:
            _write_pieces(file, path, [data])
    if exported.agents:
        exported.losses = [loss for loss in exported.losses if loss.why != OTHER_FILE]
        agents = counted(len(exported.agents), "sub-agent")
        exported.notices.append(f"{agents} written to {beside}")
    return "written"


def _is_same(exported: ExportedFile, path: Path) -> bool:
    """Whether a file has this content. The content is read only if the beginnings are equal."""
    try:
        with path.open("rb") as file:
            return all(file.read(len(piece)) == piece for piece in exported) and not file.read(1)
    except OSError:
        return False


def _write_pieces(file: BinaryIO, path: Path, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        with convert_write_errors(path):
            file.write(piece)


def save_threads(
    store: Store,
    wait: Wait,
    threads: Sequence[Thread],
    options: FileOptions,
    path: Path,
    reporter: "ExportReporter",
    *,
    force: bool,
) -> None:
    """Write several threads into one file. A thread that cannot be read is reported and left out."""
    if options.request is None:
        raise FormatError("a file of raw logs has one thread", hint="write a file for each: -o FOLDER/")
    writer = ThreadsFile(options.request, __version__)
    with whole_file(path, force=force) as file, Bar("writing threads") as bar:
        _write_pieces(file, path, writer.start(len(threads)))
        for number, thread in enumerate(threads, start=1):
            try:
                content = _read_content(
                    store.scoped(thread.resource_id or ""), wait, thread, options, options.request
                )
                shared = writer.add(content)
            except PartitaError as error:
                reporter.report_failure(thread, error)
            else:
                exported = ExportedFile(thread, options, "", "", shared.pieces)
                _write_pieces(file, path, exported)
                reporter.report(_with_report(exported, shared), path, "written")
            bar(number, len(threads))
        _write_pieces(file, path, writer.end())


SHOWN = 10
"""How many lines are printed about the files before the rest is only counted."""


class ExportReporter:
    """Reports what was replaced, left out and lost: on stderr, or with `as_json` as JSON lines on stdout."""

    def __init__(self, *, as_json: bool, several: bool, every_loss: bool) -> None:
        self._as_json = as_json
        self._several = several
        self._every_loss = every_loss
        self._lines = 0
        self._paths: dict[Path, None] = {}
        self._counts: Counter[str] = Counter()
        self._losses: list[Loss] = []
        self.failed = 0

    def report(self, file: ExportedFile, path: Path | None, outcome: Outcome) -> None:
        """Report on a file: in detail for a single file, counts for several."""
        self._counts[outcome] += 1
        if path is not None and outcome == "written":
            self._paths[path] = None
        if self._as_json:
            print_json_line(_to_json(file, path, outcome))
        elif outcome == "skipped":
            return
        elif self._several:
            self._losses += file.losses
            counts = _counts(file)
            self._print([f"thread {file.thread.id}: {', '.join(counts)}"] if counts else [])
            if self._every_loss and file.losses:
                print_losses(file.losses, every=True, source=f"thread {one_line(file.thread.id)}")
        else:
            self._print(list(_lines(file)))
            if file.losses:
                print_losses(file.losses, every=self._every_loss)

    def report_existing(self, thread: Thread, error: ConflictError) -> None:
        """Report that a file was not written because there is another with this name."""
        self._counts["existing"] += 1
        self.failed += 1
        if self._as_json:
            print_json_line(_failure(thread, error))

    def report_failure(self, thread: Thread, error: PartitaError) -> None:
        """Report that a file could not be written."""
        self._counts["failed"] += 1
        self.failed += 1
        if self._as_json:
            print_json_line(_failure(thread, error))
        elif self._counts["failed"] <= SHOWN:
            where = f" ({error.where})" if error.where else ""
            hint = f"; {error.hint}" if error.hint else ""
            print_notice(one_line(f"thread {thread.id} was not written: {error.what}{where}{hint}"))

    def _print(self, lines: Sequence[str]) -> None:
        for line in lines[: max(0, SHOWN - self._lines)]:
            print_notice(one_line(line))
        self._lines += len(lines)

    def finish(self) -> None:
        """Print the totals."""
        counts = self._counts
        if self._lines > SHOWN:
            print_notice(f"… and {self._lines - SHOWN:,} more; -o FILE --json lists all")
        if self._losses and not self._every_loss:
            print_losses(self._losses, every=False)
        if self._paths:
            first = next(iter(self._paths))
            name, many = str(first), counted(len(self._paths), "file")
            if self._several and (len(self._paths) > 1 or counts["written"] == len(self._paths)):
                name = f"{many} to {first.parent}"
            threads = f", {counts['written']:,} threads" if counts["written"] > len(self._paths) else ""
            size = sum(path.stat().st_size for path in self._paths)
            print_notice(f"wrote {one_line(name)}: {size_of(size)}{threads}")
        if counts["unchanged"]:
            what = counted(counts["unchanged"], "file is", "files are")
            print_notice(f"{what} unchanged: the content is the same")
        if counts["skipped"]:
            print_notice(f"{counted(counts['skipped'], 'existing file was', 'existing files were')} skipped")
        if counts["existing"]:
            what = counted(counts["existing"], "file exists", "files exist")
            print_notice(f"{what} with other content; --force overwrites, --skip-existing skips")
        if counts["failed"]:
            print_notice(f"{counted(counts['failed'], 'thread was', 'threads were')} not written")


def _failure(thread: Thread, error: PartitaError) -> JsonObject:
    return {"thread": thread.id, "error": error.what, "where": error.where, "hint": error.hint}


def _counts(file: ExportedFile) -> list[str]:
    counts = [
        (len(_replaced(file)), "secret replaced", "secrets replaced"),
        (sum(file.removed.values()), "item left out", "items left out"),
    ]
    return [counted(*one) for one in counts if one[0]] + file.notices


def _lines(file: ExportedFile) -> Iterator[str]:
    yield from file.notices
    for finding in _replaced(file):
        where = f", first at {finding.places[0]}" if finding.places else ""
        yield f"replaced {finding.kind} {finding.preview} with {finding.mark}, {_times(finding.times)}{where}"
    for what, count in file.removed.items():
        yield f"left out {what}, {_times(count)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _replaced(file: ExportedFile) -> list[Finding]:
    return [finding for finding in file.findings if not finding.kept]


def _to_json(file: ExportedFile, path: Path | None, outcome: Outcome) -> JsonObject:
    result: JsonObject = {
        "thread": file.thread.id,
        "file": None if path is None else str(path),
        "outcome": outcome,
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


def existing_file(folder: Path, thread: Thread, options: FileOptions) -> Path | None:
    """Return the file of a thread in a folder, whatever the title was when it was written."""
    pattern = f"*-{escape(_file_name_id(thread))}.{suffix_of(options)}"
    return next(iter(sorted(folder.glob(pattern))), None)


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
    """Return a file name of date, title and id: always the same for a thread, and unique to it.

    A session file has the name that its agent gives it.
    """
    if file.session_name:
        return file.session_name
    created = file.thread.created_at
    date = f"{created:%Y-%m-%d}-" if created else ""
    return f"{date}{file.title}-{_file_name_id(file.thread)}.{file.suffix}"


def _file_name_id(thread: Thread) -> str:
    if thread.resource_id is None and FILE_NAME_ID.fullmatch(thread.id):
        return thread.id
    digest = sha256(f"{thread.resource_id or ''}\0{thread.id}".encode("utf-8", "surrogatepass")).hexdigest()
    start = INVALID_IN_ID.sub("-", thread.id.lower())[:ID_LENGTH].strip("-")
    return f"{start}-{digest[:DIGEST_LENGTH]}".strip("-")
