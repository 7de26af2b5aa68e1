"""`partita mcp`: past sessions for agents, over the Model Context Protocol."""

import asyncio
import contextlib
import sys

import click

from partita.extras import needs

from .options import agent_option, project_option, resource_option, store_option


@click.command(
    short_help="Let agents search past sessions (MCP).",
    epilog="""\b
Examples:
  claude mcp add partita -- partita mcp                     all sessions
  claude mcp add partita -- partita mcp --project .         only this folder
  codex mcp add partita -- partita mcp --agent codex        only Codex
""",
)
@store_option
@agent_option
@project_option
@resource_option
@click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Replace keys, tokens and passwords with marks.",
)
def mcp(
    *, url: str | None, agent: str | None, project: str | None, resource: str | None, redact: bool
) -> None:
    """Serve past sessions to an agent over stdin and stdout, read-only. The agent starts this command.

    Tools: search_sessions, list_sessions, read_session, read_tool_output, tool_statistics,
    usage_statistics. Sessions are also resources, and `recall` is a prompt. New messages are not imported:
    run `partita watch` or `partita serve` for that. It needs the extra `mcp`: pip install 'partita[mcp]'.
    """
    from partita.config.config import Config

    with needs("partita[mcp]", "partita mcp"):
        from partita.server.mcp.archive import Archive, Scope
        from partita.server.mcp.stdio import serve, unbuffered
        from partita.store.engines.location import check_store_file, locate

    if url is None:  # read now: an error in the settings is for the user, not for the model
        configured = Config().get("store")
        url = None if configured is None else str(configured)
    check_store_file(locate(url))
    reader, writer = unbuffered(sys.stdin.buffer), unbuffered(sys.stdout.buffer)

    async def run() -> None:
        scope = Scope(agent, project)
        archive = Archive(url, resource=resource, scope=scope, redact=redact)
        await serve(archive, reader, writer)

    if sys.stdin.isatty():
        hint = "Agents start this command: see partita mcp --help. Press Ctrl-D to end it."
        click.echo(hint, err=True)
    with contextlib.redirect_stdout(sys.stderr):  # stdout is for the protocol only
        asyncio.run(run())


COMMAND = mcp
