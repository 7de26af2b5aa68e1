"""The program that the tests of the runner start."""

from partita.demo.agent import demo_agent
from partita.server.app import asgi
from partita.server.runner import serve


def run_server(store: str) -> None:
    """Serve the demo agent at a free port."""
    serve(asgi(demo_agent(), store=store), port=0)
