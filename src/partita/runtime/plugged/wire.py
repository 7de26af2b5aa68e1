"""What vendors' packages hand out → the JSON that came over the wire."""

from dataclasses import asdict, is_dataclass
from typing import Final, Protocol, runtime_checkable

import msgspec

from partita.types.json import Json, JsonObject, is_object

ECHOES: Final = frozenset({"text", "thinking", "signature", "citation", "input_json", "compaction"})
"""What Anthropic's stream helper makes of the events that it passes on as well."""


@runtime_checkable
class Model(Protocol):
    """A model of Pydantic: what vendors' packages hand out."""

    def model_dump(
        self, *, mode: str = ..., by_alias: bool = ..., exclude_unset: bool = ..., warnings: bool = ...
    ) -> Json:
        """Its fields."""
        ...


@runtime_checkable
class Dictionary(Protocol):
    """Something that knows itself as a dict."""

    def to_dict(self) -> Json:
        """Its fields."""
        ...


def as_json(thing: object) -> Json:
    """The JSON of an event that some package handed out; `None` if it is nothing of the kind."""
    if is_object(thing):
        return thing
    if isinstance(thing, Model):
        return thing.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    if isinstance(thing, Dictionary):
        return thing.to_dict()
    if isinstance(thing, msgspec.Struct) or (is_dataclass(thing) and not isinstance(thing, type)):
        return msgspec.to_builtins(thing if isinstance(thing, msgspec.Struct) else asdict(thing))
    return None


def event_of(thing: object) -> JsonObject | None:
    """The provider's event that a thing is; an empty one if a helper only tells again what came."""
    if _is_echo(thing):
        return {}
    event = as_json(_unwrapped(thing))
    return event if is_object(event) else None


def _unwrapped(thing: object) -> object:
    """What came, of the pair in which OpenAI's chat helper hands it out."""
    return getattr(thing, "chunk", thing) if getattr(thing, "type", None) == "chunk" else thing


def _is_echo(thing: object) -> bool:
    package, _, rest = type(thing).__module__.partition(".")
    said = getattr(thing, "type", None)
    if package == "openai":
        return rest.startswith("lib.streaming.chat") and said != "chunk"
    return package == "anthropic" and said in ECHOES
