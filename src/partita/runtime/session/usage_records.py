"""The usage of a run, as records of the store's ledger: one for each response of a model."""

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


def finish_metadata(chunk: Chunk) -> JsonObject | None:
    """The metadata of a `finish` chunk, of the run's own message or of a sub-agent's."""
    while isinstance(chunk, ChildChunk):
        chunk = chunk.chunk
    metadata = chunk.message_metadata if isinstance(chunk, MessageFinish) else None
    return metadata if is_object(metadata) else None


def responses_in(chunk: Chunk) -> dict[str, JsonObject]:
    """The responses of a model that a coding agent reports one by one, by their keys in the ledger.

    The log of Claude Code has them under the same keys: the ids of the response and the request.
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
    """The id of the response in a line of Claude Code's stream: a whole message, or the start of one."""
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
    run: Run, reported: Sequence[JsonObject], total: Usage | None, now: datetime
) -> list[ConsumptionRecord]:
    """The records of a run: of each response in the reported metadata, or else one of the total."""
    steps = [step for metadata in reported for step in steps_of(metadata)]
    if not steps and total is not None:
        steps.append(({}, total))
    return [_record(run, step, usage, number, now) for number, (step, usage) in enumerate(steps, 1)]


def _record(run: Run, step: JsonObject, usage: Usage, number: int, now: datetime) -> ConsumptionRecord:
    """The record of a response. Its key is the provider's id, or its number in the run."""
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
    """The records, and their cost in total: as the agent reported it, else by known prices.

    If no price is known, the last record gets the reported cost.
    """
    known = [record.cost for record in records if record.cost is not None]
    if cost is None:
        return records, sum(known) if known else None
    if records and not known:
        records = [*records[:-1], replace(records[-1], cost=cost, price={"source": "agent"})]
    return records, cost


def steps_of(metadata: JsonObject) -> Iterator[tuple[JsonObject, Usage]]:
    """The metadata and the usage of each response of a message, from the metadata of the message."""
    steps = metadata.get("steps")
    for step in steps if is_array(steps) else [metadata]:
        usage = read_usage(step.get("usage")) if is_object(step) else None
        if usage is not None:
            yield step, usage
