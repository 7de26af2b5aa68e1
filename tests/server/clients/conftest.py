"""The real clients against a real server in this event loop."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest

from partita.server.app import asgi
from partita.store.store import Store
from tests.server.clients.browser import Browser
from tests.server.clients.releases import USUAL
from tests.server.clients.site import Site
from tests.server.conftest import Serve

ServeChat: TypeAlias = Callable[..., Awaitable[Site]]


@pytest.fixture(scope="session")
def browsers() -> Iterator[Callable[[int], Browser]]:
    """The browsers by release, each started on first use."""
    started: dict[int, Browser] = {}
    with ExitStack() as stack:

        def browser(version: int) -> Browser:
            if version not in started:
                started[version] = stack.enter_context(Browser(version))
            return started[version]

        yield browser


@pytest.fixture(params=USUAL, ids="v{}".format)
async def browser(
    request: pytest.FixtureRequest, serve: Serve, browsers: Callable[[int], Browser]
) -> AsyncIterator[Browser]:
    """A browser whose page is closed before the server stops."""
    browser = browsers(request.param)
    yield browser
    await browser.close()


@pytest.fixture
async def site(browser: Browser, store: Store, serve: Serve) -> ServeChat:
    """Serve an agent over the store of the test, by default for clients of this release."""

    async def start(agent: Any, *, names_release: bool = True, **how: Any) -> Site:
        release: dict[str, Any] = {"client": browser.version} if names_release else {}
        url = await serve(asgi(agent, store=store, **release, **how))
        await browser.visit(url)
        return Site(browser, url)

    return start
