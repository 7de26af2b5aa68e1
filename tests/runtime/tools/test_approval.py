"""Whether a call needs approval: in doubt, it does."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from partita.runtime.tools.tool import ApprovalPolicy, needs_approval, tool
from partita.types.json import Json
from tests.tables import each_row


def large(input: Json) -> bool:
    return bool(input["amount"] > 100)


async def large_after_a_while(input: Json) -> bool:
    await asyncio.sleep(0)
    return large(input)


def returns_nothing(input: Json) -> Any:
    return None


CASES: Mapping[str, tuple[ApprovalPolicy, Json, bool]] = {
    "never": ("never", {}, False),
    "always": ("always", {}, True),
    "a function returns false": (large, {"amount": 5}, False),
    "a function returns true": (large, {"amount": 500}, True),
    "a coroutine returns false": (large_after_a_while, {"amount": 5}, False),
    "a coroutine returns true": (large_after_a_while, {"amount": 500}, True),
    "a function raises": (large, {}, True),
    "a coroutine raises": (large_after_a_while, None, True),
    "no answer": (returns_nothing, {}, True),
}


@each_row(("policy", "input", "needed"), CASES.values(), ids=CASES)
async def test_needs_approval(policy: ApprovalPolicy, input: Json, needed: bool) -> None:
    @tool(approval=policy)
    def pay(amount: int) -> None:
        """Pay."""

    assert await needs_approval(pay, input) is needed


async def test_an_approval_policy_can_be_cancelled() -> None:
    async def ponder(input: Json) -> bool:
        await asyncio.Event().wait()
        return False

    @tool(approval=ponder)
    def pay(amount: int) -> None:
        """Pay."""

    waiting = asyncio.create_task(needs_approval(pay, {}))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
