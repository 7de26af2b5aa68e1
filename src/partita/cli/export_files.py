"""Which threads are written, and what their files are called."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import click

from partita.cli.lookup import find_thread
from partita.cli.output import print_notice
from partita.cli.selection import Selection, select_messages
from partita.cli.thread_data import raw_entries, read_messages
from partita.cli.view.text import escaped, one_line
from partita.errors import FormatError, NotFoundError, PartitaError
from partita.formats.losses import Loss
from partita.formats.redaction.kinds import BY_NAME, WANTED
from partita.formats.redaction.redactor import Finding
from partita.formats.redaction.removal import Leaving
from partita.formats.registry import get_format
from partita.private_files import told, whole_file
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

# A thread as a file: as the page shares it, or the logs of its runs as they are.

RAW: Final = "raw"
KINDS_LEFT_OUT: Final[Sequence[str]] = get_args(Leaving)
ODD: Final = re.compile(r"[^A-Za-z0-9]+")


class Wanted(NamedTuple):
    """What kind of file is wanted. Without a request, the raw logs."""

    name: str
    request: ShareRequest | None
    branch: str | None
    internal: bool


class Made:
    """A file on its way, and what was done for it. What is known of raw logs is known at their end."""

    def __init__(
        self, thread: Thread, wanted: Wanted, title: str, ending: str, pieces: Iterable[bytes]
    ) -> None:
        self.thread = thread
        self.format = wanted.name
        self.title = title
        self.ending = ending
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


def wanted_file(
    name: str,
    *,
    redact: bool | None,
    kinds: Sequence[str],
    also: Sequence[str],
    leave_out: Sequence[str],
    branch: str | None,
    internal: bool,
) -> Wanted:
    """What the options say, or an error that says what is wrong with them."""
    if name == RAW:
        if redact or kinds or also or leave_out or branch or internal:
            raise click.UsageError("raw is what agents wrote: nothing of it is replaced or left out")
        return Wanted(name, None, None, False)
    if redact is False and (kinds or also):
        raise click.UsageError("--no-redact replaces nothing: leave out --secret and --also")
    for kind in leave_out:
        if kind not in KINDS_LEFT_OUT:
            raise click.UsageError(f"--leave-out {kind}: say one of {', '.join(KINDS_LEFT_OUT)}")
    for kind in kinds:
        if kind not in BY_NAME:
            raise click.UsageError(f"--secret {kind}: say one of {', '.join(BY_NAME)}")
    known: dict[str, ShareFormat] = {one: one for one in SUFFIXES}
    target = "canonical"
    if name not in known:
        if get_format(name).dump is None:
            raise FormatError(f"{name} can be read but not written", hint="partita formats tells which can")
        target = name
    request = ShareRequest(
        format=known.get(name, "jsonl"),
        target=target,
        redact=RedactRequest(
            kinds=[] if redact is False else sorted(WANTED.union(kinds)),
            custom=[CustomSecret(text) for text in also],
        ),
        leave_out=LeaveOut(kinds=[kind for kind in get_args(Leaving) if kind in leave_out]),
        messages=WhichMessages(internal=internal),
    )
    return Wanted(name, request, branch, internal)


def make_file(store: Store, wait: Wait, thread: Thread, wanted: Wanted) -> Made:
    """The file of a thread."""
    if wanted.request is None:
        return _raw(store, wait, thread, wanted)
    file = shared_file(_gathered(store, wait, thread, wanted, wanted.request), wanted.request, __version__)
    ending = SUFFIXES[wanted.request.format]
    title = file.name.removesuffix(f".{ending}")
    if wanted.name not in SUFFIXES:
        ending = f"{ODD.sub('-', wanted.name)}.{ending}"
    made = Made(thread, wanted, title, ending, file.pieces)
    made.messages = len(file.redacted.messages)
    made.findings = file.redacted.findings
    made.removed = dict(file.redacted.removed)
    made.losses = file.losses
    made.notices = list(file.notices)
    return made


def _gathered(
    store: Store, wait: Wait, thread: Thread, wanted: Wanted, request: ShareRequest
) -> ThreadContent:
    logs = request.format == "fixture"
    if wanted.branch is None:
        return wait(read_content(store, thread, request.messages, logs=logs))
    chosen = select_messages(store, wait, thread, Selection(wanted.branch, wanted.internal))
    gathered = wait(read_content(store, thread, WhichMessages(only=[]), logs=logs))
    return gathered._replace(messages=list(read_messages(store, wait, chosen)))


def _raw(store: Store, wait: Wait, thread: Thread, wanted: Wanted) -> Made:
    title = ODD.sub("-", thread.title or "conversation").strip("-").lower()[:60] or "conversation"
    made = Made(thread, wanted, title, "log", ())
    made.pieces = _raw_pieces(store, wait, made)
    return made


def _raw_pieces(store: Store, wait: Wait, made: Made) -> Iterator[bytes]:
    """What agents wrote, each entry on lines of its own."""
    dropped = 0
    empty = True
    for run in runs_of(store, wait, made.thread.id):
        try:
            for raw in raw_entries(store, wait, run):
                yield raw if raw.endswith(b"\n") else raw + b"\n"
                empty = False
        except NotFoundError:
            dropped += 1
    if dropped:
        made.notices.append(f"{counted(dropped, 'log was', 'logs were')} dropped before")
    if empty:
        made.notices.append("the store has no log of this thread")
    else:
        made.notices.append("raw logs are as agents wrote them: secrets are not taken out")


def print_file(made: Made) -> None:
    """Write a file to stdout; on a terminal, what it would obey is escaped."""
    stdout: Any = sys.stdout.buffer
    terminal = stdout.isatty()
    for piece in made:
        stdout.write(escaped(piece.decode("utf-8", "backslashreplace")).encode() if terminal else piece)
    stdout.flush()


def save_file(made: Made, path: Path, *, force: bool) -> None:
    """Write a file under its name, all of it or none."""
    with whole_file(path, force=force) as file:
        for piece in made:
            with told(path):
                file.write(piece)


# What is told of files that were written: what was replaced, left out and lost.

SHOWN = 10
"""How many things are told one by one."""


class Talk:
    """Words for a person on stderr, or with `as_json` an object a thread on stdout."""

    def __init__(self, *, as_json: bool, several: bool) -> None:
        self._as_json = as_json
        self._several = several
        self._lines = 0
        self._files: list[Path] = []
        self._size = 0
        self.failed = 0

    def about(self, made: Made, path: Path | None) -> None:
        """Tell what was done for a file: of one thing by thing, of several how many."""
        if path is not None:
            self._files.append(path)
            self._size += made.size
        if self._as_json:
            print_json_line(_json(made, path))
        elif self._several:
            counts = _counts(made)
            self._say([f"thread {made.thread.id}: {', '.join(counts)}"] if counts else [])
        else:
            self._say(list(_lines(made)))

    def failure(self, thread: Thread, error: PartitaError) -> None:
        """Tell that a file could not be made."""
        self.failed += 1
        if self._as_json:
            print_json_line(
                {"thread": thread.id, "error": error.what, "where": error.where, "hint": error.hint}
            )
        elif self.failed <= SHOWN:
            where = f" ({error.where})" if error.where else ""
            hint = f"; {error.hint}" if error.hint else ""
            print_notice(one_line(f"thread {thread.id} was not written: {error.what}{where}{hint}"))

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines[: max(0, SHOWN - self._lines)]:
            print_notice(one_line(line))
        self._lines += len(lines)

    def end(self) -> None:
        """Tell what it came to."""
        if self._lines > SHOWN:
            print_notice(f"… and {self._lines - SHOWN:,} more; -o FILE --json tells all")
        if self._files:
            one = f"wrote {one_line(str(self._files[0]))}"
            many = f"wrote {len(self._files):,} files to {one_line(str(self._files[0].parent))}"
            print_notice(f"{many if self._several else one}: {size_of(self._size)}")
        if self.failed:
            print_notice(f"{counted(self.failed, 'thread was', 'threads were')} not written")


def _counts(made: Made) -> list[str]:
    told = [
        (len(_replaced(made)), "secret replaced", "secrets replaced"),
        (sum(made.removed.values()), "thing left out", "things left out"),
        (len(made.losses), "thing lost", "things lost"),
    ]
    return [counted(*one) for one in told if one[0]] + made.notices


def _lines(made: Made) -> Iterator[str]:
    yield from made.notices
    for finding in _replaced(made):
        where = f", first at {finding.places[0]}" if finding.places else ""
        yield f"replaced {finding.kind} {finding.preview} by {finding.mark}, {_times(finding.times)}{where}"
    for what, count in made.removed.items():
        yield f"left out {what}, {_times(count)}"
    for loss in made.losses:
        yield f"lost {loss}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _replaced(made: Made) -> list[Finding]:
    return [finding for finding in made.findings if not finding.kept]


def _json(made: Made, path: Path | None) -> JsonObject:
    told: JsonObject = {
        "thread": made.thread.id,
        "file": None if path is None else str(path),
        "format": made.format,
        "bytes": made.size,
    }
    if made.messages is not None:
        told["messages"] = made.messages
    return told | {
        "replaced": [
            {
                "kind": one.kind,
                "preview": one.preview,
                "mark": one.mark,
                "times": one.times,
                "places": list(one.places),
            }
            for one in _replaced(made)
        ],
        "leftOut": dict(made.removed),
        "losses": [loss._asdict() for loss in made.losses],
        "notices": list(made.notices),
    }


PAGE = 500
PLAIN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""An id that can stand in a name as it is: on some disks, A and a are the same letter."""

ODD_ID = re.compile(r"[^a-z0-9_-]+")
ID_SHOWN = 24
DIGITS = 12


@dataclass(frozen=True)
class Filter:
    """What threads must be like."""

    agent: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    every: bool = False

    def __bool__(self) -> bool:
        return self != Filter()


def threads_named(store: Store, wait: Wait, given: Sequence[str]) -> list[Thread]:
    """The threads that are meant, each once."""
    found = [wait(find_thread(store, one)) for one in given]
    return list({(thread.resource_id, thread.id): thread for thread in found}.values())


def chosen_threads(store: Store, wait: Wait, wanted: Filter) -> list[Thread]:
    """All threads that are like that, newest first."""
    found: list[Thread] = []
    cursor: str | None = None
    while True:
        page = wait(
            store.threads.list(
                ThreadFilter(
                    agent=wanted.agent, project=wanted.project, since=wanted.since, until=wanted.until
                ),
                limit=PAGE,
                cursor=cursor,
            )
        )
        found += page.items
        if (cursor := page.next) is None:
            break
    if not found:
        print_notice("no threads")
    return found


def file_name(thread: Thread, made: "Made") -> str:
    """Day, title and id: the same each time, and of no other thread."""
    day = f"{thread.created_at:%Y-%m-%d}-" if thread.created_at else ""
    return f"{day}{made.title}-{_id_of(thread)}.{made.ending}"


def _id_of(thread: Thread) -> str:
    if thread.resource_id is None and PLAIN_ID.fullmatch(thread.id):
        return thread.id
    digest = sha256(f"{thread.resource_id or ''}\0{thread.id}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{ODD_ID.sub('-', thread.id.lower())[:ID_SHOWN].strip('-')}-{digest[:DIGITS]}".strip("-")
