"""`partita serve`: the store and its agents over HTTP."""

import os
import sys
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

from .completion import complete_served_agents
from .options import store_option
from .output import echo

if TYPE_CHECKING:  # the server is loaded when the command is run
    import socket

    from partita.server.app import PartitaApp

PORT = 7272
TRIES = 50
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


@click.command(
    short_help="Serve the store, and agents, over HTTP.",
    epilog="""\b
Examples:
  partita serve                                  the demo agent, on port 7272
  partita serve --agent anthropic:claude-sonnet-4-5
  partita serve --agent claude-code --agent my_app:agent
  partita serve --host 0.0.0.0 --keys            for others too, with keys
""",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Whom to listen to: 0.0.0.0 is everybody."
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where to listen; 0 is any port. Without it, the next that is free.",
)
@store_option
@click.option(
    "--agent",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_served_agents,
    help="Who answers: anthropic:MODEL, module:attribute …",
)
@click.option("--keys/--no-keys", default=False, help="Only those may ask who have a key.")
@click.option(
    "--token/--no-token", default=True, help="Without keys: serve only who has the token of the address."
)
@click.option("--origin", "origins", multiple=True, metavar="URL", help="A site whose pages may ask.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="A name the server may have.")
@click.option(
    "--cwd",
    "cwds",
    multiple=True,
    metavar="FOLDER",
    help="A folder in which clients may let an agent work, and in those below it.",
)
@click.option("--client", default="7", show_default=True, metavar="N", help="The AI SDK that clients have.")
@click.option(
    "--import/--no-import", "imports", default=True, help="Bring in the sessions of agents on this machine."
)
@click.option("--demo/--no-demo", "demo", default=True, help="Put examples into an empty store.")
@click.option(
    "--lease",
    type=click.FloatRange(min=0, min_open=True),
    hidden=True,
    help="After so many seconds, the runs of a server that died are ended.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How log lines are written to standard error.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="The least important log lines to write.",
)
@click.option(
    "--cpu-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="N",
    help="CPU time for a request that converts, inspects, imports or shares.",
)
@click.option(
    "--memory-mb",
    type=click.IntRange(min=16),
    default=512,
    show_default=True,
    metavar="N",
    help="Memory for such a request, in megabytes.",
)
@click.option(
    "--expansion",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="How many times as large as its body the content of a request may become.",
)
@click.option("--open/--no-open", "opens", default=None, help="Open the browser.")
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
) -> None:
    """Serve the store and agents over HTTP, until Ctrl-C; a second Ctrl-C waits for nobody.

    What `useChat` of the AI SDK calls is there, and an API for all else: see /api/docs. Without --keys, only
    you can use it, on this machine: the printed address has a token that other users do not know. Sessions
    of agents that are found here are brought in while the server runs; where there are none, and the store is
    empty, a few examples are put in it.
    """
    from partita.cli.serve_setup import Examples, agents_of, following, sessions_here, together
    from partita.server.app import asgi
    from partita.server.log_output import logging_to_stderr
    from partita.server.runner import serve_on
    from partita.server.settings import MEBIBYTE, Limits, Settings

    app = asgi(
        agents_of(names),
        store=url,
        keys=keys,
        client=client,
        origins=origins,
        hosts=hosts,
        cwds=cwds,
        routes="all",
        limits=Limits(cpu_seconds=cpu_seconds, memory_bytes=memory_mb * MEBIBYTE, expansion=expansion),
        settings=None if lease is None else Settings(lease=lease),
    )
    chosen = ctx.get_parameter_source("port") is not ParameterSource.DEFAULT
    sockets = _sockets(app, host, port, chosen=chosen)
    query = f"/?token={_require_token(app, sockets, kept=port != 0)}" if token and not keys else ""
    examples = Examples() if demo and not (imports and sessions_here()) else None
    with logging_to_stderr(log_format, log_level):
        serve_on(
            app,
            sockets,
            on_listening=lambda address: _tell(address, query, opens=bool(opens)),
            before=None if examples is None else examples.put_in,
            background=together(
                *(() if examples is None else (examples.act,)),
                *((following,) if imports else ()),
            ),
        )


def _sockets(app: "PartitaApp", host: str, port: int, *, chosen: bool) -> "list[socket.socket]":
    """Sockets at the port; at the next that is free, unless somebody chose it."""
    from partita.server.runner import open_sockets
    from partita.server.sockets import PortTakenError, port_of

    for number in range(port, port + TRIES):
        try:
            sockets = open_sockets(app, host, number)
        except PortTakenError:
            if chosen or number == port + TRIES - 1:
                raise
        else:
            if number != port:
                click.echo(f"Port {port} is taken: this is {port_of(sockets[0])}.", err=True)
            return sockets
    raise AssertionError("the last one either opens or raises")


def _require_token(app: "PartitaApp", sockets: "list[socket.socket]", *, kept: bool) -> str:
    """The token that the application asks for from now on. That of a port which was chosen is kept."""
    import secrets

    from partita.cli.serve_setup import token_for
    from partita.server.sockets import port_of

    token = token_for(port_of(sockets[0])) if kept else secrets.token_urlsafe(32)
    app.require_token(token)
    return token


def _tell(address: str, query: str, *, opens: bool) -> None:
    echo(f"Partita is at {address}{query} (API docs: {address}/api/docs)")
    if opens and _has_desktop():
        import webbrowser

        webbrowser.open(f"{address}{query}")


def _has_desktop() -> bool:
    """Whether a browser would be seen: elsewhere one may open that takes over the terminal."""
    if "SSH_CONNECTION" in os.environ or "CI" in os.environ:
        return False
    return sys.platform in ("darwin", "win32") or any(name in os.environ for name in DISPLAYS)


COMMAND = serve
