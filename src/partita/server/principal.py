"""Who asks: whose data that is, and what may be done with it."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["read", "write", "admin"]

RANKS: Final[dict[Role, int]] = {"read": 0, "write": 1, "admin": 2}


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may do something. Without a resource: with the data of everybody."""

    resource_id: str | None
    role: Role = "write"
    key_id: str | None = None

    def may(self, role: Role) -> bool:
        """Whether this role, or more, was given."""
        return RANKS[self.role] >= RANKS[role]

    @property
    def name(self) -> str:
        """Who it is, for what is written down: who answered, who stopped."""
        return self.resource_id or self.key_id or "local"


LOCAL: Final = Principal(None, "admin")
"""Whoever sits at this machine."""
