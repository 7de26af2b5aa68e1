"""What stands around the blocks and calls of a usual answer: thoughts, its cost, notes of integrations."""

from typing import Final, TypeAlias

from msgspec.structs import replace

from partita.formats.framework.members import Members, metadata_of
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantContent, AssistantPart

from .answers import VOID, reasoning_in, takes_v1, usage_in
from .calls import SIGNATURES
from .envelope import NAME
from .plain import MODERN
from .usual import Answer

Surroundings: TypeAlias = tuple[tuple[AssistantPart, ...], AssistantContent]
"""Thoughts that stand before everything else, and the content without its parts."""

NOTHING: Final[JsonObject] = {}
BLOCKS: Final[Surroundings] = ((), AssistantContent(parts=()))
ELSEWHERE: Final = ("tool_calls", SIGNATURES)
"""What is part of calls, and stands far from them."""


def surroundings(answer: Answer) -> Surroundings | None:
    """What stands around an answer; none if it belongs to its blocks or calls, or blocks are not standard."""
    content = answer.content
    text = content if type(content) is str else None
    if answer.additional_kwargs == NOTHING and answer.usage_metadata is None:
        if text is None and answer.response_metadata == MODERN:
            return BLOCKS
        if text is not None and answer.response_metadata == NOTHING:
            return (), replace(BLOCKS[1], content=text, provider_metadata={NAME: {"string": True}})
    return _noted(answer, text)


def _noted(answer: Answer, text: str | None) -> Surroundings | None:
    kwargs = answer.additional_kwargs
    members = Members(
        {
            "additional_kwargs": kwargs,
            "response_metadata": answer.response_metadata,
            "usage_metadata": answer.usage_metadata,
        }
    )
    members.forget(VOID)
    if is_object(kwargs) and any(name in kwargs for name in ELSEWHERE):
        return None
    if text is None and not takes_v1(members):
        return None
    usage, thoughts = usage_in(members), reasoning_in(members)
    if text is not None:
        members.left["string"] = True
    metadata = metadata_of(NAME, members.left)
    return thoughts, replace(BLOCKS[1], content=text, usage=usage, provider_metadata=metadata)
