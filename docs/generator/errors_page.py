"""`reference/errors.md`: the errors that the code raises, and how to fix them."""

from collections import defaultdict
from collections.abc import Iterable
from http import HTTPStatus

from partita import errors
from partita.errors import PartitaError
from partita.server.problems import STATUS

from . import markdown as md
from .raised_errors import HOLE, PROBLEM, USAGE, RaisedError, raised_errors

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

MISSING = "see the hint"
"""Stands for a fix that is missing below, which a test reports."""

FIXES = {
    "there is no kind of secret '…'": "use one of the kinds that the hint lists",
    "no agent '…'": "use the name of an agent that was imported, as `partita agents` and the hint list them",
    "cannot be read: …": "check the permissions of the file, then run the import again",
    "a data chunk of type '…'": "the type of a data chunk begins with `data-`: put that before the name",
    "a tool cannot take the parameter `…`": (
        "a tool takes named parameters only: no `*args`, `**kwargs` or positional-only ones"
    ),
    "an agent cannot yield …": "yield strings, chunks, or raw events of a provider's package or its API",
    "cannot detect the format": "name the format; `partita formats` lists all names",
    "content of a … message is …": (
        "the content of a model message is a string or a list of parts, as its role allows"
    ),
    "no form '…' of network executions": 'use `"part"`, `"field"`, `"string"` or `"both"`',
    "no log format '…'": "use `claude-code`, `codex`, `gemini-cli` or `opencode`",
    "no log of a known agent": (
        "name the agent with `--agent`, or the format with `--from` if it is other data"
    ),
    "no logs of '…' are known": "use one of the agents that `partita agents` lists with a folder",
    "no rows in format '…'": (
        "use `ai-sdk/v5`, `ai-sdk/v6` or another format of assistant-ui that the hint lists"
    ),
    "the database has no tables of Partita": (
        "check the URL; `partita import` or `partita serve` creates the tables"
    ),
    "the file has no JSON": (
        "upload a log of an agent, or a payload in one of the formats that `partita formats` lists"
    ),
    "the file of the store is empty": (
        "check the path; delete the empty file, or restore a backup with `partita backup --restore`"
    ),
    "the role '…' cannot have this content: …": (
        "remove the part at this path, or use the role that may have it"
    ),
    "the settings cannot be read: …": (
        "check the permissions of the file; it must belong to you and be readable"
    ),
    "the store does not exist": "check the path or URL; `partita import` and `partita serve` create a store",
    "the URL of the server cannot be read": (
        "write `postgresql://user:password@host:5432/database`, with special characters percent- encoded"
    ),
    "the value of code … is invalid: …": (
        "the stream does not follow the data stream protocol of AI SDK 4: check the line that the error names"
    ),
    "there are too many headers": "send fewer headers; `Limits.headers` is the limit",
    "there is no role '…'": "use `read`, `chat`, `write` or `admin`",
    "there is no setting '…'": "check the spelling; `partita config` lists all settings",
    "there is no table '…'": "the database is not one of OpenCode, or of a newer version: name another file",
    "this is not a script: …": (
        "correct the JSON at the path; a script has `scenes` with `steps` with `parts`"
    ),
    "thread '…' ends with a complete response": "send a new message, or repeat the last one with `after`",
    "unknown code '…'": "the stream does not follow the data stream protocol of AI SDK 4: check its format",
    "unknown role '…'": "use one of the roles that the hint lists",
    "… must be …, not '…'": "give a value of this type, for example the one in the hint",
    "… takes nothing behind a colon": "use the name of the agent without a colon",
    "… … is not supported": "leave the parameter out; the agent decides what it does",
    "'…' is the beginning of … ids of …": "type more characters of the id; the hint lists the candidates",
    "'…' is not a number of characters": "set `PARTITA_REDACT_LIMIT` to a whole number, such as 128000000",
    "'…' is not a type of message": "use one of the types that the hint lists, or leave `type` out",
    "a model message is an object, found …": "give a list of messages, each with `role` and `content`",
}
"""How to fix errors whose hint depends on values that are only known at run time."""


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
    return f"## {kind.__name__}\n\n{_meaning(kind)}{inherits}\n\n{_table(raised, kind.__name__)}"


def _table(raised: list[RaisedError], kind: str) -> str:
    """Return the messages and their fixes, each once, with the parts of Partita that raise them.

    A message has an anchor of its class or status and its words, so that it can be linked to.
    """
    areas: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in raised:
        area = AREAS[one.module.partition(".")[0]]
        found = areas[_text(one.what), _fix(one)]
        if area not in found and _is_informative(one.what):
            found.append(area)
    rows: list[tuple[str, str, str]] = []
    anchors: set[str] = set()
    for (what, fix), found in sorted(areas.items(), key=lambda item: (item[1], item[0])):
        anchor = md.slug(f"{kind} {what}")
        if found:
            rows.append(
                (what if anchor in anchors else f'<a id="{anchor}"></a>{what}', fix, ", ".join(found))
            )
        anchors.add(anchor)
    return md.table(("message", "cause and fix", "raised by"), rows)


def _fix(error: RaisedError) -> str:
    if not error.hint or _is_informative(error.hint):
        return _text(error.hint)
    return FIXES.get(" ".join(error.what.split()), MISSING) if _is_informative(error.what) else ""


def _is_informative(text: str) -> bool:
    """Whether a text says something without the values that are only known at run time."""
    return HOLE not in text or sum(letter.isalpha() for letter in text) >= MIN_LETTERS


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
        f"### {_title(status)}\n\n{_table(by_status[status], status)}"
        for status in sorted(by_status, key=_number)
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
