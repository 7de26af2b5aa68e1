"""What earlier runs of an agent returned, found by the messages of the branch that the agent now answers.

A result is stored with its run, where a client cannot change it. Messages name the run that wrote them, so
what is found always belongs to the branch: after an edit or a regeneration it is that of the messages before.
"""

from collections.abc import AsyncGenerator
from typing import Final, NamedTuple

from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage

from .agent_request import AgentRequest

LOOKED_BACK: Final = 20
"""How many answers of a branch are looked at."""


class EarlierRun(NamedTuple):
    """An answer of the branch, and what the run that wrote it returned."""

    place: int
    """The index of the answer among the messages of the request."""
    answer: AssistantMessage
    result: JsonObject


async def earlier_runs(request: AgentRequest, agent: str) -> AsyncGenerator[EarlierRun]:
    """The answers of the branch that an agent of this name completed, the newest first."""
    if request.store is None:
        return
    # An administrator's store sees all owners, and ids are unique within one owner only.
    store = request.store if request.owner is None else request.store.scoped(request.owner)
    answers = [one for one in enumerate(request.messages) if isinstance(one[1], AssistantMessage)]
    for place, answer in answers[: -LOOKED_BACK - 1 : -1]:
        run = None if answer.run_id is None else await store.get_run(answer.run_id)
        if run is None or run.thread_id != request.thread_id or run.agent != agent:
            continue
        if isinstance(answer, AssistantMessage) and is_object(run.agent_result):
            yield EarlierRun(place, answer, run.agent_result)
