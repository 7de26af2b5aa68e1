"""How the context of a thread grew: what each response was given, and what all took until then."""

from sqlalchemy import and_, select

from partita.types.times import Moment
from partita.types.value import Value

from . import threads
from .tables import consumptions, messages
from .transaction import Transaction


class GrowthPoint(Value, kw_only=True):
    """One response. Its input includes what was cached; `total_*` is what all until then took together."""

    message_id: str | None = None
    seq: int | None = None  # of its message; `None`: a sub-agent's, or of no message of the thread
    time: Moment
    agent: str | None = None
    model: str | None = None
    input_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost: float | None = None
    total_tokens: int
    total_cost: float | None = None  # of those with a price


def growth(tx: Transaction, thread_id: str) -> tuple[GrowthPoint, ...]:
    """Every response of a thread, in the order of time."""
    thread = threads.find(tx, thread_id)
    c, m = consumptions.c, messages.c
    told = and_(m.owner == c.owner, m.thread_id == c.thread_id, m.id == c.message_id)
    query = (
        select(consumptions, m.seq)
        .outerjoin(messages, told)
        .where(c.owner == thread.owner, c.thread_id == thread.id)
        .order_by(c.time, m.seq, c.key)
    )
    points: list[GrowthPoint] = []
    tokens, cost = 0, None
    for row in tx.rows(query):
        tokens += row.input_tokens + row.output_tokens
        cost = cost if row.cost is None else (cost or 0.0) + row.cost
        points.append(
            GrowthPoint(
                message_id=row.message_id,
                seq=row.seq,
                time=row.time,
                agent=row.agent,
                model=row.model,
                input_tokens=row.input_tokens,
                cached_input_tokens=row.cached_input_tokens,
                cache_write_tokens=row.cache_write_tokens,
                output_tokens=row.output_tokens,
                reasoning_tokens=row.reasoning_tokens,
                cost=row.cost,
                total_tokens=tokens,
                total_cost=cost,
            )
        )
    return tuple(points)
