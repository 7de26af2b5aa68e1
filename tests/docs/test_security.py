"""What the page on security says of roles and groups is what the server does."""

from typing import get_args

from partita.runtime.principal import PERMISSIONS, Permission, Principal, Role
from partita.server.access import CHAT_APP, GROUPS, ROUTES

from .blocks import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROLES: tuple[Role, ...] = get_args(Role)


def row(*cells: str) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|\n"


def share_of(group: str, role: Role) -> str:
    """How many routes of a group a role may use. The page itself is for all who reach the server."""
    needed = list(ROUTES[group].values())  # type: ignore[index] # one of the groups
    allowed = [one for one in needed if one is None or Principal("ada", role).may(one)]
    return "✓" if len(allowed) == len(needed) else "part" if allowed else ""


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
