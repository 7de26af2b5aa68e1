"""Finds the recorded response to a request, and lists how the request differs from the recorded one."""

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

ABSENT: Final = "(absent)"
SHOWN: Final = 60
"""How many characters of a value are shown."""

CONTEXT: Final = 20
"""How many characters are shown before the first difference of two long texts."""

_TOKEN: Final = re.compile(r"\[\*\]|\[\d+\]|\*\*\.?|\*|\.|[^.\[\]*]+")
_REDACTED: Final = re.compile(r"\[redacted: [a-z -]+ \d+\]")
"""The placeholder for a secret in a recording."""


class Difference(NamedTuple):
    """A path at which a request differs from the recorded one, with both values shortened for display."""

    path: str
    recorded: str
    actual: str

    def __str__(self) -> str:
        return f"{self.path}: {self.recorded} → {self.actual}"


def body_differences(recorded: Json, actual: Json) -> list[Difference]:
    """All differences of two bodies. The order of object members is ignored."""
    return [
        Difference(_path_text(change.path), *_render_pair(change.before, change.after))
        for change in value_changes(recorded, actual)
        if not _is_equivalent(change.before, change.after)
    ]


def _path_text(path: JsonPath) -> str:
    """A path in the syntax of `ignore`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _is_equivalent(recorded: Json, actual: Json) -> bool:
    """Whether two different values count as equal: 1 and 1.0, or a text whose secret was redacted."""
    if isinstance(recorded, str) and isinstance(actual, str):
        return _matches_redacted(recorded, actual)
    return isinstance(recorded, bool) == isinstance(actual, bool) and bool(recorded == actual)


def _render_pair(recorded: Json, actual: Json) -> tuple[str, str]:
    if isinstance(recorded, str) and isinstance(actual, str):
        return _render_texts(recorded, actual)
    return _render(recorded), _render(actual)


def _matches_redacted(recorded: str, actual: str) -> bool:
    """Whether a text is the recorded one, with any text in place of each redacted secret."""
    if _REDACTED.search(recorded) is None:
        return False
    return re.fullmatch(".+?".join(map(re.escape, _REDACTED.split(recorded))), actual, re.DOTALL) is not None


def _render(value: Json) -> str:
    if value is UNSET:
        return ABSENT
    try:
        text = dumps(value).decode()
    except DecodeError:
        text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _render_texts(recorded: str, actual: str) -> tuple[str, str]:
    """Two texts, from shortly before their first difference."""
    pairs = zip(recorded, actual, strict=False)
    shorter, longer = sorted((len(recorded), len(actual)))
    difference = next((at for at, (a, b) in enumerate(pairs) if a != b), shorter)
    start = 0 if longer <= SHOWN else max(0, difference - CONTEXT)
    return _window(recorded, start), _window(actual, start)


def _window(text: str, start: int) -> str:
    cut = text[start : start + SHOWN]
    shown = dumps(cut).decode()[1:-1]
    head, tail = "…" if start else "", "…" if start + SHOWN < len(text) else ""
    return f'"{head}{shown}{tail}"'


def path_pattern(path: str) -> re.Pattern[str]:
    """A path with wildcards as a regular expression: `[*]` any item, `*` any member, `**` anything below."""
    pieces: list[str] = []
    at = 0
    while at < len(path):
        token = _TOKEN.match(path, at)
        if token is None:
            raise DecodeError(
                f"not a path: {path!r}",
                where=f"character {at + 1}",
                hint='paths look like "metadata.user" or "messages[*].id"',
            )
        pieces.append(_token_pattern(token[0]))
        at = token.end()
    if not pieces:
        raise DecodeError("an empty path", hint='paths look like "metadata.user" or "messages[*].id"')
    return re.compile("".join(pieces))


def _token_pattern(token: str) -> str:
    if token == "[*]":
        return r"\[\d+\]"
    if token.startswith("**"):
        return r"(?:.*\.)?" if token.endswith(".") else ".*"
    return r"[^.\[\]]+" if token == "*" else re.escape(token)


def remove_paths(value: Json, patterns: Sequence[re.Pattern[str]], path: str = "") -> Json:
    """A copy without the paths that match: members are removed, items become `null`."""
    if is_object(value):
        kept: JsonObject = {}
        for name, item in value.items():
            inside = f"{path}.{name}" if path else name
            if not any(pattern.fullmatch(inside) for pattern in patterns):
                kept[name] = remove_paths(item, patterns, inside)
        return kept
    if is_array(value):
        return [
            None
            if any(pattern.fullmatch(f"{path}[{place}]") for pattern in patterns)
            else remove_paths(item, patterns, f"{path}[{place}]")
            for place, item in enumerate(value)
        ]
    return value


def number_ids(value: Json, patterns: Sequence[re.Pattern[str]]) -> Json:
    """A copy in which the ids at matching paths are replaced by numbers, in order of first occurrence."""
    return _number_ids(value, patterns, "", {})


def _number_ids(value: Json, patterns: Sequence[re.Pattern[str]], path: str, numbers: dict[str, str]) -> Json:
    if is_object(value):
        return {
            name: _number_ids(item, patterns, f"{path}.{name}" if path else name, numbers)
            for name, item in value.items()
        }
    if is_array(value):
        return [_number_ids(item, patterns, f"{path}[{place}]", numbers) for place, item in enumerate(value)]
    if isinstance(value, str) and any(pattern.fullmatch(path) for pattern in patterns):
        return numbers.setdefault(value, f"(id {len(numbers) + 1})")
    return value


Order: TypeAlias = Literal["recorded", "any"]
Normalise: TypeAlias = Callable[[Json], Json]

MAX_LISTED: Final = 12
"""How many differences of one request are listed."""


class RecordingError(PartitaError, AssertionError):
    """A request differs from the recorded one, a recorded request was not made, or a recording is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRules:
    """Decides which requests count as the same."""

    order: Order = "recorded"
    """Whether requests must come in the recorded order, or may come in any order."""
    ignore: Sequence[str] = ()
    """Paths of the body that are not compared."""
    normalise: Normalise | None = None
    """A function applied to both bodies before they are compared."""

    def __post_init__(self) -> None:
        if self.order not in ("recorded", "any"):
            raise AgentError(f"unknown order {self.order!r}", hint="use recorded or any")
        for path in self.ignore:
            path_pattern(path)

    def comparable(self, body: Json, family: str | None) -> Json:
        """A body without the parts that are not compared, and with numbered ids."""
        normalised = body if self.normalise is None else self.normalise(deepcopy(body))
        kept = remove_paths(normalised, [path_pattern(path) for path in self.ignore])
        return number_ids(kept, [path_pattern(path) for path in IDS.get(family or "", ())])


def compare_request(exchange: Exchange, actual: RecordedRequest, rules: MatchRules) -> list[Difference]:
    """The differences between a request and the recorded one."""
    recorded = exchange.request
    if recorded is None:
        return []
    pairs = (("method", recorded.method, actual.method), ("path", recorded.path, actual.path))
    found = [Difference(name, before, now) for name, before, now in pairs if before != now]
    if recorded.body is UNSET or actual.body is UNSET:
        same = (recorded.body is UNSET) == (actual.body is UNSET) and recorded.base64 == actual.base64
        return found if same else [*found, Difference("body", _body_kind(recorded), _body_kind(actual))]
    family = family_of(exchange.format)
    return found + body_differences(
        rules.comparable(recorded.body, family), rules.comparable(actual.body, family)
    )


def _body_kind(request: RecordedRequest) -> str:
    if request.body is not UNSET:
        return "JSON"
    return "no body" if request.base64 is None else f"{len(request.base64) * 3 // 4} bytes that are not JSON"


class RequestMatcher:
    """Returns the recorded response to each request, and collects mismatches. Thread-safe."""

    def __init__(self, name: str, exchanges: Sequence[Exchange], order: Order, advice: str) -> None:
        """`advice` describes how to record again."""
        self._name = name
        self._exchanges = exchanges
        self._order = order
        self._advice = advice
        self._unused = list(range(len(exchanges)))
        self._request_count = 0
        self._lock = Lock()
        self.problems: list[str] = []
        """A few lines of text for each mismatch."""

    def match(self, compare: Callable[[Exchange], list[Difference]]) -> Exchange | str:
        """The recorded exchange of a request, or a description of the mismatch."""
        with self._lock:
            self._request_count += 1
            if not self._unused:
                return self._add_problem(self._describe_extra())
            place, found = self._nearest(compare)
            self._unused.remove(place)
            return (
                self._add_problem(self._describe_mismatch(place, found)) if found else self._exchanges[place]
            )

    def add_problem(self, problem: str) -> str:
        """Collect another problem, and return it without secrets."""
        with self._lock:
            return self._add_problem(problem)

    def verdict(self, *, include_unused: bool = True) -> str | None:
        """All mismatches; `include_unused` adds recorded requests that were not made."""
        problems = list(self.problems)
        if include_unused and self._unused and not problems:
            problems.append(self._describe_unused())
        return "\n".join(problems) or None

    def _nearest(self, compare: Callable[[Exchange], list[Difference]]) -> tuple[int, list[Difference]]:
        places = self._unused[:1] if self._order == "recorded" else self._unused
        found = [(place, compare(self._exchanges[place])) for place in places]
        return min(found, key=lambda one: len(one[1]))

    def _add_problem(self, problem: str) -> str:
        redacted = redact(problem).value  # the text goes to the output of the test, which may be public
        self.problems.append(redacted)
        return redacted

    def _describe_mismatch(self, place: int, found: Sequence[Difference]) -> str:
        which = f"request {place + 1} of {len(self._exchanges)}"
        if self._order == "any":
            which = f"request {self._request_count} matches no unused request; the nearest, {which},"
        lines = [f"{self._name}: {which} differs from the recording (recorded → actual):"]
        lines += [f"  {difference}" for difference in found[:MAX_LISTED]]
        if len(found) > MAX_LISTED:
            lines.append(f"  … and {len(found) - MAX_LISTED} more")
        lines.append(self._hint())
        if (path := found[0].path) not in ("path", "method", "body"):
            lines.append(f'If it differs on every run: ignore=["{path}"]')
        return "\n".join(lines)

    def _describe_extra(self) -> str:
        count = self._recorded_count()
        return (
            f"{self._name}: request {self._request_count} was made, but only {count} recorded\n{self._hint()}"
        )

    def _describe_unused(self) -> str:
        made = len(self._exchanges) - len(self._unused)
        which = ", ".join(str(place + 1) for place in self._unused[:MAX_LISTED])
        return (
            f"{self._name}: {self._recorded_count()} recorded, but only {made} made; "
            f"not made: {which}\n{self._hint()}"
        )

    def _recorded_count(self) -> str:
        count = len(self._exchanges)
        return "1 request was" if count == 1 else f"{count} requests were"

    def _hint(self) -> str:
        return f"If this is intended: {self._advice}"
