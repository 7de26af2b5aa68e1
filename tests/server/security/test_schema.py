"""The server does what its documentation says, whatever is asked that the documentation allows or forbids."""

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
from .harbour import Harbour, Ids, asking_as

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
"""Which id stands in a path under which name."""

ENDLESS: Final[Mapping[str, Mapping[str, Any]]] = {"/api/feed": {"seconds": 0}}
"""Streams that end only when they are asked to, and how they are."""

SENT_BY_US: Final = ("authorization", "x-api-key", "content-length")


async def test_answers_are_as_documented(place: Harbour) -> None:
    wrong: dict[str, str] = {}
    asked = 0
    async with asking_as(place.app, await place.key(role="admin")) as client:
        document = (await client.get("/api/openapi.json")).json()
        schema: Any = schemathesis.openapi.from_dict(document)
        for operation in schema.get_all_operations():
            for case in _cases(operation.ok(), place.hers[0]):
                request = _request(client, case)
                if request is not None:
                    asked += 1
                    wrong |= _checked(case, await client.send(request))
    assert wrong == {}
    assert asked > len(document["paths"])


def _cases(operation: Operation, ids: Ids) -> list[Case]:
    """Requests for an operation, good and bad ones, about things that are there and about others."""
    known = {one.name: ids[IN_PATHS[one.name]] for one in operation.path_parameters if one.name in IN_PATHS}
    fixed: list[dict[str, Any]] = [{"path_parameters": known}, {}] if known else [{}]
    if operation.path in ENDLESS:
        fixed = [{**how, "query": dict(ENDLESS[operation.path])} for how in fixed]
    strategies = [operation.as_strategy(mode, **how) for mode in GenerationMode for how in fixed]
    found: list[Case] = []

    @trying(usually=4 if FULL else 2)
    @given(st.one_of(strategies))
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found


def _request(client: httpx.AsyncClient, case: Case) -> httpx.Request | None:
    """The request of a case; `None` for one that cannot be written down as HTTP."""
    told = case.as_transport_kwargs(base_url=HERE)
    wanted = ("method", "url", "headers", "params", "data", "json", "cookies", "files")
    try:
        prepared = requests.Request(**{name: told[name] for name in wanted if name in told}).prepare()
        headers = [
            (name.encode("latin-1"), value.encode("latin-1") if isinstance(value, str) else value)
            for name, value in prepared.headers.items()
            if name.lower() not in SENT_BY_US
        ]
    except (ValueError, requests.RequestException):
        return None
    body: Any = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
    return client.build_request(str(prepared.method), str(prepared.url), headers=headers, content=body)


def _checked(case: Case, answer: httpx.Response) -> dict[str, str]:
    """What is wrong with an answer, by what was asked."""
    is_stream = answer.headers.get("content-type", "").startswith(EVENTS)  # its schema is of the whole text
    try:
        case.validate_response(
            answer, checks=[*CHECKS, *(() if is_stream else (KNOWN.response_schema_conformance,))]
        )
    except FailureGroup as failures:
        return {f"{answer.request.method} {answer.request.url}": str(failures)}
    return {}
