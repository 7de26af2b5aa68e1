"""The prices of the models in the store: for the user of this machine."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from partita.logs.pricing.own_prices import own_prices
from partita.logs.pricing.prices import Tariff, list_tariff, own_tariff
from partita.server.callers import Caller, require_local
from partita.server.endpoints import get
from partita.server.responses import Listing
from partita.store.values import UsageStat

TAGS: Final = ["settings"]


class Rates(msgspec.Struct, rename="camel"):
    """US dollars per million tokens. A long input may cost more."""

    input: float
    output: float
    cached_input: float


class ModelPrice(msgspec.Struct, rename="camel"):
    """A model in the store, or with an own price, and what it costs."""

    model: str
    responses: Annotated[int, Meta(description="The number of its responses in the store.")]
    unpriced: Annotated[int, Meta(description="How many of them have no cost.")]
    cost: Annotated[float | None, Meta(description="Their cost in US dollars, at the prices of their days.")]
    source: Annotated[
        Literal["settings", "list"] | None,
        Meta(description="Where the price is from: `prices`, or the price list; null if none is known."),
    ]
    rates: Annotated[Rates | None, Meta(description="The newest price.")]
    listed: Annotated[Rates | None, Meta(description="The price in the price list.")]


@get("/api/prices", tags=TAGS, summary="List the prices of the models in the store")
async def list_prices(caller: Caller) -> Listing[ModelPrice]:
    """Every model with responses in the store, the most expensive first, then those that only have an own
    price (`prices`). Only for the user of this machine.
    """
    require_local(caller.principal, "see the prices of this machine")
    totals = await caller.store.stats.totals(by="model", measures=["usage"])
    found = {row.key[0]: row for row in totals if row.key[0]}
    own = own_prices()
    names = [*found, *(name for name in own if name not in {str(one).lower() for one in found})]
    return Listing(tuple(_price(str(name), found.get(name)) for name in names))


def _price(name: str, row: UsageStat | None) -> ModelPrice:
    own, listed = own_prices().get(name.lower()), _rates(list_tariff(name, None, None))
    return ModelPrice(
        model=name,
        responses=0 if row is None else row.responses,
        unpriced=0 if row is None else row.unpriced,
        cost=None if row is None else row.cost,
        source="settings" if own else "list" if listed else None,
        rates=_rates(own_tariff(own)) if own else listed,
        listed=listed,
    )


def _rates(tariff: Tariff | None) -> Rates | None:
    if tariff is None:
        return None
    level = tariff.levels[0]
    return Rates(level.input, level.output, level.cached_input)
