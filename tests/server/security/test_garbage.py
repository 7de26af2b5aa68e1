"""Random requests are refused without server errors and internal details."""

import re
from typing import Final

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import FULL

from .cases import CASES
from .fuzzing import trying
from .garbage import requests
from .multi_tenant import MultiTenantServer, Route, client_with_key, unknown_ids

ROUTES: Final = [Route(*name.split(" ", 1)) for name in CASES]
GROUPS: Final = [ROUTES[first : first + 16] for first in range(0, len(ROUTES), 16)]

INSIDE: Final = re.compile(
    r"Traceback|site-packages|\.py\b|sqlite|sqlalchemy|starlette|msgspec", re.IGNORECASE
)
"""Texts that reveal internal details."""


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: str(group[0]))
@trying(default=12 if FULL else 5)
@given(data=st.data())
async def test_random_requests_are_refused_without_internal_details(
    server: MultiTenantServer, group: list[Route], data: st.DataObject
) -> None:
    wrong: dict[str, str] = {}
    things = (server.alice_ids[0], unknown_ids(server.alice_ids[0]))
    async with client_with_key(server.app, await server.key("alice", "admin")) as client:
        for route in group:
            garbage = data.draw(requests(route)).about(data.draw(st.sampled_from(things)))
            response = await client.request(
                route.method, garbage.target, headers=_bytes(garbage.headers), content=garbage.body
            )
            if why := _wrong(response):
                wrong[str(garbage)] = f"{why}: {response.status_code} {response.text}"
    assert wrong == {}


def _wrong(response: httpx.Response) -> str | None:
    """What is wrong with a response."""
    if response.status_code >= 500:
        return "a server error"
    if response.status_code < 400:
        return None
    if response.headers.get("content-type") != "application/problem+json":
        return "no problem details"
    return "internal details" if INSIDE.search(response.text) else None


def _bytes(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
