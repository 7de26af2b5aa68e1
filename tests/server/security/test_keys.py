"""Permissions: every route, with every kind of key."""

from typing import Final, get_args

from partita.runtime.principal import Principal, Role
from partita.server.access import ROUTES
from tests.sampling import FULL

from .cases import FOR_NO_OWNER
from .comparisons import MaskedResponse, cases_of, masked_response, send
from .multi_tenant import MultiTenantServer, Route, client_with_key, routes_of
from .recording import recorded, recording

OPEN: Final = {"/healthz", "/readyz", "/api/docs", "/api/openapi.json"}
"""Routes without authentication."""

POLICY: Final = {name: needed for names in ROUTES.values() for name, needed in names.items()}
"""The permission of each route."""

ROLES: Final = get_args(Role)


def may(role: Role, route: Route) -> bool:
    """Whether a role may use a route, by the table."""
    needed = "read" if route.method == "OPTIONS" else POLICY[str(route)]
    return needed is None or Principal("alice", role).may(needed)


async def test_a_key_without_the_permission_is_refused(server: MultiTenantServer) -> None:
    """Requests of alice about her own data, which does not change."""
    wrong: dict[str, tuple[str, int]] = {}
    before = server.rows()
    for role in ROLES:
        async with client_with_key(server.app, await server.key("alice", role)) as client:
            for route in routes_of(server.app):
                if not may(role, route):
                    response = await send(client, route, cases_of(route)[0], server.alice_ids[0])
                    if response.status_code != 403 or not _is_problem(response.headers["content-type"]):
                        wrong[f"{role}: {route}"] = (response.text, response.status_code)
    assert wrong == {}
    assert server.rows() == before


async def test_a_key_with_the_permission_is_enough(server: MultiTenantServer) -> None:
    """Requests of callers without data, so that nothing is refused for another reason."""
    wrong: list[str] = []
    for number, role in enumerate(ROLES):
        for route in routes_of(server.app):
            # Routes that lower roles may use are not tested again.
            is_new = FULL or role == "chat" or not any(may(other, route) for other in ROLES[:number])
            refuses = route.path in FOR_NO_OWNER
            if is_new and may(role, route) and not refuses and route.method != "OPTIONS":
                async with client_with_key(server.app, await server.key(f"{role} {route}", role)) as client:
                    response = await send(client, route, cases_of(route)[0], server.alice_ids[0])
                    if response.status_code in (401, 403):
                        wrong.append(f"{role}: {route}: {response.text}")
    assert wrong == []


async def test_without_a_valid_key_every_route_is_refused(server: MultiTenantServer) -> None:
    """For every invalid key, the response and the work of the server are the same."""
    good = await server.key("alice", "admin")
    keys = {
        "none": "",
        "nonsense": "no-key-at-all",
        "half of one": good[:30],
        "too long": good * 3,
        "unknown": f"pk_{'0' * 16}_{'a' * 43}",
        "another secret": f"{good[:20]}{'a' * 43}",
        "revoked": await server.revoked_key(),
        "expired": await server.expired_key(),
    }
    before = server.rows()
    routes = list(routes_of(server.app))
    answers: dict[str, set[str]] = {}
    efforts: dict[str, set[tuple[str, ...]]] = {}
    with recorded(server.store):
        for number, (name, key) in enumerate(keys.items()):
            async with client_with_key(server.app, key) as client:
                for route in routes if FULL or not number else routes[number % 4 :: 4]:
                    with recording() as done:
                        response = await send(client, route, cases_of(route)[0], server.alice_ids[0])
                    if route.path in OPEN:
                        assert response.status_code < 400, (name, route)
                        continue
                    assert response.status_code == 401, (name, route)
                    body = "" if route.method == "HEAD" else response.text
                    masked = MaskedResponse(response.status_code, masked_response(response, {}).headers, body)
                    shape = "/v1" if route.path.startswith("/v1/") else ""  # with OpenAI's error object
                    answers.setdefault("HEAD" if route.method == "HEAD" else shape, set()).add(str(masked))
                    efforts.setdefault(name, set()).add(tuple(done))
    assert [len(masked) for masked in answers.values()] == [1, 1, 1]
    assert {frozenset(done) for done in efforts.values()} == {frozenset(efforts["none"])}
    assert [len(done) for done in efforts.values()] == [1] * len(keys)
    assert efforts["none"] != {()}, "a lookup happens even without a key"
    assert server.rows() == before


def _is_problem(content_type: str) -> bool:
    return content_type == "application/problem+json"
