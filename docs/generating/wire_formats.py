"""`reference/formats.md`: every format, and what each cannot hold: measured, not remembered."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from partita.formats.format import Format
from partita.formats.losses import Loss
from partita.formats.registry import ALIASES, all_formats
from partita.logs.places.detection import AGENT_OF
from partita.testing.everything import everything
from partita.testing.features import FEATURES, Measured, measure
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_array, is_object

from . import markdown as md
from .releases import releases

SAID = """\
Every format that can be read, written or streamed. `partita formats` lists them; `partita convert` and
[`convert`](python.md#convert) go from one to another, and tell every loss with its place and its
reason."""

MEASURED = """\
A conversation that has everything a message can hold (`partita.testing.everything`) is written in each
format and read again. What comes back equal is kept, ✓; what is there in another form is changed, ≈; what
is gone is lost, –. The canonical form keeps all of it. The sections below list what is told of changes and
losses."""

SIGNS = {"kept": "✓", "changed": "≈", "lost": "–"}
SHORT = {
    **{f"ai-sdk-ui-v{version}": f"UI {version}" for version in range(4, 8)},
    **{f"ai-sdk-model-v{version}": f"model {version}" for version in range(4, 8)},
    "mastra-v2": "Mastra 2",
    "mastra-v1": "Mastra 1",
    "claude-code-log": "Claude Code",
}
"""What a format is called at the head of a column."""

OWN = "canonical"
_PART = re.compile(r"\$\[(\d+)\]\.content\.parts\[(\d+)\]\.?(.*)")
_MESSAGE = re.compile(r"\$\[\d+\]\.?(.*)")
_INDEX = re.compile(r"\[\d+\]")


def page() -> str:
    """The whole page."""
    formats = list(all_formats().values())
    measured = [measure(format_) for format_ in formats if format_.dump and format_.load]
    return md.page(
        "Formats",
        SAID,
        _table(formats),
        f"## What a format holds\n\n{MEASURED}",
        *_matrix([one for one in measured if one.format.name != OWN]),
        "## What is told as lost\n\n"
        "The losses of the same conversation, by reason. `tool-call.title` is a field of a part, `createdAt`"
        " one of the message.",
        *(_losses(one) for one in measured if one.dumped.losses),
        releases(),
        _logs(),
    )


def _table(formats: Sequence[Format]) -> str:
    aliases = {full: short for short, full in ALIASES.items()}
    rows = [
        (
            md.code(one.name) + (f", {md.code(aliases[one.name])}" if one.name in aliases else ""),
            one.title,
            _yes(one.load),
            _yes(one.dump),
            _yes(one.decoder),
        )
        for one in formats
    ]
    return "## All of them\n\n" + md.table(("name, alias", "what it is", "read", "written", "streamed"), rows)


def _yes(value: object) -> str:
    return "✓" if value else ""


def _matrix(measured: Sequence[Measured]) -> Iterator[str]:
    head = ["", *(SHORT[one.format.name] for one in measured)]
    for group, features in groupby(FEATURES, key=lambda feature: feature.group):
        rows = [[feature.name, *(SIGNS[one.fates[feature]] for one in measured)] for feature in features]
        yield f"### {group}\n\n{md.table(head, rows)}"


def _losses(measured: Measured) -> str:
    reasons: dict[str, list[str]] = defaultdict(list)
    for loss in measured.dumped.losses:
        place = _place(loss)
        if place not in reasons[loss.why]:
            reasons[loss.why].append(place)
    rows = [(why, ", ".join(md.code(place) for place in places)) for why, places in reasons.items()]
    return f"### {measured.format.name}\n\n{md.table(('why', 'what'), rows)}"


def _place(loss: Loss) -> str:
    """What was lost, without where in this conversation it stood."""
    if found := _PART.fullmatch(loss.path):
        part = _part(int(found[1]), int(found[2]))
        return _INDEX.sub("[]", f"{part}.{found[3]}".rstrip("."))
    found = _MESSAGE.fullmatch(loss.path)
    return _INDEX.sub("[]", found[1] if found else loss.path) or "message"


def _part(message: int, part: int) -> str:
    said = to_json(everything())
    assert is_array(said)
    held: JsonObject = said[message]["content"]["parts"][part]
    assert is_object(held)
    return str(held["type"])


def _logs() -> str:
    rows = [(md.code(name), agent) for name, agent in AGENT_OF.items()]
    said = (
        "Files and streams of coding agents hold a whole conversation and more. They are read by "
        "`partita import`, `partita watch` and [`parse_log_file`](python.md#parse_log_file): "
        "[the guide](../logs.md)."
    )
    return f"## Logs of coding agents\n\n{said}\n\n{md.table(('name', 'agent'), rows)}"
