"""What was kept aside of a message or a part, and is put back where it can be."""

from collections.abc import Container, Mapping

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, same


def put(
    result: JsonObject, aside: Mapping[str, Json], path: str, losses: list[Loss], taken: Container[str] = ()
) -> None:
    """Put back what was kept aside. Where something else stands, or `taken` would, it is lost."""
    for key, value in aside.items():
        if key not in result and key not in taken:
            result[key] = value
        elif key not in result or not same(result[key], value):
            losses.append(Loss.of(f"{path}.{key}", value, "another member has taken its place"))
