"""What the answers of a run consumed, as the store's ledger keeps it: one record a response of a model."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from partita.logs.pricing.prices import price_of
from partita.runtime.folding import read_usage
from partita.store.values import ConsumptionRecord
from partita.types.chunks import ChildChunk, Chunk, MessageFinish
from partita.types.json import JsonObject, is_array, is_object
from partita.types.runs import Run
from partita.types.usage import Usage


def told_by(chunk: Chunk) -> JsonObject | None:
    """What a message says of itself at its end, whoever's it is: the run's own or a sub-agent's."""
    while isinstance(chunk, ChildChunk):
        chunk = chunk.chunk
    said = chunk.message_metadata if isinstance(chunk, MessageFinish) else None
    return said if is_object(said) else None


def records_of(
    run: Run, ends: Sequence[JsonObject], whole: Usage | None, now: datetime
) -> list[ConsumptionRecord]:
    """The records of a run: of each response that was told apart, or else one of the whole."""
    steps = [step for said in ends for step in _steps(said)]
    if not steps and whole is not None:
        steps.append(({}, whole))
    return [_record(run, step, usage, number, now) for number, (step, usage) in enumerate(steps, 1)]


def _record(run: Run, step: JsonObject, usage: Usage, number: int, now: datetime) -> ConsumptionRecord:
    """A response, known by its provider's id or by its place in the run."""
    key, model = step.get("responseId"), step.get("model")
    named = model if isinstance(model, str) else run.model
    priced = price_of(named, None, usage, now)
    return ConsumptionRecord(
        thread_id=run.thread_id,
        key=key if isinstance(key, str) and key else f"{run.id}:{number}",
        message_id=run.message_id,
        run_id=run.id,
        agent=run.agent,
        model=named,
        time=now,
        input_tokens=usage.input_tokens or 0,
        cached_input_tokens=usage.cached_input_tokens or 0,
        cache_write_tokens=usage.cache_write_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        reasoning_tokens=usage.reasoning_tokens or 0,
        cost=None if priced is None else priced.cost,
        price=None if priced is None else priced.snapshot,
    )


def cost_of(records: Sequence[ConsumptionRecord]) -> float | None:
    """What responses cost together; `None` when no price is known."""
    known = [record.cost for record in records if record.cost is not None]
    return sum(known) if known else None


def _steps(said: JsonObject) -> Iterator[tuple[JsonObject, Usage]]:
    """What each response said of itself; a message of one response says it of the whole."""
    steps = said.get("steps")
    for step in steps if is_array(steps) else [said]:
        usage = read_usage(step.get("usage")) if is_object(step) else None
        if usage is not None:
            yield step, usage
