"""What finds out who asks."""

from typing import Protocol

from partita.runtime.principal import Principal
from partita.server.plain import Scope


class Authenticator(Protocol):
    """Finds out who asks. Whatever it is that makes somebody unknown, to find out should take as long."""

    @property
    def is_open(self) -> bool:
        """Whether anyone at this machine may ask: then a page must not be able to pass for somebody there."""
        ...

    async def __call__(self, scope: Scope) -> Principal | None:
        """Who asks; `None` for somebody unknown."""
        ...
