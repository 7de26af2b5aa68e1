"""Where two JSON values differ, path by path, told in a line each."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object

ABSENT: Final = "(absent)"
SHOWN: Final = 60
"""How many characters of a value are shown."""

BEFORE: Final = 20
"""How many of them stand before the first that differs."""

_TOKEN: Final = re.compile(r"\[\*\]|\[\d+\]|\*\*\.?|\*|\.|[^.\[\]*]+")
_MARK: Final = re.compile(r"\[redacted: [a-z -]+ \d+\]")
"""What stands for a secret in a recording."""


class Difference(NamedTuple):
    """One place where the recorded and the made differ, each as it is shown."""

    path: str
    recorded: str
    made: str

    def __str__(self) -> str:
        return f"{self.path}: {self.recorded} → {self.made}"


def differences(recorded: Json, made: Json, path: str = "") -> list[Difference]:
    """All places where two values differ. The order of members does not count."""
    return list(_differences(recorded, made, path))


def _differences(recorded: Json, made: Json, path: str) -> Iterator[Difference]:
    if is_object(recorded) and is_object(made):
        for name in [*recorded, *(name for name in made if name not in recorded)]:
            inside = f"{path}.{name}" if path else name
            if name not in made:
                yield Difference(inside, _shown(recorded[name]), ABSENT)
            elif name not in recorded:
                yield Difference(inside, ABSENT, _shown(made[name]))
            else:
                yield from _differences(recorded[name], made[name], inside)
    elif is_array(recorded) and is_array(made):
        yield from _items(recorded, made, path)
    elif isinstance(recorded, str) and isinstance(made, str):
        if recorded != made and not _fills_marks(recorded, made):
            yield Difference(path, *_texts(recorded, made))
    elif not _same(recorded, made):
        yield Difference(path, _shown(recorded), _shown(made))


def _fills_marks(recorded: str, made: str) -> bool:
    """Whether a text is the recorded one with something where a secret was taken out."""
    if _MARK.search(recorded) is None:
        return False
    return re.fullmatch(".+?".join(map(re.escape, _MARK.split(recorded))), made, re.DOTALL) is not None


def _same(one: Json, other: Json) -> bool:
    """Whether two values are the same; 1 and 1.0 are, 1 and true are not."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _items(recorded: Sequence[Json], made: Sequence[Json], path: str) -> Iterator[Difference]:
    """Items that moved are told as added and taken away, so that one more at the top is one difference."""
    if len(recorded) == len(made):
        for place, (was, now) in enumerate(zip(recorded, made, strict=True)):
            yield from _differences(was, now, f"{path}[{place}]")
        return
    matcher = SequenceMatcher(None, list(map(_spelled, recorded)), list(map(_spelled, made)), autojunk=False)
    for kind, was_from, was_to, now_from, now_to in matcher.get_opcodes():
        if kind == "equal":
            continue
        pairs = min(was_to - was_from, now_to - now_from)
        for step in range(pairs):
            was, now = was_from + step, now_from + step
            yield from _differences(recorded[was], made[now], f"{path}[{now}]")
        for place in range(was_from + pairs, was_to):
            yield Difference(f"{path}[{place}]", _shown(recorded[place]), ABSENT)
        for place in range(now_from + pairs, now_to):
            yield Difference(f"{path}[{place}]", ABSENT, _shown(made[place]))


def _spelled(value: Json) -> bytes:
    return dumps(_sorted(value))


def _sorted(value: Json) -> Json:
    if is_object(value):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if is_array(value) else value


def _shown(value: Json) -> str:
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
