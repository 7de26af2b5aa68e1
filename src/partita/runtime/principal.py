"""The caller of a request: whose data it is about, and what may be done with them."""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from partita.types.json import Json, JsonObject

Role: TypeAlias = Literal["chat", "read", "write", "admin"]

RANKS: Final[dict[Role, int]] = {"read": 0, "chat": 1, "write": 1, "admin": 2}


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller and its role. Without `resource_id`, the data of all owners."""

    resource_id: str | None
    role: Role = "write"
    key_id: str | None = None
    claims: JsonObject = field(default_factory=dict[str, Json], repr=False)
    """What is known about the caller besides: for agents and tools, as the function `user` returned it."""

    def may(self, role: Role) -> bool:
        """Whether the caller has this role or a higher one."""
        return RANKS[self.role] >= RANKS[role]

    @property
    def name(self) -> str:
        """The caller's name in records: who answered an approval, who stopped a run."""
        return self.resource_id or self.key_id or "local"


LOCAL: Final = Principal(None, "admin")
"""The caller of a server without keys: the user of this machine."""
