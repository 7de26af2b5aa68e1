"""Paths that clients of other APIs ask for and this server does not have: the answer names what there is."""

from typing import Any, Final, NamedTuple, cast

from litestar import Request, Response
from litestar.exceptions import NotFoundException

from .access import Group
from .hub import CallerView
from .plain import Scope
from .problems import Problem, answer_error
from .roles import CALLER


class Api(NamedTuple):
    """A part of another API: its paths, the group of routes that serves some of it, and what there is."""

    prefix: str
    group: Group
    name: str
    routes: str


APIS: Final = (
    Api(
        "/v1",
        "openai",
        "OpenAI's API",
        "POST /v1/chat/completions, GET /v1/models and GET /v1/models/{model}",
    ),
    *(
        Api(
            prefix,
            "mastra",
            "Mastra's API",
            "the memory: threads, messages, working memory and search below /api/memory; "
            "agents are listed at GET /api/agents and answer at POST /api/chat",
        )
        for prefix in ("/api/agents", "/api/memory", "/api/workflows", "/api/tools")
    ),
)


def answer_unknown_path(request: Request[Any, Any, Any], error: NotFoundException) -> Response[bytes]:
    """The answer to a request whose path is not known, or not published."""
    path: str = request.scope["path"]
    caller = cast("CallerView", cast("Scope", request.scope)[CALLER])
    for api in APIS:
        is_below = path == api.prefix or path.startswith(f"{api.prefix}/")
        if is_below and api.group in caller.hub.published:
            what = f"there is no {request.method} {path}"
            problem = Problem(
                404, what, hint=f"of {api.name}, this server has {api.routes}", code="unknown_url"
            )
            return answer_error(request, problem)
    return answer_error(request, error)
