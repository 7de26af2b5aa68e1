"""`partita mcp`: the archive for agents, over the Model Context Protocol."""

import asyncio
import contextlib
import sys

import click

from .options import MachineZone, agent_option, project_option, resource_option, store_option


@click.command(
    short_help="Let agents look into the archive (MCP).",
    epilog="""\b
Examples:
  claude mcp add partita -- partita mcp                     all sessions
  claude mcp add partita -- partita mcp --project .         only this folder's
  codex mcp add partita -- partita mcp --agent codex        only Codex's own
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
    help="Replace keys, tokens and passwords by marks.",
)
def mcp(
    *, url: str | None, agent: str | None, project: str | None, resource: str | None, redact: bool
) -> None:
    """Serve the archive to an agent over stdin and stdout, for the agent to start: it reads, never writes.

    Tools: search_sessions, list_sessions, read_session, read_tool_output, tool_statistics,
    usage_statistics. Sessions are resources too, and `recall` is a prompt. New messages are not brought in:
    `partita watch` or `partita serve` does that beside it.
    """
    from partita.config.config import Config
    from partita.server.mcp.archive import Archive
    from partita.server.mcp.scope import Scope
    from partita.server.mcp.stdio import serve, unbuffered

    if url is None:  # now: an error in the settings is for the user to read, not for the model
        configured = Config().get("store")
        url = None if configured is None else str(configured)
    reader, writer = unbuffered(sys.stdin.buffer), unbuffered(sys.stdout.buffer)

    async def work() -> None:
        scope = Scope(agent, project)
        archive = Archive(url, resource=resource, scope=scope, redact=redact, zone=MachineZone())
        await serve(archive, reader, writer)

    if sys.stdin.isatty():
        click.echo("This is for agents to start: partita mcp --help says how. Ctrl-D ends it.", err=True)
    with contextlib.redirect_stdout(sys.stderr):  # the protocol has stdout to itself
        asyncio.run(work())


COMMAND = mcp
