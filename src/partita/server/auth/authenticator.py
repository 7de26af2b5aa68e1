"""The protocol of authenticators: they find the caller of a request."""

from typing import Protocol

from partita.runtime.principal import Principal
from partita.server.plain import Scope


class Authenticator(Protocol):
    """Finds the caller of a request. For an unknown one it should take equally long, whatever is wrong."""

    @property
    def is_open(self) -> bool:
        """Whether callers at this machine need no key: then no web page may pass for one of them."""
        ...

    async def __call__(self, scope: Scope) -> Principal | None:
        """The caller; `None` for one that is not known."""
        ...
