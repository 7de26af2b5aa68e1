"""Responses: bodies ↔ one assistant message, and how a response ends, for bodies and streams alike.

A body is the last step of the last assistant message. What it repeats of its request is the request.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.formats.core.decoder import INTERRUPTED
from partita.formats.core.members import objects_in, text_in, without
from partita.formats.core.metadata import notes
from partita.formats.core.report import Report
from partita.formats.core.response import last_step, metadata_of, usage_of
from partita.formats.core.tools import Tools
from partita.formats.core.turns import Position, Step
from partita.formats.core.wire import residue, restore, to_json
from partita.formats.format import Dumped, Loaded, Request, ToolSpec
from partita.formats.losses import DERIVED, NO_PLACE, REQUIRED, RESPONSE, UNREAD, Loss, json_losses
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantContent, AssistantMessage, Message, ToolCallPart
from partita.types.parts import StepStartPart, TextPart
from partita.types.usage import Usage, UsageNames
from partita.types.value import Extra

from . import wire
from .calls import TOOL_NAME, error_text
from .conversation import Reader, Writer, message_id
from .items import BEGINS, CONTINUES, FORM, ITEM, is_written
from .parts import is_refusal
from .wire import NAME, NAMESPACE

# https://platform.openai.com/docs/api-reference/responses/object
REASONS: Final[Mapping[str, str]] = {"max_output_tokens": "length", "content_filter": "content-filter"}
"""Finish reasons by the reason of an incomplete response; any other is `other`."""

ENDS: Final[Mapping[str, JsonObject]] = {
    "length": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    "content-filter": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    "error": {"status": "failed"},
    INTERRUPTED: {"status": "incomplete"},
}
"""How responses of other providers end; all others are completed."""

STATUSES: Final = ("completed", "failed", "in_progress", "cancelled", "queued", "incomplete")

NOT_METADATA: Final = frozenset({"id", "model", "object", "status", "output", "output_text", "usage"})
"""Members of a response that are not metadata of the provider."""

ECHOES: Final = frozenset(
    {
        "background",
        "context_management",
        "frequency_penalty",
        "include",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "parallel_tool_calls",
        "presence_penalty",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
"""Members of a response that repeat its request."""

DEFAULTS: Final[JsonObject] = {
    "id": "resp_0",
    "created_at": 0,
    "model": "unknown",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
"""What every response has."""

PREFIXES: Final = {"message": "msg_", "reasoning": "rs_"}
"""Items that have an id in every response."""

CLIENT_KINDS: Final = frozenset({"", "function", "custom", "namespace", "local_shell", "apply_patch"})
"""The types of tools that a client runs."""


REPORT: Final = Report(
    NAMESPACE,
    default=NO_PLACE,
    reasons={
        "id": "a response has an id of its own",
        **dict.fromkeys(("reasoning", "tool-call"), "it is of another provider"),
        "output": RESPONSE,
    },
    spelling=frozenset({FORM, BEGINS, CONTINUES}),
)


# How a response ends


class Ending(NamedTuple):
    """How a response ended."""

    reason: str
    raw: str | None
    usage: Usage | None
    more: JsonObject
    """The other metadata of the message."""


def ending_of(
    response: JsonObject,
    end_members: JsonObject,
    *,
    is_ended: bool,
    is_failed: bool,
    is_refused: bool,
    has_calls: bool,
) -> Ending:
    """How a response ended.

    `end_members`: what its last event has besides the response; `has_calls`: the client must run calls.
    """
    status = text_in(response, "status")
    details = response.get("incomplete_details")
    why = text_in(details, "reason") if is_object(details) else ""
    if not is_ended and not is_failed:
        reason = INTERRUPTED
    elif status == "failed" or is_failed:
        reason = "error"
    elif status == "incomplete":
        reason = REASONS.get(why, "other")
    elif status != "completed":
        reason = "other"
    else:
        reason = "content-filter" if is_refused else "tool-calls" if has_calls else "stop"
    raw = (f"{status}:{why}" if why else status) if status and is_ended else None
    more = {name: text for name, text in _identity(response).items() if text}
    own = {**without(response, *NOT_METADATA, *ECHOES), **end_members}
    own = {_TIER.get(name, name): value for name, value in own.items() if value not in (None, "", [], {})}
    more |= {NAMESPACE: own} if own else {}
    more |= {} if is_ended else {"complete": False}
    usage = response.get("usage")
    return Ending(reason, raw, read_usage(usage) if is_object(usage) else None, more)


_TIER: Final = {"service_tier": "serviceTier"}


def _identity(response: JsonObject) -> JsonObject:
    return {"model": text_in(response, "model"), "responseId": text_in(response, "id")}


def client_tools_of(response: JsonObject) -> frozenset[str] | None:
    """The names of the tools that the client runs, if a response repeats them with tools of the provider.

    `None` if it repeats no tool of the provider: then every custom tool is the client's. xAI reports its own
    search tools as custom tools: `x_keyword_search` for the declared `x_search` (seen in recordings).
    """
    kinds = {text_in(tool, "type") for tool in objects_in(response.get("tools"))}
    return frozenset(_names(response)) if kinds - CLIENT_KINDS else None


def _names(holder: JsonObject) -> list[str]:
    found: list[str] = []
    for tool in objects_in(holder.get("tools")):
        found += [text_in(tool, "name")] if text_in(tool, "type") in ("custom", "function") else []
        found += _names(tool)  # tools in a namespace
    return found


# https://platform.openai.com/docs/api-reference/responses/object#responses/object-usage
USAGE: Final = UsageNames(
    input=("input_tokens",),
    output=("output_tokens",),
    total=("total_tokens",),
    reasoning=("output_tokens_details.reasoning_tokens",),
    cached=("input_tokens_details.cached_tokens",),
    cache_write=("input_tokens_details.cache_write_tokens",),
    template={
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
)


def read_usage(raw: JsonObject) -> Usage:
    """The usage of a response, with its object. Input includes cached input, output includes reasoning."""
    return replace(USAGE.read(raw), raw=raw)


# Tools, which requests declare and responses repeat


def _read_tool(tool: wire.Function) -> ToolSpec:
    schema = tool.parameters if is_object(tool.parameters) else None
    return ToolSpec(name=tool.name, description=tool.description or None, input_schema=schema)


def _write_tool(spec: ToolSpec) -> wire.Function:
    # Unless `strict` is false, the API rewrites schemas to its strict subset:
    # https://platform.openai.com/docs/guides/function-calling#strict-mode
    schema = {"type": "object", "properties": {}} if spec.input_schema is None else spec.input_schema
    return wire.Function(
        name=spec.name, description=spec.description or UNSET, parameters=schema, strict=False
    )


def _is_own_tool(raw: Json) -> bool:
    is_function = is_object(raw) and raw.get("type") == "function" and isinstance(raw.get("name"), str)
    return not is_function


TOOLS: Final = Tools(NAME, wire.FUNCTION, _read_tool, _write_tool, _is_own_tool, TOOL_NAME)


def read_request(settings: JsonObject) -> Request:
    """A request without its input: functions are tools, everything else is as it is."""
    rest = dict(settings)
    return Request(TOOLS.take(rest), rest, NAME)


# Reading


def is_response(body: JsonObject) -> bool:
    """Whether an object is a response."""
    return is_array(body.get("output")) or body.get("object") == "response"


def load_body(body: JsonObject) -> Loaded:
    """Read a response, or the error instead of one."""
    message, _, losses = _read_body(body)
    request = echoed_request(body)

    def found() -> Sequence[Loss]:
        again = dump_response((message,), request).payload
        more = json_losses(body, again, "$", UNREAD)
        return [
            *losses,
            *(one for one in more if not one.path.startswith(tuple(loss.path for loss in losses))),
        ]

    return Loaded((message,), found, request, is_complete=True)


def echoed_request(*bodies: JsonObject) -> Request | None:
    """What a response repeats of its request, in its body or in the events of its stream."""
    echoes = {name: value for body in bodies for name, value in _echoes(body).items()}
    return read_request(echoes) if echoes else None


def _echoes(body: JsonObject) -> JsonObject:
    return {name: value for name, value in body.items() if name in ECHOES and value is not None}


def _read_body(body: JsonObject) -> tuple[AssistantMessage, dict[Position, Any], list[Loss]]:
    output = body.get("output")
    raws = output if is_array(output) else []
    reader = Reader(raws, "$.output", client_tools_of(body), is_response=True)
    parts = reader.parts
    error = body.get("error")
    ending = ending_of(
        {**body, "status": text_in(body, "status") or "completed"} if is_response(body) else {},
        {},
        is_ended=True,
        is_failed=error is not None,
        is_refused=any(isinstance(part, TextPart) and is_refusal(part) for part in parts),
        has_calls=any(map(_waits, parts)),
    )
    about: JsonObject = {
        "finishReason": ending.reason,
        "rawFinishReason": ending.raw,
        "usage": ending.usage and to_json(ending.usage),
        "errors": None if error is None else [error_text(error)],
    }
    metadata = {name: value for name, value in about.items() if value is not None} | ending.more
    content = AssistantContent(parts=(StepStartPart(), *parts), metadata=metadata)
    message = AssistantMessage(id=message_id(0), content=content)
    read = wire.RESPONSE.read(without(body, *_echoes(body)))
    written = _write_body(message, read.output or [])
    again: JsonObject = dict(written.extra or {})
    rest = {name: value for name, value in (read.extra or {}).items() if again.get(name, UNSET) != value}
    kept = residue(written, replace(read, extra=Extra(rest) if rest else None))
    if kept:
        content = replace(content, provider_metadata={NAMESPACE: {ITEM: kept}})
        message = replace(message, content=content)
    return message, reader.positions, reader.losses


def _waits(part: Any) -> bool:
    """Whether the client must run a call."""
    is_call = isinstance(part, ToolCallPart) and not part.provider_executed
    return is_call and (part.output is None or part.state == "output-error")


# Writing


def dump_response(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write the last response as a body, with what it repeats of its request. All other messages are lost."""
    writer = Writer(is_sent=False)
    record = writer.record
    last = last_step(messages, is_written, record)
    writer.write_step(last._replace(number=1))
    items: list[Json] = [_named(item, at, last.path, writer) for at, item in enumerate(to_json(writer.items))]
    kept = notes(notes(last.message.content.provider_metadata, NAMESPACE), ITEM)
    body: JsonObject = to_json(restore(_write_body(last.message, items), kept))
    if request is not None:
        echoes = {name: value for name, value in request.settings.items() if name in ECHOES}
        others = request.settings.keys() - echoes.keys()
        record.losses += [Loss.of(f"$.{name}", request.settings[name], DERIVED) for name in others]
        body = TOOLS.add(request, {**body, **echoes}, record)
    if "created_at" not in body and last.message.created_at is not None:
        body["created_at"] = int(last.message.created_at.timestamp())
    for name, value in DEFAULTS.items() if body.get("object") == "response" else ():
        if name not in body:
            body[name] = value
            record.losses.append(Loss.of(f"$.{name}", value, REQUIRED, "repaired"))
    return Dumped(body, lambda: REPORT.compare(record, _read_back(body, last, writer)))


def _read_back(body: JsonObject, step: Step, writer: Writer) -> dict[Position, Any]:
    message, positions, _ = _read_body(body)
    created = step.message.created_at
    if created is not None and body.get("created_at") == int(created.timestamp()):
        message = replace(message, created_at=created)
    return {**positions, ("message", step.path): message}


def _named(item: JsonObject, at: int, path: str, writer: Writer) -> JsonObject:
    """An item with the id that it has in every response."""
    kind = text_in(item, "type")
    if "id" in item or kind not in PREFIXES:
        return item
    name = f"{PREFIXES[kind]}{at}"
    writer.record.losses.append(Loss.of(f"{path}.content", name, REQUIRED, "repaired"))
    return {"id": name, **({"status": "completed"} if kind == "message" else {}), **item}


def _write_body(message: AssistantMessage, output: list[Any] | UnsetType | None) -> wire.Response:
    """A response, as far as the metadata of a message describes it."""
    about = metadata_of(message)
    own = {_tier(name): value for name, value in notes(about, NAMESPACE).items()}
    status, _, _ = text_in(about, "rawFinishReason").partition(":")
    end = {"status": status} if status in STATUSES else ENDS.get(text_in(about, "finishReason"), _COMPLETED)
    usage = message.content.usage or usage_of(message)
    details = own.pop("incomplete_details", end.get("incomplete_details", UNSET))
    return wire.Response(
        id=text_in(about, "responseId") or UNSET,
        object="response",
        model=text_in(about, "model") or UNSET,
        status=end["status"],
        output=output,
        usage=UNSET if usage == Usage() else USAGE.write(usage),
        incomplete_details=details,
        extra=Extra(own) if own else None,
    )


_COMPLETED: Final[JsonObject] = {"status": "completed"}


def _tier(name: str) -> str:
    return "service_tier" if name == "serviceTier" else name
