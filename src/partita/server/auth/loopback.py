"""Whoever is at this machine."""

from partita.runtime.principal import LOCAL, Principal
from partita.server.plain import Scope

from .addresses import is_local


class Loopback:
    """No keys: only this machine may ask, and it may do anything."""

    is_open = True

    async def __call__(self, scope: Scope) -> Principal | None:
        """Who asks; `None` for anybody elsewhere."""
        return LOCAL if is_local(scope) else None
