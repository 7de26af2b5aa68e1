"""What is told of files that were written: what was replaced, left out and lost."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from partita.cli.output import say
from partita.cli.printing import write_json
from partita.cli.view.text import counted, one_line, size_of
from partita.errors import PartitaError
from partita.formats.redaction.redactor import Finding
from partita.types.json import JsonObject
from partita.types.threads import Thread

from .file import Made

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
            write_json(_json(made, path))
        elif self._several:
            counts = _counts(made)
            self._say([f"thread {made.thread.id}: {', '.join(counts)}"] if counts else [])
        else:
            self._say(list(_lines(made)))

    def failure(self, thread: Thread, error: PartitaError) -> None:
        """Tell that a file could not be made."""
        self.failed += 1
        if self._as_json:
            write_json({"thread": thread.id, "error": error.what, "where": error.where, "hint": error.hint})
        elif self.failed <= SHOWN:
            where = f" ({error.where})" if error.where else ""
            hint = f"; {error.hint}" if error.hint else ""
            say(one_line(f"thread {thread.id} was not written: {error.what}{where}{hint}"))

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines[: max(0, SHOWN - self._lines)]:
            say(one_line(line))
        self._lines += len(lines)

    def end(self) -> None:
        """Tell what it came to."""
        if self._lines > SHOWN:
            say(f"… and {self._lines - SHOWN:,} more; -o FILE --json tells all")
        if self._files:
            one = f"wrote {one_line(str(self._files[0]))}"
            many = f"wrote {len(self._files):,} files to {one_line(str(self._files[0].parent))}"
            say(f"{many if self._several else one}: {size_of(self._size)}")
        if self.failed:
            say(f"{counted(self.failed, 'thread was', 'threads were')} not written")


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
