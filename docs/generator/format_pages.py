"""`reference/formats/NAME.md`: what a format is, how it is recognised, and what it cannot hold."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import get_args

from partita.formats.detection.guess import SIGNS
from partita.formats.format import Format
from partita.formats.losses import Loss, Severity
from partita.formats.registry import ALIASES, all_formats
from partita.testing.features import Measured, Outcome
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_object
from partita.types.messages import Message

from . import markdown as md
from .measuring import RESPONSE, is_measured, measured, said_in

FOLDER = "reference/formats"
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
MEANINGS: dict[Severity, str] = {
    "lost": "It is gone.",
    "changed": "It is there in another form.",
    "repaired": "Something was added, moved or renamed because the format insists on it.",
    "minor": "It is gone, and readers of the messages do not need it.",
}
_PART = re.compile(r"\$\[(\d+)\]\.content\.parts\[(\d+)\]\.?(.*)")
_MESSAGE = re.compile(r"\$\[\d+\]\.?(.*)")
_INDEX = re.compile(r"\[\d+\]")


def pages() -> dict[str, partial[str]]:
    """Every page by where it goes below `docs`."""
    return {f"{FOLDER}/{name}.md": partial(page, name) for name in all_formats()}


def page(name: str) -> str:
    """The page of a format."""
    format_ = all_formats()[name]
    sections = [_abilities(format_), _recognition(name)]
    if is_measured(format_):
        sections += [_observed(measured(name)), _told(measured(name))]
    title = f"{format_.title[:1].upper()}{format_.title[1:]}"
    return md.page(name, f"{title}. [All formats](../formats.md).", *sections)


def _abilities(format_: Format) -> str:
    short = [alias for alias, full in ALIASES.items() if full == format_.name]
    rows = [
        ("read", _reading(format_)),
        ("written", _writing(format_)),
        ("stream", _streaming(format_)),
        ("carries along", _carrying(format_)),
        ("also called", ", ".join(map(md.code, short)) or "nothing else"),
    ]
    return "## What can be done with it\n\n" + md.table(("", ""), rows)


def _reading(format_: Format) -> str:
    if format_.load is not None:
        return f"yes: {md.code(f'partita convert FILE --from {format_.name} --to ui')}"
    return "a stream is folded into its message" if format_.decoder else "no"


def _writing(format_: Format) -> str:
    if format_.dump is None:
        return "no"
    whole = ", and whole requests with tools and settings" if format_.takes_request else ""
    return f"yes{whole}: {md.code(f'partita convert FILE --to {format_.name}')}"


def _streaming(format_: Format) -> str:
    ways = [word for word, can in (("read", format_.decoder), ("written", format_.encoder)) if can]
    return f"events are {' and '.join(ways)}" if ways else "no"


def _carrying(format_: Format) -> str:
    if format_.slot is None:
        return "no: it has no room for what it has no place for"
    return "yes: with `--carry`, what it has no place for goes along in its metadata, and comes back"


def _recognition(name: str) -> str:
    signs = sorted((sign for sign in SIGNS if sign.format == name), key=lambda sign: -sign.confidence)
    if not signs:
        return (
            "## How it is recognised\n\nIt is not: its payloads look like those of related formats. "
            f"Name it with {md.code(f'--from {name}')}."
        )
    said = "What gives it away in the first 50 messages or events, and how sure that makes."
    rows = [(sign.why, f"{sign.confidence:.0%}") for sign in signs]
    return f"## How it is recognised\n\n{said}\n\n{md.table(('sign', 'sure'), rows)}"


def _observed(one: Measured) -> str:
    rows: list[Sequence[str]] = []
    for group, features in groupby(one.outcomes.items(), key=lambda pair: pair[0].group):
        became = list(features)
        names = ["; ".join(feature.name for feature, fate in became if fate == wanted) for wanted in OUTCOMES]
        rows.append([group, *names])
    return f"## What becomes of everything\n\n{_method(one)}\n\n{md.table(('', *OUTCOMES), rows)}"


def _method(one: Measured) -> str:
    what = "An answer" if one.format.name.endswith(RESPONSE) else "A conversation"
    if one.format.load is None:
        return (
            f"{what} that has everything a message can hold is written. Nobody reads this format back: what "
            "stands in it counts as changed."
        )
    return (
        f"{what} that has everything a message can hold is written and read again. What comes back equal is "
        "kept, what is there in another form is changed, what is gone is lost."
    )


def _told(one: Measured) -> str:
    said = "## Losses\n\nThe losses that are reported for the same messages."
    if not one.dumped.losses:
        return f"{said} There are none."
    return "\n\n".join(
        [
            f"{said} `tool-call.title` is a field of a part, `createdAt` one of the message.",
            *_by_severity(one),
        ]
    )


def _by_severity(one: Measured) -> Iterator[str]:
    messages = said_in(one.format)
    for severity in SEVERITIES:
        losses = [loss for loss in one.dumped.losses if loss.severity == severity]
        if losses:
            rows = [
                (why, ", ".join(map(md.code, places))) for why, places in _reasons(losses, messages).items()
            ]
            yield f"### {severity.capitalize()}\n\n{MEANINGS[severity]}\n\n{md.table(('why', 'what'), rows)}"


def _reasons(losses: Sequence[Loss], messages: Sequence[Message]) -> dict[str, list[str]]:
    """What is lost, by reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    said = [to_json(message) for message in messages]
    for loss in losses:
        place = _place(loss, said)
        if place not in reasons[loss.why]:
            reasons[loss.why].append(place)
    return reasons


def _place(loss: Loss, said: Sequence[JsonObject]) -> str:
    """What was lost, without where in this conversation it stood."""
    if found := _PART.fullmatch(loss.path):
        part = _part(int(found[1]), int(found[2]), said)
        return _INDEX.sub("[]", f"{part}.{found[3]}".rstrip("."))
    found = _MESSAGE.fullmatch(loss.path)
    return _INDEX.sub("[]", found[1] if found else loss.path) or "message"


def _part(message: int, part: int, said: Sequence[JsonObject]) -> str:
    """The type of a part; one that is in no message was made by the writer."""
    if message < len(said):
        parts: list[JsonObject] = said[message]["content"]["parts"]
        if part < len(parts) and is_object(parts[part]):
            return str(parts[part]["type"])
    return "part"
