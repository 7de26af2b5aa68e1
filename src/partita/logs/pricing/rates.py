"""What models charge, from the price list that `genai-prices` brings along. Nothing is ever downloaded.

The list is loaded when the first price is asked for, and every answer is remembered.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from partita.types.json import JsonObject

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

Conditions: TypeAlias = tuple[tuple[str, str], ...]
"""What else a price depends on, as the list calls it: `("service_tier", "flex")`."""

SOURCE: Final = "genai-prices"
LOCAL: Final = frozenset({"ollama", "lmstudio", "lm-studio", "llama.cpp", "llamacpp", "mlx", "vllm", "oss"})
"""Who runs models on one's own machine: nobody charges for them."""

FAST: Final = {"claude-opus-4-6": 6, "claude-opus-4-7": 6, "claude-opus-4-8": 2, "claude-opus-5": 2}
"""How many times as much Claude's fast mode costs, whatever the length (platform.claude.com, pricing)."""

WEB_SEARCHES: Final = 10.0
"""US dollars for a thousand, unless the list says otherwise."""

NEWEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The moment for which the newest prices hold."""

NAMES: Final = {
    "input": "input_mtok",
    "cachedInput": "cache_read_mtok",
    "cacheWrite": "cache_write_mtok",
    "cacheWrite1h": "cache_write_1h_mtok",
    "output": "output_mtok",
    "reasoning": "output_reasoning_mtok",
}
"""Rates for a million tokens: our names, and those of the list."""

_VENDORS = "ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer"
BEDROCK = re.compile(rf"(?:[a-z]{{2,6}}(?:-gov)?\.)?(?:{_VENDORS})\.(?P<model>.+?)(?:-v\d+(?::\d+\w*)?)?")
VARIANT = re.compile(r"\[[^\]]*\]$")
"""`[1m]`: the context that was asked for. What was used decides the price."""


class Level(NamedTuple):
    """US dollars for a million tokens of each kind, for a thousand searches; and the same to be kept."""

    input: float
    cached_input: float
    cache_write: float
    cache_write_1h: float
    output: float
    reasoning: float
    web_searches: float
    snapshot: JsonObject


class Tariff(NamedTuple):
    """What a model charges: a level for each length of the input, and where the higher ones begin."""

    starts: tuple[int, ...]
    levels: tuple[Level, ...]


class Model(NamedTuple):
    """A model in the list."""

    provider: str
    info: "ModelInfo"
    by_the_hour: bool  # whether the time of the day matters


def tariff_of(
    model: str, provider: str | None, at: datetime | None, conditions: Conditions, *, fast: bool
) -> Tariff | None:
    """What a model charged at a moment (`None`: the newest that is known)."""
    found = _find(model, provider)
    if found is None:
        return None
    moment = NEWEST if at is None else at
    when: date = moment.date()
    if found.by_the_hour:
        quarter = moment.minute - moment.minute % 15  # prices change on the half hour, if at all
        when = moment.replace(minute=quarter, second=0, microsecond=0)
    return _tariff(model, provider, when, conditions, fast)


@lru_cache(maxsize=4096)
def _find(model: str, provider: str | None) -> Model | None:
    from genai_prices.types import TimeOfDateConstraint

    if provider is not None and provider.lower() in LOCAL:
        return None
    for whose, name in _spellings(model, provider):
        try:
            owner, info = _list().find_provider_model(name, None, whose, None)
        except LookupError:
            continue
        prices = info.prices if isinstance(info.prices, list) else []
        return Model(owner.id, info, any(isinstance(p.constraint, TimeOfDateConstraint) for p in prices))
    return None


def _spellings(model: str, provider: str | None) -> Iterator[tuple[str | None, str]]:
    """Under whom, and how, a model may stand in the list, the surest first."""
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
    if "@" in tail:  # as Vertex names versions
        yield "google", tail
    if provider:
        yield provider, plain
    yield None, plain


@cache
def _list() -> "DataSnapshot":
    """The list as it was packed: not one that somebody else in the process may have fetched since."""
    from genai_prices.data_snapshot import DataSnapshot

    # By its name: to read so long a literal takes a type checker longer than all the rest.
    providers: list[Provider] = import_module("genai_prices.data").providers
    return DataSnapshot(providers=providers, from_auto_update=False)


@lru_cache(maxsize=4096)
def _tariff(
    model: str, provider: str | None, when: date, conditions: Conditions, fast: bool
) -> Tariff | None:
    from genai_prices.types import TieredPrices

    found = _find(model, provider)
    assert found is not None, "looked for before"
    moment = when if isinstance(when, datetime) else datetime(when.year, when.month, when.day, tzinfo=UTC)
    prices = found.info.get_prices(moment, dict(conditions))
    listed = [getattr(prices, name) for name in NAMES.values()]
    if listed[0] is None and prices.output_mtok is None:
        return None  # it charges for something else than tokens
    if fast and found.info.id not in FAST:
        return None
    starts: tuple[int, ...] = ()
    if not fast:
        starts = tuple(sorted({t.start for p in listed if isinstance(p, TieredPrices) for t in p.tiers}))
    special = {**dict(conditions), **({"speed": "fast"} if fast else {})}
    said: JsonObject = {"conditions": special} if special else {}
    times = FAST[found.info.id] if fast else 1
    levels = (_level(found, prices, start, times, said) for start in (0, *starts))
    return Tariff(starts, tuple(levels))


def _level(found: Model, prices: "ModelPrice", above: int, times: int, said: JsonObject) -> Level:
    """The rates for inputs of more than so many tokens. What has no rate of its own has that of its kind."""
    listed: dict[str, Any] = {ours: getattr(prices, name) for ours, name in NAMES.items()}
    rates = {name: _rate(price, above) * times for name, price in listed.items() if price is not None}
    plain, output = rates.get("input", 0.0), rates.get("output", 0.0)
    write = rates.get("cacheWrite", plain)
    searches = prices.web_searches_kcount
    per_thousand = WEB_SEARCHES if searches is None else _rate(searches, above)
    return Level(
        plain,
        rates.get("cachedInput", plain),
        write,
        rates.get("cacheWrite1h", write),
        output,
        rates.get("reasoning", output),
        per_thousand,
        {
            "source": SOURCE,
            "version": _version(),
            "provider": found.provider,
            "model": found.info.id,
            "perMillion": rates,
            "webSearchesPerThousand": per_thousand,
            **({"above": above} if above else {}),
            **said,
        },
    )


def _rate(price: "Decimal | TieredPrices", above: int) -> float:
    from genai_prices.types import TieredPrices

    if not isinstance(price, TieredPrices):
        return float(price)
    reached = [tier.price for tier in price.tiers if above and tier.start <= above]
    return float(reached[-1] if reached else price.base)


@cache
def _version() -> str:
    from importlib.metadata import version

    return version(SOURCE)
