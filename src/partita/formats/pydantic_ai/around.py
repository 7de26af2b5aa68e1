"""What plain requests and responses say around their parts: moments, runs, threads, models and usage."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.framework.members import metadata_of, noted
from partita.formats.framework.plain import UnusualError
from partita.types.fold import results_id
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    ToolCallPart,
    ToolContent,
    ToolMessage,
)

from .moments import moment_in, written_moment
from .plain_history import Request, Response
from .shapes import NAME
from .usage import read_usage

NOTED: Final = (
    "model_name",
    "provider_name",
    "provider_url",
    "provider_details",
    "provider_response_id",
    "finish_reason",
)
"""What is kept of a response under the name of Pydantic AI."""

noted_in: Final = attrgetter(*NOTED)


def moment_of(stamp: str) -> datetime:
    """The moment that a text names, written as all are."""
    moment = moment_in(stamp)
    if moment is None:
        raise UnusualError
    return moment


def said_in(response: Response, id_: str, parts: Sequence[AssistantPart]) -> AssistantMessage:
    """A message with what its response says around the parts."""
    said = zip(NOTED, noted_in(response), strict=True)
    return AssistantMessage(
        id=id_,
        thread_id=response.conversation_id,
        run_id=response.run_id,
        created_at=None if response.timestamp is UNSET else moment_of(response.timestamp),
        content=AssistantContent(
            parts=tuple(parts),
            usage=None if response.usage is UNSET else read_usage(response.usage),
            provider_metadata=metadata_of(NAME, {name: value for name, value in said if value is not None}),
        ),
    )


def answered_in(request: Request, message: AssistantMessage) -> AssistantMessage:
    """A message with calls that know the request which their results came in, if it is told from others."""
    thread_id, run_id = request.conversation_id, request.run_id
    moment = None if request.timestamp is None else moment_of(request.timestamp)
    if (thread_id, run_id, moment) == (message.thread_id, message.run_id, message.created_at):
        return message
    origin = ToolMessage(
        id=results_id(message.id, 1),
        thread_id=thread_id,
        run_id=run_id,
        created_at=moment,
        type="tool",
        content=ToolContent(parts=()),
    )
    parts = tuple(
        replace(part, result_message=origin) if type(part) is ToolCallPart else part
        for part in message.content.parts
    )
    return replace(message, content=replace(message.content, parts=parts))


def asked_in(request: Request, messages: Sequence[Message], *, is_first: bool) -> list[Message]:
    """Messages with what their request says around the parts; the first keeps its moment, if that differs."""
    around = {"thread_id": request.conversation_id, "run_id": request.run_id}
    asked: list[Message] = [replace(one, **around) for one in messages]
    first = asked[0]
    moment = None if first.created_at is None else written_moment(first.created_at)
    if is_first and request.timestamp != moment:
        own = noted(first.content.provider_metadata, NAME)
        note = {NAME: {**own, "request": {"timestamp": request.timestamp}}}
        asked[0] = replace(first, content=replace(first.content, provider_metadata=note))  # pyright: ignore[reportArgumentType] # each role takes its own content
    return asked
