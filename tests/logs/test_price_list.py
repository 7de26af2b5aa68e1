"""The price list has the models and the rates of `genai-prices`."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from genai_prices.data_snapshot import DataSnapshot
from genai_prices.types import StartDateConstraint, TieredPrices

from partita.logs.pricing.price_list import FILE, TieredRate, find_model, price_list
from partita.logs.pricing.prices import NEWEST, TIERS
from scripts.price_list import NAMES
from scripts.price_list import price_list as generated_list
from tests.sampling import picked

FIXTURES = Path(__file__).parent.parent / "fixtures"
ALIASES = ("Bedrock", "azure-openai", "vertex", "google-gla", "together-ai", "xai", "OpenAI ", "gateway", "")
DATES = ("", "-20251211", "-2025-12-11", "-20251399", "@20250929", "[1m]")


def test_the_list_is_up_to_date() -> None:
    assert FILE.read_text() == generated_list(), "run make prices"


def test_the_list_names_its_source() -> None:
    source = price_list().source
    assert (source.name, source.license, source.url) == (
        "genai-prices",
        "MIT",
        "https://github.com/pydantic/genai-prices",
    )
    assert "Permission is hereby granted" in source.license_text


@cache
def snapshot() -> DataSnapshot:
    return DataSnapshot(providers=import_module("genai_prices.data").providers, from_auto_update=False)


def names_in(match: Any) -> Iterator[str]:
    """The texts in the rules of a model. Of a regular expression, its plain characters."""
    for name in ("equals", "starts_with", "ends_with", "contains"):
        if text := getattr(match, name, None):
            yield text
    if pattern := getattr(match, "regex", None):
        yield re.sub(r"\(\?:|\[.*?\]|[\\^$()?+*|]", "", pattern)
    for clause in getattr(match, "or_", None) or getattr(match, "and_", ()):
        yield from names_in(clause)


def listed_names() -> Iterator[tuple[str, str | None]]:
    """Every name of every model as it is, with its provider and with others, and in other spellings."""
    count = 0
    for owner in snapshot().providers:
        for model in owner.models:
            for name in dict.fromkeys([model.id, *names_in(model.match)]):
                count += 1
                yield name, owner.id
                yield name.upper(), None
                yield f"{owner.id}/{name}", "litellm"
                yield f"{name}{DATES[count % len(DATES)]}", owner.id
                yield name, ALIASES[count % len(ALIASES)]


def recorded_names() -> Iterator[tuple[str, str | None]]:
    """Every name of a model in the recordings."""
    named = re.compile(rb'"model(?:Id|_id|ID)?"\s*:\s*"([^"\\]{1,120})"')
    files = (file for file in FIXTURES.rglob("*") if file.suffix in (".json", ".jsonl", ".sse"))
    names = {name.decode() for file in files for name in named.findall(file.read_bytes())}
    for name in sorted(names):
        yield from ((name, None), (name, "openrouter"), (name, "azure"))


def test_models_are_found_as_genai_prices_finds_them() -> None:
    cases = [*picked(list(listed_names()), 3000), *recorded_names()]
    different = [case for case in cases if found(*case) != found_in_package(*case)]
    assert different == []


def found(name: str, provider: str | None) -> tuple[str, str] | None:
    listed = find_model(name, provider)
    return None if listed is None else (listed.provider, listed.model.id)


def found_in_package(name: str, provider: str | None) -> tuple[str, str] | None:
    try:
        owner, model = snapshot().find_provider_model(name, None, provider, None)
    except LookupError:
        return None
    return owner.id, model.id


def test_rates_are_those_of_genai_prices() -> None:
    """At the beginning of every price and a moment before, at every quarter of a day and for every tier."""
    different: list[object] = []
    for ours, theirs in zip(price_list().providers, snapshot().providers, strict=True):
        for model, info in zip(ours.models, theirs.models, strict=True):
            assert (ours.id, model.id) == (theirs.id, info.id)
            for at in times_of(info):
                for conditions in ((), *TIERS.values()):
                    prices = info.get_prices(at, dict(conditions))
                    expected = {
                        name: rate_of(price)
                        for key, name in NAMES.items()
                        if (price := getattr(prices, key)) is not None
                    }
                    if model.rates_at(at, dict(conditions)) != expected:
                        different.append((ours.id, model.id, at, conditions))
    assert different == []


def times_of(info: Any) -> Iterator[datetime]:
    yield NEWEST
    prices = info.prices if isinstance(info.prices, list) else []
    conditions = [*prices, *(info.price_variants or ())]
    for condition in conditions:
        match condition.constraint:
            case None:
                pass
            case StartDateConstraint(start_date=day):
                start = datetime(day.year, day.month, day.day, tzinfo=UTC)
                yield from (start, start - timedelta(seconds=1))
            case _:
                midnight = datetime(2026, 6, 1, tzinfo=UTC)
                yield from (midnight + timedelta(minutes=15 * quarter) for quarter in range(96))


def rate_of(price: Any) -> float | TieredRate:
    if isinstance(price, TieredPrices):
        return TieredRate(float(price.base), tuple((tier.start, float(tier.price)) for tier in price.tiers))
    return float(price)
