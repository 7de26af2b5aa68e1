"""Authentication by a function of the developer."""

from typing import Any

import pytest

from partita.runtime.principal import Principal
from partita.server.guard.auth import Connection, UserAuth, connection_of
from partita.server.problems import Problem
from tests.server.guard.requests import scope_of
from tests.tables import each_row


def sync_user(result: Any) -> Any:
    def function(_: Connection) -> Any:
        return result

    return function


def async_user(result: Any) -> Any:
    async def function(_: Connection) -> Any:
        return result

    return function


RESULTS: dict[str, tuple[Any, Principal | None]] = {
    "an id": ("ada", Principal("ada", "chat")),
    "a principal": (Principal("ada", "admin"), Principal("ada", "admin")),
    "nobody": (None, None),
    "an empty id": ("", None),
}


@each_row("make", [sync_user, async_user], ids=["sync", "async"])
@each_row(("result", "principal"), RESULTS.values(), ids=RESULTS)
async def test_the_result_of_the_function_is_the_caller(
    make: Any, result: Any, principal: Principal | None
) -> None:
    assert await UserAuth(make(result))(scope_of()) == principal


@each_row("result", [7, True, {"id": "ada"}, b"ada", object()])
async def test_any_other_result_is_an_error_of_the_function(result: Any) -> None:
    with pytest.raises(Problem) as caught:
        await UserAuth(sync_user(result))(scope_of())
    assert caught.value.status == 500
    assert "ada" not in str(caught.value)


def test_a_connection_has_the_data_of_the_request() -> None:
    headers = [(b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"x-name", b"\xe9"), (b"x-name", b"e")]
    scope = scope_of(path="/api/chat", headers=headers, query_string=b"token=x%20y&empty=&token=z")
    connection = connection_of(scope)
    assert connection.headers == {"cookie": "a=1; b=2", "x-name": "é, e"}
    assert connection.query == {"token": "z", "empty": ""}
    assert (connection.path, connection.client, connection.scope) == ("/api/chat", "127.0.0.1", scope)
    assert connection_of(scope_of(client=None)).client == ""


def test_the_repr_of_a_connection_has_no_secrets() -> None:
    scope = scope_of(headers=[(b"authorization", b"Bearer hidden")], query_string=b"token=hidden")
    assert "hidden" not in repr(connection_of(scope))
