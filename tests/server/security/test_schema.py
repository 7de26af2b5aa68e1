"""Responses conform to the OpenAPI document, for valid and invalid requests."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import httpx
import requests
import schemathesis
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis import checks as general
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from tests.sampling import FULL
from tests.server.conftest import HERE

from .fuzzing import trying
from .multi_tenant import Ids, MultiTenantServer, client_with_key

Operation: TypeAlias = Any  # its types are generic over types that are not public
Case: TypeAlias = Any

KNOWN: Final[Any] = checks
GENERAL: Final[Any] = general
CHECKS: Final[list[Any]] = [
    GENERAL.not_a_server_error,
    KNOWN.status_code_conformance,
    KNOWN.content_type_conformance,
]
EVENTS: Final = "text/event-stream"

IN_PATHS: Final[Mapping[str, str]] = {
    "threadId": "thread",
    "chatId": "thread",
    "messageId": "question",
    "runId": "run",
    "otherId": "other",
    "digest": "digest",
}
"""The ids of path parameters."""

ENDLESS: Final[Mapping[str, Mapping[str, Any]]] = {"/api/feed": {"seconds": 0}}
"""Streams that end only on request, and the parameters for that."""

SENT_BY_US: Final = ("authorization", "x-api-key", "content-length")


async def test_responses_conform_to_the_openapi_document(server: MultiTenantServer) -> None:
    wrong: dict[str, str] = {}
    sent = 0
    async with client_with_key(server.app, await server.key(role="admin")) as client:
        document = (await client.get("/api/openapi.json")).json()
        schema: Any = schemathesis.openapi.from_dict(document)
        for operation in schema.get_all_operations():
            for case in _cases(operation.ok(), server.alice_ids[0]):
                request = _request(client, case)
                if request is not None:
                    sent += 1
                    wrong |= _checked(case, await client.send(request))
    assert wrong == {}
    assert sent > len(document["paths"])


def _cases(operation: Operation, ids: Ids) -> list[Case]:
    """Requests for an operation, valid and invalid, about existing and missing data."""
    known = {one.name: ids[IN_PATHS[one.name]] for one in operation.path_parameters if one.name in IN_PATHS}
    fixed: list[dict[str, Any]] = [{"path_parameters": known}, {}] if known else [{}]
    if operation.path in ENDLESS:
        fixed = [{**how, "query": dict(ENDLESS[operation.path])} for how in fixed]
    strategies = [operation.as_strategy(mode, **how) for mode in GenerationMode for how in fixed]
    found: list[Case] = []

    @trying(default=4 if FULL else 2)
    @given(st.one_of(strategies))
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found


def _request(client: httpx.AsyncClient, case: Case) -> httpx.Request | None:
    """The request of a case; `None` for one that cannot be written down as HTTP."""
    kwargs = case.as_transport_kwargs(base_url=HERE)
    wanted = ("method", "url", "headers", "params", "data", "json", "cookies", "files")
    try:
        prepared = requests.Request(**{name: kwargs[name] for name in wanted if name in kwargs}).prepare()
        headers = [
            (name.encode("latin-1"), value.encode("latin-1") if isinstance(value, str) else value)
            for name, value in prepared.headers.items()
            if name.lower() not in SENT_BY_US
        ]
    except (ValueError, requests.RequestException):
        return None
    body: Any = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
    return client.build_request(str(prepared.method), str(prepared.url), headers=headers, content=body)


def _checked(case: Case, response: httpx.Response) -> dict[str, str]:
    """What is wrong with the response to a request."""
    is_stream = response.headers.get("content-type", "").startswith(EVENTS)  # its schema is of the whole text
    try:
        case.validate_response(
            response, checks=[*CHECKS, *(() if is_stream else (KNOWN.response_schema_conformance,))]
        )
    except FailureGroup as failures:
        return {f"{response.request.method} {response.request.url}": str(failures)}
    return {}
