"""What a response cost, by the list prices of its day: an estimate without discounts or subscriptions."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from partita.config.prices import OwnPrice
from partita.types.json import Json, JsonObject, is_object
from partita.types.times import in_utc
from partita.types.usage import Usage

from .own_prices import own_prices
from .price_list import ListedModel, Rates, TieredRate, find_model, price_list

MILLION, THOUSAND = 1_000_000, 1_000

Conditions: TypeAlias = tuple[tuple[str, str], ...]
"""What else a price depends on, as in the price list: `("service_tier", "flex")`."""

TIERS: Final[dict[str, Conditions]] = {
    "batch": (("processing", "batch"),),
    "flex": (("service_tier", "flex"),),
    "priority": (("service_tier", "priority"),),
}
"""Values of `service_tier` in responses, and the conditions they stand for. Others have the usual prices."""

LOCAL: Final = frozenset({"ollama", "lmstudio", "lm-studio", "llama.cpp", "llamacpp", "mlx", "vllm", "oss"})
"""Providers that run models on the user's own machine, for which nothing is charged."""

FAST: Final = {"claude-opus-4-6": 6, "claude-opus-4-7": 6, "claude-opus-4-8": 2, "claude-opus-5": 2}
"""The factor by which Claude's fast mode costs more, at any input length (platform.claude.com, pricing)."""

WEB_SEARCHES: Final = 10.0
"""US dollars for a thousand web searches, if the list has no rate for them."""

NEWEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The time at which the newest prices apply."""

TOKENS: Final = ("input", "cachedInput", "cacheWrite", "cacheWrite1h", "output", "reasoning")
"""The kinds of tokens, in the order in which their rates are stored with a cost."""

_VENDORS = "ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer"
BEDROCK = re.compile(rf"(?:[a-z]{{2,6}}(?:-gov)?\.)?(?:{_VENDORS})\.(?P<model>.+?)(?:-v\d+(?::\d+\w*)?)?")
VARIANT = re.compile(r"\[[^\]]*\]$")
"""`[1m]`: the context that was requested. The price depends on the one that was used."""


class Priced(NamedTuple):
    """A cost in US dollars, and the rates it was calculated with, which are stored with it."""

    cost: float
    snapshot: JsonObject


class Level(NamedTuple):
    """US dollars for a million tokens of each kind and a thousand searches, and the same as a snapshot."""

    input: float
    cached_input: float
    cache_write: float
    cache_write_1h: float
    output: float
    reasoning: float
    web_searches: float
    snapshot: JsonObject


class Tariff(NamedTuple):
    """What a model charges, by the length of the input."""

    starts: tuple[int, ...]
    """The lengths above which the next level applies."""
    levels: tuple[Level, ...]


def price_of(model: str | None, provider: str | None, usage: Usage, at: datetime | None) -> Priced | None:
    """What a response cost at a time (`None`: by the newest prices); `None` when no price is known.

    As in the list, `input_tokens` include those that were read from a cache or written to one, and
    `output_tokens` the reasoning. The lifetime of caches, the number of web searches, the speed and the tier
    are read from the counts as the provider sent them (`raw`).
    """
    if model is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    raw: JsonObject = usage.raw if is_object(usage.raw) else {}
    tier = raw.get("service_tier")
    conditions = TIERS.get(tier, ()) if isinstance(tier, str) else ()
    time = None if at is None else in_utc(at, "at")
    tariff = tariff_of(model, provider, time, conditions, fast=raw.get("speed") == "fast")
    if tariff is None:
        return None
    whole = usage.input_tokens or 0
    level = tariff.levels[bisect_left(tariff.starts, whole)]
    cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
    for_an_hour = min(_count(raw.get("cache_creation"), "ephemeral_1h_input_tokens"), written)
    output = usage.output_tokens or 0
    reasoning = min(usage.reasoning_tokens or 0, output)
    tokens = (
        max(whole - cached - written, 0) * level.input
        + cached * level.cached_input
        + (written - for_an_hour) * level.cache_write
        + for_an_hour * level.cache_write_1h
        + (output - reasoning) * level.output
        + reasoning * level.reasoning
    )
    searches = _count(raw.get("server_tool_use"), "web_search_requests")
    return Priced(tokens / MILLION + searches * level.web_searches / THOUSAND, level.snapshot)


def _count(counts: Json, name: str) -> int:
    """A count that a provider may have sent."""
    value = counts.get(name) if is_object(counts) else None
    return value if isinstance(value, int) and value > 0 else 0


def tariff_of(
    model: str, provider: str | None, at: datetime | None, conditions: Conditions, *, fast: bool
) -> Tariff | None:
    """What a model charged at a time (`None`: the newest prices), or the user's own price of it."""
    own = own_prices().get(model.strip().lower())
    return list_tariff(model, provider, at, conditions, fast=fast) if own is None else own_tariff(own)


def own_tariff(price: OwnPrice) -> Tariff:
    """What a model charges by a price of the user: the same for tokens that are written to a cache."""
    cached = price.input if price.cached_input is None else price.cached_input
    rates: JsonObject = {"input": price.input, "output": price.output, "cachedInput": cached}
    snapshot: JsonObject = {"source": "settings", "model": price.model, "perMillion": rates}
    level = Level(price.input, cached, price.input, price.input, price.output, price.output, 0.0, snapshot)
    return Tariff((), (level,))


def list_tariff(
    model: str, provider: str | None, at: datetime | None, conditions: Conditions = (), *, fast: bool = False
) -> Tariff | None:
    """What a model charged at a time by the price list."""
    found = _find(model, provider)
    if found is None:
        return None
    time = NEWEST if at is None else at
    when: date = time.date()
    if found.model.by_the_hour:
        quarter = time.minute - time.minute % 15  # prices change on the half hour, if at all
        when = time.replace(minute=quarter, second=0, microsecond=0)
    return _tariff(model, provider, when, conditions, fast)


@lru_cache(maxsize=4096)
def _find(model: str, provider: str | None) -> ListedModel | None:
    if provider is not None and provider.lower() in LOCAL:
        return None
    names = _spellings(model, provider)
    return next((found for owner, name in names if (found := find_model(name, owner))), None)


def _spellings(model: str, provider: str | None) -> Iterator[tuple[str | None, str]]:
    """The providers and names under which a model may be listed, the most reliable first."""
    name = VARIANT.sub("", model.strip().lower())
    tail = name.rpartition("/")[2]
    bedrock = BEDROCK.fullmatch(tail)
    plain = (bedrock["model"] if bedrock else tail).replace("@", "-")
    if bedrock:
        yield "aws", tail
    if provider:
        yield provider, name
    if "/" in name:
        before, _, after = name.partition("/")
        yield before, after
    if "@" in tail:  # how Vertex writes versions
        yield "google", tail
    if provider:
        yield provider, plain
    yield None, plain


@lru_cache(maxsize=4096)
def _tariff(
    model: str, provider: str | None, when: date, conditions: Conditions, fast: bool
) -> Tariff | None:
    found = _find(model, provider)
    assert found is not None, "the caller has found it"
    time = when if isinstance(when, datetime) else datetime(when.year, when.month, when.day, tzinfo=UTC)
    rates = found.model.rates_at(time, dict(conditions))
    if "input" not in rates and "output" not in rates:
        return None  # it charges for something other than tokens
    if fast and found.model.id not in FAST:
        return None
    starts: set[int] = set()
    if not fast:
        tiered = (rate for name in TOKENS if isinstance(rate := rates.get(name), TieredRate))
        starts = {start for rate in tiered for start, _ in rate.above}
    special: JsonObject = {**dict(conditions), **({"speed": "fast"} if fast else {})}
    factor = FAST[found.model.id] if fast else 1
    above = sorted(starts)
    return Tariff(tuple(above), tuple(_level(found, rates, start, factor, special) for start in (0, *above)))


def _level(found: ListedModel, listed: Rates, above: int, factor: int, special: JsonObject) -> Level:
    """The rates for inputs of more than `above` tokens. A kind without a rate has that of its base kind."""
    rates = {name: _rate(listed[name], above) * factor for name in TOKENS if name in listed}
    plain, output = rates.get("input", 0.0), rates.get("output", 0.0)
    write = rates.get("cacheWrite", plain)
    searches = listed.get("webSearches")
    per_thousand = WEB_SEARCHES if searches is None else _rate(searches, above)
    source = price_list().source
    return Level(
        plain,
        rates.get("cachedInput", plain),
        write,
        rates.get("cacheWrite1h", write),
        output,
        rates.get("reasoning", output),
        per_thousand,
        {
            "source": source.name,
            "version": source.version,
            "provider": found.provider,
            "model": found.model.id,
            "perMillion": rates,
            "webSearchesPerThousand": per_thousand,
            **({"above": above} if above else {}),
            **({"conditions": special} if special else {}),
        },
    )


def _rate(rate: float | TieredRate, above: int) -> float:
    if not isinstance(rate, TieredRate):
        return rate
    reached = [price for start, price in rate.above if above and start <= above]
    return reached[-1] if reached else rate.base
