"""Objects of the packages of vendors."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@cache
def anthropic_events() -> "TypeAdapter[Any]":
    """The events of the Messages API."""
    from anthropic.types import RawMessageStreamEvent
    from pydantic import TypeAdapter

    return TypeAdapter[Any](RawMessageStreamEvent)


@cache
def openai_events() -> "TypeAdapter[Any]":
    """The events of the Responses API that the tests use."""
    from openai.types.responses import (
        ResponseCompletedEvent,
        ResponseContentPartAddedEvent,
        ResponseCreatedEvent,
        ResponseOutputItemAddedEvent,
        ResponseOutputItemDoneEvent,
        ResponseTextDeltaEvent,
    )
    from pydantic import TypeAdapter

    return TypeAdapter[Any](
        ResponseCompletedEvent
        | ResponseContentPartAddedEvent
        | ResponseCreatedEvent
        | ResponseOutputItemAddedEvent
        | ResponseOutputItemDoneEvent
        | ResponseTextDeltaEvent
    )
