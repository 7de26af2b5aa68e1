"""Message dicts of the usual shape: words, thoughts, calls and results, with the members they always have.

msgspec looks whether messages are such. It leaves open what may be any JSON.
"""

from typing import Annotated, Literal, TypeAlias, final

from msgspec import Meta, Struct, ValidationError, convert

from partita.types.json import Json, same

NoCalls: TypeAlias = Annotated[list[Json], Meta(max_length=0)]


class _Block(Struct, tag_field="type", forbid_unknown_fields=True, gc=False):
    """A block of the content."""


@final
class Text(_Block, tag="text"):
    """Words."""

    text: str


@final
class Thought(_Block, tag="reasoning"):
    """What the model said to itself."""

    reasoning: str


@final
class Call(_Block, tag="tool_call"):
    """A call, in a block or beside the content."""

    name: str
    args: Json
    id: str


class _Message(Struct, tag_field="type", forbid_unknown_fields=True, gc=False):
    """A message, its members in the order that LangChain writes them: so they are found soonest."""


@final
class System(_Message, tag="system"):
    """Instructions."""

    content: str
    additional_kwargs: Json
    response_metadata: Json
    name: None
    id: str | None


@final
class Human(_Message, tag="human"):
    """What a person said."""

    content: str
    additional_kwargs: Json
    response_metadata: Json
    name: None
    id: str | None


@final
class Answer(_Message, tag="ai"):
    """What the model said and called."""

    content: str | list[Text | Thought | Call]
    additional_kwargs: Json
    response_metadata: Json
    name: None
    id: str | None
    tool_calls: list[Call]
    invalid_tool_calls: NoCalls
    usage_metadata: Json = None


@final
class Result(_Message, tag="tool"):
    """What came of a call."""

    content: str
    additional_kwargs: Json
    response_metadata: Json
    name: str | None
    id: str | None
    tool_call_id: str
    artifact: Json = None
    status: Literal["success", "error"] = "success"


Usual: TypeAlias = System | Human | Answer | Result


class _History(Struct, gc=False):
    """A struct around the messages: msgspec remembers what it knows of structs, not of unions."""

    messages: list[Usual]


def usual_messages(raws: list[Json]) -> list[Usual] | None:
    """Messages out of their wrapping; none if one is of another shape."""
    try:
        inner = [raw["data"] for raw in raws if len(raw) == 2 and raw["type"] == raw["data"]["type"]]
        return convert({"messages": inner}, _History).messages if len(inner) == len(raws) else None
    except (KeyError, TypeError, ValidationError, RecursionError, UnicodeError):
        return None


def are_alike(calls: list[Call], entries: list[Call]) -> bool:
    """Whether the calls in contents and the entries beside them say the same, to the letter."""
    return calls == entries and same([call.args for call in calls], [entry.args for entry in entries])
