"""Endpoints: plain functions with a method, a path and a typed signature.

    @get("/api/threads/{thread_id}", tags=["threads"], summary="A thread")
    async def get_thread(caller: Caller, thread_id: str) -> Thread: ...

The signature defines where each argument comes from:

    thread_id: str                               the path, which names it
    limit: Annotated[int, Query(ge=1)] = 50      the query string; `Header` likewise
    data: Annotated[NewThread, Body()]           the JSON body
    filter: Annotated[Filter, Depends(filter)]   the result of a function with such a signature
    request: Request                             the request itself

Arguments are converted by msgspec. If some are invalid, the response is 400 and lists all of them. A returned
value is sent as JSON; `None` is 204; a `Response` is sent unchanged. `server/openapi` describes endpoints.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, get_args, get_origin

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from partita.types.json import JsonObject, loads

from .problems import NO_BODY_HINT, Problem, invalid_value
from .responses import Reply

Handler: TypeAlias = Callable[..., Awaitable[Any]]
Source: TypeAlias = Literal["path", "query", "header"]

PATH_NAME: Final = re.compile(r"{(\w+)}")
REQUIRED: Final = inspect.Parameter.empty
"""The default of a parameter that has none."""

MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


# Where arguments come from


@dataclass(frozen=True, kw_only=True)
class Query:
    """A parameter of the query string. Its name is that of the argument, unless `name` is set."""

    name: str | None = None
    description: str | None = None
    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    format: str | None = None
    """The format of a string, only for the description of the API."""
    type: Any = None
    """The type in the request, if it is not that of the argument: then `parse` converts it."""
    parse: Callable[[Any, str], Any] | None = None
    """Converts the value in the request to the argument. The second parameter is its location, for errors."""


@dataclass(frozen=True, kw_only=True)
class Header(Query):
    """A header of the request."""


@dataclass(frozen=True, kw_only=True)
class Path(Query):
    """A parameter of the path that has a description."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """The JSON body. It is optional if the argument has a default."""

    description: str | None = None
    examples: Sequence[Any] = ()


class Depends:
    """The result of a function whose arguments are read from the request like those of an endpoint.

    `annotations` are for a function that has no such annotations itself, such as a dataclass of the store:
    only the arguments that are named there are read.
    """

    def __init__(self, function: Callable[..., Any], **annotations: Any) -> None:
        self.function = function
        self.annotations = annotations


@dataclass(frozen=True)
class Parameter:
    """An argument that is a parameter of the path, the query string or the headers."""

    key: str
    """The name of the argument."""
    name: str
    """The name in the request."""
    source: Source
    type: Any
    """The type in the request, with its constraints."""
    default: Any
    spec: Query
    is_list: bool
    """Whether it may be given several times."""


@dataclass(frozen=True)
class BodyArgument:
    """An argument that is the JSON body."""

    key: str
    type: Any
    default: Any
    spec: Body


class Arguments:
    """Where the arguments of a function come from: its signature, read once."""

    def __init__(
        self,
        function: Callable[..., Any],
        path_names: frozenset[str],
        annotations: Mapping[str, Any] | None = None,
    ) -> None:
        self.own: list[Parameter] = []
        self.body: BodyArgument | None = None
        self.dependencies: dict[str, tuple[Callable[..., Any], Arguments]] = {}
        self._request: str | None = None
        signature = inspect.signature(function, eval_str=not annotations).parameters
        for key in annotations or signature:
            argument = signature[key]
            type_, spec = _split((annotations or {}).get(key, argument.annotation))
            if type_ is Request:
                self._request = key
            elif isinstance(spec, Depends):
                arguments = Arguments(spec.function, path_names, spec.annotations)
                self.dependencies[key] = spec.function, arguments
            elif isinstance(spec, Body):
                self.body = BodyArgument(key, type_, argument.default, spec)
            elif key in path_names:
                self.own.append(_parameter(key, "path", type_, REQUIRED, spec or Path()))
            elif isinstance(spec, Query):
                source: Source = "header" if isinstance(spec, Header) else "query"
                self.own.append(_parameter(key, source, type_, argument.default, spec))
            else:
                raise TypeError(f"{function.__qualname__}: {key!r} has no source, such as Query()")

    @property
    def parameters(self) -> Iterator[Parameter]:
        """All parameters, including those of dependencies."""
        for _, arguments in self.dependencies.values():
            yield from arguments.parameters
        yield from self.own

    async def read(self, request: Request) -> dict[str, Any]:
        """The arguments of a call, from a request. The error lists all that are invalid."""
        errors: list[JsonObject] = []
        body = await request.body() if self.body is not None else b""
        content = loads(body) if body else REQUIRED
        values: dict[str, Any] = {
            key: function(**await arguments.read(request))
            for key, (function, arguments) in self.dependencies.items()
        }
        if self._request is not None:
            values[self._request] = request
        for parameter in self.own:
            values[parameter.key] = _read_parameter(parameter, request, errors)
        if self.body is not None:
            values[self.body.key] = _read_body(self.body, content, errors)
        if errors:
            detail = "; ".join(f"{error['where']}: {error['what']}" for error in errors)
            no_body = any(error["where"] == "body" for error in errors)
            raise Problem(400, detail, errors=errors, hint=NO_BODY_HINT if no_body else "")
        return values


def _read_parameter(parameter: Parameter, request: Request, errors: list[JsonObject]) -> Any:
    raw = _find(parameter, request)
    where = f"{parameter.source} {parameter.name}"
    if raw is None:
        if parameter.default is REQUIRED:
            errors.append({"what": "required parameter is missing", "where": where})
        return parameter.default
    try:
        value = msgspec.convert(raw, parameter.type, strict=False)  # numbers and flags are text here
    except msgspec.ValidationError as error:
        if parameter.source == "path":
            raise Problem(404, "Not Found") from None
        errors.append(invalid_value(str(error), where))
        return None
    return value if parameter.spec.parse is None else parameter.spec.parse(value, where)


def _find(parameter: Parameter, request: Request) -> str | list[str] | None:
    """The text of a parameter; `None` if the request does not have it. Of several, the last one is used."""
    match parameter.source:
        case "path":
            text: str = request.path_params[parameter.name]
            return text
        case "header":
            return request.headers.get(parameter.name)
        case "query":
            query = request.query_params
            return (query.getlist(parameter.name) or None) if parameter.is_list else query.get(parameter.name)


def _read_body(argument: BodyArgument, content: Any, errors: list[JsonObject]) -> Any:
    if content is REQUIRED:
        if argument.default is REQUIRED:
            errors.append({"what": "the request has no body", "where": "body"})
        return argument.default
    try:
        return msgspec.convert(content, argument.type, strict=False, str_keys=True)
    except msgspec.ValidationError as error:
        errors.append(invalid_value(str(error), "$"))
        return None


def _split(annotation: Any) -> tuple[Any, Any]:
    """The type in an annotation, and the marker with the source of the argument."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    type_, *metadata = get_args(annotation)
    return type_, next((one for one in metadata if isinstance(one, Query | Body | Depends)), None)


def _parameter(key: str, source: Source, argument_type: Any, default: Any, spec: Query) -> Parameter:
    type_ = argument_type if spec.type is None else spec.type
    names = ("ge", "le", "min_length", "max_length")
    limits = {name: limit for name in names if (limit := getattr(spec, name)) is not None}
    constrained = _constrained(type_, Meta(**limits)) if limits else type_
    is_list = any(get_origin(one) is list for one in (type_, *get_args(type_)))
    return Parameter(key, spec.name or key, source, constrained, default, spec, is_list)


def _constrained(type_: Any, limits: Meta) -> Any:
    """A type with limits. In a union, msgspec accepts limits of lengths only on its members."""
    if not isinstance(type_, UnionType):
        return Annotated[type_, limits]
    members = [one if one is NoneType else Annotated[one, limits] for one in get_args(type_)]
    return reduce(or_, members)


async def extra_members(request: Request, known: type[msgspec.Struct]) -> JsonObject:
    """The members of the JSON body that are not fields of `known`, for an agent that reads them."""
    names = _field_names(known)
    members = MEMBERS.decode(await request.body())
    return {name: loads(bytes(raw)) for name, raw in members.items() if name not in names}


@cache  # msgspec resolves the annotations of all fields
def _field_names(known: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(known))


# How requests and responses are described


class ResponseSpec(NamedTuple):
    """What a response contains, for the description of the API."""

    description: str
    type: Any = None
    """The type of the value that is sent as JSON."""
    media_type: str | None = None
    """The media type, if it is not JSON."""


class RequestBody(NamedTuple):
    """A body that the endpoint reads from the request itself, for the description of the API."""

    content: Mapping[str, Any]
    """By media type: a JSON schema, or a type."""
    description: str = ""
    examples: Sequence[Any] = ()
    required: bool = True
    """Whether a request without a body is refused."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A function that responds to requests, and its description."""

    methods: Sequence[str]
    paths: Sequence[str]
    function: Handler
    arguments: Arguments
    returns: Any
    """The type that the function returns."""
    status_code: int
    """The status of a success, unless the function returns a response."""
    tags: Sequence[str]
    summary: str
    responses: Mapping[int, ResponseSpec]
    request_body: RequestBody | None
    in_schema: bool

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """The docstring of the function."""
        return inspect.getdoc(self.function) or ""

    async def respond(self, request: Request) -> Response:
        """Call the function for a request."""
        result = await self.function(**await self.arguments.read(request))
        if isinstance(result, Response):
            return result
        if result is None:
            return Response(status_code=self.status_code)
        return Reply(result, status_code=self.status_code)


def endpoint(
    methods: Sequence[str],
    paths: str | Sequence[str],
    *,
    tags: Sequence[str] = (),
    summary: str = "",
    status_code: int | None = None,
    responses: Mapping[int, ResponseSpec] | None = None,
    request_body: RequestBody | None = None,
    in_schema: bool = True,
) -> Callable[[Handler], Endpoint]:
    """Make an endpoint of a function. Several paths have the same names in braces.

    The status of a success is 200, or 204 if the function returns `None`. With `in_schema=False`, the
    description of the API leaves the endpoint out.
    """

    def decorate(function: Handler) -> Endpoint:
        signature = inspect.signature(function, eval_str=True)
        each = [paths] if isinstance(paths, str) else paths
        return Endpoint(
            methods=methods,
            paths=each,
            function=function,
            arguments=Arguments(function, frozenset(PATH_NAME.findall(each[0]))),
            returns=signature.return_annotation,
            status_code=status_code or (204 if signature.return_annotation is None else 200),
            tags=tags,
            summary=summary,
            responses=responses or {},
            request_body=request_body,
            in_schema=in_schema,
        )

    return decorate


get: Final = partial(endpoint, ["GET"])
head: Final = partial(endpoint, ["HEAD"])
post: Final = partial(endpoint, ["POST"])
put: Final = partial(endpoint, ["PUT"])
patch: Final = partial(endpoint, ["PATCH"])
delete: Final = partial(endpoint, ["DELETE"])
