"""Something to look at, for a store that has nothing."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # the server is loaded when the command is run
    from partita.server.hub import Hub


class Examples:
    """A few conversations, and a few turns of the demo agents that are taken while one looks on."""

    def __init__(self) -> None:
        self._wanted = False

    async def put_in(self, hub: "Hub") -> None:
        """The conversations, if there are none."""
        if await hub.store.count_threads():
            return
        from partita.demo.archive import load_archive

        self._wanted = True
        count = await load_archive(hub.store)
        click.echo(f"The store was empty: {count} examples are in it now.", err=True)

    async def act(self, hub: "Hub") -> None:
        """The turns, if the conversations were put in just now."""
        if self._wanted:
            from partita.demo.turns import take_turns

            await take_turns(hub.session, hub.agents.by_name)
