"""The caller of a request: the owner of its data, and its permissions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from partita.errors import PartitaError
from partita.types.json import Json, JsonObject

Role: TypeAlias = Literal["read", "chat", "write", "admin"]

Permission: TypeAlias = Literal["read", "logs", "chat", "write", "admin"]
"""What a request needs:

- `read`: read threads, messages and blobs
- `logs`: read run logs, raw data of agents and statistics; search, convert and export
- `chat`: send messages, stop runs, answer approvals and client tools, upload, rename and delete threads
- `write`: save messages of any role, change and delete stored ones, copy threads, import
- `admin`: the requests that models were sent, open tool calls, metrics, reprojection
"""

PERMISSIONS: Final[Mapping[Role, frozenset[Permission]]] = {
    "read": frozenset({"read", "logs"}),
    "chat": frozenset({"read", "chat"}),
    "write": frozenset({"read", "logs", "chat", "write"}),
    "admin": frozenset({"read", "logs", "chat", "write", "admin"}),
}
"""The permissions of each role. They are sets, not ranks: `chat` may send messages but not read logs."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller and its role; by default that of an end user. `resource_id=None`: the data of all owners."""

    resource_id: str | None
    role: Role = "chat"
    key_id: str | None = None
    claims: JsonObject = field(default_factory=dict[str, Json], repr=False)
    """What else is known about the caller, as the function `user` returned it: for agents and tools."""

    def __post_init__(self) -> None:
        if self.role not in PERMISSIONS:
            raise PartitaError(
                f"there is no role {self.role!r}",
                where="Principal.role",
                hint=f"use {', '.join(PERMISSIONS)}",
            )

    def may(self, permission: Permission) -> bool:
        """Whether the caller's role has this permission."""
        return permission in PERMISSIONS[self.role]

    @property
    def name(self) -> str:
        """The caller's name in records: who answered an approval, who stopped a run."""
        return self.resource_id or self.key_id or "local"


def roles_with(permission: Permission) -> tuple[Role, ...]:
    """The roles that have a permission."""
    return tuple(role for role, permissions in PERMISSIONS.items() if permission in permissions)


LOCAL: Final = Principal(None, "admin")
"""The caller of a server without keys: the user of this machine."""
