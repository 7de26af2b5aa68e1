"""Histories as Pydantic AI writes them when nothing unusual happened.

msgspec looks in C whether one is like that: members that are seldom there have no value to be told here.
"""

from typing import Annotated, Any, Literal, final

from msgspec import UNSET, Meta, Struct, UnsetType

from partita.types.json import JsonObject


class _Part(Struct, tag_field="part_kind", forbid_unknown_fields=True, gc=False):
    """A part of a request or of a response."""


class _Made(_Part, kw_only=True):
    """What a model made, with nothing of its provider."""

    id: None = None
    provider_name: None = None
    provider_details: None = None


@final
class Text(_Made, tag="text", kw_only=True):
    """Words of the model."""

    content: str
    citations: None = None


@final
class Thought(_Made, tag="thinking", kw_only=True):
    """Words of the model for itself."""

    content: str
    signature: None = None


@final
class Call(_Made, tag="tool-call", kw_only=True):
    """A call of a tool."""

    tool_name: str
    args: Any
    tool_call_id: str
    tool_kind: None = None


@final
class Return(_Part, tag="tool-return", kw_only=True):
    """What a call gave."""

    tool_name: str
    content: Any
    tool_call_id: str
    tool_kind: None = None
    metadata: None = None
    timestamp: str | UnsetType = UNSET
    outcome: Literal["success"] = "success"
    retry: None = None
    content_file_digests: Annotated[list[Any], Meta(max_length=0)] | UnsetType = UNSET


@final
class System(_Part, tag="system-prompt", kw_only=True):
    """What the model is to know."""

    content: str
    timestamp: str | UnsetType = UNSET
    dynamic_ref: None = None
    context_id: None = None
    scope: Literal["conversation"] = "conversation"
    metadata: None = None


@final
class User(_Part, tag="user-prompt", kw_only=True):
    """What a person said."""

    content: str
    timestamp: str | UnsetType = UNSET


class _Message(Struct, tag_field="kind", forbid_unknown_fields=True, gc=False):
    """A message of a history."""


@final
class Request(_Message, tag="request", kw_only=True):
    """What came of calls, and what was said to the model."""

    parts: Annotated[list[System | User | Return], Meta(min_length=1)]
    timestamp: str | None = None
    instructions: str | None = None
    run_id: str | None = None
    conversation_id: str | None = None
    metadata: None = None
    state: Literal["complete"] = "complete"

    def is_silent(self) -> bool:
        """Whether nothing is said around the parts."""
        return self.timestamp is None and self.run_id is None and self.conversation_id is None


@final
class Response(_Message, tag="response", kw_only=True):
    """What the model said and called."""

    parts: list[Text | Thought | Call]
    usage: JsonObject | UnsetType = UNSET
    model_name: str | None = None
    model_id: None = None
    timestamp: str | UnsetType = UNSET
    provider_name: str | None = None
    provider_url: str | None = None
    canonical_system: None = None
    provider_details: JsonObject | None = None
    provider_response_id: str | None = None
    finish_reason: str | None = None
    run_id: str | None = None
    conversation_id: str | None = None
    metadata: None = None
    workspace_ref: None = None
    history_digest: None = None
    failed_attempts: None = None
    state: Literal["complete"] = "complete"

    def is_silent(self) -> bool:
        """Whether nothing is said around the parts."""
        return (
            self.timestamp is UNSET
            and self.usage is UNSET
            and self.model_name is None
            and self.provider_name is None
            and self.provider_url is None
            and self.provider_details is None
            and self.provider_response_id is None
            and self.finish_reason is None
            and self.run_id is None
            and self.conversation_id is None
        )


class History(Struct, gc=False):
    """A struct around the messages: msgspec remembers what it knows of structs, not of unions."""

    messages: list[Request | Response]
