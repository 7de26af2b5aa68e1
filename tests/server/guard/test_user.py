"""A developer's own function says who asks."""

from typing import Any

import pytest

from partita.runtime.principal import Principal
from partita.server.guard.auth import Connection, UserAuth, connection_of
from partita.server.problems import Problem
from tests.server.guard.requests import scope_of
from tests.tables import each_row


def given(said: Any) -> Any:
    def function(_: Connection) -> Any:
        return said

    return function


def later(said: Any) -> Any:
    async def function(_: Connection) -> Any:
        return said

    return function


SAID: dict[str, tuple[Any, Principal | None]] = {
    "a resource": ("ada", Principal("ada", "chat")),
    "somebody exactly": (Principal("ada", "admin"), Principal("ada", "admin")),
    "nobody": (None, None),
    "no name": ("", None),
}


@each_row("when", [given, later], ids=["at once", "later"])
@each_row(("said", "who"), SAID.values(), ids=SAID)
async def test_what_it_says_counts(when: Any, said: Any, who: Principal | None) -> None:
    assert await UserAuth(when(said))(scope_of()) == who


@each_row("said", [7, True, {"id": "ada"}, b"ada", object()])
async def test_anything_else_is_a_mistake_of_the_function(said: Any) -> None:
    with pytest.raises(Problem) as caught:
        await UserAuth(given(said))(scope_of())
    assert caught.value.status == 500
    assert "ada" not in str(caught.value)


def test_a_connection_is_what_a_request_says() -> None:
    headers = [(b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"x-name", b"\xe9"), (b"x-name", b"e")]
    scope = scope_of(path="/api/chat", headers=headers, query_string=b"token=x%20y&empty=&token=z")
    connection = connection_of(scope)
    assert connection.headers == {"cookie": "a=1; b=2", "x-name": "é, e"}
    assert connection.query == {"token": "z", "empty": ""}
    assert (connection.path, connection.client, connection.scope) == ("/api/chat", "127.0.0.1", scope)
    assert connection_of(scope_of(client=None)).client == ""


def test_a_connection_does_not_show_its_secrets() -> None:
    scope = scope_of(headers=[(b"authorization", b"Bearer hidden")], query_string=b"token=hidden")
    assert "hidden" not in repr(connection_of(scope))
