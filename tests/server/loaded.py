"""Imports all that server processes of the tests need: preloaded in the process that forks them."""

import threading
from importlib import import_module

from partita.server.app import asgi

for name in (
    "alembic.command",
    "partita.cli.main",
    "partita.cli.mcp",
    "partita.server.mcp.stdio",
    "partita.server.mcp.tools",
    "partita.store.engines.postgres",
    "tests.runtime.chaos",
    "tests.runtime.session.talker",
    "tests.server.mcp.serving",
    "tests.server.proofs.site",
    "tests.server.runner.program",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
):
    import_module(name)
asgi()  # builds the routes
assert threading.active_count() == 1, "a fork has only the thread that calls it"
