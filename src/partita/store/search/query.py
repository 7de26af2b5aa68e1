"""The grammar of searches: words, phrases, exclusions, alternatives and qualifiers.

    lamp "red switch" -broken        all of these words, this phrase, and not that word
    lamp OR light                    one of them; `OR` joins only the terms next to it
    migrat*                          words that start so; the last word is always a prefix
    tool:Bash -tool:Read file:app.py project:"my app" before:2026-03-01

Only known qualifiers with a value are qualifiers: `foo:bar` and `http://…` are text, since code is full of
colons. `"file:x"` in quotes is text, too.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from partita.errors import StoreError
from partita.store.sql.texts import storable
from partita.store.values import SEARCH_FIELDS, Role, SearchField, SearchFilter
from partita.types.times import in_utc, parse_time_expression

from .tokens import fold_and_separate, subwords_of, tokens_of

MAX_TERMS: Final = 32
"""The number of words, phrases and qualifiers of a query that are used."""

MAX_PHRASE: Final = 64
"""The number of tokens of a phrase that are used."""

Name: TypeAlias = Literal[
    "thread", "thread-keys", "tool", "project", "agent", "role", "in", "before", "after"
]
"""What a condition is about. The names are those of the qualifiers, and `thread` and `thread-keys`."""

TERM_FIELDS: Final[dict[str, SearchField]] = {"file": "tool-input", "title": "title"}
"""Qualifiers that search their value in one field. A path is searched in what tools were called with."""

ROLES: Final[tuple[str, ...]] = get_args(Role)
CHOICES: Final[dict[str, Sequence[str]]] = {"role": ROLES, "in": SEARCH_FIELDS}
TIMES: Final = ("before", "after")
QUALIFIERS: Final = (*TERM_FIELDS, "tool", "project", "agent", "role", "in", *TIMES)

ITEM: Final = re.compile(
    rf"""(?P<without>-?)(?:
    (?P<name>{"|".join(QUALIFIERS)}):(?:["“”](?P<quoted>[^"“”]+)["“”]?|(?P<value>[^\s"“”]+))
    |["“”](?P<phrase>[^"“”]*)["“”]?
    |(?P<word>[^\s"“”]+))""",
    re.VERBOSE,
)
OR: Final = "OR"


class Phrase(NamedTuple):
    """Tokens that follow each other; the last one may be a prefix."""

    tokens: tuple[str, ...]
    prefix: bool = False


class Term(NamedTuple):
    """What must be found: one of several phrases, which are alternatives or spellings of a word."""

    phrases: tuple[Phrase, ...]
    field: SearchField | None = None  # where it must be found; `None`: in any searched field

    @property
    def is_single_token(self) -> bool:
        """Whether every phrase is a single token."""
        return all(len(phrase.tokens) == 1 for phrase in self.phrases)

    @property
    def is_letter(self) -> bool:
        """Whether every phrase is the first letter of a word, by which messages are not ranked."""
        return all(
            phrase.prefix and len(phrase.tokens) == len(phrase.tokens[0]) == 1 for phrase in self.phrases
        )


class Condition(NamedTuple):
    """A condition on messages or threads: one of these values, or with `excluded` none of them."""

    name: Name
    values: tuple[Any, ...]
    excluded: bool = False


class Query(NamedTuple):
    """The terms that must be found, those that must not, and the conditions."""

    required: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def terms_in(self, field: SearchField) -> tuple[Term, ...]:
        """The terms that show in this field why an entry was found."""
        return tuple(term for term in self.required if term.field in (None, field))


class _Item(NamedTuple):
    """A word, a phrase or a qualifier of a query."""

    text: str
    name: str | None = None
    excluded: bool = False
    quoted: bool = False
    last: bool = False


def parse(text: str, *, now: datetime | None = None) -> Query:
    """The query of a text. `now` also has the zone of its dates; the default is the zone of this machine.

    A `StoreError` if nothing in it can be searched for, or if the value of a qualifier is not valid.
    """
    required: list[Term] = []
    excluded: list[Term] = []
    conditions: list[Condition] = []
    for group in _groups(_items(text)):
        first = group[0]
        if first.name is None or first.name in TERM_FIELDS:
            term = _term(group)
            if term is not None:
                (excluded if first.excluded else required).append(term)
        else:
            conditions.append(_condition(group, now or datetime.now().astimezone()))
    if not required and not any(one.name != "in" and not one.excluded for one in conditions):
        raise StoreError(
            "nothing to search for",
            where=repr(text[:80]),
            hint='write a word, a "phrase" or a qualifier such as tool:Bash; '
            "-excluded words and in:FIELD only narrow a search",
        )
    return Query(tuple(required), tuple(excluded), tuple(conditions))


def with_filter(query: Query, filter: SearchFilter) -> Query:
    """The query with the conditions of a filter."""
    values: dict[Name, Sequence[Any]] = {
        "thread": _one(filter.thread_id),
        "role": filter.roles,
        "tool": _one(filter.tool),
        "agent": _one(filter.agent),
        "project": _one(filter.project),
        "after": () if filter.since is None else (in_utc(filter.since, "since"),),
        "before": () if filter.until is None else (in_utc(filter.until, "until"),),
        "in": filter.fields,
    }
    added = (Condition(name, tuple(some)) for name, some in values.items() if some)
    return query._replace(conditions=(*query.conditions, *added))


def spellings(text: str) -> tuple[str, ...]:
    """The words and phrases of a query as they are written: their letters and digits, with their case."""
    return tuple(filter(None, (letters_of(item.text) for item in _items(text))))


def letters_of(text: str) -> str:
    """The letters and digits of a text, with their case."""
    return "".join(fold_and_separate(text).split())


def _one(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)


def _items(text: str) -> list[_Item]:
    matches = list(ITEM.finditer(text))
    items: list[_Item] = []
    for number, match in enumerate(matches[:MAX_TERMS]):
        last = number == len(matches) - 1
        name, quoted = match["name"], match["quoted"] or match["phrase"]
        item = _Item(match["value"] or match["word"] or "", name, bool(match["without"]), last=last)
        if quoted is not None:
            item = item._replace(text=quoted, quoted=True)
        if item.excluded and name is None and item.text.startswith("-"):  # --dry-run is not an exclusion
            item = item._replace(excluded=False)
        items.append(item)
    return items


def _groups(items: Sequence[_Item]) -> list[list[_Item]]:
    """The items, those that `OR` joins in one group. An `OR` that is not between two terms is a word."""
    groups: list[list[_Item]] = []
    joined = False  # to the group before
    for item, following in zip(items, (*items[1:], None), strict=False):
        if joined:
            groups[-1].append(item)
            joined = False
        elif _joins(item, groups[-1][-1] if groups else None, following):
            joined = True
        else:
            groups.append([item])
    for group in groups:
        if len({item.name for item in group}) > 1:
            raise StoreError(
                "OR between different qualifiers",
                where=" OR ".join(f"{item.name}:{item.text}" if item.name else item.text for item in group),
                hint="join words with words, or qualifiers of the same name: tool:Read OR tool:Edit",
            )
    return groups


def _joins(item: _Item, before: _Item | None, after: _Item | None) -> bool:
    """Whether an item is an `OR` between two terms that are not excluded."""
    is_or = item.text == OR and item.name is None and not item.quoted and not item.excluded
    return is_or and all(one is not None and not one.excluded for one in (before, after))


def _term(group: Sequence[_Item]) -> Term | None:
    """The term of words, phrases or paths of which one must be found; `None` if they are punctuation."""
    phrases = dict.fromkeys(phrase for item in group for phrase in _phrases(item))
    name = group[0].name
    if not phrases and name is not None:
        raise StoreError(
            f"{name}: has no word", where=group[0].text, hint=f'write {name}:word or {name}:"some words"'
        )
    return Term(tuple(phrases), None if name is None else TERM_FIELDS[name]) if phrases else None


def _phrases(item: _Item) -> list[Phrase]:
    """The spellings of a word or a phrase; none if it is only punctuation."""
    spellings = dict.fromkeys((tuple(tokens_of(item.text)), tuple(subwords_of(item.text))))
    starred = not item.quoted and item.text.endswith("*")
    ended = item.text[-1:].isascii() and not item.text[-1:].isalnum()  # c++
    prefix = item.last and not (item.quoted or item.excluded or ended)
    return [
        Phrase(tokens[:MAX_PHRASE], starred or (prefix and len(tokens) <= MAX_PHRASE))
        for tokens in spellings
        if tokens
    ]


def _condition(group: Sequence[_Item], now: datetime) -> Condition:
    name: Any = group[0].name  # one of the names, as the expression has no others
    read: Callable[[str], Any] = _time_of(name, now) if name in TIMES else lambda text: _value(name, text)
    return Condition(name, tuple(read(item.text) for item in group), group[0].excluded)


def _value(name: str, text: str) -> str:
    storable(text, f"{name}:")
    choices = CHOICES.get(name)
    if choices is not None and text not in choices:
        raise StoreError(
            f"{name}:{text[:80]} is not known", where=f"{name}:", hint=f"choose from {', '.join(choices)}"
        )
    return text


def _time_of(name: str, now: datetime) -> Callable[[str], datetime]:
    def read(text: str) -> datetime:
        time = parse_time_expression(text, now)
        if time is None:
            raise StoreError(
                f"{text[:80]!r} is not a time",
                where=f"{name}:",
                hint=f"write {name}:2026-03-01, {name}:2026-03-01T14:00, {name}:yesterday or {name}:2w",
            )
        return time

    return read
