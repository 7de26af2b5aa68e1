"""`partita serve`: serve the store and agents over HTTP."""

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

from .completion import complete_served_agents
from .options import store_option
from .output import echo
from .parameter_types import Number, WholeNumber

if TYPE_CHECKING:  # imported when the command runs
    import socket

    from partita.server.app import PartitaApp

PORT = 7272
TRIES = 50


@click.command(
    short_help="Serve the store and agents over HTTP.",
    epilog="""\b
Examples:
  partita serve                                  the demo agent, on port 7272
  partita serve --agent anthropic:claude-sonnet-4-5
  partita serve --agent claude-code --agent my_app:agent
  partita serve --host 0.0.0.0 --keys            all interfaces, with keys
""",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Use 0.0.0.0 for all interfaces.",
)
@click.option(
    "--port",
    metavar="N",
    type=WholeNumber(0, 65535),
    default=PORT,
    show_default=True,
    help="Port to listen on; 0 selects a free one. If the default port is in use, the next free one is used.",
)
@store_option
@click.option(
    "--agent",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_served_agents,
    help="An agent to serve: anthropic:MODEL, module:attribute … Default: all. Repeatable.",
)
@click.option("--keys/--no-keys", default=False, help="Require an API key.")
@click.option(
    "--token/--no-token", default=True, help="Without --keys: require the token in the printed address."
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="The origin of another site that may call the server. Repeatable.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="An additional host name that the server accepts. Repeatable.",
)
@click.option(
    "--cwd",
    "cwds",
    multiple=True,
    metavar="FOLDER",
    help="A folder in which clients may run an agent, including subfolders. Repeatable.",
)
@click.option(
    "--client", default="7", show_default=True, metavar="N", help="The AI SDK version of the clients."
)
@click.option(
    "--import/--no-import", "imports", default=True, help="Import the sessions of agents on this machine."
)
@click.option("--demo/--no-demo", "demo", default=True, help="Add demo data to an empty store.")
@click.option(
    "--lease",
    type=Number(positive=True),
    hidden=True,
    help="Seconds after which the runs of a server that crashed are ended.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The format of log lines on standard error.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="The lowest level of log lines.",
)
@click.option(
    "--cpu-seconds",
    type=Number(positive=True),
    default=10.0,
    show_default=True,
    metavar="N",
    help="CPU time limit for a request that converts, inspects, imports or shares.",
)
@click.option(
    "--memory-mb",
    type=WholeNumber(min=16),
    default=512,
    show_default=True,
    metavar="N",
    help="Memory limit for such a request, in megabytes.",
)
@click.option(
    "--expansion",
    type=WholeNumber(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="Limit for the size of decompressed content, as a multiple of the request body.",
)
@click.option("--open/--no-open", "opens", default=None, help="Open the browser.")
@click.option("--fragment", hidden=True, default="", help="What the printed address ends with.")
@click.option("--json", "as_json", is_flag=True, help="When ready, print the address as JSON.")
@click.pass_context
def serve(
    ctx: click.Context,
    *,
    host: str,
    port: int,
    url: str | None,
    names: tuple[str, ...],
    keys: bool,
    token: bool,
    origins: tuple[str, ...],
    hosts: tuple[str, ...],
    cwds: tuple[str, ...],
    client: str,
    imports: bool,
    demo: bool,
    lease: float | None,
    log_format: Literal["text", "json"],
    log_level: str,
    cpu_seconds: float,
    memory_mb: int,
    expansion: int,
    opens: bool | None,
    fragment: str,
    as_json: bool,
) -> None:
    """Serve the store and agents over HTTP until Ctrl-C. A second Ctrl-C stops without waiting for requests.

    The server has the web UI, the endpoints for `useChat` of the AI SDK, and a REST API: see /api/docs.
    Without --keys, only you can use it on this machine: the printed address contains a token that other users
    do not know. While it runs, it imports the sessions of the agents on this machine. If there are none and
    the store is empty, it adds demo data.
    """
    if sys.stderr.isatty():
        click.echo("Starting …", err=True)  # the imports take a second
    from partita.cli.serve_setup import (
        DemoData,
        announce,
        find_agents,
        find_sessions,
        import_sessions,
        open_browser,
        run_all,
        store_name,
        with_fragment,
    )
    from partita.config.config import Config
    from partita.runtime.session.session import LEASE
    from partita.server.app import asgi
    from partita.server.log_output import logging_to_stderr
    from partita.server.runner import serve_on
    from partita.server.settings import MEBIBYTE, Limits, Settings

    from .retention import policy_in

    app = asgi(
        find_agents(names),
        store=url,
        keys=keys,
        client=client,
        origins=origins,
        hosts=hosts,
        cwds=cwds,
        routes="all",
        limits=Limits(cpu_seconds=cpu_seconds, memory_bytes=memory_mb * MEBIBYTE, expansion=expansion),
        settings=Settings(lease=LEASE if lease is None else lease, retention=policy_in(Config())),
    )
    is_fixed = ctx.get_parameter_source("port") is not ParameterSource.DEFAULT
    sockets = _sockets(app, host, port, is_fixed=is_fixed)
    query = f"/?token={_require_token(app, sockets, is_stored=port != 0)}" if token and not keys else ""

    def print_address(address: str) -> None:
        announced.enter_context(announce(address + query, url))
        page = with_fragment(address + query, fragment)
        if as_json:
            from .output import print_json

            print_json({"url": page, "store": store_name(url), "pid": os.getpid()})
            sys.stdout.flush()
        else:
            echo(f"Partita is at {page} (API docs: {address}/api/docs)")
        if opens:
            open_browser(page)

    data = DemoData() if demo and not (imports and find_sessions()) else None
    with logging_to_stderr(log_format, log_level), ExitStack() as announced:
        serve_on(
            app,
            sockets,
            on_listening=print_address,
            before=None if data is None else data.add_threads,
            background=run_all(
                *(() if data is None else (data.run_agents,)),
                *((import_sessions,) if imports else ()),
            ),
        )


def _sockets(app: "PartitaApp", host: str, port: int, *, is_fixed: bool) -> "list[socket.socket]":
    """Return sockets at the port, or at the next free one if it is the default port."""
    from partita.server.runner import open_sockets
    from partita.server.sockets import PortTakenError, port_of

    for number in range(port, port + TRIES):
        try:
            sockets = open_sockets(app, host, number)
        except PortTakenError:
            if is_fixed or number == port + TRIES - 1:
                raise
        else:
            if number != port:
                click.echo(f"Port {port} is in use; using {port_of(sockets[0])}.", err=True)
            return sockets
    raise AssertionError("the last attempt returns or raises")


def _require_token(app: "PartitaApp", sockets: "list[socket.socket]", *, is_stored: bool) -> str:
    """Make the application require a token, and return it. A stored token is the same after a restart."""
    import secrets

    from partita.cli.serve_setup import token_for
    from partita.server.sockets import port_of

    token = token_for(port_of(sockets[0])) if is_stored else secrets.token_urlsafe(32)
    app.require_token(token)
    return token


COMMAND = serve
