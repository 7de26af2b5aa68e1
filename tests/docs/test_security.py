"""The tables of roles and permissions in `docs/security.md` agree with the server."""

from typing import get_args

from partita.runtime.principal import PERMISSIONS, Permission, Principal, Role
from partita.server.access import CHAT_APP, GROUPS, ROUTES

from .blocks import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROLES: tuple[Role, ...] = get_args(Role)


def row(*cells: str) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|\n"


def share_of(group: str, role: Role) -> str:
    """Return whether a role may use all, some or none of the routes of a group."""
    permissions = list(ROUTES[group].values())  # type: ignore[index] # one of the groups
    allowed = [one for one in permissions if one is None or Principal("ada", role).may(one)]
    return "✓" if len(allowed) == len(permissions) else "part" if allowed else ""


def group_rows() -> str:
    return "".join(
        row(f"`{group}`", *(share_of(group, role) for role in ROLES), "✓" if group in CHAT_APP else "")
        for group in GROUPS
    )


def test_the_page_lists_every_group_with_the_roles_that_may_use_it() -> None:
    assert group_rows() in PAGE, f"put this into docs/security.md:\n{group_rows()}"


def test_the_page_lists_the_permissions_of_every_role() -> None:
    for permission in get_args(Permission):
        marks = ["✓" if permission in PERMISSIONS[role] else "" for role in ROLES]
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{permission}` | ")][:1]
        assert line.endswith(row(*marks).rstrip()), line
