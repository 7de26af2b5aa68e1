"""A thread as a file: as the page shares it, or the logs of its runs as they are."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import click

from partita.cli.opened import Wait
from partita.cli.runs import runs_of
from partita.cli.selection import Selection, choose
from partita.cli.thread_data import raw_entries, whole_messages
from partita.cli.view.text import counted, escaped
from partita.errors import FormatError, NotFoundError
from partita.formats.losses import Loss
from partita.formats.redaction.kinds import BY_NAME, WANTED
from partita.formats.redaction.redactor import Finding
from partita.formats.redaction.removal import Leaving
from partita.formats.registry import get_format
from partita.private_files import told, whole_file
from partita.server.sharing.gathering import Gathered, gather
from partita.server.sharing.making import ENDINGS, make
from partita.server.sharing.request import (
    CustomSecret,
    LeaveOut,
    RedactRequest,
    ShareFormat,
    ShareRequest,
    WhichMessages,
)
from partita.store.facade.store import Store
from partita.types.threads import Thread
from partita.version import __version__

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
    known: dict[str, ShareFormat] = {one: one for one in ENDINGS}
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
    file = make(_gathered(store, wait, thread, wanted, wanted.request), wanted.request, __version__)
    ending = ENDINGS[wanted.request.format]
    title = file.name.removesuffix(f".{ending}")
    if wanted.name not in ENDINGS:
        ending = f"{ODD.sub('-', wanted.name)}.{ending}"
    made = Made(thread, wanted, title, ending, file.pieces)
    made.messages = len(file.cleaned.messages)
    made.findings = file.cleaned.findings
    made.removed = dict(file.cleaned.removed)
    made.losses = file.losses
    made.notices = list(file.notices)
    return made


def _gathered(store: Store, wait: Wait, thread: Thread, wanted: Wanted, request: ShareRequest) -> Gathered:
    logs = request.format == "fixture"
    if wanted.branch is None:
        return wait(gather(store, thread, request.messages, logs=logs))
    chosen = choose(store, wait, thread, Selection(wanted.branch, wanted.internal))
    gathered = wait(gather(store, thread, WhichMessages(only=[]), logs=logs))
    return gathered._replace(messages=list(whole_messages(store, wait, chosen)))


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
        made.notices.append("no log of this thread is kept")
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
