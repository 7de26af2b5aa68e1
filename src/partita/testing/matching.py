"""Requests as they are made, held against those that were recorded."""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from threading import Lock
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.errors import AgentError, DecodeError, PartitaError
from partita.formats.redaction.values import redact
from partita.runtime.recordings.recording import Exchange, RecordedRequest
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.json_diff import JsonPath, value_changes

from .providers import IDS, family_of

# Where two JSON values differ, path by path, told in a line each.

ABSENT: Final = "(absent)"
SHOWN: Final = 60
"""How many characters of a value are shown."""

BEFORE: Final = 20
"""How many of them stand before the first that differs."""

_TOKEN: Final = re.compile(r"\[\*\]|\[\d+\]|\*\*\.?|\*|\.|[^.\[\]*]+")
_MARK: Final = re.compile(r"\[redacted: [a-z -]+ \d+\]")
"""What stands for a secret in a recording."""


class Difference(NamedTuple):
    """A place where a request differs from the recorded one, with both values as they are shown."""

    path: str
    recorded: str
    made: str

    def __str__(self) -> str:
        return f"{self.path}: {self.recorded} → {self.made}"


def body_differences(recorded: Json, made: Json) -> list[Difference]:
    """All places where two bodies differ. The order of members does not count."""
    return [
        Difference(_path_text(change.path), *_show(change.before, change.after))
        for change in value_changes(recorded, made)
        if not _is_equivalent(change.before, change.after)
    ]


def _path_text(path: JsonPath) -> str:
    """A path as `ignore` takes it."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _is_equivalent(recorded: Json, made: Json) -> bool:
    """Whether two values that are not the same count as the same: 1 and 1.0, or a text with a secret."""
    if isinstance(recorded, str) and isinstance(made, str):
        return _fills_marks(recorded, made)
    is_bool = isinstance(recorded, bool), isinstance(made, bool)
    return is_bool[0] == is_bool[1] and bool(recorded == made)


def _show(recorded: Json, made: Json) -> tuple[str, str]:
    if isinstance(recorded, str) and isinstance(made, str):
        return _texts(recorded, made)
    return _shown(recorded), _shown(made)


def _fills_marks(recorded: str, made: str) -> bool:
    """Whether a text is the recorded one with something where a secret was taken out."""
    if _MARK.search(recorded) is None:
        return False
    return re.fullmatch(".+?".join(map(re.escape, _MARK.split(recorded))), made, re.DOTALL) is not None


def _shown(value: Json) -> str:
    if value is UNSET:
        return ABSENT
    try:
        text = dumps(value).decode()
    except DecodeError:
        text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _texts(recorded: str, made: str) -> tuple[str, str]:
    """Two texts, from shortly before the place where they part."""
    pairs = zip(recorded, made, strict=False)
    parting = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(recorded), len(made)))
    start = 0 if max(len(recorded), len(made)) <= SHOWN else max(0, parting - BEFORE)
    return _window(recorded, start), _window(made, start)


def _window(text: str, start: int) -> str:
    cut = text[start : start + SHOWN]
    shown = dumps(cut).decode()[1:-1]
    head, tail = "…" if start else "", "…" if start + SHOWN < len(text) else ""
    return f'"{head}{shown}{tail}"'


def pattern_of(path: str) -> re.Pattern[str]:
    """What a path with stars means: `[*]` any item, `*` any member, `**` anything below."""
    pieces: list[str] = []
    at = 0
    while at < len(path):
        token = _TOKEN.match(path, at)
        if token is None:
            raise DecodeError(
                f"no path: {path!r}",
                where=f"character {at + 1}",
                hint='paths look like "metadata.user" or "messages[*].id"',
            )
        pieces.append(_meaning(token[0]))
        at = token.end()
    if not pieces:
        raise DecodeError("an empty path", hint='paths look like "metadata.user" or "messages[*].id"')
    return re.compile("".join(pieces))


def _meaning(token: str) -> str:
    if token == "[*]":
        return r"\[\d+\]"
    if token.startswith("**"):
        return r"(?:.*\.)?" if token.endswith(".") else ".*"
    return r"[^.\[\]]+" if token == "*" else re.escape(token)


def without(value: Json, patterns: Sequence[re.Pattern[str]], path: str = "") -> Json:
    """A value without what patterns name: members are gone, items are `null`."""
    if is_object(value):
        kept: JsonObject = {}
        for name, item in value.items():
            inside = f"{path}.{name}" if path else name
            if not any(pattern.fullmatch(inside) for pattern in patterns):
                kept[name] = without(item, patterns, inside)
        return kept
    if is_array(value):
        return [
            None
            if any(pattern.fullmatch(f"{path}[{place}]") for pattern in patterns)
            else without(item, patterns, f"{path}[{place}]")
            for place, item in enumerate(value)
        ]
    return value


def renamed(value: Json, patterns: Sequence[re.Pattern[str]]) -> Json:
    """A value whose names (texts that patterns lead to) are numbers, in the order of their coming."""
    names: dict[str, str] = {}
    return _renamed(value, patterns, "", names)


def _renamed(value: Json, patterns: Sequence[re.Pattern[str]], path: str, names: dict[str, str]) -> Json:
    if is_object(value):
        return {
            name: _renamed(item, patterns, f"{path}.{name}" if path else name, names)
            for name, item in value.items()
        }
    if is_array(value):
        return [_renamed(item, patterns, f"{path}[{place}]", names) for place, item in enumerate(value)]
    if isinstance(value, str) and any(pattern.fullmatch(path) for pattern in patterns):
        return names.setdefault(value, f"(id {len(names) + 1})")
    return value


Order: TypeAlias = Literal["recorded", "any"]
Normalise: TypeAlias = Callable[[Json], Json]

TOLD: Final = 12
"""How many differences of one request are told."""


class RecordingError(PartitaError, AssertionError):
    """A request that is not the recorded one, one that was never made, or a recording that is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What counts as the same request."""

    order: Order = "recorded"
    """Whether requests come in the order of the recording, or in any."""
    ignore: Sequence[str] = ()
    """Paths of the body that do not count."""
    normalise: Normalise | None = None
    """What both bodies go through before they are compared."""

    def __post_init__(self) -> None:
        if self.order not in ("recorded", "any"):
            raise AgentError(f"no order {self.order!r}", hint="there are recorded, any")
        for path in self.ignore:
            pattern_of(path)

    def plain(self, body: Json, family: str | None) -> Json:
        """A body without what does not count."""
        own = body if self.normalise is None else self.normalise(deepcopy(body))
        left = without(own, [pattern_of(path) for path in self.ignore])
        return renamed(left, [pattern_of(path) for path in IDS.get(family or "", ())])


def compare(exchange: Exchange, made: RecordedRequest, terms: Terms) -> list[Difference]:
    """Where a request differs from the recorded one."""
    recorded = exchange.request
    if recorded is None:
        return []
    found = [
        Difference(name, was, now)
        for name, was, now in (("method", recorded.method, made.method), ("path", recorded.path, made.path))
        if was != now
    ]
    if recorded.body is UNSET or made.body is UNSET:
        same = (recorded.body is UNSET) == (made.body is UNSET) and recorded.base64 == made.base64
        return found if same else [*found, Difference("body", _kind(recorded), _kind(made))]
    family = family_of(exchange.format)
    return found + body_differences(terms.plain(recorded.body, family), terms.plain(made.body, family))


def _kind(request: RecordedRequest) -> str:
    if request.body is not UNSET:
        return "JSON"
    return "no body" if request.base64 is None else f"{len(request.base64) * 3 // 4} bytes that are no JSON"


class Matching:
    """Gives each request its recorded answer, and remembers what did not fit. Used from several threads."""

    def __init__(self, name: str, exchanges: Sequence[Exchange], order: Order, advice: str) -> None:
        """`advice` says how the recording is made anew."""
        self._name = name
        self._exchanges = exchanges
        self._order = order
        self._advice = advice
        self._left = list(range(len(exchanges)))
        self._made = 0
        self._lock = Lock()
        self.problems: list[str] = []
        """What did not fit, each in a few lines."""

    def take(self, compared: Callable[[Exchange], list[Difference]]) -> Exchange | str:
        """The answer to a request, or why there is none."""
        with self._lock:
            self._made += 1
            if not self._left:
                return self._refuse(self._extra())
            place, found = self._nearest(compared)
            self._left.remove(place)
            return self._refuse(self._other(place, found)) if found else self._exchanges[place]

    def refuse(self, problem: str) -> str:
        """Remember something else that went wrong."""
        with self._lock:
            return self._refuse(problem)

    def verdict(self, *, whole: bool = True) -> str | None:
        """All that did not fit; with `whole`, also what was recorded and never asked for."""
        told = list(self.problems)
        if whole and self._left and not self.problems:
            told.append(self._unmade())
        return "\n".join(told) or None

    def _nearest(self, compared: Callable[[Exchange], list[Difference]]) -> tuple[int, list[Difference]]:
        places = self._left[:1] if self._order == "recorded" else self._left
        found = [(place, compared(self._exchanges[place])) for place in places]
        return min(found, key=lambda one: len(one[1]))

    def _refuse(self, problem: str) -> str:
        plain = without_secrets(problem)  # it stands in the output of the test, which others read
        self.problems.append(plain)
        return plain

    def _other(self, place: int, found: Sequence[Difference]) -> str:
        which = f"request {place + 1} of {len(self._exchanges)}"
        if self._order == "any":
            which = f"request {self._made} fits none that is left; nearest is {which}, and it"
        lines = [f"{self._name}: {which} is not the one that was recorded (recorded → made):"]
        lines += [f"  {difference}" for difference in found[:TOLD]]
        if len(found) > TOLD:
            lines.append(f"  … and {len(found) - TOLD} more")
        lines.append(f"If this is meant: {self._advice}")
        if (path := found[0].path) not in ("path", "method", "body"):
            lines.append(f'If it differs each time: ignore=["{path}"]')
        return "\n".join(lines)

    def _extra(self) -> str:
        count = _counted(len(self._exchanges), "request")
        return "\n".join(
            [
                f"{self._name}: request {self._made} was made, and only {count} recorded",
                f"If this is meant: {self._advice}",
            ]
        )

    def _unmade(self) -> str:
        made = len(self._exchanges) - len(self._left)
        which = ", ".join(str(place + 1) for place in self._left[:TOLD])
        return "\n".join(
            [
                f"{self._name}: {_counted(len(self._exchanges), 'request')} recorded, and {made} made; "
                f"never made: {which}",
                f"If this is meant: {self._advice}",
            ]
        )


def without_secrets(text: str) -> str:
    """A text to be shown."""
    return redact(text).value


def _counted(count: int, noun: str) -> str:
    return f"1 {noun} was" if count == 1 else f"{count} {noun}s were"
