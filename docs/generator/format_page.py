"""`reference/formats/NAME.md`: what a format supports, how it is detected, and what it keeps."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import get_args

from partita.formats.detection.guess import SAMPLE_SIZE, SIGNS
from partita.formats.format import Format
from partita.formats.losses import Loss
from partita.formats.registry import ALIASES, all_formats
from partita.testing.features import Measured, Outcome
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_object
from partita.types.messages import Message

from . import markdown as md
from .measured_formats import SEVERITIES, is_response, measured, messages_for

FOLDER = "reference/formats"
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_PART = re.compile(r"\$\[(\d+)\]\.content\.parts\[(\d+)\]\.?(.*)")
_MESSAGE = re.compile(r"\$\[\d+\]\.?(.*)")
_INDEX = re.compile(r"\[\d+\]")


def pages() -> dict[str, partial[str]]:
    """Return the functions that generate the pages, by path below `docs`."""
    return {f"{FOLDER}/{name}.md": partial(page, name) for name in all_formats()}


def page(name: str) -> str:
    """Return the page of a format."""
    format_ = all_formats()[name]
    sections = [_support(format_)]
    if format_.load is not None or format_.decoder is not None:
        sections.append(_detection(name))
    if format_.dump is not None:
        sections += [_outcomes(measured(name)), _losses(measured(name))]
    title = f"{format_.title[:1].upper()}{format_.title[1:]}"
    return md.page(name, f"{title}. [All formats](../formats.md).", *sections)


def _support(format_: Format) -> str:
    aliases = [alias for alias, full in ALIASES.items() if full == format_.name]
    rows = [
        ("read", _reading(format_)),
        ("write", _writing(format_)),
        ("stream", _streaming(format_)),
        ("`--carry`", _carrying(format_)),
        ("aliases", ", ".join(map(md.code, aliases)) or "none"),
    ]
    return "## Support\n\n" + md.table(("", ""), rows)


def _reading(format_: Format) -> str:
    if format_.load is not None:
        return f"yes: {md.code(f'partita convert FILE --from {format_.name} --to ui')}"
    return "streams only: the events are folded into messages" if format_.decoder else "no"


def _writing(format_: Format) -> str:
    if format_.dump is None:
        return "no"
    whole = ", including whole requests with tools and settings" if format_.takes_request else ""
    return f"yes{whole}: {md.code(f'partita convert FILE --to {format_.name}')}"


def _streaming(format_: Format) -> str:
    ways = [way for way, can in (("read", format_.decoder), ("written", format_.encoder)) if can]
    return f"events are {' and '.join(ways)}" if ways else "no"


def _carrying(format_: Format) -> str:
    if format_.slot is None:
        return "no: the format has no metadata field for values that it has no place for"
    return "yes: values that the format has no place for are kept in its metadata, and restored"


def _detection(name: str) -> str:
    signs = sorted((sign for sign in SIGNS if sign.format == name), key=lambda sign: -sign.confidence)
    if not signs:
        return (
            "## Detection\n\nThis format is not detected: its payloads look like those of related formats. "
            f"Name it with {md.code(f'--from {name}')}."
        )
    text = f"Signs in the first {SAMPLE_SIZE} messages or events, and how certain each makes the detection."
    rows = [(sign.why, f"{sign.confidence:.0%}") for sign in signs]
    return f"## Detection\n\n{text}\n\n{md.table(('sign', 'confidence'), rows)}"


def _outcomes(one: Measured) -> str:
    rows: list[Sequence[str]] = []
    for group, features in groupby(one.outcomes.items(), key=lambda pair: pair[0].group):
        outcomes = list(features)
        rows.append(
            [
                group,
                *("; ".join(feature.name for feature, is_ in outcomes if is_ == each) for each in OUTCOMES),
            ]
        )
    return f"## What it keeps\n\n{_method(one)}\n\n{md.table(('', *OUTCOMES), rows)}"


def _method(one: Measured) -> str:
    what = f"A {'response' if is_response(one.format) else 'conversation'} with all features of messages"
    if one.format.load is None:
        return (
            f"{what} is written. The format cannot be read back: what is present in the output counts as "
            "changed."
        )
    return (
        f"{what} is written and read back. Kept: it comes back equal. Changed: it is present in another "
        "form. Lost: it is not present."
    )


def _losses(one: Measured) -> str:
    if not one.dumped.losses:
        return "## Losses\n\nNo losses are reported for these messages."
    text = (
        "The losses that are reported for these messages. `tool-call.title` is a field of a part, "
        "`createdAt` a field of the message."
    )
    return "\n\n".join(["## Losses", text, *_losses_by_severity(one)])


def _losses_by_severity(one: Measured) -> Iterator[str]:
    messages = messages_for(one.format)
    for severity, meaning in SEVERITIES.items():
        losses = [loss for loss in one.dumped.losses if loss.severity == severity]
        if losses:
            rows = [
                (why, ", ".join(map(md.code, fields)))
                for why, fields in _fields_by_reason(losses, messages).items()
            ]
            yield f"### {severity.capitalize()}\n\n{meaning}\n\n{md.table(('reason', 'fields'), rows)}"


def _fields_by_reason(losses: Sequence[Loss], messages: Sequence[Message]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = defaultdict(list)
    written = [to_json(message) for message in messages]
    for loss in losses:
        field = _field(loss, written)
        if field not in fields[loss.why]:
            fields[loss.why].append(field)
    return fields


def _field(loss: Loss, messages: Sequence[JsonObject]) -> str:
    """Return the path of a loss without indexes: in a part after its type, or in a message."""
    if found := _PART.fullmatch(loss.path):
        part = _part_type(int(found[1]), int(found[2]), messages)
        return _INDEX.sub("[]", f"{part}.{found[3]}".rstrip("."))
    found = _MESSAGE.fullmatch(loss.path)
    return _INDEX.sub("[]", found[1] if found else loss.path) or "message"


def _part_type(message: int, part: int, messages: Sequence[JsonObject]) -> str:
    """Return the type of a part. A part that no message has was added by the format."""
    if message < len(messages):
        parts: list[JsonObject] = messages[message]["content"]["parts"]
        if part < len(parts) and is_object(parts[part]):
            return str(parts[part]["type"])
    return "part"
