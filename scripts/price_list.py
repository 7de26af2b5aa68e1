"""Writes the price list of the package from the data of `genai-prices`: `make prices`.

The list has what `partita.logs.pricing` uses: rules for the names of models, and prices of tokens and web
searches. Descriptions and other prices (images, audio, pages) are left out.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    ConditionalPrice,
    MatchLogic,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

from partita.logs.pricing.price_list import FILE, SOURCE
from partita.logs.pricing.prices import TIERS
from partita.types.json import Json, JsonObject, dumps

NAMES: Final = {
    "input_mtok": "input",
    "cache_read_mtok": "cachedInput",
    "cache_write_mtok": "cacheWrite",
    "cache_write_1h_mtok": "cacheWrite1h",
    "output_mtok": "output",
    "output_reasoning_mtok": "reasoning",
    "web_searches_kcount": "webSearches",
}
"""The rates in the list: their names in `genai-prices`, and in the list."""


def price_list() -> str:
    """Return the list as JSON, with one line per model."""
    # Imported by name: type checkers take longer for this literal than for everything else.
    providers: list[Provider] = import_module("genai_prices.data").providers
    blocks = ",\n".join(_provider_json(provider) for provider in providers)
    return f'{{"source":{_json(_source())},\n"providers":[\n{blocks}\n]}}\n'


def _source() -> JsonObject:
    package = distribution(SOURCE)
    (license_file,) = (file for file in package.files or () if file.name == "LICENSE")
    return {
        "name": SOURCE,
        "version": package.version,
        "url": "https://github.com/pydantic/genai-prices",
        "license": package.metadata["License-Expression"],
        "licenseText": license_file.read_text(),
    }


def _provider_json(provider: Provider) -> str:
    head: JsonObject = {"id": provider.id}
    if provider.provider_match is not None:
        head["match"] = _match(provider.provider_match)
    if provider.model_match is not None:
        head["modelMatch"] = _match(provider.model_match)
    if provider.fallback_model_providers:
        head["fallback"] = list(provider.fallback_model_providers)
    models = ",\n".join(_json(_model(model)) for model in provider.models)
    return f'{_json(head)[:-1]},"models":[\n{models}\n]}}'


def _model(model: ModelInfo) -> JsonObject:
    listed = model.prices if isinstance(model.prices, list) else [ConditionalPrice(prices=model.prices)]
    prices: list[Json] = [_prices(one.prices, one.constraint) for one in listed]
    supported = [dict(conditions) for conditions in TIERS.values()]
    variants: list[Json] = [
        {"when": variant.when, **_prices(variant.prices, variant.constraint)}
        for variant in model.price_variants or ()
        if variant.when in supported
    ]
    return {
        "id": model.id,
        "match": _match(model.match),
        "prices": prices,
        **({"variants": variants} if variants else {}),
    }


def _prices(prices: ModelPrice, constraint: StartDateConstraint | TimeOfDateConstraint | None) -> JsonObject:
    rates = {ours: getattr(prices, theirs) for theirs, ours in NAMES.items()}
    return {
        **_constraint(constraint),
        "rates": {name: _rate(price) for name, price in rates.items() if price is not None},
    }


def _constraint(constraint: StartDateConstraint | TimeOfDateConstraint | None) -> JsonObject:
    match constraint:
        case None:
            return {}
        case StartDateConstraint():
            return {"from": constraint.start_date.isoformat()}
        case TimeOfDateConstraint():
            return {"hours": [_in_utc(constraint.start_time), _in_utc(constraint.end_time)]}


def _in_utc(clock: time) -> str:
    return datetime.combine(date(1970, 1, 1), clock, clock.tzinfo or UTC).astimezone(UTC).time().isoformat()


def _rate(price: Decimal | TieredPrices) -> Json:
    if isinstance(price, TieredPrices):
        return {"base": _number(price.base), "above": [[t.start, _number(t.price)] for t in price.tiers]}
    return _number(price)


def _number(price: Decimal) -> float:
    return int(price) if price == int(price) else float(price)


def _match(logic: MatchLogic) -> JsonObject:
    """Return a rule for names. Names are compared in lower case; regular expressions are not changed."""
    match logic:
        case ClauseEquals():
            return {"equals": logic.equals.lower()}
        case ClauseStartsWith():
            return {"startsWith": logic.starts_with.lower()}
        case ClauseEndsWith():
            return {"endsWith": logic.ends_with.lower()}
        case ClauseContains():
            return {"contains": logic.contains.lower()}
        case ClauseRegex():
            return {"regex": logic.regex}
        case ClauseOr():
            return {"anyOf": _matches(logic.or_)}
        case ClauseAnd():
            return {"allOf": _matches(logic.and_)}


def _matches(clauses: Iterable[MatchLogic]) -> list[Json]:
    return [_match(clause) for clause in clauses]


def _json(value: Any) -> str:
    return dumps(value).decode()


if __name__ == "__main__":
    Path(FILE).write_text(price_list(), encoding="utf-8")
