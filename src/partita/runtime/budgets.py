"""Limits on the usage of each run, and of all runs of an owner within a period, in all processes."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from partita.errors import BudgetError, StoreError
from partita.logs.pricing.prices import price_of
from partita.runtime.session.usage_records import finish_metadata, responses_in, steps_of
from partita.store import counters
from partita.store.store import Store
from partita.types.chunks import ChildChunk, Chunk, StepStart
from partita.types.json import JsonObject
from partita.types.usage import Usage

DAY: Final = 86_400.0

STALE: Final = 1.0
"""After how many seconds the totals of an owner are exchanged with the store."""

SHARE: Final = 0.02
"""The fraction of a limit that a process may use before it adds that to the totals of all processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits. `None`: no limit."""

    steps: int | None = None
    """Calls of a model."""
    tokens: int | None = None
    """Input and output tokens."""
    cost: float | None = None
    """US dollars. Models without a known price cost nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Budgets of runs and of owners. Runs without an owner share one."""

    run: Budget = field(default_factory=Budget)
    """The budget of each run."""
    owner: Budget = field(default_factory=Budget)
    """The budget of all runs of an owner within a period."""
    period: float = DAY
    """Seconds. Periods start at multiples of it, so that a day starts at midnight UTC."""
    concurrent_runs: int | None = None
    """How many runs of an owner may be running or waiting at once."""


class BudgetUsage(NamedTuple):
    """Usage."""

    steps: int = 0
    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: "BudgetUsage") -> "BudgetUsage":
        """The sum."""
        return BudgetUsage(self.steps + other.steps, self.tokens + other.tokens, self.cost + other.cost)

    def minus(self, other: "BudgetUsage") -> "BudgetUsage":
        """The difference."""
        return BudgetUsage(self.steps - other.steps, self.tokens - other.tokens, self.cost - other.cost)

    def limit_reached(self, budget: Budget, subject: str) -> str | None:
        """Which limit this has reached, as a text; `None` if a further step may start."""
        if budget.steps is not None and self.steps >= budget.steps:
            return f"{subject} may use {budget.steps} steps"
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"{subject} may use {budget.tokens} tokens and has used {self.tokens}"
        if budget.cost is not None and self.cost >= budget.cost:
            return f"{subject} may cost {budget.cost:.2f} USD and has cost {self.cost:.4f}"
        return None


class _Total:
    """The total of an owner in a period: what all processes have added, and what is pending in this one."""

    def __init__(self, period: int) -> None:
        self.period = period
        self.known = BudgetUsage()
        self.pending = BudgetUsage()
        self.at = -math.inf
        self.lock = asyncio.Lock()

    @property
    def used(self) -> BudgetUsage:
        return self.known.plus(self.pending)


class OwnerTotals:
    """The totals of owners. Processes share them through the store, in batches."""

    def __init__(self, store: Store, budgets: Budgets) -> None:
        self._store = store
        self.budgets = budgets
        self._totals: dict[str, _Total] = {}  # of the current period
        self._period = -1
        self._tasks: set[asyncio.Task[None]] = set()

    async def check(self, owner: str | None) -> None:
        """Raise a `BudgetError` if the budget of an owner is used up."""
        total = self._total_of(owner)
        if self._is_stale(total):
            await self._share(owner or "", total)
        reason = total.used.limit_reached(self.budgets.owner, "this owner")
        if reason is not None:
            raise self._exhausted(reason)

    def add(self, owner: str | None, used: BudgetUsage) -> str | None:
        """Add usage. Returns which limit the owner has reached, if any."""
        total = self._total_of(owner)
        total.pending = total.pending.plus(used)
        if not total.lock.locked() and (self._is_large(total.pending) or self._is_stale(total)):
            task = asyncio.create_task(self._share(owner or "", total))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return total.used.limit_reached(self.budgets.owner, "this owner")

    async def close(self) -> None:
        """Add what is pending to the totals of all processes."""
        for owner, total in list(self._totals.items()):
            if any(total.pending):
                await self._share(owner, total)

    def _total_of(self, owner: str | None) -> _Total:
        period = int(self._store.clock().timestamp() // self.budgets.period)
        if period != self._period:
            self._period = period
            self._totals = {}
        return self._totals.setdefault(owner or "", _Total(period))

    def _is_stale(self, total: _Total) -> bool:
        return asyncio.get_running_loop().time() - total.at > STALE

    def _is_large(self, pending: BudgetUsage) -> bool:
        budget = self.budgets.owner
        limits = (budget.steps, budget.tokens, budget.cost)
        return any(
            limit is not None and used >= limit * SHARE for used, limit in zip(pending, limits, strict=True)
        )

    async def _share(self, owner: str, total: _Total) -> None:
        async with total.lock:
            pending = total.pending
            names = [f"{name} {total.period} {owner}" for name in BudgetUsage._fields]
            amounts = dict(zip(names, map(float, pending), strict=True))
            keep = timedelta(seconds=2 * self.budgets.period)
            try:
                totals = await self._store.write(counters.add, amounts, keep)
            except StoreError:  # the store is unavailable: what is pending is added later
                return
            steps, tokens, cost = (totals[name] for name in amounts)
            total.known = BudgetUsage(int(steps), int(tokens), cost)
            total.pending = total.pending.minus(pending)
            total.at = asyncio.get_running_loop().time()

    def _exhausted(self, reason: str) -> BudgetError:
        now = self._store.clock().timestamp()
        wait = self.budgets.period - now % self.budgets.period
        return BudgetError(
            f"the budget is used up: {reason}",
            hint=f"wait {math.ceil(wait)} seconds, or raise the budget",
            retry_after=wait,
        )


class RunMeter:
    """Counts the usage of one run: steps as they start, tokens and cost as soon as they are known.

    Our own agents report each response of a model at once (`use`). Other agents report usage at the end of
    their messages, and coding agents for each response (`count_chunk`). Both may describe the same responses,
    so the larger sum counts.
    """

    def __init__(
        self, totals: OwnerTotals, owner: str | None, model: str | None, clock: Callable[[], datetime]
    ) -> None:
        self._totals = totals
        self._owner = owner
        self._model = model
        self._clock = clock
        self._steps = 0
        self._live = BudgetUsage()
        self._reported = BudgetUsage()
        self._responses: dict[str, JsonObject] = {}
        self._counted = BudgetUsage()
        self._owner_reason: str | None = None

    @property
    def used(self) -> BudgetUsage:
        """The usage of the run so far."""
        return BudgetUsage(
            self._steps,
            max(self._live.tokens, self._reported.tokens),
            max(self._live.cost, self._reported.cost),
        )

    def refusal(self) -> str | None:
        """Why no further step may start; `None` if one may."""
        reason = self.used.limit_reached(self._totals.budgets.run, "a run") or self._owner_reason
        return None if reason is None else f"the budget is used up: {reason}"

    def use(self, usage: Usage, model: str | None) -> None:
        """Count a response of a model."""
        self._live = self._live.plus(self._used_by(usage, model))
        self._count()

    def count_chunk(self, chunk: Chunk) -> str | None:
        """Count the usage that a chunk reports. If it starts a step that may not start, return the reason."""
        responses = responses_in(chunk)
        ending = finish_metadata(chunk)
        if responses:
            self._responses |= responses
            total = BudgetUsage()
            for response in self._responses.values():
                total = total.plus(self._sum({"steps": [response]}))
            self._reported = total
        elif ending is not None and not self._responses:
            self._reported = self._reported.plus(self._sum(ending))
        while isinstance(chunk, ChildChunk):
            chunk = chunk.chunk
        refused = self.refusal() if isinstance(chunk, StepStart) else None
        self._steps += isinstance(chunk, StepStart)
        self._count()
        return refused

    def count_totals(self, tokens: int, cost: float | None) -> None:
        """Count the totals that are known at the end of the run."""
        self._reported = BudgetUsage(
            0, max(tokens, self._reported.tokens), max(cost or 0.0, self._reported.cost)
        )
        self._count()

    def _count(self) -> None:
        new = self.used.minus(self._counted)
        if any(new):
            self._counted = self.used
            self._owner_reason = self._totals.add(self._owner, new)

    def _sum(self, metadata: JsonObject) -> BudgetUsage:
        total = BudgetUsage()
        for step, usage in steps_of(metadata):
            model = step.get("model")
            total = total.plus(self._used_by(usage, model if isinstance(model, str) else None))
        return total

    def _used_by(self, usage: Usage, model: str | None) -> BudgetUsage:
        priced = price_of(model or self._model, None, usage, self._clock())
        return BudgetUsage(0, tokens_of(usage), 0.0 if priced is None else priced.cost)


def tokens_of(usage: Usage) -> int:
    """Input and output tokens in total."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return usage.total_tokens or 0
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)
