"""A tool as a model is told of it."""

from partita.types.json import JsonObject
from partita.types.value import Value


class ToolSpec(Value):
    """The name of a tool, what it is for, and the JSON schema of its input."""

    name: str
    description: str | None = None
    input_schema: JsonObject | None = None
