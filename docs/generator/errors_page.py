"""`reference/errors.md`: the errors that the code raises, and how to fix them."""

from collections import defaultdict
from collections.abc import Iterable
from http import HTTPStatus

from partita import errors
from partita.errors import PartitaError
from partita.server.problems import STATUS

from . import markdown as md
from .raised_errors import PROBLEM, USAGE, RaisedError, raised_errors

INTRODUCTION = """\
The errors that Partita raises, and how to fix them. An error has three parts: `what` went wrong, `where` (a
path in the data such as `$.parts[2].text`, a file, an address), and a `hint`. `…` is a value that is only
known at run time."""

SHOWN = """\
In Python, every error is a [`PartitaError`](python.md#partitaerror) with these three attributes. On the
command line, they are printed to standard error, and the [exit code](cli.md#exit-codes) is 1:

```text
error: no thread 'chat-7'
 hint: partita threads lists them
```

Over HTTP, errors are [problems](#problems-over-http)."""

PROBLEMS = """\
Every error response is `application/problem+json` (RFC 9457): `title` and `status`, `detail` for what went
wrong, `where` and `hint`, and `errors` if several fields are invalid. The class of an error determines the
status:"""

USAGE_ERRORS = """\
If arguments or options are invalid, the exit code is 2. The usage line of the command is printed with the
message."""

PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Statuses whose phrase in `http` depends on the version of Python."""

AREAS = {
    "cli": "command line",
    "config": "settings",
    "formats": "formats",
    "importers": "imports",
    "logs": "logs",
    "private_files": "files",
    "runtime": "agents",
    "server": "server",
    "store": "store",
    "stream": "streams",
    "testing": "test kit",
    "types": "messages",
}
"""The part of Partita that a package contains."""

MIN_LETTERS = 7
"""Texts with fewer letters say nothing without the values that are only known at run time."""


def page() -> str:
    """Return the whole page."""
    by_class: dict[str, list[RaisedError]] = defaultdict(list)
    for one in raised_errors():
        by_class["UsageError" if one.kind in USAGE else one.kind].append(one)
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__name__ in by_class]
    return md.page(
        "Errors",
        INTRODUCTION,
        SHOWN,
        _overview(classes),
        *(_section(kind, by_class[kind.__name__]) for kind in classes),
        _problems(by_class[PROBLEM]),
        _usage_errors(by_class["UsageError"]),
    )


def _overview(classes: Iterable[type[PartitaError]]) -> str:
    rows = [(_link(kind), _meaning(kind), str(_status(kind))) for kind in classes]
    return md.table(("error", "meaning", "HTTP status"), rows)


def _link(kind: type[Exception]) -> str:
    return f"[`{kind.__name__}`](#{kind.__name__.lower()})"


def _meaning(kind: type[PartitaError]) -> str:
    return md.prose((kind.__doc__ or "").partition("\n")[0])


def _status(kind: type[PartitaError]) -> int:
    return next(STATUS[base] for base in kind.__mro__ if base in STATUS)


def _section(kind: type[PartitaError], raised: list[RaisedError]) -> str:
    base = kind.__bases__[0]
    inherits = "" if base is Exception else f" A subclass of {_link(base)}."
    return f"## {kind.__name__}\n\n{_meaning(kind)}{inherits}\n\n{_table(raised)}"


def _table(raised: list[RaisedError]) -> str:
    """Return the messages and their hints, each once, with the parts of Partita that raise them."""
    areas: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in raised:
        area = AREAS[one.module.partition(".")[0]]
        found = areas[_text(one.what), _fix(one.hint)]
        if area not in found and _is_informative(one.what):
            found.append(area)
    rows = [
        (what, fix, ", ".join(found))
        for (what, fix), found in sorted(areas.items(), key=lambda item: (item[1], item[0]))
        if found
    ]
    return md.table(("message", "how to fix it", "raised by"), rows)


def _fix(hint: str) -> str:
    if _is_informative(hint):
        return _text(hint)
    return "see the hint" if hint else ""


def _is_informative(text: str) -> bool:
    """Whether a text says something without the values that are only known at run time."""
    return sum(letter.isalpha() for letter in text) >= MIN_LETTERS


def _text(text: str) -> str:
    return md.prose(" ".join(text.split())).replace("_", "\\_") if "`" not in text else md.prose(text)


def _problems(raised: list[RaisedError]) -> str:
    classes = md.table(
        ("error", "status"),
        [(f"`{kind.__name__}`", _title(str(status))) for kind, status in STATUS.items()],
    )
    by_status: dict[str, list[RaisedError]] = defaultdict(list)
    for one in raised:
        by_status[one.status].append(one)
    sections = [
        f"### {_title(status)}\n\n{_table(by_status[status])}" for status in sorted(by_status, key=_number)
    ]
    own = "The server itself responds with these errors:"
    return "\n\n".join(["## Problems over HTTP", PROBLEMS, classes, own, *sections])


def _number(status: str) -> int:
    return int(status) if status.isdigit() else 999


def _title(status: str) -> str:
    """Return a status with its phrase. The status of some errors is only known at run time."""
    if not status.isdigit():
        return "Other statuses"
    return f"{status} {PHRASES.get(int(status)) or HTTPStatus(int(status)).phrase}"


def _usage_errors(raised: list[RaisedError]) -> str:
    rows = [[_text(what)] for what in sorted({one.what for one in raised})]
    return f"## Usage errors\n\n{USAGE_ERRORS}\n\n{md.table(('message',), rows)}"
