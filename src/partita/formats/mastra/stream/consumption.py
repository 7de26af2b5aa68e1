"""What Mastra counts, in our counts."""

from partita.formats.usages import ai_sdk_usage
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject


def usage_of(raw: JsonObject) -> Json:
    """A usage as metadata holds it, beside all that was counted."""
    return to_json(ai_sdk_usage(raw))
