"""Every route: the group that publishes it, and the permission that it needs.

This table is the whole policy. An application with a route that is missing here fails to start, and
`tests/server/security` compares the table with what each role can really do.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, TypeAlias, get_args

from partita.errors import PartitaError
from partita.runtime.principal import Permission

Group: TypeAlias = Literal[
    "chat",
    "threads",
    "messages",
    "blobs",
    "agents",
    "runs",
    "edits",
    "search",
    "logs",
    "stats",
    "share",
    "formats",
    "imports",
    "settings",
    "mastra",
    "assistant-ui",
    "openai",
    "ag-ui",
    "docs",
    "health",
    "page",
]
"""A group of routes that an application can publish: `asgi(routes=[…])`."""

GROUPS: Final[tuple[Group, ...]] = get_args(Group)

CHAT_APP: Final[frozenset[Group]] = frozenset(
    {"chat", "threads", "messages", "blobs", "agents", "runs", "health"}
)
"""The default groups of an application with `user` or `keys`: a chat, and its history."""

EVERYTHING: Final[frozenset[Group]] = frozenset(GROUPS)
"""The groups of `partita serve`, and the default of an application that serves this machine only."""

OPEN: Final = None
"""Instead of a permission: the route has no data of users, and callers need no key."""

_MASTRA: Final[Mapping[str, Permission]] = {
    "GET {}/threads": "read",
    "POST {}/threads": "chat",
    "GET {}/threads/{{thread_id}}": "read",
    "PATCH {}/threads/{{thread_id}}": "chat",
    "DELETE {}/threads/{{thread_id}}": "chat",
    "POST {}/threads/{{thread_id}}/clone": "write",
    "GET {}/threads/{{thread_id}}/messages": "read",
    "POST {}/save-messages": "write",
    "POST {}/messages/delete": "write",
    "GET {}/status": "read",
    "GET {}/threads/{{thread_id}}/working-memory": "read",
    "POST {}/threads/{{thread_id}}/working-memory": "write",
}
"""The routes of Mastra's memory, which older clients call under `/api/memory/network`."""

ROUTES: Final[Mapping[Group, Mapping[str, Permission | None]]] = {
    "chat": {
        "POST /api/chat": "chat",
        "GET /api/chat/{chat_id}/stream": "read",
        "POST /api/chat/{chat_id}/stop": "chat",
    },
    "threads": {
        "GET /api/threads": "read",
        "POST /api/threads": "chat",
        "GET /api/threads/{thread_id}": "read",
        "PATCH /api/threads/{thread_id}": "chat",
        "DELETE /api/threads/{thread_id}": "chat",
        "POST /api/threads/{thread_id}/branch": "chat",
        "GET /api/summaries": "read",
        "GET /api/feed": "read",
    },
    "messages": {
        "GET /api/threads/{thread_id}/messages": "read",
        "GET /api/threads/{thread_id}/messages/{message_id}": "read",
        "POST /api/tool-views": "read",
        "GET /api/threads/{thread_id}/outline": "logs",
        "GET /api/threads/{thread_id}/overview": "logs",
        "GET /api/threads/{thread_id}/diff": "logs",
    },
    "blobs": {
        "GET /api/blobs/{digest}": "read",
        "HEAD /api/blobs/{digest}": "read",
        "POST /api/blobs": "chat",
    },
    "agents": {"GET /api/agents": "read"},
    "runs": {
        "GET /api/runs": "logs",
        "GET /api/threads/{thread_id}/runs": "logs",
        "GET /api/runs/{run_id}": "read",
        "GET /api/runs/{run_id}/wait": "read",
        "GET /api/runs/{run_id}/stream": "read",
        "POST /api/runs/{run_id}/stop": "chat",
        "POST /api/runs/{run_id}/approval": "chat",
        "POST /api/runs/{run_id}/output": "chat",
    },
    "edits": {
        "POST /api/threads/{thread_id}/messages": "write",
        "PUT /api/threads/{thread_id}/messages": "write",
        "POST /api/threads/{thread_id}/messages/delete": "write",
        "DELETE /api/threads/{thread_id}/messages/{message_id}": "write",
        "PUT /api/threads/{thread_id}/messages/{message_id}/parts/{index}": "write",
        "POST /api/threads/{thread_id}/clone": "write",
        "POST /api/threads/{thread_id}/fork": "write",
        "DELETE /api/owners/{owner_id}": "admin",
    },
    "search": {
        "GET /api/search": "logs",
        "GET /api/threads/{thread_id}/find": "logs",
        "GET /api/parts": "logs",
        "GET /api/facets": "logs",
    },
    "logs": {
        "GET /api/runs/{run_id}/log": "logs",
        "GET /api/runs/{run_id}/raw": "logs",
        "GET /api/runs/{run_id}/replay": "logs",
        "GET /api/runs/{run_id}/at": "logs",
        "GET /api/runs/{run_id}/timeline": "logs",
        "GET /api/runs/{run_id}/diff/{other_id}": "logs",
        "GET /api/threads/{thread_id}/messages/{message_id}/raw": "logs",
        "POST /api/runs/{run_id}/reproject": "admin",
    },
    "stats": {
        "GET /api/stats": "logs",
        "GET /api/stats/tools": "logs",
        "GET /api/stats/runs": "logs",
        "GET /api/stats/threads": "logs",
        "GET /api/threads/{thread_id}/growth": "logs",
        "GET /api/threads/{thread_id}/usage": "logs",
    },
    "share": {
        "POST /api/share": "logs",
        "POST /api/threads/{thread_id}/share": "logs",
        "POST /api/threads/{thread_id}/share/preview": "logs",
    },
    "formats": {
        "GET /api/formats": "read",
        "POST /api/convert": "logs",
        "POST /api/fold": "logs",
        "POST /api/inspect": "logs",
    },
    "imports": {"POST /api/import": "write"},
    "settings": {
        "GET /api/settings": "admin",
        "PATCH /api/settings": "admin",
        "GET /api/sources": "admin",
        "GET /api/prices": "admin",
        "GET /api/redaction": "admin",
        "POST /api/redaction/test": "admin",
        "POST /api/sources/import": "admin",
    },
    "mastra": {
        **{
            name.format(root): permission
            for root in ("/api/memory", "/api/memory/network")
            for name, permission in _MASTRA.items()
        },
        "GET /api/memory/config": "read",
        "GET /api/memory/search": "logs",
    },
    "assistant-ui": {
        "GET /api/assistant-ui/threads": "read",
        "POST /api/assistant-ui/threads": "chat",
        "GET /api/assistant-ui/threads/{thread_id}": "read",
        "PATCH /api/assistant-ui/threads/{thread_id}": "chat",
        "DELETE /api/assistant-ui/threads/{thread_id}": "chat",
        "POST /api/assistant-ui/threads/{thread_id}/title": "chat",
        "GET /api/assistant-ui/threads/{thread_id}/messages": "read",
        "POST /api/assistant-ui/threads/{thread_id}/messages": "chat",
        "PUT /api/assistant-ui/threads/{thread_id}/messages/{message_id}": "chat",
        "DELETE /api/assistant-ui/threads/{thread_id}/messages/{message_id}": "write",
    },
    "openai": {
        "GET /v1/models": "read",
        "GET /v1/models/{model_id}": "read",
        "POST /v1/chat/completions": "chat",
    },
    "ag-ui": {"POST /api/ag-ui/{agent_name}": "chat"},
    "docs": {
        "GET /api/openapi.json": OPEN,
        "GET /api/docs": OPEN,
        "GET /api/docs/openapi.json": "read",
    },
    "health": {"GET /healthz": OPEN, "GET /readyz": OPEN, "GET /metrics": "admin"},
    "page": {},
}
"""By group. The files of the web UI are served without routes."""

_GROUP_OF: Final[Mapping[str, Group]] = {name: group for group, names in ROUTES.items() for name in names}
_PERMISSION_OF: Final = {name: needed for names in ROUTES.values() for name, needed in names.items()}
_GROUPS_AT: Final[dict[str, set[Group]]] = {}
for _name, _group in _GROUP_OF.items():
    _GROUPS_AT.setdefault(_name.partition(" ")[2], set()).add(_group)


def permission_of(method: str, path: str) -> Permission | None:
    """The permission that a route needs; `None` for one that is open to everyone. `path` is the template."""
    return "read" if method == "OPTIONS" else _PERMISSION_OF.get(f"{method} {path}", "admin")


def is_published(method: str, path: str, groups: Collection[Group]) -> bool:
    """Whether a route is in one of these groups; for `OPTIONS`, whether any method of its path is."""
    if method == "OPTIONS":
        return not _GROUPS_AT.get(path, EVERYTHING).isdisjoint(groups)
    return _GROUP_OF.get(f"{method} {path}") in groups or EVERYTHING.issubset(groups)


def check_known(routes: Iterable[tuple[str, str]]) -> None:
    """Fail if routes, as pairs of method and path, differ from those in the table."""
    names = {f"{method} {path}" for method, path in routes if method != "OPTIONS"}
    assert names == set(_GROUP_OF), (
        f"add to or remove from server/access.py: {sorted(names ^ set(_GROUP_OF))}"
    )


def groups_of(routes: Iterable[str] | str | None, page: bool | None, *, has_users: bool) -> frozenset[Group]:
    """The groups that an application publishes: those that `routes` names, all of them, or the default.

    By default, an application that serves this machine only publishes everything, one with users a chat.
    """
    if routes is None:
        chosen = CHAT_APP if has_users else EVERYTHING
    elif routes == "all":
        chosen = EVERYTHING
    else:
        named = {routes} if isinstance(routes, str) else set(routes)
        if unknown := sorted(named - EVERYTHING):
            raise PartitaError(
                f"there is no group of routes {unknown[0]!r}",
                where="routes",
                hint=f"use 'all', or some of {', '.join(GROUPS)}",
            )
        chosen = frozenset(group for group in GROUPS if group in named)
    if page is None:
        return chosen
    web_ui: frozenset[Group] = frozenset({"page"})
    return chosen | web_ui if page else chosen - web_ui
