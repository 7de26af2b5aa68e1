"""A message as it came: where it was, and what it says besides its content."""

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from partita.errors import ConversionError
from partita.formats.ag_ui.names import AGENT
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_object, kind_of


class Raw(NamedTuple):
    """A message as it came, where it was, and the sub-agent that it is of, if a call claims that one."""

    value: JsonObject
    path: str
    id: str
    agent: str | None = None

    def notes(self, read: frozenset[str]) -> JsonObject:
        """The members that have no field of their own: all but those that were read."""
        value = self.value
        if value.keys() <= read:
            return {}
        own = None if self.agent is None else AGENT
        return {name: member for name, member in value.items() if name not in read and name != own}

    @property
    def metadata(self) -> Json | UnsetType:
        """The metadata of the message."""
        return self.value.get("metadata", UNSET)

    @property
    def is_internal(self) -> bool:
        """Whether it is a sub-agent's that no call claims."""
        return self.agent is None and AGENT in self.value

    def bad_content(self, expected: str) -> ConversionError:
        """Tells that the content is of another kind than expected."""
        found = kind_of(self.value["content"]) if "content" in self.value else "missing"
        role = self.value["role"]
        return ConversionError(
            f"the content of a {role} message is {found}",
            where=f"{self.path}.content",
            hint=f"make it {expected}",
        )


def checked(raw: Json, path: str, place: int, losses: list[Loss]) -> Raw:
    """A message that has a role and an id, be it one that is made up."""
    if not is_object(raw) or not isinstance(raw.get("role"), str):
        found = "without a role" if is_object(raw) else kind_of(raw)
        raise ConversionError(f"a message is {found}", where=path, hint="give {id, role, content}")
    id_ = raw.get("id")
    if isinstance(id_, str):
        return Raw(raw, path, id_)
    if "id" in raw:
        raise ConversionError(f"an id is {kind_of(id_)}", where=f"{path}.id", hint="make it a string")
    made = f"message-{place + 1}"
    losses.append(Loss.of(f"{path}.id", made, "the message had no id", "repaired"))
    return Raw(raw, path, made)
