"""The price list: names of models and their prices over time, in `price_list.json`.

`make prices` writes the file from the data of `genai-prices`; its first member holds the version, address and
license of that package. Models are found by the same rules. The file is read when the first price is needed.
Nothing is ever downloaded.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

FILE: Final = Path(__file__).with_suffix(".json")
SOURCE: Final = "genai-prices"


class Record(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An object of the file."""


class Match(Record, frozen=True):
    """A rule for names in lower case. It has exactly one member."""

    equals: str | None = None
    starts_with: str | None = None
    ends_with: str | None = None
    contains: str | None = None
    regex: str | None = None
    any_of: "tuple[Match, ...]" = ()
    all_of: "tuple[Match, ...]" = ()

    def matches(self, name: str) -> bool:
        """Whether a name follows the rule."""
        if self.equals is not None:
            return name == self.equals
        if self.any_of:
            return any(rule.matches(name) for rule in self.any_of)
        if self.starts_with is not None:
            return name.startswith(self.starts_with)
        if self.ends_with is not None:
            return name.endswith(self.ends_with)
        if self.contains is not None:
            return self.contains in name
        if self.regex is not None:
            return re.search(self.regex, name) is not None
        return all(rule.matches(name) for rule in self.all_of)


class TieredRate(Record, frozen=True):
    """A rate that depends on the number of input tokens. Above a limit, another one applies to all tokens."""

    base: float
    above: tuple[tuple[int, float], ...]
    """Limits in ascending order, and the rate above each."""


Rates: TypeAlias = Mapping[str, float | TieredRate]
"""US dollars for a million tokens of a kind (for a thousand web searches), by the name of the kind."""


class Prices(Record, frozen=True):
    """Rates, and when they apply: from a day on, or between two times of the day in UTC. Otherwise always."""

    rates: dict[str, float | TieredRate]
    start: date | None = msgspec.field(name="from", default=None)
    hours: tuple[time, time] | None = None

    def apply_at(self, at: datetime) -> bool:
        """Whether these rates apply at a time, which is in UTC."""
        if self.start is not None:
            return at.date() >= self.start
        if self.hours is None:
            return True
        (begin, end), clock = self.hours, at.time()
        return begin <= clock < end if begin <= end else clock >= begin or clock < end


class Variant(Prices, frozen=True, kw_only=True):
    """Rates that replace the usual ones for requests of a kind, such as `{"processing": "batch"}`."""

    when: dict[str, str]


class Model(Record, frozen=True):
    """A model and its prices; of those that apply at a time, the last ones count."""

    id: str
    match: Match
    prices: tuple[Prices, ...]
    variants: tuple[Variant, ...] = ()

    @property
    def by_the_hour(self) -> bool:
        """Whether prices depend on the time of the day."""
        return any(prices.hours for prices in self.prices)

    def rates_at(self, at: datetime, conditions: Mapping[str, str]) -> Rates:
        """The rates at a time in UTC, for requests of a kind."""
        usual = next((one for one in reversed(self.prices) if one.apply_at(at)), self.prices[0])
        special: dict[str, float | TieredRate] = {}
        for variant in self.variants:
            if variant.apply_at(at) and variant.when.items() <= conditions.items():
                special = {**variant.rates, **special}
        return {**usual.rates, **special}


class Provider(Record, frozen=True):
    """A provider: how it and its models are named, and whose models it offers besides its own."""

    id: str
    models: tuple[Model, ...]
    match: Match | None = None
    model_match: Match | None = None
    fallback: tuple[str, ...] = ()

    def model(self, name: str) -> Model | None:
        """The first of its own models that has this name."""
        return next((model for model in self.models if model.match.matches(name)), None)


class Source(Record, frozen=True):
    """Where the list is from."""

    name: str
    version: str
    url: str
    license: str
    license_text: str


class PriceList(Record, frozen=True):
    """The whole file."""

    source: Source
    providers: tuple[Provider, ...]


class ListedModel(NamedTuple):
    """A model, and the provider that offers it."""

    provider: str
    model: Model


@cache
def price_list() -> PriceList:
    """The list, read once."""
    return msgspec.json.decode(FILE.read_bytes(), type=PriceList)


def find_model(name: str, provider: str | None) -> ListedModel | None:
    """The model of this name that a provider offers. Without a provider, it is inferred from the name."""
    name, provider = name.lower(), provider and provider.lower()
    if provider == "litellm" and "/" in name:  # https://docs.litellm.ai/docs/providers: PROVIDER/MODEL
        prefix, _, rest = name.partition("/")
        if prefix and _find_provider(prefix):
            provider, name = prefix, rest
    owner = None if provider is None else _find_provider(provider)
    if owner is None and provider in (None, "litellm"):
        owner = next(
            (p for p in price_list().providers if p.model_match and p.model_match.matches(name)), None
        )
    if owner is None:
        return None
    found = _model_of(owner, name) or _model_of(owner, _with_dashes(name))
    return None if found is None else ListedModel(owner.id, found)


def _find_provider(name: str) -> Provider | None:
    """The provider that is known by this name."""
    name = name.strip()
    providers = price_list().providers
    by_id = next((one for one in providers if one.id == name), None)
    return by_id or next((one for one in providers if one.match and one.match.matches(name)), None)


def _model_of(owner: Provider, name: str) -> Model | None:
    """A model of a provider, or else of those whose models it offers too."""
    offered = [one for id_ in owner.fallback for one in price_list().providers if one.id == id_]
    return next((found for one in (owner, *offered) if (found := one.model(name))), None)


_DATE = re.compile(r"-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[-:]|$)")


def _with_dashes(name: str) -> str:
    """The name with dashes in its date, as some models are listed: `-20251211` becomes `-2025-12-11`."""

    def dashed(found: re.Match[str]) -> str:
        try:
            return f"-{date(*map(int, found.groups())).isoformat()}"
        except ValueError:
            return found[0]

    return _DATE.sub(dashed, name)
