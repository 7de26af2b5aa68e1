"""`reference/errors.md`: every error that is raised on purpose, and what to do about it."""

from collections import defaultdict
from collections.abc import Iterable
from http import HTTPStatus

from partita import errors
from partita.errors import PartitaError
from partita.server.problems import STATUS

from . import markdown as md
from .raised import PROBLEM, USAGE, Raised, all_raised

SAID = """\
Every error that is raised on purpose, with what to do about it. An error has three parts: `what` went
wrong, `where` (a path in the data such as `$.parts[2].text`, a file, an address), and a `hint`. `…` stands
for what is only known when it happens."""

SEEN = """\
In Python every one of them is a [`PartitaError`](python.md#partitaerror) with these three as attributes. On
the command line they are lines on standard error, and the [exit code](cli.md#exit-codes) is 1:

```text
error: no thread 'chat-7'
 hint: partita threads lists them
```

Over HTTP they are [problems](#problems-over-http)."""

PROBLEMS = """\
Every refusal is `application/problem+json` (RFC 9457): `title` and `status`, `detail` for what went wrong,
`where` and `hint`, and `errors` where several fields are wrong. An error of the layers below has the status
of its class:"""

PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Statuses whose names depend on the version of Python."""

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


def page() -> str:
    """The whole page."""
    found: dict[str, list[Raised]] = defaultdict(list)
    for one in all_raised():
        found["UsageError" if one.kind in USAGE else one.kind].append(one)
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__name__ in found]
    return md.page(
        "Errors",
        SAID,
        SEEN,
        _listed(classes),
        *(_section(kind, found[kind.__name__]) for kind in classes),
        _problems(found[PROBLEM]),
        _usage(found["UsageError"]),
    )


def _listed(classes: Iterable[type[PartitaError]]) -> str:
    rows = [
        (f"[`{kind.__name__}`](#{kind.__name__.lower()})", _meaning(kind), str(_status(kind)))
        for kind in classes
    ]
    return md.table(("error", "what it means", "over HTTP"), rows)


def _meaning(kind: type[PartitaError]) -> str:
    return md.prose((kind.__doc__ or "").partition("\n")[0])


def _status(kind: type[PartitaError]) -> int:
    return next(STATUS[base] for base in kind.__mro__ if base in STATUS)


def _section(kind: type[PartitaError], raised: list[Raised]) -> str:
    base = kind.__bases__[0]
    above = "" if base is Exception else f" It is a [`{base.__name__}`](#{base.__name__.lower()})."
    return f"## {kind.__name__}\n\n{_meaning(kind)}{above}\n\n{_table(raised)}"


def _table(raised: list[Raised]) -> str:
    """What is said and what to do, each once, with the parts of Partita that say it."""
    areas: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in raised:
        area = AREAS[one.module.partition(".")[0]]
        if area not in areas[one.what, one.hint]:
            areas[one.what, one.hint].append(area)
    rows = [
        (_quoted(what), _remedy(hint), ", ".join(said))
        for (what, hint), said in sorted(areas.items(), key=lambda item: (item[1], item[0]))
        if _says(what)
    ]
    return md.table(("what is said", "what to do", "by"), rows)


def _remedy(hint: str) -> str:
    if _says(hint):
        return _quoted(hint)
    return "the hint names it" if hint else "as it says"


def _says(text: str) -> bool:
    """Whether anything is known of a text before it is said."""
    return sum(letter.isalpha() for letter in text) > len("is not")


def _quoted(text: str) -> str:
    return md.prose(" ".join(text.split())).replace("_", "\\_") if "`" not in text else md.prose(text)


def _problems(raised: list[Raised]) -> str:
    classes = md.table(
        ("error", "status"),
        [(f"`{kind.__name__}`", _title(str(status))) for kind, status in STATUS.items()],
    )
    by_status: dict[str, list[Raised]] = defaultdict(list)
    for one in raised:
        by_status[one.status].append(one)
    sections = [
        f"### {_title(status)}\n\n{_table(by_status[status])}" for status in sorted(by_status, key=_number)
    ]
    words = "And some are the server's own, by their status:"
    return "\n\n".join(["## Problems over HTTP", PROBLEMS, classes, words, *sections])


def _number(status: str) -> int:
    return int(status) if status.isdigit() else 999


def _title(status: str) -> str:
    if not status.isdigit():
        return "Others"
    return f"{status} {PHRASES.get(int(status)) or HTTPStatus(int(status)).phrase}"


def _usage(raised: list[Raised]) -> str:
    rows = [[_quoted(what)] for what in sorted({one.what for one in raised})]
    said = (
        "Words after `partita` that do not make sense together end with exit code 2. The usage line of the "
        "command is printed with it."
    )
    return f"## Wrong use of a command\n\n{said}\n\n{md.table(('what is said',), rows)}"
