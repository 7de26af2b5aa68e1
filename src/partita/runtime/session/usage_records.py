"""What the answers of a run consumed, as the store's ledger keeps it: one record a response of a model."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.claude_code.wire import read_usage as read_claude_usage
from partita.logs.pricing.prices import price_of
from partita.runtime.run_fold import read_usage
from partita.store.bulk.agent_sessions import RESPONSES, UNNAMED
from partita.store.values import ConsumptionRecord
from partita.types.chunks import ChildChunk, Chunk, MessageFinish, MessageMetadata
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.threads import Run
from partita.types.usage import Usage

COUNTED: Final = ("input_tokens", "output_tokens")


def told_by(chunk: Chunk) -> JsonObject | None:
    """What a message says of itself at its end, whoever's it is: the run's own or a sub-agent's."""
    while isinstance(chunk, ChildChunk):
        chunk = chunk.chunk
    said = chunk.message_metadata if isinstance(chunk, MessageFinish) else None
    return said if is_object(said) else None


def responses_in(chunk: Chunk) -> dict[str, JsonObject]:
    """The responses of a model that a coding agent reports one by one, by their keys in the ledger.

    Claude Code's log has the same responses under the same keys: its ids of the response and the request.
    """
    while isinstance(chunk, ChildChunk):
        chunk = chunk.chunk
    found: Json = chunk.message_metadata if isinstance(chunk, MessageMetadata) else None
    for name in RESPONSES:
        found = found.get(name) if is_object(found) else None
    steps: dict[str, JsonObject] = {}
    for response, facts in found.items() if is_object(found) else ():
        usage = facts.get("usage") if is_object(facts) else None
        if is_object(usage) and any(isinstance(usage.get(name), int) for name in COUNTED):
            request = facts.get("requestId")
            key = f"{response}:{request}" if isinstance(request, str) and request else response
            named = None if response.startswith(UNNAMED) else key
            counts = replace(read_claude_usage(usage), raw=UNSET)
            steps[key] = {"responseId": named, "model": facts.get("model"), "usage": to_json(counts)}
    return steps


def response_id(raw: bytes) -> str | None:
    """The response that a line of Claude Code's stream is about: a whole message, or the start of one."""
    if b'"message"' not in raw:
        return None
    try:
        line: Json = loads(raw)
    except DecodeError:
        return None
    inner = line.get("event", line) if is_object(line) else None
    message = inner.get("message") if is_object(inner) else None
    found = message.get("id") if is_object(message) and message.get("role") == "assistant" else None
    return found if isinstance(found, str) else None


def records_of(
    run: Run, ends: Sequence[JsonObject], whole: Usage | None, now: datetime
) -> list[ConsumptionRecord]:
    """The records of a run: of each response that was told apart, or else one of the whole."""
    steps = [step for said in ends for step in steps_of(said)]
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


def with_reported_cost(
    records: Sequence[ConsumptionRecord], cost: float | None
) -> tuple[Sequence[ConsumptionRecord], float | None]:
    """Records, and what they cost together: what the agent reported, else the sum of known prices.

    A reported cost that no price is known for is kept with the last record.
    """
    known = [record.cost for record in records if record.cost is not None]
    if cost is None:
        return records, sum(known) if known else None
    if records and not known:
        records = [*records[:-1], replace(records[-1], cost=cost, price={"source": "agent"})]
    return records, cost


def steps_of(said: JsonObject) -> Iterator[tuple[JsonObject, Usage]]:
    """What each response of a message reports of itself, and its usage."""
    steps = said.get("steps")
    for step in steps if is_array(steps) else [said]:
        usage = read_usage(step.get("usage")) if is_object(step) else None
        if usage is not None:
            yield step, usage
