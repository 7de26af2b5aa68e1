"""All that every agent service must do, check by check."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Final

from .approval_checks import asks_before_it_acts
from .candidate import Candidate, Check
from .response_checks import (
    begins_with_start,
    can_be_read_again,
    closes_what_it_opens,
    ends_once,
    fails_with_an_event,
    folds,
    keeps_raw_text,
)
from .session_checks import has_a_name, is_registered, is_stored_whole, keeps_answers_apart
from .stop_checks import stops_when_cancelled, stops_when_closed


def _check(
    run: Callable[[Candidate], Awaitable[None]], applies: Callable[[Candidate], bool] = lambda _: True
) -> Check:
    """The check that a function is: called like it, and described by it."""
    return Check(run.__name__.replace("_", "-"), inspect.getdoc(run) or "", run, applies)


CHECKS: Final[tuple[Check, ...]] = (
    _check(has_a_name),
    _check(is_registered, lambda candidate: candidate.registered is not None),
    _check(ends_once),
    _check(folds),
    _check(begins_with_start),
    _check(closes_what_it_opens),
    _check(keeps_raw_text),
    _check(can_be_read_again),
    _check(is_stored_whole),
    _check(keeps_answers_apart),
    _check(stops_when_closed),
    _check(stops_when_cancelled),
    _check(fails_with_an_event, lambda candidate: candidate.failing is not None),
    _check(asks_before_it_acts, lambda candidate: candidate.asking is not None),
)
"""Every check. `checks_for` leaves out what does not apply."""


def checks_for(candidate: Candidate) -> tuple[Check, ...]:
    """The checks that apply to a candidate."""
    return tuple(check for check in CHECKS if check.applies(candidate))


async def check_service(candidate: Candidate) -> None:
    """Make all checks that apply; the first breach is raised as a `ContractError`."""
    for check in checks_for(candidate):
        await check(candidate)
