"""Routing: the endpoint of a request is found, the caller's permission is checked, the endpoint is called.

Paths are looked up segment by segment in a tree. Starlette's router tries one regular expression after the
other: with our 84 paths, that takes up to 170 µs for each request, and the tree at most 7 µs.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .access import Group, is_published, permission_of
from .callers import CALLER, CallerView, require
from .endpoints import PATH_NAME, Endpoint
from .metrics import note_route
from .problems import Problem, error_response

SLASH: Final = "\ue000"
"""Replaces a slash inside an id (`%2F`) until the path is split."""


class Api(NamedTuple):
    """Paths of another API of which this server has a part."""

    prefix: str
    group: Group
    """The routes that serve this part."""
    name: str
    routes: str


MASTRA: Final = (
    "the memory: threads, messages, working memory and search below /api/memory; "
    "agents are listed by GET /api/agents and called by POST /api/chat"
)
OPENAI: Final = "POST /v1/chat/completions, GET /v1/models and GET /v1/models/{model}"
APIS: Final = (
    Api("/v1", "openai", "OpenAI's API", OPENAI),
    Api("/api/agents", "mastra", "Mastra's API", MASTRA),
    Api("/api/memory", "mastra", "Mastra's API", MASTRA),
    Api("/api/workflows", "mastra", "Mastra's API", MASTRA),
    Api("/api/tools", "mastra", "Mastra's API", MASTRA),
)


class Node:
    """A node in the tree of paths: the endpoints of its path, by method, and the next segments."""

    def __init__(self, template: str = "") -> None:
        self.template = template
        self.endpoints: dict[str, Endpoint] = {}
        self.children: dict[str, Node] = {}
        self.any_child: Node | None = None
        """The next segment where the path has a parameter."""

    def child(self, segment: str) -> "Node":
        """The node of the next segment of a template, which is created if it does not exist."""
        template = f"{self.template}/{segment}"
        if not PATH_NAME.fullmatch(segment):
            return self.children.setdefault(segment, Node(template))
        self.any_child = self.any_child or Node(template)
        assert self.any_child.template == template, f"{template} is {self.any_child.template} elsewhere"
        return self.any_child


class Router:
    """The ASGI application of some endpoints, for requests that have passed the guard."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = endpoints
        self._root = Node()
        for endpoint in endpoints:
            for path in endpoint.paths:
                node = self._root
                for segment in _segments(path):
                    node = node.child(segment)
                for method in endpoint.methods:
                    assert method not in node.endpoints, f"two endpoints for {method} {path}"
                    node.endpoints[method] = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        scope["app"] = self
        try:
            response = await self._respond(scope, receive)
        except Exception as error:
            response = error_response(error, scope)
        await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive) -> Response:
        method: str = scope["method"]
        caller: CallerView = scope[CALLER]
        node, scope["path_params"] = self._find(method, scope["path"], caller)
        endpoint = node.endpoints.get(method)
        if endpoint is None and method != "OPTIONS":
            raise _not_allowed(node, method, scope["path"], caller)
        note_route(scope, node.template)
        _check_permission(caller, method, node.template, scope["path"])
        if endpoint is None:
            return Response(status_code=204, headers={"allow": _allowed(node, caller)})
        return await endpoint.respond(Request(scope, receive))

    def _find(self, method: str, path: str, caller: CallerView) -> tuple[Node, dict[str, str]]:
        """The node of a path, and the parameters in the path. Literal segments win over parameters."""
        node, values = self._root, list[str]()
        for segment in _segments(path):
            literal = node.children.get(segment)
            following = literal or node.any_child
            if following is None:
                raise _not_found(method, path, caller)
            if literal is None:
                values.append(segment.replace(SLASH, "/"))
            node = following
        if not node.endpoints:
            raise _not_found(method, path, caller)
        return node, dict(zip(PATH_NAME.findall(node.template), values, strict=True))

    def routes(self) -> Iterable[tuple[str, str]]:
        """All methods and paths."""
        return (
            (method, path)
            for endpoint in self.endpoints
            for path in endpoint.paths
            for method in endpoint.methods
        )


def _segments(path: str) -> list[str]:
    """The segments of a path. Slashes at the end, and several in a row, make no difference."""
    return [segment for segment in path.split("/") if segment]


def _allowed(node: Node, caller: CallerView) -> str:
    """The methods of a path that are published, for the header `Allow`; empty if there are none."""
    published = [
        method for method in node.endpoints if is_published(method, node.template, caller.state.published)
    ]
    return ", ".join(sorted([*published, "OPTIONS"])) if published else ""


def _not_allowed(node: Node, method: str, path: str, caller: CallerView) -> Problem:
    """The error for a method that the path does not have, or that is not published."""
    allowed = _allowed(node, caller)
    if not allowed:
        return _not_found(method, path, caller)
    return Problem(405, "Method Not Allowed", headers={"allow": allowed})


def _check_permission(caller: CallerView, method: str, template: str, path: str) -> None:
    """Refuse a route that is not published, and a caller without the permission that it needs."""
    if not is_published(method, template, caller.state.published):
        raise _not_found(method, path, caller)
    needed = permission_of(method, template)
    if needed is not None:
        require(caller.principal, needed, f"{method} {template}")


def _not_found(method: str, path: str, caller: CallerView) -> Problem:
    """The error for an unknown path. For clients of another API, the hint names the supported part of it."""
    for api in APIS:
        is_below = path == api.prefix or path.startswith(f"{api.prefix}/")
        if is_below and api.group in caller.state.published:
            hint = f"of {api.name}, this server has {api.routes}"
            return Problem(404, f"there is no {method} {path}", hint=hint, code="unknown_url")
    return Problem(404, "Not Found")
